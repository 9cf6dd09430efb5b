"""Events that share clocks: the event engine returns what the judge returns, under everything."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, assert_same_rows, check, rows_by_signature
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.engines.clock_examples import CLOCKS
from tests.engines.clock_examples import EXAMPLES as WORKED
from tests.plans import Event, event_table, plan_of

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


@pytest.mark.parametrize(("pattern", "events", "signature", "expected"), WORKED)
def test_worked_numbers_of_shared_clocks(
    pattern: str, events: tuple[Event, ...], signature: str, expected: tuple[int, int, Fraction]
) -> None:
    found = rows_by_signature(match_events(plan_of(f"PATTERN {pattern}", CLOCKS), event_table(events)))
    row = found[tuple((each,) for each in signature.split())]
    assert (row["start"], row["end"]) == expected[:2]
    assert row["confidence"] == pytest.approx(float(expected[2]), rel=1e-12)
