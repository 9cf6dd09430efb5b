"""Cases of one construct in all the ways in which rows are asked for, each judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import CepctlError
from cepctl.plan.support import require_engine
from tests.engines.agreement import assert_same_rows
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import agrees as agrees_with_what_is_given
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.confidence.occurrence.groups_agree import grouped, groups_agree_or_refused
from tests.engines.reached_cases import asking, is_decided_as_judged
from tests.engines.test_engines_agree import event_engine_agrees, event_engine_agrees_above
from tests.plans import plan_of
from tests.strategies import Case

WAYS = ("rows", "thresholds", "GROUP BY", "GIVEN", "shared clocks", "reached")
Judged = tuple[st.SearchStrategy[Any], Callable[[Any], None]]


def judged(way: str, cases: st.SearchStrategy[Case]) -> Judged:
    """The cases as they are asked for, and what each is held to, where the event engine runs it."""
    ways: dict[str, Judged] = {
        "rows": (cases, event_engine_agrees),
        "thresholds": (cases, lambda case: event_engine_agrees_above(case, 0.4)),
        "GROUP BY": (grouped(cases), _groups_agree),
        "GIVEN": (with_given(cases), agrees_with_what_is_given),
        "shared clocks": (clock_cases(cases), _agrees_on_clocks),
        "reached": (asking(cases), is_decided_as_judged),
    }
    asked, test = ways[way]
    return asked, where_it_runs(test)


def where_it_runs(test: Callable[[Any], None]) -> Callable[[Any], None]:
    """The test of cases that the event engine runs."""

    def asked(case: Any) -> None:
        clocks = case.clocks if isinstance(case, ClockCase) else None
        try:
            require_engine(plan_of(case.query, clocks), "event")
        except CepctlError:
            assume(condition=False)
        test(case)

    return asked


def _groups_agree(case: Case) -> None:
    assume(groups_agree_or_refused(case))


def _agrees_on_clocks(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks)
    assert_same_rows(match_table(plan, case.table), match_events(plan, case.table))
