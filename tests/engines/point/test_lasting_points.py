"""Interval events in the point engine: the judge's rows, pair by pair of ticks, and what is too wide."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from cepctl.engines.point import lasting as lasting_points
from cepctl.engines.point.engine import match_table
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from tests.engines.confidence.intervals.judged import agrees
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    streams,
    streams_with_rivals,
)
from tests.plans import Event, event_table, lasting, plan_of

A, B = lasting("a", "A", (0, 4), (3, 8)), lasting("b", "B", (2, 5), (6, 9))
N = lasting("n", "N", (3, 5), (5, 7))


@pytest.mark.parametrize(
    ("query", "events", "expected"),
    [
        ("SEQ(A a, B b)", (A, B), (0, 9, 52 / 464)),
        ("ISEQ(A a, B b) WHERE a OVERLAPS|DURING b", (A, B), (0, 9, 194 / 464)),
        ("ISEQ(A a, B b) WHERE a INTERSECTS b BY 3 ticks", (A, B), (0, 9, 160 / 464)),
        ("ISEQ(A a, !N n) WHERE n INTERSECTS a", (A, N), (0, 5, 9 / 29)),
    ],
)
def test_relations_and_absences_are_counted_pair_by_pair(
    query: str, events: tuple[Event, ...], expected: tuple[int, int, float]
) -> None:
    (row,) = match_table(plan_of(f"PATTERN {query}", lasting=True), event_table(events)).to_pylist()
    assert (row["start"], row["end"], row["confidence"]) == (*expected[:2], pytest.approx(expected[2]))


def test_too_many_pairs_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting_points, "MAX_PAIRS", 45)
    with pytest.raises(
        QueryTooLargeError, match="46 pairs of a start and an end, the point engine takes at most 45"
    ):
        match_table(plan_of("PATTERN SEQ(A a, B b)", lasting=True), event_table((A, B)))


def test_alternatives_are_refused_by_name() -> None:
    plan = plan_of("PATTERN SEQ(A a, OR(B b, N n))", lasting=True)
    with pytest.raises(
        UnsupportedQueryError, match=r"OR beside interval events under .* in the point engine"
    ):
        match_table(plan, event_table((A, B, N)))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(query=queries(), events=streams())
def test_rows_are_those_of_the_judge(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events, match_table, 1e-12)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(query=negations(), events=streams_with_rivals())
def test_rows_beside_which_something_is_absent_are_those_of_the_judge(
    query: str, events: tuple[Event, ...]
) -> None:
    agrees(query, events, match_table, 1e-12)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(query=queries() | negations(), events=streams() | streams_with_rivals())
def test_rows_are_those_of_the_judge_many_times_over(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events, match_table, 1e-12)
