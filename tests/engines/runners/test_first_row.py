"""The first row of a query, looked for slice by slice: that of all rows, and no slice too many."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from cepctl.datasets.row_groups import RowGroups
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.groups import FirstRows
from cepctl.engines.rows.order import with_text
from cepctl.engines.runners import local
from cepctl.engines.runners.progress import RunProgress
from cepctl.engines.runners.slices import SliceTask, TimeSlice, choose_slicing
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.grouping import for_existence
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.clock_cases import ClockCase, clocked_any_cases
from tests.event_sources import TableSource
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case, any_cases

OPTIONS = MatchOptions(exists=True)


@pytest.fixture
def slices_of_two_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices so small that a match begins in any of them."""
    cut_every(monkeypatch, 2)


def cut_every(monkeypatch: pytest.MonkeyPatch, ticks: int) -> None:
    def cut(groups: RowGroups, plan: Plan) -> tuple[TimeSlice, ...]:
        return choose_slicing(groups, plan, parallelism=1, length=ticks).slices

    monkeypatch.setattr(local, "growing_slices", cut)


def first_row(plan: Plan, events: pa.Table, size: int = 3) -> pa.Table:
    rows = FirstRows(plan, OPTIONS.wanted)
    local.find_first(plan, [TableSource.of(events, size)], rows, OPTIONS, RunProgress())
    return rows.table()


def expected_row(plan: Plan, events: pa.Table) -> tuple[object, ...]:
    """The row of smallest start, then match, among all."""
    rows = with_text(match_events(plan, events)).to_pylist()
    if not rows:
        return False, None, None, None, None
    first = min(rows, key=lambda row: (row["start"], row["match"].encode()))
    return True, first["confidence"], first["start"], first["end"], first["match"]


@pytest.mark.usefixtures("slices_of_two_ticks")
def test_the_first_row_is_that_of_all_rows() -> None:
    found = set()

    def agrees(case: Case) -> None:
        plan = for_existence(plan_of(case.query))
        try:
            require_engine(plan, "event")
            expected = expected_row(plan, case.table)
        except UnsupportedQueryError:
            return
        row = first_row(plan, case.table).to_pylist()[0]
        assert row["confidence"] == pytest.approx(expected[1])
        names = ("exists", "start", "end", "match")
        assert tuple(row[name] for name in names) == (expected[0], *expected[2:])
        found.add(row["exists"])

    check(any_cases(), agrees, FEW_EXAMPLES)
    assert found == {True, False}


@pytest.mark.usefixtures("slices_of_two_ticks")
def test_the_first_row_is_that_of_all_rows_on_shared_clocks() -> None:
    def agrees(case: ClockCase) -> None:
        plan = for_existence(plan_of(case.query, case.clocks))
        try:
            require_engine(plan, "event")
            expected = expected_row(plan, case.table)
        except UnsupportedQueryError:
            return
        row = first_row(plan, case.table).to_pylist()[0]
        assert tuple(row[name] for name in ("exists", "start", "match")) == (
            expected[0],
            expected[2],
            expected[4],
        )

    check(clocked_any_cases(), agrees, FEW_EXAMPLES)


def log(pairs: int) -> pa.Table:
    """An A and a B after it, again and again, 100 ticks apart."""
    events = [
        Event(f"{kind.lower()}{i}", kind, 100 * i + at, 100 * i + at + 3, k="pq"[i % 2])
        for i in range(pairs)
        for kind, at in (("A", 0), ("B", 2))
    ]
    return event_table(events)


def test_no_slice_is_looked_at_after_the_first_row_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_every(monkeypatch, 100)
    seen: list[int] = []
    run = SliceTask.run

    def counted(task: SliceTask, own: TimeSlice) -> Iterator[object]:
        seen.append(own.first)
        return run(task, own)

    monkeypatch.setattr(SliceTask, "run", counted)
    plan = for_existence(plan_of("PATTERN SEQ(A a, B b) WITHIN 20 ticks"))
    assert first_row(plan, log(40)).column("match").to_pylist() == ["a0 b0"]
    assert len(seen) == 1
    seen.clear()
    nothing = for_existence(plan_of("PATTERN SEQ(B a, B b) WITHIN 20 ticks"))
    assert first_row(nothing, log(40)).column("exists").to_pylist() == [False]
    assert len(seen) > 30


@pytest.mark.slow
@pytest.mark.usefixtures("slices_of_two_ticks")
def test_each_key_has_its_first_row_and_a_null_key_as_well() -> None:
    events = pa.concat_tables([log(6), event_table([Event("a", "A", 0, 1), Event("b", "B", 5, 6)])])
    query = (
        "PATTERN SEQ(A a, B b) WHERE a.k = b.k OR (a.k IS NULL AND b.k IS NULL) WITHIN 300 ticks GROUP BY a.k"
    )
    rows = first_row(for_existence(plan_of(query)), events)
    assert rows.column_names == ["a.k", "exists", "confidence", "start", "end", "match", "signature"]
    found = list(zip(rows.column("a.k").to_pylist(), rows.column("match").to_pylist(), strict=True))
    assert found == [("p", "a0 b0"), ("q", "a1 b1"), (None, "a b")]


def test_without_events_there_is_none() -> None:
    plan = for_existence(plan_of("PATTERN SEQ(A a, B b)"))
    assert first_row(plan, event_table([])).to_pylist() == [
        {"exists": False, "confidence": None, "start": None, "end": None, "match": None, "signature": None}
    ]
