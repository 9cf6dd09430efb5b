"""Events of which something is given: where they can be at all, and which of them are tied.

Where what is given narrows the interval of an event by itself, its mass is cut and the rest renormalised.
That is exact: given all cuts, events are independent but for the ties that remain between them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.ties import event_ties
from cepctl.engines.given.closing import cut, intervals_left
from cepctl.engines.given.edges import differences_of, without_ways_round
from cepctl.engines.given.series import with_series
from cepctl.plan.plan import Plan


def known_events(plan: Plan, events: Events) -> Events:
    """The events as they are in the worlds that satisfy what is given.

    Raises
    ------
    ContradictionError
        If there is no such world.
    QueryTooLargeError
        If what is given speaks of too many combinations of events.
    """
    from cepctl.engines.given.known_endpoints import depends_on_ends, known_endpoints

    if depends_on_ends(plan, events):
        return known_endpoints(plan.given, events)
    found = differences_of(plan.given, events)
    if not len(found):
        return events
    if events.clocks is not None:
        from cepctl.engines.given.known_on_clocks import known_on_clocks

        return known_on_clocks(plan.given, found, events, events.clocks)
    masses = cut(events.masses, *intervals_left(plan.given, found, events, events.masses))
    left = without_ways_round(found.taken(np.flatnonzero(~found.implied(masses))))
    if not len(left):
        return replace(events, masses=masses)
    ties = with_series(event_ties(len(events), left.left, left.right, left.bound), masses)
    return replace(events, masses=masses, ties=ties)
