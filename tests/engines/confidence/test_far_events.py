"""At the ends of time, and between them, every engine returns what the judge returns."""

from __future__ import annotations

import pytest
from hypothesis import assume

from cepctl.engines.event.match import match_events
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import match_table
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.far_events import far_cases
from tests.plans import plan_of
from tests.strategies import LEVELS, Case


def every_engine_agrees(case: Case) -> None:
    plan = plan_of(case.query)
    expected = match_table(plan, case.table)
    assert_same_rows(expected, match_events(plan, case.table))
    if not engine_refusals(plan, "point"):
        assert_same_rows(expected, match_points(plan, case.table))


def an_engine_agrees_where_something_matches(case: Case) -> None:
    assume(match_table(plan_of(case.query), case.table).num_rows)
    every_engine_agrees(case)


@pytest.mark.parametrize("level", LEVELS)
def test_every_engine_agrees_with_the_judge_at_the_ends_of_time(level: str) -> None:
    check(far_cases(LEVELS[level]), every_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_every_engine_agrees_with_the_judge_at_the_ends_of_time_on_many_cases(level: str) -> None:
    check(far_cases(LEVELS[level]), an_engine_agrees_where_something_matches, MANY_EXAMPLES)
