"""Slices of time and buckets of keys: what is chosen, and that no match is lost or found twice."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from cepctl.engines.alternative import MatchOptions
from cepctl.engines.match import match_batches, match_events, match_schema
from cepctl.engines.results import ordered
from cepctl.engines.slices import EVENTS_PER_SLICE, Slicing, choose_slicing
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case, any_cases, chain_cases


def chosen(**changes: int | bool | None) -> Slicing:
    facts: dict[str, int | bool | None] = {
        "events": 1_000_000, "first_lower": 100, "last_lower": 1_000_099, "first_width": 20, "window": 100,
        "keyed": False, "parallelism": 2, "length": None,
    }  # fmt: skip
    return choose_slicing(**(facts | changes))  # type: ignore[arg-type]


def test_few_events_are_not_split() -> None:
    slicing = chosen(events=EVENTS_PER_SLICE)
    assert (slicing.count, slicing.buckets, slicing.owned(0)) == (1, 1, None)


def test_many_events_are_split_into_equal_lengths_of_time() -> None:
    slicing = chosen()
    assert (slicing.count, slicing.length) == (4, 250_000)
    assert [slicing.owned(i) for i in (0, 3)] == [(100, 250_099), (750_100, 1_000_099)]


def test_every_task_gets_a_slice_where_there_are_several() -> None:
    assert chosen(parallelism=16).count == 16


def test_a_slice_is_never_short_against_what_it_shares_with_its_neighbours() -> None:
    slicing = chosen(window=100_000)
    assert slicing.length >= 4 * (slicing.reach_before + slicing.reach_after)


def test_without_window_keys_alone_split() -> None:
    assert (chosen(window=None).count, chosen(window=None).buckets) == (1, 1)
    assert (chosen(window=None, keyed=True).count, chosen(window=None, keyed=True).buckets) == (1, 4)


def test_a_wide_window_with_keys_is_split_by_key_instead() -> None:
    slicing = chosen(window=10**6, keyed=True)
    assert (slicing.count, slicing.buckets) == (1, 4)


def test_ticks_too_far_apart_to_subtract_are_not_split_by_time() -> None:
    slicing = chosen(first_lower=-(2**63), last_lower=2**63 - 1)
    assert (slicing.count, slicing.owned(0)) == (1, None)


def sliced(plan: Plan, events: list[Event], length: int) -> pa.Table:
    """What the Spark runner does with slices of `length` ticks, without Spark."""
    components = [alternative.components[alternative.positive[0]] for alternative in plan.alternatives]
    widths = [
        event.upper - event.lower
        for event in events
        if any(not each.event_types or event.event_type in each.event_types for each in components)
    ]
    slicing = choose_slicing(
        events=len(events), first_lower=min(event.lower for event in events),
        last_lower=max(event.lower for event in events), first_width=max(widths, default=0),
        window=plan.window, keyed=False, parallelism=2, length=length,
    )  # fmt: skip
    batches: list[pa.RecordBatch] = []
    for index in range(slicing.count):
        owned = slicing.owned(index)
        first, last = owned or (-(2**62), 2**62)
        near = [
            event
            for event in events
            if event.upper >= first - slicing.reach_before and event.lower <= last + slicing.reach_after
        ]
        batches += match_batches(plan, event_table(near), MatchOptions(), owned)
    return ordered(pa.Table.from_batches(batches, match_schema(plan)))


def can_be_sliced(case: Case) -> bool:
    plan = plan_of(case.query)
    try:
        require_engine(plan, "event")
    except UnsupportedQueryError:
        return False
    return plan.window is not None


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given((chain_cases() | any_cases()).filter(can_be_sliced), st.sampled_from([1, 2, 3, 7]))
def test_slices_of_any_length_give_the_same_rows(case: Case, length: int) -> None:
    plan = plan_of(case.query)
    try:
        wanted = ordered(match_events(plan, case.table))
    except UnsupportedQueryError:
        reject()
    assert sliced(plan, list(case.events), length).equals(wanted)


@pytest.mark.parametrize("length", [1, 2, 5, 100])
def test_matches_across_the_edges_of_slices_are_found_once(length: int) -> None:
    events = [Event(f"a{i}", "A", i, i + 3) for i in range(12)] + [
        Event(f"b{i}", "B", i + 1, i + 6) for i in range(0, 12, 2)
    ]
    plan = plan_of("PATTERN SEQ(A a, B b, A c) WITHIN 6 ticks")
    wanted = ordered(match_events(plan, event_table(events)))
    assert wanted.num_rows > 100
    assert sliced(plan, events, length).equals(wanted)
