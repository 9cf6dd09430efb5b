"""Time ranges beside rivals each of which may be away in several ways: found without trying all of them."""

from __future__ import annotations

from cepctl.engines.event.match import match_events
from tests.plans import Event, event_table, plan_of

QUERY = """PATTERN AND(A a, B b) WHERE a.time - b.time < 30 ticks WITHIN 100 ticks
STRATEGY strict_contiguity"""


def test_what_two_rivals_decide_is_found_beside_many_that_decide_nothing() -> None:
    """One rival cannot follow `b`, so that `a` is not before it; one not precede `a`, so `b` is not after it.

    22 others may be before `a` or after `b`, whatever these two leave: 2^22 ways.
    """
    between = [Event(f"c{number}", "C", number, 75 + number) for number in range(1, 23)]
    early, late = Event("early", "C", 9, 37), Event("late", "C", 31, 71)
    events = (Event("a", "A", 0, 28), Event("b", "B", 42, 101), *between, early, late)
    (row,) = match_events(plan_of(QUERY), event_table(events)).to_pylist()
    assert (row["start"], row["end"]) == (9, 71)
