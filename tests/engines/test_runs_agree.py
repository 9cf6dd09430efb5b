"""Groups in order where other events decide: the event engine against the judge."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import CepctlError
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.plans import Event, event_table, plan_of
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


@pytest.mark.parametrize(
    ("pattern", "types"),
    [("SEQ(C a, A{1} b[], A? c) WITHIN 3 ticks", "CA"), ("SEQ(A? a, A{1} b[])", "AA")],
)
def test_a_counted_group_beside_what_may_be_absent(pattern: str, types: str) -> None:
    plan = plan_of(f"PATTERN {pattern} STRATEGY {NEXT}")
    table = event_table(Event(f"e{at}", kind, 2 * at, 2 * at) for at, kind in enumerate(types))
    rows = match_events(plan, table)
    assert rows.num_rows
    assert_same_rows(match_table(plan, table), rows)
