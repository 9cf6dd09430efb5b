"""Slices of time of events that last: the same rows, to the last bit, however time is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.reach import Reach, reach_of
from cepctl.engines.runners.slices import SliceTask, Slicing, choose_slicing
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Plan
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    queries_with_groups,
    streams,
    streams_with_points,
    streams_with_rivals,
)
from tests.engines.runners.test_slices import groups, read_by_slice, sent_to_groups, task_of
from tests.plans import Event, event_table, lasting, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def reach(query: str) -> Reach | None:
    return reach_of(plan_of(query, lasting=True))


def as_in_a_run(task: SliceTask) -> SliceTask:
    """What a run tells its slices before any is matched."""
    binds = task.may_bind_ends and any(task.binds_ends(*file) for file in task.groups.files())
    return task.of_intervals() if binds else task


def check(query: str, events: tuple[Event, ...], length: int, size: int, buckets: int) -> None:
    plan, table = plan_of(query, lasting=True), event_table(events)
    try:
        wanted = ordered(match_events(plan, table))
    except QueryTooLargeError:
        return
    task = as_in_a_run(task_of(plan, table, size))
    slicing = choose_slicing(task.groups, plan, 2, length)
    assert read_by_slice(task, slicing).equals(wanted)
    sent = replace(slicing, buckets=buckets if plan.partition_by else 1, sent=True)
    assert sent_to_groups(task, sent).equals(wanted)


def test_a_slice_knows_of_an_event_that_lasts_though_no_world_has_it() -> None:
    """From 3 to 8 it would last five ticks, where at most one is possible."""
    impossible = lasting("a", "A", (3, 3), (8, 8), length=(None, 1))
    events = impossible, Event("c1", "C", 5, 6), Event("c2", "C", 5, 9)
    check("PATTERN OR(A a, C+ c[]) WITHIN 3 ticks", events, length=7, size=2, buckets=3)


_CUTS = st.tuples(st.sampled_from([1, 2, 3, 7]), st.integers(1, 4), st.integers(1, 3))


@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), events=streams(), cuts=_CUTS)
def test_slices_of_any_length_give_the_same_rows(
    query: str, events: tuple[Event, ...], cuts: tuple[int, int, int]
) -> None:
    check(query, events, *cuts)


@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), events=streams_with_rivals(), cuts=_CUTS)
def test_slices_of_any_length_give_the_same_rows_beside_what_is_absent(
    query: str, events: tuple[Event, ...], cuts: tuple[int, int, int]
) -> None:
    check(query, events, *cuts)


@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(query=queries_with_groups(), events=streams_with_points(), cuts=_CUTS)
def test_slices_of_any_length_give_the_same_rows_with_groups(
    query: str, events: tuple[Event, ...], cuts: tuple[int, int, int]
) -> None:
    check(query, events, *cuts)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(
    case=st.tuples(queries(), streams())
    | st.tuples(negations(), streams_with_rivals())
    | st.tuples(queries_with_groups(), streams_with_points()),
    cuts=_CUTS,
)
def test_slices_of_any_length_give_the_same_rows_many_times_over(
    case: tuple[str, tuple[Event, ...]], cuts: tuple[int, int, int]
) -> None:
    check(*case, *cuts)


def test_what_intersects_the_first_event_is_within_reach_without_a_window() -> None:
    assert reach("PATTERN ISEQ(A a, B b) WHERE a INTERSECTS b") == Reach(0, 0)


def test_a_window_bounds_what_is_bound_and_what_lies_in_gaps() -> None:
    assert reach("PATTERN ISEQ(A a, B b) WITHIN 9 ticks") == Reach(9, 9)
    assert reach("PATTERN SEQ(A a, B b, !C c) WITHIN 9 ticks") == Reach(9, 9)
    assert reach("PATTERN ISEQ(A a, B b)") is None
    assert reach("PATTERN SEQ(A a, B b)") is None


def test_what_is_absent_anywhere_is_within_reach_only_if_its_conditions_say_so() -> None:
    pattern = "PATTERN ISEQ(A a, !C c) WHERE c {} a WITHIN 9 ticks"
    assert reach(pattern.format("DURING")) == Reach(9, 9)
    assert reach(pattern.format("INTERSECTS")) == Reach(9, 9)
    assert reach(pattern.format("BEFORE")) is None


def test_conditions_that_no_world_satisfies_reach_nowhere() -> None:
    assert reach("PATTERN SEQ(A a, B b) WHERE b BEFORE a") == Reach(0, 0)


def sliced(plan: Plan) -> Slicing:
    return choose_slicing(groups(60), plan, parallelism=1)


def test_what_lasts_is_cut_by_time() -> None:
    text = "PATTERN ISEQ(A a, B b) WHERE a INTERSECTS b"
    assert len(sliced(plan_of(text, lasting=True)).slices) == 3
    assert len(sliced(plan_of(f"{text} WITHIN 100 ticks", lasting=True)).slices) == 3
    assert len(sliced(plan_of("PATTERN ISEQ(A a, B b)", lasting=True)).slices) == 1


@pytest.mark.parametrize("length", [1, 4, 50])
def test_a_long_event_meets_those_of_every_slice_that_it_lasts_into(length: int) -> None:
    long = Event("a", "A", 0, 1, end_lower=90, end_upper=95)
    short = [
        Event(f"b{i:02}", "B", 5 * i, 5 * i + 2, end_lower=5 * i + 2, end_upper=5 * i + 4) for i in range(20)
    ]
    table = event_table([long, *short])
    for pattern in ("ISEQ(A a, B b)", "ISEQ(B b, A a)"):
        plan = plan_of(f"PATTERN {pattern} WHERE a INTERSECTS b", lasting=True)
        wanted = ordered(match_events(plan, table))
        assert wanted.num_rows == 19
        task = task_of(plan, table, size=2)
        slicing = choose_slicing(task.groups, plan, 2, length)
        assert len(slicing.slices) > 1
        assert read_by_slice(task, slicing).equals(wanted)
        assert sent_to_groups(task, replace(slicing, sent=True)).equals(wanted)


def test_points_of_a_slice_are_measured_as_beside_events_that_last() -> None:
    """A slice without an event that lasts takes its matches as the slice with one does."""
    points = [Event(f"e{i}", "AB"[i % 2], 3 * i, 3 * i + 5) for i in range(8)]
    table = event_table([*points, Event("z", "B", 90, 92, end_lower=95, end_upper=99)])
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks", lasting=True)
    task = task_of(plan, table, size=2)
    assert task.may_bind_ends
    assert as_in_a_run(task).options.of_intervals
    slicing = choose_slicing(task.groups, plan, 2, 5)
    assert read_by_slice(as_in_a_run(task), slicing).equals(ordered(match_events(plan, table)))
