"""What is given of events that share clocks: the event engine returns what the judge returns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.confidence.clocks import unions
from cepctl.engines.confidence.clocks.clause_breakpoints import breakpoints_of_clauses
from cepctl.engines.confidence.clocks.nodes import Segments
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.given import groups, on_clocks
from cepctl.engines.confidence.given.groups import GroupWholes
from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check, rows_by_signature
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import assert_judged, with_given
from tests.engines.confidence.occurrence.groups_agree import grouped
from tests.plans import Event, event_table, histogram, on, plan_of
from tests.strategies import LEVELS

TIES = "GIVEN SEQ(S p, R q) IF p.x = q.x"
CLOCKS: Clocks = {"n": ((-4, 4, 1.0),), "m": ((-1, 1, 0.5), (3, 4, 0.5))}
WIDE: Clocks = {"n": ((-60, 60, 1.0),)}


def agrees(case: ClockCase) -> None:
    """The rows, or groups, or the contradiction of the judge."""
    assert_judged(plan_of(case.query, case.clocks), case.table, may_refuse=True)


def agrees_or_refused(case: ClockCase) -> None:
    """The same; a key that has too many rows to be taken together may be refused."""
    with suppress(QueryTooLargeError):
        agrees(case)


@pytest.mark.parametrize("level", ["chains", "everything"])
def test_event_engine_agrees_with_the_judge(level: str) -> None:
    check(clock_cases(with_given(LEVELS[level])), agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_event_engine_agrees_with_the_judge_on_many_cases(level: str) -> None:
    check(clock_cases(with_given(LEVELS[level])), agrees, MANY_EXAMPLES // 4)


def test_groups_are_those_of_the_judge() -> None:
    check(clock_cases(with_given(grouped(LEVELS["everything"]))), agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_groups_are_those_of_the_judge_in_many_cases(level: str) -> None:
    check(clock_cases(with_given(grouped(LEVELS[level]))), agrees_or_refused, MANY_EXAMPLES // 4)


ONE_CLOCK = (
    on("n", CLOCKS, Event("s", "S", 1, 4, x=1)),
    on("n", CLOCKS, Event("r", "R", 2, 5, x=1)),
    on("n", CLOCKS, Event("y", "C", 3, 3)),
    Event("z", "D", 2, 9),
)
TWO_CLOCKS = (
    on("n", CLOCKS, Event("s", "S", 1, 3, x=1)),
    on("m", CLOCKS, Event("r", "R", 2, 4, x=1)),
    on("n", CLOCKS, Event("a", "A", 1, 2)),
    on("m", CLOCKS, Event("c", "B", 1, 4)),
    Event("b", "B", 1, 4),
)
FAR = (
    on("n", WIDE, Event("s", "S", 4, 5, x=1)),
    Event("r", "R", 30, 30, x=1),
    on("n", WIDE, Event("a", "A", 8, 8)),
    Event("b", "B", 6, 30),
)
CASES = {
    "one clock": ClockCase(f"PATTERN SEQ(S s, C c) {TIES}", ONE_CLOCK, CLOCKS),
    "one clock and none": ClockCase(f"PATTERN SEQ(S s, D d) {TIES}", ONE_CLOCK, CLOCKS),
    "two clocks": ClockCase(f"PATTERN SEQ(A a, B b) {TIES}", TWO_CLOCKS, CLOCKS),
    "a tied rival": ClockCase(f"PATTERN SEQ(A a, !S n, B b) WITHIN 9 ticks {TIES}", TWO_CLOCKS, CLOCKS),
    "next match": ClockCase(
        f"PATTERN SEQ(A a, B|R b) WITHIN 8 ticks STRATEGY skip_till_next_match {TIES}", TWO_CLOCKS, CLOCKS
    ),
    "one of two": ClockCase(
        f"PATTERN OR(SEQ(A a, !S n, B b), SEQ(A a, !R n, B b)) WITHIN 9 ticks {TIES}", TWO_CLOCKS, CLOCKS
    ),
    "a key": ClockCase(
        f"PATTERN SEQ(A a, B b) WITHIN 9 ticks GROUP BY a.event_type {TIES}", TWO_CLOCKS, CLOCKS
    ),
    "wide offsets": ClockCase(f"PATTERN SEQ(A a, B b) WITHIN 9 ticks {TIES}", FAR, WIDE),
}


@pytest.mark.parametrize("case", CASES)
def test_event_engine_agrees_with_the_judge_on(case: str) -> None:
    agrees(CASES[case])


def _alone(count: int, *_: Any) -> Any:
    return np.arange(count)


def _untied(self: GroupWholes, problems: Problems) -> Any:
    return tuple(np.zeros(0, dtype=np.int64) for _ in range(4))


def _certain(known: Any, wholes: Any, *_: Any) -> Any:
    return np.ones(len(wholes))


def unbroken(*arguments: Any) -> Any:
    """No offset has a breakpoint."""
    found, costly = breakpoints_of_clauses(*arguments)
    none = np.zeros(0, dtype=np.int64)
    return {pair: Segments.of(len(each.offsets) - 1, none, none) for pair, each in found.items()}, costly


FAULTS: dict[str, tuple[object, str, Callable[..., Any], tuple[str, ...]]] = {
    "what is given is certain": (groups, "whole_probability", _certain, ("two clocks", "a key")),
    "a clock connects nothing": (on_clocks, "connected", _alone, ("two clocks",)),
    "no tie is asked for": (GroupWholes, "tied", _untied, ("two clocks", "a key")),
    "nothing ends a piece of an offset": (unions, "breakpoints_of_clauses", unbroken, ("wide offsets",)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, planted, cases = FAULTS[fault]
    monkeypatch.setattr(module, name, planted)
    for case in cases:
        with pytest.raises(AssertionError):
            agrees(CASES[case])


def test_a_tie_of_sharp_events_truncates_the_offset() -> None:
    events = event_table(
        [
            on("n", CLOCKS, Event("s", "S", 10, 10, x=1)),
            on("n", CLOCKS, Event("a", "A", 20, 20)),
            Event("r", "R", 11, 11, x=1),
            Event("b", "B", 19, 19),
        ]
    )
    for given, expected in (("", 1 / 3), (TIES, 3 / 5)):
        found = match_events(plan_of(f"PATTERN SEQ(A a, B b) {given}", CLOCKS), events)
        assert rows_by_signature(found)[("a",), ("b",)]["confidence"] == pytest.approx(expected, rel=1e-12)


def test_of_one_clock_the_own_parts_are_held_to_what_is_given() -> None:
    """In absolute ticks both could be either way round; the readings say which comes first."""
    events = event_table(
        [on("n", CLOCKS, Event("s", "S", 6, 7, x=1)), on("n", CLOCKS, Event("r", "R", 3, 5, x=1))]
    )
    with pytest.raises(ContradictionError, match=r"s in 2\.\.11, r in -1\.\.9"):
        match_events(plan_of(f"PATTERN SEQ(S s, R r) {TIES}", CLOCKS), events)


def test_clocks_that_contradict_each_other_leave_no_world() -> None:
    """Each pair alone is possible: one asks that clock n is behind, and the other that it is ahead."""
    events = event_table(
        [
            on("n", CLOCKS, Event("s1", "S", 10, 10, x=1)),
            Event("r1", "R", 9, 9, x=1),
            Event("s2", "S", 10, 10, x=2),
            on("n", CLOCKS, Event("r2", "R", 9, 9, x=2)),
        ]
    )
    with pytest.raises(ContradictionError, match="no possible world satisfies GIVEN SEQ"):
        match_events(plan_of(f"PATTERN SEQ(S s, R r) {TIES}", CLOCKS), events)


def test_masses_with_holes_that_leave_no_world_are_a_contradiction() -> None:
    clocks: Clocks = {"n": ((0, 0, 0.5), (10, 10, 0.5)), "m": ((0, 0, 0.5), (10, 10, 0.5))}
    events = event_table(
        [
            on("n", clocks, Event("s", "S", 5, 5, x=1)),
            on("m", clocks, Event("r", "R", 8, 8, x=1)),
            histogram("b", "B", (1, 2, 1.0)),
        ]
    )
    near = "GIVEN SEQ(S p, R q) WITHIN 12 ticks IF p.x = q.x GIVEN SEQ(R p, S q) IF p.x = q.x"
    with pytest.raises(ContradictionError):
        match_events(plan_of(f"PATTERN SEQ(B b) {near}", clocks), events)


def test_more_tied_events_than_can_be_summed_are_refused_by_number() -> None:
    tied = [on("n", CLOCKS, Event(f"s{i}", "S", i, i + 2, x=i)) for i in range(40)]
    tied += [Event(f"r{i}", "R", i, i + 6, x=i) for i in range(40)]
    plan = plan_of(f"PATTERN SEQ(S s, R r) WHERE s.x = r.x {TIES}", CLOCKS)
    with pytest.raises(QueryTooLargeError, match="GIVEN and shared clocks tie 80 events to each other"):
        match_events(plan, event_table(tied))
