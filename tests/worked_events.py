"""The events of the worked numbers of runs, quantifiers, AND and what is absent as a whole."""

from __future__ import annotations

from tests.plans import Event, event_table

WORKED_EVENTS = (
    Event("a1", "A", 0, 1),
    Event("b1", "B", 1, 3, x=1),
    Event("b2", "B", 2, 4, x=2),
    Event("b3", "B", 3, 5, x=1),
    Event("c1", "C", 4, 6, x=2),
    Event("c2", "C", 6, 7, x=1),
)
PAGE = event_table(WORKED_EVENTS)
