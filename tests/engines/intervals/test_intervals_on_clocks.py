"""Interval events that share clocks in the event engine against the judge, and in examples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.clocks import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import QueryTooLargeError
from tests.engines.clock_cases import OFFSETS, ClockCase
from tests.engines.intervals.random_intervals import queries, streams
from tests.plans import Event, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def stamped(clock: str, clocks: Clocks, event: Event) -> Event:
    """An event, given as its own part, whose start and end a clock stamped."""
    first, last = clocks[clock][0][0], clocks[clock][-1][1]
    moved = replace(event, lower=event.lower + first, upper=event.upper + last, clock=clock)
    if event.end_lower is None or event.end_upper is None:
        return moved
    return replace(moved, end_lower=event.end_lower + first, end_upper=event.end_upper + last)


@st.composite
def cases(draw: st.DrawFn) -> ClockCase:
    """Two to four events, many of which last, on up to three clocks or none."""
    clocks = {name: draw(st.sampled_from(OFFSETS)) for name in "nmk"[: draw(st.integers(1, 3))]}
    events = []
    for event in draw(streams()):
        name = draw(st.sampled_from([*clocks, "n", None]))
        is_sharp = draw(st.integers(0, 2)) == 0
        own = replace(event, upper=event.lower, pmf=None) if is_sharp else event
        events.append(own if name is None else stamped(name, clocks, own))
    return ClockCase(draw(queries()), tuple(events), clocks)


def agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks, lasting=True)
    try:
        judged = exact_matches(plan, case.table)
    except QueryTooLargeError:
        return
    found = {
        tuple(tuple(ids) for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in match_events(plan, case.table).to_pylist()
    }
    assert found.keys() == judged.keys()
    for signature, match in judged.items():
        assert found[signature][:2] == (match.start, match.end)
        assert found[signature][2] == pytest.approx(float(match.confidence), rel=1e-9, abs=1e-12)


@settings(max_examples=25, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(case=cases())
def test_rows_are_those_of_the_judge(case: ClockCase) -> None:
    agrees(case)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(case=cases())
def test_rows_are_those_of_the_judge_many_times_over(case: ClockCase) -> None:
    agrees(case)
