"""The worked numbers of GROUP BY: rationals over every world, and the same from the event engine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa
import pytest

from cepctl.engines.confidence.occurrence import occurrence
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.kept import KeptRows
from cepctl.engines.worlds.groups import Key, exact_groups
from cepctl.errors import QueryTooLargeError
from tests.engines.confidence.occurrence.groups_agree import by_key, groups_agree, in_order
from tests.plans import Event, event_table, histogram, lasting, plan_of
from tests.strategies import Case

FIG_1 = (Event("a1", "A", 1, 5), Event("c2", "C", 3, 5), Event("b3", "B", 3, 5), Event("c4", "C", 4, 8))
CERTAIN_LAST = (Event("a", "A", 1, 5), Event("b1", "B", 3, 3), Event("b2", "B", 7, 7))
TASKS = (
    *(Event("a1", "A", 1, 4, k="t1"), Event("a2", "A", 2, 5, k="t2")),
    *(Event("b1", "B", 2, 4), Event("b2", "B", 4, 6)),
)


TASKS_AND_ONE = (*TASKS, Event("a3", "A", 3, 3, k="t3"), Event("b3", "B", 5, 5))
TWO_KEYS = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.k")


@dataclass(frozen=True)
class Worked:
    """A query, its events, and the occurrence, expected number and number of matches of each key."""

    query: str
    events: tuple[Event, ...]
    groups: dict[Key, tuple[Fraction, Fraction, int]]


WORKED = {
    "ZDI10's Fig. 1": Worked(
        "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks GROUP BY ()",
        FIG_1,
        {(): (Fraction(44, 225), Fraction(52, 225), 2)},
    ),
    "the same under next match": Worked(
        "PATTERN SEQ(A a, B b, C c) STRATEGY skip_till_next_match WITHIN 4 ticks GROUP BY ()",
        FIG_1,
        {(): (Fraction(44, 225), Fraction(49, 225), 2)},
    ),
    "a certain match beside an uncertain one": Worked(
        "PATTERN SEQ(A a, B b) GROUP BY ()", CERTAIN_LAST, {(): (Fraction(1), Fraction(7, 5), 2)}
    ),
    "two tasks that share samples": Worked(
        "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.k",
        TASKS,
        {
            ("t1",): (Fraction(13, 18), Fraction(5, 6), 2),
            ("t2",): (Fraction(23, 36), Fraction(3, 4), 2),
        },
    ),
    "both tasks together": Worked(
        "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY ()",
        TASKS,
        {(): (Fraction(8, 9), Fraction(19, 12), 4)},
    ),
}


@pytest.mark.parametrize("worked", WORKED.values(), ids=WORKED.keys())
def test_the_judge_gives_the_worked_numbers(worked: Worked) -> None:
    found = exact_groups(plan_of(worked.query), event_table(worked.events))
    assert {
        key: (group.occurrence, group.expected, len(group.matches)) for key, group in found.items()
    } == worked.groups


@pytest.mark.parametrize("worked", WORKED.values(), ids=WORKED.keys())
def test_the_event_engine_gives_the_worked_numbers(worked: Worked) -> None:
    plan = plan_of(worked.query)
    rows = by_key(match_events(plan, event_table(worked.events)), plan)
    found = {
        key: (
            Fraction(row["occurrence"]).limit_denominator(1000),
            Fraction(row["expected"]).limit_denominator(1000),
            row["matches"],
        )
        for key, row in rows.items()
    }
    assert found == worked.groups


def test_a_match_below_the_least_occurrence_still_counts() -> None:
    """Neither row of t2 reaches 0.6, both together do; t1 keeps its rows."""
    query = "PATTERN SEQ(A a, B b) WITHIN 3 ticks CONFIDENCE >= 0.6 GROUP BY a.k"
    groups_agree(Case(query, TASKS))
    rows = match_events(plan_of(query), event_table(TASKS)).to_pylist()
    assert sorted((row["a.k"], row["matches"]) for row in rows) == [("t1", 2), ("t2", 2)]
    more = match_events(plan_of(query.replace("0.6", "0.7")), event_table(TASKS)).to_pylist()
    assert [row["a.k"] for row in more] == ["t1"]


def test_null_is_a_key_too() -> None:
    events = (*TASKS, Event("a3", "A", 1, 4))
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.k")
    groups_agree(Case(plan.query.text, events))
    assert set(by_key(match_events(plan, event_table(events)), plan)) == {("t1",), ("t2",), (None,)}


def test_cells_of_many_ticks_are_summed_as_their_ticks_are() -> None:
    """Split into buckets of one tick, all intervals are summed tick by tick, without any polynomial."""
    query = "PATTERN SEQ(A a, B b, C c, D d) WITHIN 47 ticks GROUP BY ()"
    wide = (
        *(Event("a", "A", 0, 40), Event("c", "C", 21, 67)),
        *(Event("b1", "B", 3, 50), Event("b2", "B", 17, 41)),
        *(Event("d1", "D", 33, 75), Event("d2", "D", 45, 80)),
    )
    split = tuple(
        histogram(
            event.event_id,
            event.event_type,
            *(
                (tick, tick, 1 / (event.upper - event.lower + 1))
                for tick in range(event.lower, event.upper + 1)
            ),
        )
        for event in wide
    )
    ((one,), (other,)) = (
        match_events(plan_of(query), event_table(events)).column("occurrence").to_pylist()
        for events in (wide, split)
    )
    assert one == pytest.approx(other, abs=1e-12)
    assert 0.3 < one < 0.31


def test_a_group_that_costs_too_much_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrence, "WORK_BOUND", 3)
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks GROUP BY ()")
    with pytest.raises(QueryTooLargeError) as refused:
        match_events(plan, event_table(FIG_1))
    said = str(refused.value)
    assert "the occurrence of the whole input is too costly" in said
    assert (
        "2 rows with 1 events in common (separators) need more than 3 products" in said
        or "separators" in said
    )
    assert "0.231111" in said


def test_rows_without_separators_that_cost_too_much_are_refused_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each event is compared with a constant alone: some a has to start in time, and some b."""
    events = [lasting(f"{kind}{i}", kind, (0, 9 + i), (20, 29)) for kind in "AB" for i in range(2)]
    in_time = " AND ".join(f"{name}.start <= '1970-01-01T00:00:00.002Z'" for name in "ab")
    plan = plan_of(f"PATTERN ISEQ(A a, B b) WHERE {in_time} GROUP BY ()", lasting=True)
    (row,) = match_events(plan, event_table(events)).to_pylist()
    assert row["occurrence"] == pytest.approx((1 - 7 / 10 * 8 / 11) ** 2, rel=1e-12)
    for bound in (3, 6, 12):
        monkeypatch.setattr(occurrence, "WORK_BOUND", bound)
        with pytest.raises(QueryTooLargeError, match=rf"4 rows with 0 .* need more than {bound} products"):
            match_events(plan, event_table(events))


@pytest.mark.slow
def test_rows_that_fall_into_many_blocks_are_refused_soon() -> None:
    """Of ten events nine are separators, so a hundred blocks are looked at for each of their ticks."""
    events = [Event(f"{kind}{number}", kind, 0, 1_000) for kind in "AB" for number in range(5)]
    plan = plan_of("PATTERN AND(A a, A b, A c, B d, B e, B f) WITHIN 300 ticks GROUP BY ()")
    begin = time.process_time()
    with pytest.raises(QueryTooLargeError, match="100 rows with 9 events in common"):
        match_events(plan, event_table(events))
    assert time.process_time() - begin < 40  # 7 s, and what compiling takes


def test_a_key_that_costs_too_much_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {row["a.k"]: row for row in match_events(TWO_KEYS, event_table(TASKS_AND_ONE)).to_pylist()}
    monkeypatch.setattr(occurrence, "WORK_BOUND", 3)
    rows = in_order(match_events(TWO_KEYS, event_table(TASKS_AND_ONE)), TWO_KEYS)
    assert [(row["a.k"], row["occurrence"]) for row in rows] == [("t3", 1.0), ("t1", None), ("t2", None)]
    for row in rows:
        assert {**row, "occurrence": 0} == {**whole[row["a.k"]], "occurrence": 0}
    # Without all of them nobody knows which are the most probable.
    with pytest.raises(QueryTooLargeError, match=r"the occurrence of a\.k = t1"):
        match_events(TWO_KEYS, event_table(TASKS_AND_ONE), MatchOptions(top=1))


def test_with_an_error_allowed_bounds_that_are_close_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between 27/225 and 52/225: no world has to be drawn, and the error is certain."""
    monkeypatch.setattr(occurrence, "WORK_BOUND", 3)
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks GROUP BY ()")
    (row,) = match_events(plan, event_table(FIG_1), MatchOptions(approximate=0.1)).to_pylist()
    assert row["occurrence"] == pytest.approx((27 + 52) / 450)
    assert row["occurrence_error"] == pytest.approx((52 - 27) / 450)
    assert row["expected"] == pytest.approx(52 / 225)
    assert row["expected_error"] == 0


def test_with_an_error_allowed_worlds_are_drawn_where_bounds_are_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(occurrence, "WORK_BOUND", 3)
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.k")
    options = MatchOptions(approximate=0.02)
    once, again = (
        by_key(match_events(plan, event_table(events), options), plan) for events in (TASKS, TASKS[::-1])
    )
    assert once == again
    assert once[("t1",)]["occurrence"] == pytest.approx(13 / 18, abs=0.02)
    assert once[("t2",)]["occurrence"] == pytest.approx(23 / 36, abs=0.02)
    # Both are expected less than once, so that the error is the smaller part.
    assert all(row["occurrence_error"] == pytest.approx(0.02 * row["expected"]) for row in once.values())


def test_independent_parts_may_be_many() -> None:
    """Two thousand tasks, each of which has the pattern in one of 600 worlds."""
    events = [
        Event(f"{name}{i}", kind, *interval, k=f"t{i}")
        for i in range(2000)
        for name, kind, interval in (("a", "A", (5, 104)), ("b", "B", (1, 6)))
    ]
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY ()")
    (row,) = match_events(plan, event_table(events)).to_pylist()
    assert row["occurrence"] == pytest.approx(1 - (1 - 1 / 600) ** 2000, abs=1e-12)
    assert row["matches"] == 2000


def test_no_match_is_no_group() -> None:
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY ()")
    found = match_events(plan, event_table([Event("a", "A", 5, 6), Event("b", "B", 1, 2)]))
    assert found.num_rows == 0


def test_bytes_depend_on_no_order_of_the_input() -> None:
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.k")
    found: list[pa.Table] = [
        match_events(plan, event_table(events)) for events in (TASKS, TASKS[::-1], (*TASKS[2:], *TASKS[:2]))
    ]
    rows = [by_key(table, plan) for table in found]
    assert rows[0] == rows[1] == rows[2]


def test_the_judge_leaves_out_what_is_left_out_of_rows() -> None:
    """Whatever says which rows are kept, it is asked as a whole."""
    events = event_table((Event("a", "A", 0, 0), Event("b", "A", 5, 5)))
    plan = plan_of("PATTERN SEQ(A a) GROUP BY ()")
    (group,) = exact_groups(plan, events, KeptRows(first=1)).values()
    assert [signature for signature, _ in group.matches] == [(("b",),)]
    assert exact_groups(plan, events, KeptRows(first=1, last=4)) == {}
