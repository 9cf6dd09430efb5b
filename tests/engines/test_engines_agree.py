"""Every engine returns what the judge returns, construct by construct, on random queries and streams.

Run with CEPCTL_EXAMPLES=500 for more cases than in everyday runs, or `-m slow` for 2,000 of each.
"""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from cepctl.engines.match import match_events
from cepctl.engines.worlds import match_table
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.plans import plan_of
from tests.random_patterns import NEXT, PARTITION, STRICT
from tests.strategies import (
    Case,
    and_cases,
    any_cases,
    chain_cases,
    contiguity_cases,
    kleene_cases,
    negation_cases,
    next_match_cases,
    or_cases,
    sequence_cases,
    timing_cases,
    twin_cases,
)

LEVELS = {
    "chains": chain_cases(),
    "next match": next_match_cases(),
    "contiguity": contiguity_cases(),
    "negation": negation_cases(),
    "negation under next match and contiguity": negation_cases(NEXT, STRICT, PARTITION),
    "AND": and_cases(),
    "Kleene sets": kleene_cases(),
    "Kleene sequences": sequence_cases(),
    "Kleene under next match": kleene_cases(NEXT),
    "Kleene under contiguity": kleene_cases(STRICT, PARTITION),
    "OR": or_cases(),
    "OR under next match and contiguity": or_cases(NEXT, STRICT, PARTITION),
    "OR of whole patterns": twin_cases(),
    "OR of whole patterns under next match and contiguity": twin_cases(NEXT, STRICT, PARTITION),
    "timing": timing_cases(),
    "timing under next match and contiguity": timing_cases(NEXT, STRICT, PARTITION),
    "everything": any_cases(),
}

NOT_RUN_BY_THE_EVENT_ENGINE = {
    "Kleene sets",
    "Kleene sequences",
    "Kleene under next match",
    "Kleene under contiguity",
    "OR under next match and contiguity",
    "OR of whole patterns",
    "OR of whole patterns under next match and contiguity",
    "everything",
}


def levels() -> list[ParameterSet]:
    """All levels; what the event engine does not run is expected to fail, until it does."""
    missing = pytest.mark.xfail(reason="the event engine does not run it", strict=True)
    return [
        pytest.param(each, marks=missing if each in NOT_RUN_BY_THE_EVENT_ENGINE else ()) for each in LEVELS
    ]


def event_engine_agrees(case: Case) -> None:
    plan = plan_of(case.query)
    assert_same_rows(match_table(plan, case.table), match_events(plan, case.table))


@pytest.mark.parametrize("level", levels())
def test_the_event_engine_agrees_with_the_judge(level: str) -> None:
    check(LEVELS[level], event_engine_agrees, EXAMPLES, shrink=level not in NOT_RUN_BY_THE_EVENT_ENGINE)


@pytest.mark.slow
@pytest.mark.parametrize("level", levels())
def test_the_event_engine_agrees_with_the_judge_on_many_cases(level: str) -> None:
    check(LEVELS[level], event_engine_agrees, MANY_EXAMPLES, shrink=level not in NOT_RUN_BY_THE_EVENT_ENGINE)
