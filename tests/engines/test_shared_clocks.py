"""Events that share clocks: the event engine returns what the judge returns, under everything."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import QueryTooLargeError
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, assert_same_rows, check, rows_by_signature
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.engines.clock_examples import CLOCKS
from tests.engines.clock_examples import EXAMPLES as WORKED
from tests.plans import Event, event_table, on, plan_of

FEW = max(EXAMPLES // 20, 1)


def event_engine_agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks)
    assert_same_rows(match_table(plan, case.table), match_events(plan, case.table))


@pytest.mark.parametrize("level", CLOCK_LEVELS)
def test_the_event_engine_agrees_with_the_judge(level: str) -> None:
    check(CLOCK_LEVELS[level], event_engine_agrees, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("level", CLOCK_LEVELS)
def test_the_event_engine_agrees_with_the_judge_on_many_cases(level: str) -> None:
    check(CLOCK_LEVELS[level], event_engine_agrees, MANY_EXAMPLES)


def point_engine_agrees_where_it_runs(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks)
    assume(not engine_refusals(plan, "point") and few_offsets(case))
    assert_same_rows(match_table(plan, case.table), match_points(plan, case.table))


def few_offsets(case: ClockCase) -> bool:
    """So that not every case takes hundreds of combinations."""
    return math.prod(hi - lo + 1 for mass in case.clocks.values() for lo, hi, _ in mass) <= 12


def test_the_point_engine_agrees_with_the_judge() -> None:
    check(CLOCK_LEVELS["chains"] | CLOCK_LEVELS["everything"], point_engine_agrees_where_it_runs, FEW)


def test_the_point_engine_refuses_too_many_offsets() -> None:
    clocks: Clocks = {"n": ((-5_000, 5_000, 1.0),)}
    events = event_table([on("n", clocks, Event("a", "A", 1, 1))])
    with pytest.raises(QueryTooLargeError, match="offset of a clock has 10,001 ticks"):
        match_points(plan_of("PATTERN SEQ(A a)", clocks), events)


@pytest.mark.parametrize(("pattern", "events", "signature", "expected"), WORKED)
def test_worked_numbers_of_shared_clocks(
    pattern: str, events: tuple[Event, ...], signature: str, expected: tuple[int, int, Fraction]
) -> None:
    found = rows_by_signature(match_events(plan_of(f"PATTERN {pattern}", CLOCKS), event_table(events)))
    row = found[tuple((each,) for each in signature.split())]
    assert (row["start"], row["end"]) == expected[:2]
    assert row["confidence"] == pytest.approx(float(expected[2]), rel=1e-12)
