"""Events on tied clocks: every engine returns what the judge returns, and a forgotten tie is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume

from cepctl.clocks.ties import Clocks, ClockTie, tied
from cepctl.engines.columns import events as event_columns
from cepctl.engines.columns.clocks import NO_TIE, EventClocks, event_clocks
from cepctl.engines.confidence.clocks.frames import Frames, Weighed
from cepctl.engines.event.match import match_batches, match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.numeric.arrays import Indexes
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.clock_cases import ClockCase
from tests.engines.test_shared_clocks import few_offsets
from tests.engines.tied_clock_cases import (
    TIED_CHAINS,
    TIED_LEVELS,
    WORKED,
    WORKED_CLOCKS,
    WORKED_READINGS,
)
from tests.plans import Event, event_table, on, plan_of

FEW = max(EXAMPLES // 20, 1)


@pytest.mark.parametrize(("pattern", "confidence"), WORKED)
def test_worked_numbers_of_tied_clocks(pattern: str, confidence: str) -> None:
    plan, table = plan_of(f"PATTERN {pattern}", WORKED_CLOCKS), event_table(WORKED_READINGS)
    (exact,) = exact_matches(plan, table).values()
    assert exact.confidence == Fraction(confidence)
    for engine in (match_events, match_points):
        (row,) = engine(plan, table).to_pylist()
        assert row["confidence"] == pytest.approx(float(exact.confidence), rel=1e-12)
        assert (row["start"], row["end"]) == (exact.start, exact.end)


def agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks)
    try:
        expected = match_table(plan, case.table)
    except QueryTooLargeError:
        assume(False)
    assert_same_rows(expected, match_events(plan, case.table))


@pytest.mark.parametrize("level", TIED_LEVELS)
def test_the_event_engine_agrees_with_the_judge(level: str) -> None:
    check(TIED_LEVELS[level], agrees, FEW)


def test_chains_agree_with_the_judge() -> None:
    check(TIED_CHAINS, agrees, EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", TIED_LEVELS)
def test_the_event_engine_agrees_with_the_judge_on_many_cases(level: str) -> None:
    check(TIED_LEVELS[level], agrees, MANY_EXAMPLES)


def test_the_point_engine_agrees_with_the_judge() -> None:
    def point_engine_agrees(case: ClockCase) -> None:
        plan = plan_of(case.query, case.clocks)
        assume(not engine_refusals(plan, "point") and few_offsets(case))
        assert_same_rows(match_table(plan, case.table), match_points(plan, case.table))

    check(TIED_LEVELS["chains"], point_engine_agrees, FEW)


# --- faults ----------------------------------------------------------------------------------


def _untied(table: Any, clocks: Clocks) -> EventClocks | None:
    found = event_clocks(table, clocks)
    return None if found is None else replace(found, tie=np.full_like(found.tie, NO_TIE))


def _one_tick_less(table: Any, clocks: Clocks) -> EventClocks | None:
    found = event_clocks(table, clocks)
    return None if found is None else replace(found, tie=np.maximum(found.tie - 1, np.minimum(found.tie, 0)))


def _nothing_between(_: EventClocks, owner: Indexes, clock: Indexes) -> tuple[Indexes, Indexes]:
    return owner, clock


def _weighed_twice(frames: Frames, level: int) -> Iterator[Weighed]:
    for each in _WEIGHED(frames, level):
        yield each
        yield each


_WEIGHED = Frames._weighed_at


@pytest.mark.parametrize(
    ("owner", "name", "fault", "pattern"),
    [
        (event_columns, "event_clocks", _untied, "SEQ(A a, D d)"),
        (event_columns, "event_clocks", _one_tick_less, "SEQ(A a, D d)"),
        (EventClocks, "with_between", _nothing_between, "SEQ(A a, E e) WITHIN 102 ticks"),
        (Frames, "_weighed_at", _weighed_twice, "SEQ(A a, !D d, C c)"),
    ],
    ids=["forgotten", "a tick less", "nothing between", "drawn twice"],
)
def test_a_fault_is_noticed(
    owner: Any, name: str, fault: Any, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises(AssertionError):
        agrees(ClockCase(f"PATTERN {pattern}", WORKED_READINGS, WORKED_CLOCKS))


# --- what is refused -------------------------------------------------------------------------


def of_segments(count: int, apart: int = 1, width: int = 2) -> Clocks:
    offset = ((-width, width, 1.0),)
    names = [f"node=n7#{number}" for number in range(1, count + 1)]
    ties = [ClockTie(one, other, apart) for one, other in pairwise(names)]
    return tied({**dict.fromkeys(names, offset), "m": offset}, ties)


def at_both_ends(clocks: Clocks, last: str) -> tuple[Event, ...]:
    return (
        on("node=n7#1", clocks, Event("a", "A", 0, 0)),
        on(last, clocks, Event("b", "B", 3, 3)),
        on("m", clocks, Event("c", "C", 5, 5)),
    )


def test_more_than_six_segments_are_refused_by_name_with_the_remedy() -> None:
    clocks = of_segments(7)
    plan = plan_of("PATTERN SEQ(A a, B b)", clocks)
    table = event_table(at_both_ends(clocks, "node=n7#7"))
    with pytest.raises(QueryTooLargeError, match=r'node=n7#1 to node=n7#7.*residual = "epoch"'):
        match_events(plan, table)
    (row,) = match_events(plan, table, MatchOptions(approximate=0.05)).to_pylist()
    (exact,) = exact_matches(plan, table).values()
    assert row["confidence"] == pytest.approx(float(exact.confidence), abs=0.05)
    with pytest.raises(QueryTooLargeError, match=r'residual = "epoch"'):
        match_events(plan_of("PATTERN SEQ(A a, B b) GROUP BY ()", clocks), table)


def test_six_segments_are_summed_whatever_is_before_and_after_them() -> None:
    clocks = of_segments(7, width=1)
    plan = plan_of("PATTERN SEQ(A a, B b)", clocks)
    table = event_table(at_both_ends(clocks, "node=n7#6"))
    assert_same_rows(match_table(plan, table), match_events(plan, table))


def test_ties_without_a_world_name_the_clocks() -> None:
    far = tied({"n#1": ((0, 1, 1.0),), "n#2": ((5, 6, 1.0),)}, [ClockTie("n#1", "n#2", 3)])
    plan = plan_of("PATTERN SEQ(A a)", far)
    with pytest.raises(ContradictionError, match=r"'n#2' and 'n#1' differ by more than the 3 ticks"):
        match_events(plan, event_table([on("n#1", far, Event("a", "A", 0, 0))]))


def test_given_and_ties_without_a_world_are_told() -> None:
    clocks = of_segments(2)
    query = "PATTERN SEQ(A a) GIVEN SEQ(B y, A x) IF x.k = y.k"
    events = [
        on("node=n7#1", clocks, Event("a", "A", 0, 0, k="p")),
        on("node=n7#2", clocks, Event("b", "B", 1, 1, k="p")),
    ]
    for engine in (match_events, match_table):
        with pytest.raises(ContradictionError):
            engine(plan_of(query, clocks), event_table(events))


def test_what_is_given_by_lower_is_contradicted_where_ties_let_an_event_begin_later() -> None:
    """The first event is stored as -1..5: its offset could be -3..2, but is -1..1, near to that of n#2."""
    clocks = tied({"n#1": ((-3, 2, 1.0),), "n#2": ((0, 0, 1.0),)}, [ClockTie("n#1", "n#2", 1)])
    query = "PATTERN A a GIVEN SEQ(* p, * q) IF p.k = q.k AND p.lower < q.lower"
    events = [on("n#1", clocks, Event("a", "A", 2, 3, k="p")), Event("b", "B", 0, 0, k="p")]
    for engine in (match_events, match_table):
        with pytest.raises(ContradictionError):
            engine(plan_of(query, clocks), event_table(events))


def test_one_clock_alone_is_measured_as_without_ties() -> None:
    events = (
        on("n#2", WORKED_CLOCKS, Event("a", "A", 1, 4)),
        on("n#2", WORKED_CLOCKS, Event("b", "B", 2, 5)),
    )
    rows = [
        match_events(plan_of("PATTERN SEQ(A a, B b)", clocks), event_table(events)).to_pylist()
        for clocks in (WORKED_CLOCKS, dict(WORKED_CLOCKS))
    ]
    assert rows[0] == rows[1]


def test_a_tie_narrows_when_a_match_can_happen() -> None:
    clocks = tied({"n#1": ((-9, 9, 1.0),), "n#2": ((0, 0, 1.0),)}, [ClockTie("n#1", "n#2", 2)])
    events = (on("n#1", clocks, Event("a", "A", 10, 10)), Event("b", "B", 50, 50))
    (row,) = match_events(plan_of("PATTERN SEQ(A a, B b)", clocks), event_table(events)).to_pylist()
    assert (row["start"], row["end"]) == (8, 50)


def test_a_slice_owns_what_it_stores_though_a_tie_moves_where_an_event_begins() -> None:
    clocks = tied({"n": ((-2, 2, 1.0),), "m": ((0, 0, 1.0),)}, [ClockTie("n", "m", 1)])
    table = event_table([Event("a", "A", -2, -2), on("n", clocks, Event("b", "A", 1, 1))])
    plan = plan_of("PATTERN SEQ(A a) WITHIN 1 ticks", clocks)
    slices = [
        row["signature"]
        for owned in ((-2, -2), (-1, -1), (0, 3))
        for batch in match_batches(plan, table, MatchOptions(), owned)
        for row in batch.to_pylist()
    ]
    assert slices == [[["a"]], [["b"]]]
