"""Logs that grow, whose order of records is known: the runs amount to one run over everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.runners import local
from cepctl.errors import ContradictionError, QueryTooLargeError, UnsupportedQueryError
from cepctl.language.parser import parse
from cepctl.numeric.arrays import Flags
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.plan.support import engine_refusals
from cepctl.schema import ALONG, IN_ORDER_ALONG, IN_WRITTEN_ORDER, MILLISECOND, RECORD, TICK_MIN, WRITER
from cepctl.state.advancing import RunOptions
from cepctl.state.finality import by_end
from cepctl.state.written_order import Steps, WrittenEvents
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_equal_rows, check
from tests.plans import ATTRIBUTES, Event, event_table
from tests.state.incremental import Runs, ends_in_order, late_ids, summed, total
from tests.state.test_equivalence import Delivery, deliveries
from tests.strategies import LEVELS, Case

SCHEMA = EventSchema({**ATTRIBUTES, WRITER: pa.string(), RECORD: pa.int64()}, MILLISECOND)
ALONG_SCHEMA = EventSchema({**SCHEMA.attributes, ALONG: pa.int64()}, MILLISECOND)
QUERIES = tuple(
    f"PATTERN {pattern} WITHIN {window} ticks{strategy}"
    for pattern in (
        "SEQ(A a, B b)",
        "SEQ(A a, A b)",
        "SEQ(A a, !B n, A b)",
        "SEQ(B a, !A n)",
        "SEQ(A a, B+ b[])",
    )
    for window in (3, 9)
    for strategy in ("", " STRATEGY skip_till_next_match")
)
WRITERS: tuple[tuple[str | None, ...], ...] = (("w",), ("w", "v"), ("w", None))
CHOSEN = ("crowded", "shuffled", "chains", "negation", "next match", "contiguity", "timing", "Kleene sets")


@dataclass(frozen=True)
class Written:
    """A delivery whose events, in the order in which they arrive, are records of `writers` (None: nobody's).

    Their times were read in so many ticks as `ticks` says.  `along`: where each stands in its order, None for
    nowhere; without it they stand as they arrive.
    """

    delivery: Delivery
    writers: tuple[str | None, ...]
    ticks: int
    along: tuple[int | None, ...] = ()

    @property
    def pieces(self) -> list[pa.Table]:
        """What arrives, piece by piece."""
        found, number = [], 0
        for piece in self.delivery.pieces:
            own = range(number, number + len(piece))
            found.append(self._table([in_ticks(event, self.ticks) for event in piece], own))
            number += len(piece)
        return found

    def _table(self, events: Sequence[Event], numbers: range) -> pa.Table:
        table = event_table(events).drop_columns("source")
        table = table.append_column(WRITER, pa.array([self.writers[n] for n in numbers], pa.string()))
        record = [None if self.writers[n] is None else n + 1 for n in numbers]
        table = table.append_column(RECORD, pa.array(record, pa.int64()))
        along = [self.along[n] for n in numbers] if self.along else record
        return table.append_column(ALONG, pa.array(along, pa.int64())) if self.along else table

    @property
    def plan(self) -> Plan:
        order, schema = (IN_ORDER_ALONG, ALONG_SCHEMA) if self.along else (IN_WRITTEN_ORDER, SCHEMA)
        return replace(analyze(parse(f"{self.delivery.case.query} GIVEN {order}"), schema), returns=())


@st.composite
def crowded(draw: st.DrawFn) -> Written:
    """Records of one writer, mostly, whose intervals overlap, one after the other; each may come alone."""
    lower, events = 0, []
    for number in range(draw(st.integers(3, 6))):
        lower += draw(st.sampled_from([0, 0, 1, 2, 4]))
        upper = lower + draw(st.sampled_from([0, 1, 2, 4]))
        kind = draw(st.sampled_from("AB"))
        events.append(Event(f"e{number}", kind, lower - draw(st.sampled_from([0, 0, 0, 3])), upper))
    query = draw(st.sampled_from(QUERIES))
    cuts = draw(st.sets(st.integers(1, len(events) - 1), min_size=1))
    writers = tuple(draw(st.sampled_from(["w", "w", "w", "v", None])) for _ in events)
    return Written(
        Delivery(Case(query, tuple(events)), tuple(cuts), 0, 0), writers, draw(st.sampled_from([1, 3]))
    )


@st.composite
def shuffled(draw: st.DrawFn) -> Written:
    """Records that stand along something else than they arrive: a little moved, some beside each other."""
    case = draw(crowded())
    moved = st.sampled_from([0, 0, 0, 0, 1, -1, 2, -3])
    along = [2 * number + draw(moved) for number in range(len(case.writers))]
    nowhere = draw(st.sets(st.integers(0, len(along) - 1), max_size=1))
    return replace(case, along=tuple(None if n in nowhere else at for n, at in enumerate(along)))


@st.composite
def written(draw: st.DrawFn, level: str) -> Written:
    if level in ("crowded", "shuffled"):
        return draw(crowded() if level == "crowded" else shuffled())
    delivery = draw(deliveries(LEVELS[level]))
    assume("GROUP BY" not in delivery.case.query)
    writers = draw(st.sampled_from(WRITERS))
    who = tuple(draw(st.sampled_from(writers)) for _ in delivery.case.events)
    return Written(delivery, who, draw(st.sampled_from([1, 1, 3])))


def in_ticks(event: Event, ticks: int) -> Event:
    """An event whose times were read in so many ticks: what is known to a time keeps its first tick."""
    if event.lower == event.upper:
        return replace(event, lower=event.lower * ticks, upper=event.upper * ticks, pmf=None)
    wide = event.pmf and tuple((lo * ticks, hi * ticks + ticks - 1, p) for lo, hi, p in event.pmf)
    return replace(event, lower=event.lower * ticks, upper=event.upper * ticks + ticks - 1, pmf=wide)


def as_written(table: pa.Table, ticks: int) -> pa.Table:
    """All events as their writers wrote them: said record by record, as the page has it."""
    column = ALONG if ALONG in table.column_names else RECORD
    rows = table.to_pylist()
    ordered = [row for row in rows if row[WRITER] is not None and row[column] is not None]
    points = Counter((row[WRITER], row["lower"]) for row in ordered if row["lower"] == row["upper"])
    reached: dict[str, tuple[int, int]] = {}
    ordered.sort(key=lambda row: (row[WRITER], row[column]))
    for (name, _), group in groupby(ordered, key=lambda row: (row[WRITER], row[column])):
        together = list(group)
        for row in together:
            if row["lower"] == row["upper"] and points[name, row["lower"]] > 1:
                row["upper"] += ticks - 1
        before, era = reached.get(name, (TICK_MIN, 0))
        if any(row["upper"] <= before for row in together):
            before, era = TICK_MIN, era + 1
        reached[name] = max(before + 1, *(row["lower"] for row in together)), era
        for row in together:
            row[WRITER] = f"{name} {era}"
    return pa.Table.from_pylist(rows, schema=table.schema)


def wanted_rows(plan: Plan, pieces: Sequence[pa.Table], ticks: int) -> pa.Table:
    try:
        return by_end(local.run(plan, as_written(pa.concat_tables(pieces), ticks)))
    except (ContradictionError, QueryTooLargeError, UnsupportedQueryError):
        assume(condition=False)
        raise


def runs_of(case: Written, **options: Any) -> Runs:
    plan = case.plan
    assume(not engine_refusals(plan, "event"))
    slack = case.delivery.slack * case.ticks
    runs = Runs(plan, RunOptions(**({"slack": slack, "ticks_of_a_time": case.ticks} | options)))
    for piece in case.pieces:
        runs.outcome(piece)
    runs.outcome(case.pieces[0].slice(0, 0), final=True)
    return runs


def delayed_runs_amount_to_one(case: Written) -> None:
    refused_cases_left_out(case)
    runs = runs_of(case)
    wanted = wanted_rows(case.plan, in_time(case, runs), case.ticks)
    assert_equal_rows(wanted, total(runs.emitted))
    assert ends_in_order(runs.emitted)


def eager_runs_sum_up_to_one(case: Written) -> None:
    refused_cases_left_out(case)
    runs = runs_of(case, eager=True)
    wanted = wanted_rows(case.plan, in_time(case, runs), case.ticks)
    assert_equal_rows(wanted, summed(runs.emitted))


def refused_cases_left_out(case: Written) -> None:
    wanted_rows(case.plan, case.pieces, case.ticks)


def in_time(case: Written, runs: Runs) -> list[pa.Table]:
    """What came in time: late is what stands before a record of its writer that lies wholly before it."""
    late = {name for outcome in runs.outcomes for name in late_ids(outcome)}
    found, before = [], list[dict[str, Any]]()
    for piece in case.pieces:
        for row in piece.to_pylist():
            if row["event_id"] in late:
                assert any(
                    each[WRITER] == row[WRITER] and each[ALONG] > row[ALONG] and each["upper"] < row["lower"]
                    for each in before
                    if case.along and each[ALONG] is not None
                )
        found.append(piece.filter(pc.invert(pc.is_in(piece.column("event_id"), pa.array(late, pa.string())))))
        before += found[-1].to_pylist()
    return found


@pytest.mark.parametrize("level", CHOSEN)
def test_any_split_gives_the_rows_of_one_run(level: str) -> None:
    check(written(level), delayed_runs_amount_to_one, FEW_EXAMPLES)


def test_eager_rows_sum_up_to_the_rows_of_one_run() -> None:
    check(st.sampled_from(CHOSEN).flatmap(written), eager_runs_sum_up_to_one, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", CHOSEN)
def test_any_split_gives_the_rows_of_one_run_in_many_cases(level: str) -> None:
    check(written(level), delayed_runs_amount_to_one, MANY_EXAMPLES)
    check(written(level), eager_runs_sum_up_to_one, MANY_EXAMPLES // 2)


STEP_BACK = Written(
    Delivery(
        Case(
            "PATTERN SEQ(A a, B b) WITHIN 3 ticks",
            (
                Event("e0", "A", 10, 20),
                Event("e1", "C", 5, 5),
                Event("e2", "C", 16, 16),
                Event("e3", "B", 11, 20),
            ),
        ),
        (2, 3),
        0,
        0,
    ),
    ("w", "w", "v", "w"),
    1,
)
"""e1 steps back, so that e0 and e3 are not ordered; it is gone when e3 comes."""


BEFORE_A_CLOSED_ONE = Written(
    Delivery(
        Case(
            "PATTERN SEQ(A a, B b) WITHIN 9 ticks",
            (
                Event("e0", "A", 0, 4),
                Event("e1", "B", 0, 4),
                Event("e2", "C", 20, 20),
                Event("e3", "C", 30, 30),
            ),
        ),
        (2, 3),
        0,
        0,
    ),
    ("w", "w", None, "w"),
    1,
    (2, 4, None, 3),
)
"""e3 stands between e0 and e1, which would step back behind it, and is sure to be after e0 no longer."""


def test_what_stands_before_a_closed_record_is_late() -> None:
    delayed_runs_amount_to_one(BEFORE_A_CLOSED_ONE)
    (*_, last, _) = runs_of(BEFORE_A_CLOSED_ONE).outcomes
    assert late_ids(last) == ["e3"]


def test_a_step_back_is_known_when_its_record_is_gone() -> None:
    delayed_runs_amount_to_one(STEP_BACK)


@dataclass(frozen=True)
class Mutant:
    """A broken rule of growing order, and the cases and the test that must notice it."""

    broken: str
    attribute: str
    replacement: Any
    cases: st.SearchStrategy[Written] = field(default_factory=crowded)


def _all_closed(_events: WrittenEvents, watermark: int) -> int:
    return watermark


def _alone(events: WrittenEvents, tick: int) -> Flags:
    return np.asarray(events.table.column("upper").to_numpy() >= tick)


def _never_closed(_events: WrittenEvents, _closed: dict[str, int], _watermark: int) -> dict[str, int]:
    return {}


def _forgotten(_events: WrittenEvents, _kept: Flags) -> dict[str, Steps]:
    return {}


MUTANTS = (
    Mutant("the newest record of a unit is believed final", "open_from", _all_closed),
    Mutant(
        "what stands before a closed record is in time",
        *("closed_after", _never_closed, st.just(BEFORE_A_CLOSED_ONE)),
    ),
    Mutant("a unit is cut where the state forgets", "reaching", _alone),
    Mutant(
        "steps back of records that are gone are forgotten", "steps_among", _forgotten, st.just(STEP_BACK)
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.broken)
def test_a_broken_rule_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WrittenEvents, mutant.attribute, mutant.replacement)
    with pytest.raises(AssertionError):
        check(mutant.cases, delayed_runs_amount_to_one, 3_000, shrink=False)
