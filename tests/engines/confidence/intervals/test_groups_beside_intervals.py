"""Kleene groups of points beside interval events: every set or sequence of members, as the judge has them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.engines.diagnosis.one_match import one_match
from cepctl.engines.diagnosis.why_not import why_not
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.errors import UnsupportedQueryError
from tests.engines.confidence.intervals.judged import agrees
from tests.engines.confidence.intervals.random_intervals import (
    choices_with_groups,
    queries_with_groups,
    streams_with_points,
    streams_with_points_and_rivals,
)
from tests.engines.confidence.intervals.test_interval_groups import groups_agree
from tests.plans import Event, event_table, lasting, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def test_members_lie_between_the_end_of_one_and_the_start_of_the_next() -> None:
    events = (
        lasting("a", "A", (0, 1), (2, 5)),
        Event("b1", "B", 4, 4),
        Event("b2", "B", 6, 6),
        lasting("c", "C", (6, 7), (9, 9)),
    )
    table = event_table(events)
    rows = match_events(plan_of("PATTERN SEQ(A a, B+ b[], C c)", lasting=True), table).to_pylist()
    found = {tuple(row["signature"][1]): row["confidence"] for row in rows}
    # a ends before 4 in half of the worlds, c starts after 6 in half of them.
    assert found == {("b1",): 0.5, ("b2",): 0.5, ("b1", "b2"): 0.25}


def test_an_event_that_lasts_is_not_a_member() -> None:
    table = event_table((Event("a", "A", 0, 1), lasting("b", "B", (2, 3), (4, 5)), Event("c", "C", 9, 9)))
    with pytest.raises(UnsupportedQueryError, match=r"interval events in the Kleene group b\[\]"):
        match_events(plan_of("PATTERN SEQ(A a, B+ b[], C c)", lasting=True), table)


def test_many_members_that_overlap_cost_little() -> None:
    points = (Event(f"b{n:02}", "B", 20, 40) for n in range(9))
    table = event_table((lasting("a", "A", (0, 9), (15, 30)), *points, lasting("c", "C", (35, 50), (60, 70))))
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c) WHERE count(b[]) >= 8", lasting=True)
    assert match_events(plan, table).num_rows == 10


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(query=queries_with_groups(), events=streams_with_points())
def test_rows_with_groups_are_those_of_the_judge(query: str, events: tuple[Event, ...]) -> None:
    agrees(query, events)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=_QUIET)
@given(query=queries_with_groups(), events=streams_with_points())
def test_rows_with_groups_are_those_of_the_judge_many_times_over(
    query: str, events: tuple[Event, ...]
) -> None:
    agrees(query, events)


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(query=choices_with_groups(), events=streams_with_points_and_rivals())
def test_rows_with_groups_beside_absences_or_alternatives_are_those_of_the_judge(
    query: str, events: tuple[Event, ...]
) -> None:
    agrees(query, events)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=_QUIET)
@given(query=choices_with_groups(), events=streams_with_points_and_rivals())
def test_rows_with_groups_beside_absences_or_alternatives_are_those_of_the_judge_many_times_over(
    query: str, events: tuple[Event, ...]
) -> None:
    agrees(query, events)
    groups_agree(f"{query} GROUP BY ()", events)


def test_an_absence_looks_between_the_end_of_an_event_and_the_first_member() -> None:
    within = lasting("n", "N", (5, 5), (6, 9))
    points = (Event("b1", "B", 8, 8), Event("b2", "B", 12, 12))
    table = event_table((lasting("a", "A", (0, 1), (2, 3)), within, *points))
    plan = plan_of("PATTERN SEQ(A a, !N n, B+ b[])", lasting=True)
    found = {tuple(row["signature"][1]): row["confidence"] for row in match_events(plan, table).to_pylist()}
    # n ends before 8 in two of four worlds, and before 12 in all of them.
    assert found == {("b1",): 0.5, ("b1", "b2"): 0.5}


@settings(max_examples=8, deadline=None, suppress_health_check=_QUIET)
@given(query=queries_with_groups(), events=streams_with_points())
def test_keys_of_rows_with_groups_are_those_of_the_judge(query: str, events: tuple[Event, ...]) -> None:
    groups_agree(f"{query} GROUP BY ()", events)


def test_what_is_not_measured_beside_groups_is_refused_by_name() -> None:
    table = event_table((lasting("a", "A", (0, 1), (2, 5)), Event("b1", "B", 4, 9)))
    plan = plan_of("PATTERN SEQ(A a, B+ b[])", lasting=True)
    with pytest.raises(UnsupportedQueryError, match="--kleene summary for interval events"):
        match_events(plan, table, MatchOptions(kleene="summary"))


def test_one_match_shows_every_member() -> None:
    events = (
        lasting("a", "A", (0, 1), (2, 5)),
        Event("b1", "B", 4, 4),
        Event("b2", "B", 6, 6),
        lasting("c", "C", (6, 7), (9, 9)),
    )
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c)", lasting=True)
    shown = one_match(plan, event_table(events), (("a",), ("b1", "b2"), ("c",)), 8)
    assert [each.variable for each in shown.members] == ["a", "b", "b", "c"]
    assert (shown.confidence, shown.start, shown.end) == (0.25, 0, 9)


def test_why_not_counts_the_groups_that_a_rival_breaks() -> None:
    events = (
        lasting("a", "A", (0, 1), (2, 3)),
        lasting("n", "N", (9, 9), (11, 11)),
        *(Event(f"b{at}", "B", at, at) for at in (6, 8, 12)),
    )
    plan = plan_of("PATTERN SEQ(A a, B+ b[], !N n) WITHIN 20 ticks", lasting=True)
    (explained,) = why_not(plan, event_table(events)).alternatives
    found = explained.completion
    assert found is not None
    # Only groups that hold the last member end after n has begun.
    assert (found.bindings, found.complete, found.possible) == (1, 7, 4)
    (loss,) = found.losses
    assert (loss.condition.text, loss.count) == ("no n", 3)
    assert [(each.event, each.count) for each in found.breakers] == [(3, 3)]


@settings(max_examples=12, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(
    case=st.tuples(queries_with_groups(), streams_with_points())
    | st.tuples(
        choices_with_groups().filter(lambda query: "OR(" not in query), streams_with_points_and_rivals()
    )
)
def test_what_is_said_to_be_possible_of_groups_is_what_matches(case: tuple[str, tuple[Event, ...]]) -> None:
    query, events = case
    plan, table = plan_of(query, lasting=True), event_table(events)
    (explained,) = why_not(plan, table).alternatives
    assert (explained.completion.possible if explained.completion else 0) == match_events(
        plan, table
    ).num_rows
