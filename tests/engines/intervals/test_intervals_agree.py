"""Interval events in the event engine against the judge, on random streams and conditions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.engines.intervals.judged import agrees
from tests.engines.intervals.random_intervals import negations, queries, streams, streams_with_rivals
from tests.plans import Event

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=25, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge_many_times_over(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events)


@settings(max_examples=25, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), events=streams_with_rivals())
def test_rows_beside_which_something_is_absent_are_those_of_the_judge(
    query: str, events: tuple[Event, ...]
) -> None:
    agrees(query, events)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), events=streams_with_rivals())
def test_rows_beside_which_something_is_absent_are_those_of_the_judge_many_times_over(
    query: str, events: tuple[Event, ...]
) -> None:
    agrees(query, events)
