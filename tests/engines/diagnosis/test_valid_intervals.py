"""Valid intervals of finished matches: worked examples, groups, and what enumeration of worlds reaches."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.diagnosis.valid_intervals import bound_events, valid_intervals
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from tests.plans import Event, event_table, plan_of

FIGURE = [Event("a1", "A", 1, 5), Event("c2", "C", 3, 5), Event("b3", "B", 3, 5), Event("c4", "C", 4, 8)]


def intervals(query: str, events: list[Event]) -> dict[str, list[tuple[int, int]]]:
    """By match the valid intervals of its events, in the order of the signature."""
    plan, table = plan_of(query), event_table(events)
    matches = match_events(plan, table, MatchOptions())
    in_order = events_of(table)
    bound = bound_events(matches.column("signature"), in_order.ids.to_arrow().cast(pa.string()))
    valid = valid_intervals(plan, in_order, bound)
    names = [" ".join("+".join(group) for group in each) for each in matches.column("signature").to_pylist()]
    pairs = list(zip(valid.lower.tolist(), valid.upper.tolist(), strict=True))
    return {
        name: pairs[first:beyond]
        for name, (first, beyond) in zip(names, itertools.pairwise(bound.offsets.tolist()), strict=True)
    }


def test_the_worked_example() -> None:
    """ZDI10, Fig. 1: order and a window of 4 ticks."""
    assert intervals("PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks", FIGURE) == {
        "a1 b3 c2": [(1, 3), (3, 4), (4, 5)],
        "a1 b3 c4": [(1, 4), (3, 5), (4, 7)],
    }


def test_every_member_of_a_group_has_a_valid_interval_of_its_own() -> None:
    events = [Event("a", "A", 0, 9), Event("b1", "B", 2, 9), Event("b2", "B", 0, 5), Event("c", "C", 7, 7)]
    found = intervals("PATTERN SEQ(A a, B+ b[], C c)", events)
    assert found["a b1+b2 c"] == [(0, 4), (2, 6), (1, 5), (7, 7)]
    assert found["a b1 c"] == [(0, 5), (2, 6), (7, 7)]


def test_members_of_an_ordered_group_follow_each_other() -> None:
    events = [Event("a", "A", 0, 0), Event("b1", "B", 1, 9, x=1), Event("b2", "B", 1, 9, x=2)]
    found = intervals("PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > b[i-1].x", events)
    assert found["a b1+b2"] == [(0, 0), (1, 8), (2, 9)]


@pytest.mark.parametrize("passed_over", ["B? b", "B* b[]", "B{0,2} b[]"])
def test_what_next_match_passes_over_has_no_interval(passed_over: str) -> None:
    events = [Event("a", "A", 1, 5), Event("b", "B", 2, 8), Event("c", "C", 3, 4)]
    found = intervals(f"PATTERN SEQ(A a, {passed_over}, C c) STRATEGY skip_till_next_match", events)
    assert found == {"a c": [(1, 3), (3, 4)], "a b c": [(1, 2), (2, 3), (3, 4)]}


def test_negation_narrows_nothing() -> None:
    """Semantics: next-match of SEQ(A, B) with a rival b1 has the valid bounds [1,7]."""
    events = [Event("a", "A", 1, 5), Event("b1", "B", 3, 3), Event("b2", "B", 7, 7)]
    found = intervals("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match", events)
    assert found["a b2"] == [(1, 5), (7, 7)]


def test_a_match_of_an_alternative_is_held_to_that_alternative() -> None:
    events = [Event("a", "A", 0, 9, x=1), Event("b", "B", 0, 9), Event("c", "C", 4, 4)]
    found = intervals("PATTERN OR(SEQ(A a, B b), SEQ(B b, C c, A a))", events)
    assert found == {"a b": [(0, 8), (1, 9)], "b c a": [(0, 3), (4, 4), (5, 9)]}


def test_without_matches_there_is_nothing() -> None:
    assert intervals("PATTERN SEQ(C c, B b, A a, A d)", FIGURE) == {}


def test_signatures_in_several_chunks_and_slices_are_found_alike() -> None:
    kind = pa.list_(pa.list_(pa.string()))
    whole = pa.array([[["x"]], [["a1"], ["b1", "b2"]], [["b2"], ["a1"]]], kind)
    bound = bound_events(pa.chunked_array([whole[1:2], whole[2:3]]), pa.array(["a1", "b1", "b2"]))
    assert (bound.offsets.tolist(), bound.rows.tolist()) == ([0, 3, 5], [0, 1, 2, 2, 0])
    assert bound.places.tolist() == [0, 1, 1, 0, 1]


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    kinds = draw(st.lists(st.sampled_from("AB"), min_size=2, max_size=4))
    starts = [(draw(st.integers(0, 5)), draw(st.integers(0, 3))) for _ in kinds]
    named = zip(kinds, starts, strict=True)
    return [Event(f"{kind}{i}", kind, low, low + width) for i, (kind, (low, width)) in enumerate(named)]


@pytest.mark.parametrize("pattern", ["SEQ(A a, B b, A c)", "SEQ(A a, B+ b[])", "AND(A a, B b)"])
@given(events=streams(), window=st.integers(1, 6))
def test_an_interval_holds_the_ticks_of_the_worlds_that_match_and_no_others(
    pattern: str, events: list[Event], window: int
) -> None:
    by_id = {event.event_id: event for event in events}
    for match, found in intervals(f"PATTERN {pattern} WITHIN {window} ticks", events).items():
        groups = [each.split("+") for each in match.split(" ")]
        ids = [name for group in groups for name in group]
        choices = [range(by_id[name].lower, by_id[name].upper + 1) for name in ids]
        worlds = [w for w in itertools.product(*choices) if holds(pattern, groups, w, window)]
        reached = [(min(ticks), max(ticks)) for ticks in zip(*worlds, strict=True)]
        assert reached == found


def holds(pattern: str, groups: list[list[str]], world: tuple[int, ...], window: int) -> bool:
    if max(world) - min(world) >= window:
        return False
    ticks = iter(world)
    by_group = [[next(ticks) for _ in group] for group in groups]
    ordered = all(max(left) < min(right) for left, right in itertools.pairwise(by_group))
    return ordered or pattern.startswith("AND")
