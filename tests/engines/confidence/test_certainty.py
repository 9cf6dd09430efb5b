"""What always holds has the confidence 1, not a sum that misses it by its last digit."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import rows_by_signature
from tests.plans import Event, event_table, plan_of

EVENTS = [Event("a", "A", 1, 6), Event("b", "A", 2, 2), Event("c", "A", 3, 4)]


@pytest.mark.parametrize("pattern", ["A+ a[]", "AND(A a, A b)", "AND(A a, A b, A c)", "SEQ(A a, A+ b[])"])
@pytest.mark.parametrize("window", range(2, 8))
def test_the_interval_of_one_member_says_nothing_of_how_far_it_is_from_others(
    pattern: str, window: int
) -> None:
    plan, table = plan_of(f"PATTERN {pattern} WITHIN {window} ticks"), event_table(EVENTS)
    expected, found = (rows_by_signature(engine(plan, table)) for engine in (match_table, match_events))
    certain = {key for key, row in expected.items() if row["confidence"] == 1.0}
    assert {key for key, row in found.items() if row["confidence"] == 1.0} == certain


@pytest.mark.parametrize("pattern", ["AND(A a, A b)", "AND(A a, A b, A c)", "SEQ(AND(A a, A b), B d)"])
@pytest.mark.parametrize("shift", range(-6, 7))
def test_times_that_must_differ_and_always_do_are_certain(pattern: str, shift: int) -> None:
    """Sums over both sides of `<>` miss 1 by their last digit."""
    plan = plan_of(f"PATTERN {pattern} WHERE a.time + {shift} ticks <> b.time")
    table = event_table([Event("a", "A", 0, 1), Event("b", "A", 1, 3), Event("d", "B", 5, 9)])
    expected, found = (rows_by_signature(engine(plan, table)) for engine in (match_table, match_events))
    certain = {key for key, row in expected.items() if row["confidence"] == 1.0}
    assert {key for key, row in found.items() if row["confidence"] == 1.0} == certain


@pytest.mark.parametrize("last", [18, 23, 27])
def test_a_match_whose_own_events_may_stand_between_others_is_certain_where_they_cannot(last: int) -> None:
    """Next match looks at the events of a match, too: `c` must not lie between `a` and `b`."""
    query = "PATTERN SEQ(A+ a[], A b, A c) WHERE count(a[]) <= 2 STRATEGY skip_till_next_match"
    table = event_table([Event("a", "A", 0, 6), Event("b", "A", 7, 13), Event("c", "A", 14, last)])
    assert [row["confidence"] for row in match_events(plan_of(query), table).to_pylist()] == [1.0]


def test_a_match_whose_own_events_may_be_at_one_tick_is_not_certain() -> None:
    """`a` and `b` are the first group only where they are at one tick: else `b` is the next of the second."""
    query = "PATTERN SEQ(*+ a[], C+ b[]) STRATEGY skip_till_next_match WITHIN 3 ticks"
    table = event_table([Event("a", "M", 2, 3), Event("b", "C", 3, 3), Event("c", "C", 4, 4)])
    expected, found = (
        rows_by_signature(engine(plan_of(query), table)) for engine in (match_table, match_events)
    )
    assert {key: row["confidence"] for key, row in found.items()} == {
        key: row["confidence"] for key, row in expected.items()
    }
    assert len(found) == 3
