"""Pairs whose gap some rival breaks in every world are never listed."""

from __future__ import annotations

import pytest

from cepctl.engines.columns.events import events_of
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.search.search import enumeration_parts
from tests.plans import Event, event_table, plan_of

DAYS = [Event(f"{kind}{day}", kind.upper(), 10 * day, 10 * day + 9) for day in range(12) for kind in "ab"]
"""Every day an A and a B at any time of the day."""


def listed(query: str, events: list[Event], order: tuple[int, ...]) -> int:
    """How many matches the search hands over to be measured, components being bound in this order."""
    plan = plan_of(query)
    prepared = prepared_alternative(
        plan, plan.alternatives[0], events_of(event_table(events)), MatchOptions()
    )
    parts = enumeration_parts(prepared.search_within_gaps(), prepared.events, order)
    return sum(len(rows) for part in parts for rows in part())


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_later_events_only_those_are_listed_that_can_be_the_next(order: tuple[int, ...]) -> None:
    """The A of a day meets the B of its day and of the next, which in any case comes before the others."""
    query = "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match"
    assert listed("PATTERN SEQ(A a, B b)", DAYS, order) == 12 * 13 // 2
    assert listed(query, DAYS, order) == 12 + 11
    assert match_events(plan_of(query), event_table(DAYS)).num_rows == 12 + 11


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_any_event_between_breaks_contiguity(order: tuple[int, ...]) -> None:
    query = "PATTERN SEQ(A a, B b) STRATEGY strict_contiguity"
    events = [Event("a", "A", 0, 9), Event("b", "B", 20, 29)]
    assert listed(query, [*events, Event("c", "C", 9, 19)], order) == 1
    assert listed(query, [*events, Event("c", "C", 10, 20)], order) == 1
    assert listed(query, [*events, Event("c", "C", 10, 19)], order) == 0


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_must_be_absent_from_a_gap_breaks_it(order: tuple[int, ...]) -> None:
    events = [*DAYS, Event("c", "C", 55, 55)]
    # Five days before the sixth, with C in the middle of it, meet none of the six after it.
    assert listed("PATTERN SEQ(A a, !C c, B b)", events, order) == 12 * 13 // 2 - 5 * 6


@pytest.mark.parametrize(
    ("where", "order"), [("WHERE [k]", (0, 1)), ("WHERE [k]", (1, 0)), ("WHERE a.k = b.k", (0, 1))]
)
def test_events_with_another_key_break_nothing(where: str, order: tuple[int, ...]) -> None:
    events = [Event("a", "A", 0, 9, k="x"), Event("b", "B", 40, 49, k="x")]
    query = f"PATTERN SEQ(A a, B b) {where} STRATEGY skip_till_next_match"
    assert listed(query, [*events, Event("other", "B", 20, 29, k="y")], order) == 1
    events += [Event("rival", "B", 20, 29, k="x"), Event("a2", "A", 0, 9, k="y")]
    assert listed(query, events, order) == 1


def test_whether_an_event_is_a_rival_by_other_predicates_is_left_to_the_join_of_rivals() -> None:
    """Here b1 is no rival of (a, b2), although it lies between them."""
    events = [Event("a", "A", 0, 9, x=5), Event("b1", "B", 20, 29, x=1), Event("b2", "B", 40, 49, x=9)]
    query = "PATTERN SEQ(A a, B b) WHERE b.x > a.x STRATEGY skip_till_next_match"
    assert listed(query, events, (0, 1)) == 1
    assert match_events(plan_of(query), event_table(events)).column("confidence").to_pylist() == [1.0]


@pytest.mark.parametrize(("group", "where"), [("SEQ(A a[])+", ""), ("A+ a[]", "a[i].x >= a[i-1].x AND ")])
def test_beside_runs_a_condition_on_what_is_absent_is_left_to_the_join_of_rivals(
    group: str, where: str
) -> None:
    """Here n1 does not fit !N, so that it breaks no gap, although it lies in one in every world."""
    events = [Event("a", "A", 0, 0, x=5), Event("n1", "N", 20, 20, x=1), Event("n2", "N", 40, 40, x=9)]
    query = f"PATTERN SEQ({group}, !N n, N b) WHERE {where}n.x > b.x"
    assert match_events(plan_of(query), event_table(events)).num_rows == 2
