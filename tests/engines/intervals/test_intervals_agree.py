"""Interval events in the event engine against the judge, on random streams and conditions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import QueryTooLargeError
from tests.engines.intervals.random_intervals import negations, queries, streams, streams_with_rivals
from tests.plans import Event, event_table, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def check(query: str, events: tuple[Event, ...]) -> None:
    plan, table = plan_of(query, lasting=True), event_table(events)
    try:
        judged = exact_matches(plan, table)
    except QueryTooLargeError:
        return
    found = {
        tuple(tuple(ids) for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in match_events(plan, table).to_pylist()
    }
    assert found.keys() == judged.keys()
    for signature, match in judged.items():
        assert found[signature][:2] == (match.start, match.end)
        assert found[signature][2] == pytest.approx(float(match.confidence), rel=1e-9, abs=0)


@settings(max_examples=25, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge(query: str, events: tuple[Event, ...]) -> None:
    check(query, events)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge_many_times_over(query: str, events: tuple[Event, ...]) -> None:
    check(query, events)


@settings(max_examples=25, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), events=streams_with_rivals())
def test_rows_beside_which_something_is_absent_are_those_of_the_judge(
    query: str, events: tuple[Event, ...]
) -> None:
    check(query, events)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), events=streams_with_rivals())
def test_rows_beside_which_something_is_absent_are_those_of_the_judge_many_times_over(
    query: str, events: tuple[Event, ...]
) -> None:
    check(query, events)
