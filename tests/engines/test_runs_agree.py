"""Groups in order where other events decide: the event engine against the judge."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import CepctlError
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.plans import plan_of
from tests.random_patterns import NEXT, PARTITION, STRICT
from tests.strategies import Case, read_set_cases, run_cases


def agrees(case: Case) -> None:
    plan = plan_of(case.query)
    try:
        found = match_events(plan, case.table, MatchOptions())
    except CepctlError:
        return
    assert_same_rows(match_table(plan, case.table), found)


@pytest.mark.parametrize("strategies", [(NEXT,), (STRICT, PARTITION)], ids=["next", "contiguity"])
def test_runs_are_those_of_the_judge(strategies: tuple[str, ...]) -> None:
    check(run_cases(*strategies), agrees, FEW_EXAMPLES)


def test_sets_that_are_read_are_those_of_the_judge() -> None:
    check(read_set_cases(NEXT), agrees, FEW_EXAMPLES)
