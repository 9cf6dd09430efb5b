"""Random cases that ask when their rows are decided, and what it means that this is as the judge says."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.agreement import assert_same_rows
from tests.engines.clock_cases import ClockCase
from tests.plans import plan_of
from tests.strategies import Case

SHARES = (0.05, 0.3, 0.75, 1.0)
ASKED = ", ".join(f"reached({share}) AS at_{number}" for number, share in enumerate(SHARES))


def asked_too(query: str) -> str:
    """The query with the ticks beside what it returns; RETURN is its last clause."""
    if re.search(r"\bRETURN\b", query):
        return f"{query}, {ASKED}"
    return f"{query} RETURN {ASKED}"


def asking(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """The cases, with the ticks beside what they return."""
    return cases.map(lambda case: replace(case, query=asked_too(case.query)))


def is_decided_as_judged(case: Case | ClockCase, *, lasting: bool = False) -> None:
    """Same rows with the same ticks; what has no world, or costs too much, is left to other tests."""
    clocks = case.clocks if isinstance(case, ClockCase) else None
    plan = plan_of(case.query, clocks, lasting=lasting)
    if plan.never is not None:
        return
    try:
        expected = match_table(plan, case.table)
        found = match_events(plan, case.table)
    except (ContradictionError, QueryTooLargeError):
        assume(condition=False)
    assert_same_rows(expected, found)
