"""Interval events in the event engine against the judge, on random streams and conditions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from cepctl.engines.event.match import match_events
from tests.engines.confidence.intervals.judged import agrees
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    streams,
    streams_with_rivals,
)
from tests.engines.confidence.intervals.test_interval_groups import groups_agree
from tests.plans import Event, event_table, lasting, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge_many_times_over(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events)


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
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


@pytest.mark.parametrize("given", ["", " GIVEN SEQ(A p, B q) IF p.lower <= q.lower"])
@pytest.mark.parametrize(
    "asked",
    [
        "c.start - c.end <> 0 ticks",
        "c.end - c.start <> 2 ticks",
        "c.end - c.start <> 1 ticks AND c.end - c.start <> 3 ticks",
        "c.end - c.start <> 2 ticks AND c MEETS|DURING|OVERLAPS b",
    ],
)
def test_what_is_absent_may_be_asked_for_other_lengths_in_other_cases(asked: str, given: str) -> None:
    events = (
        lasting("a", "A", (0, 2), (1, 3)),
        lasting("c", "C", (1, 4), (3, 6)),
        lasting("d", "C", (2, 2), (3, 8)),
        lasting("b", "B", (4, 6), (7, 8)),
    )
    for window in ("", " WITHIN 9 ticks"):
        agrees(f"PATTERN SEQ(A a, !C c, B b) WHERE {asked}{window}{given}", events)
    groups_agree(f"PATTERN SEQ(A a, !C c, B b) WHERE {asked} GROUP BY (){given}", events)


@pytest.mark.parametrize("given", ["", " GIVEN SEQ(A p, B q) IF p.lower <= q.lower"])
@pytest.mark.parametrize(
    "asked", ["c INTERSECTS a BY 2 ticks", "c INTERSECTS a BY 2 ticks AND c INTERSECTS b BY 3 ticks"]
)
def test_what_is_absent_intersects_only_what_lasts_so_long(asked: str, given: str) -> None:
    events = (
        lasting("a", "A", (0, 2), (1, 4)),
        lasting("c", "C", (0, 1), (2, 7)),
        lasting("d", "C", (2, 2), (3, 7)),
        lasting("b", "B", (4, 6), (7, 8)),
    )
    query = f"PATTERN ISEQ(!C c, A a, B b) WHERE {asked} WITHIN 12 ticks"
    agrees(query + given, events)
    groups_agree(f"{query} GROUP BY (){given}", events)


def test_what_is_absent_intersects_only_what_lasts_so_long_on_one_row() -> None:
    """A lasts for 0 or 1 ticks; c ends at 2 or later, but in one of three worlds: 1 - 1/2 * 2/3."""
    events = (lasting("a", "A", (1, 1), (1, 2)), lasting("c", "C", (0, 0), (1, 3)))
    query = "PATTERN ISEQ(!C c, A a) WHERE c INTERSECTS a BY 1 ticks"
    (row,) = match_events(plan_of(query, lasting=True), event_table(events)).to_pylist()
    assert row["confidence"] == pytest.approx(2 / 3)
