"""One match of events that last, in the worlds that remain: what leaves it none, and where it is drawn."""

from __future__ import annotations

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.diagnosis.shown import OneMatch, TickSpan
from tests.engines.diagnosis.desk import DESK, FIRST, LATE
from tests.plans import Event, event_table, lasting, on, plan_of

MEET = "PATTERN ISEQ(W a, V b) WHERE a INTERSECTS b"


def shown(query: str, ids: str, events: tuple[Event, ...] = DESK, clocks: Clocks | None = None) -> OneMatch:
    return one_match(plan_of(query, clocks, lasting=True), event_table(events), ids_of(ids))


def reasons(match: OneMatch) -> list[str]:
    return [each.condition.text for each in match.reasons]


def test_the_clause_that_leaves_no_world_is_the_reason() -> None:
    """w1 and w2 overlap in some worlds, but not where w1 ends first; the other clause says nothing of w1."""
    assert reasons(shown(MEET, "w1 w2")) == []
    assert reasons(shown(f"{MEET} {LATE}", "w1 w2")) == []
    assert reasons(shown(f"{MEET} {LATE} {FIRST}", "w1 w2")) == [FIRST]


def test_clauses_each_of_which_leaves_a_world_are_the_reason_together() -> None:
    """Either of x and y may be near z, which lasts two ticks, but not both."""
    events = (
        Event("x", "X", 0, 5),
        lasting("z", "Z", (1, 6), (3, 8), length=(2, 2)),
        Event("y", "Y", 4, 8),
    )
    clauses = ["GIVEN SEQ(X p, Z q) IF TRUE", "GIVEN SEQ(Z p, Y q) IF TRUE"]
    close = "PATTERN ISEQ(X x, Y y) WHERE y.time - x.time <= 3 ticks "
    assert reasons(shown(close + clauses[0], "x y", events)) == []
    assert reasons(shown(close + " ".join(clauses), "x y", events)) == clauses


def test_times_that_no_world_has_are_the_reason_whatever_is_given() -> None:
    apart = "PATTERN ISEQ(W a, V b) WHERE b.start - a.end >= 9 ticks"
    (reason,) = reasons(shown(f"{apart} {FIRST}", "w1 w2"))
    assert not reason.startswith("GIVEN")


def test_events_are_drawn_where_they_can_be_in_all_worlds() -> None:
    """Given the order w1 can still end anywhere from 6 to 7, where w2 can start up to 8."""
    match = shown(f"PATTERN SEQ(W a, V b) {FIRST}", "w1 w2")
    assert [(each.event.lower, each.event.upper, each.event.until) for each in match.members] == [
        (0, 4, TickSpan(6, 9)),
        (3, 8, TickSpan(9, 12)),
    ]
    assert [(each.valid_lower, each.valid_upper, each.valid_until) for each in match.members] == [
        (0, 4, TickSpan(6, 7)),
        (7, 8, TickSpan(9, 12)),
    ]


CLOCKS: Clocks = {"n": ((-4, 4, 1.0),)}
STAMPED = (
    on("n", CLOCKS, lasting("s", "S", (5, 5), (10, 10))),
    on("n", CLOCKS, lasting("a", "A", (15, 15), (20, 20))),
    lasting("r", "R", (11, 11), (13, 13)),
    Event("b", "B", 22, 22),
)


@pytest.mark.parametrize("clause", ["", "GIVEN SEQ(S p, R q) IF TRUE"])
def test_what_is_given_of_one_event_leaves_another_on_its_clock_no_world(clause: str) -> None:
    """The offset is at most 0 where s ends before r; then a ends by 20, and does not last until b."""
    during = "PATTERN ISEQ(A a, B b) WHERE b.time <= a.end"
    assert reasons(shown(f"{during} {clause}", "a b", STAMPED, CLOCKS)) == [clause][: len(clause)]
