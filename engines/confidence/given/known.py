"""Events of which something is given: where they can be at all, and which of them are tied.

Where what is given narrows the interval of an event by itself, its mass is cut and the rest renormalised.
That is exact: given all cuts, events are independent but for the ties that remain between them.

Of interval events start and end are events of their own, which a law ties: that the event does not end before
it starts and how long it may last narrows what is left to its endpoints together with what is given.  It
stays the event's own: what ties events is what is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints, agreeing
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.columns.ties import endpoint_ties, event_ties
from cepctl.engines.confidence.given.closing import events_left, open_still, refuse_impossible
from cepctl.engines.confidence.given.edges import (
    NO_CLAUSE,
    Differences,
    contradicted,
    differences_of,
    implied_ties,
    tightest,
    without_ways_round,
)
from cepctl.engines.confidence.given.series import with_series, without_series
from cepctl.numeric.arrays import Indexes
from cepctl.plan.plan import Given, Plan


def known_events(plan: Plan, events: Events) -> Events:
    """The events as they are in the worlds that satisfy what is given.

    Raises
    ------
    ContradictionError
        If there is no such world.
    QueryTooLargeError
        If what is given speaks of too many combinations of events.
    """
    if not plan.given:
        return events
    if depends_on_ends(plan, events):
        return known_endpoints(plan.given, events)
    found = differences_of(plan.given, events)
    refuse_impossible(plan.given, found, events)
    found = open_still(found, events)
    if not len(found):
        return events
    known = events_left(plan.given, found, events)
    left = without_ways_round(open_still(found, known))
    if not len(left):
        return known
    if known.depends.on_clocks:
        return _tied_on_clocks(plan.given, left, events, known)
    ties = with_series(event_ties(len(events), left.left, left.right, left.bound), known.masses)
    return replace(known, ties=ties)


def _tied_on_clocks(given: Sequence[Given], left: Differences, events: Events, known: Events) -> Events:
    """Events that share clocks, as they are in the worlds that satisfy what is given.

    Raises
    ------
    ContradictionError
        If masses with holes leave no world; else intervals have told.
    """
    from cepctl.engines.confidence.clocks.unions import occurrences_of_rows
    from cepctl.engines.confidence.given.groups import whole_probability
    from cepctl.engines.confidence.given.on_clocks import GivenOnClocks

    left = _tightest(left, known.stamps)
    ties = without_series(event_ties(len(events), left.left, left.right, left.bound), known.masses)
    wholes = GivenOnClocks.of(known.stamps, ties)
    holed = np.array(wholes.with_holes(), dtype=np.int64)
    if len(holed):
        measuring = partial(occurrences_of_rows, known.stamps, events.masses)
        never = holed[whole_probability(wholes, holed, measuring) == 0.0]
        for label in never[:1].tolist():
            raise contradicted(given, wholes.events_of(label).tolist(), events)
    return replace(known, ties=ties)


def _tightest(found: Differences, clocks: EventClocks) -> Differences:
    """Of what ties sharp events of the same two clocks, which bounds their offsets alone, the tightest."""
    own = clocks.own
    sharp = (own.lower == own.upper) & (clocks.clock != NO_CLOCK)
    both = np.flatnonzero(sharp[found.left] & sharp[found.right])
    left, right = clocks.clock[found.left[both]], clocks.clock[found.right[both]]
    bound = found.bound[both] - own.lower[found.left[both]] + own.lower[found.right[both]]
    order = np.lexsort((bound, right, left))
    again = np.zeros(len(order), dtype=bool)
    again[1:] = (np.diff(left[order]) == 0) & (np.diff(right[order]) == 0)
    kept = np.ones(len(found), dtype=bool)
    kept[both[order[again]]] = False
    return found.taken(np.flatnonzero(kept))


def depends_on_ends(plan: Plan, events: Events) -> bool:
    """Whether a plan binds interval events, compares ends, or is given something of interval events."""
    alternatives = [*plan.alternatives, *(each.alternative for each in plan.given)]
    if any(each.reads_ends for each in plan.alternatives):
        return True
    if events.ends is None:
        return False
    return events.last(fitting_events(events, one) for each in alternatives for one in each.components)


def known_endpoints(given: Sequence[Given], events: Events) -> Events:
    """The events as they are in the worlds that satisfy what is given.

    Raises
    ------
    ContradictionError
        If there is no such world.
    QueryTooLargeError
        If what is given speaks of too many combinations of events.
    """
    endpoints, nodes = events.endpoints, _nodes(events)
    clocks = events.clocks and replace(events.clocks, own=endpoints.hulls)
    hulls = replace(events, masses=events.hulls, clocks=clocks)
    found = differences_of(given, hulls, endpoints, nodes)
    refuse_impossible(given, found, nodes)
    found = open_still(found, nodes)
    if not len(found):
        return events
    laws = _laws(endpoints, found)
    together = tightest(
        Differences(
            *(np.concatenate([vars(found)[name], vars(laws)[name]]) for name in Differences.__annotations__)
        )
    )
    left = events_left(given, together, nodes)
    masses, stamps = left.masses, left.clocks
    known = replace(events, masses=first_masses(masses, len(events)))
    if stamps is not None:
        masses = stamps.own
        own = first_masses(masses, len(events))
        of_events = replace(stamps, clock=stamps.clock[: len(events)], own=own)
        known = replace(events, masses=of_events.envelopes, clocks=of_events)
    ends = _with_masses(endpoints, masses, laws)
    found = open_still(found, left)
    found = found.taken(_needed(endpoints, found))
    ties = None
    if len(found):
        ties = endpoint_ties(endpoints, found.left, found.right, found.bound, left.stamps)
    return replace(known, ends=ends, endpoint_ties=ties)


def _nodes(events: Events) -> Events:
    """Every endpoint as an event."""
    lasting = events.endpoints.lasting
    ids = pl.concat([events.ids, "the end of " + events.ids.gather(lasting)])
    masses = events.endpoint_stamps.envelopes
    return Events(masses, pl.DataFrame({"event_id": ids}), events.endpoint_clocks)


def _laws(endpoints: Endpoints, found: Differences) -> Differences:
    """What the laws of the interval events say of which something is given."""
    owner = endpoints.owner
    event = np.unique(owner[np.concatenate([found.left, found.right])])
    event = event[endpoints.end[event] != event]
    bounded = event[endpoints.longest[event] < UNBOUNDED_LENGTH]
    return Differences(
        np.concatenate([event, endpoints.end[bounded]]),
        np.concatenate([endpoints.end[event], bounded]),
        np.concatenate([-endpoints.shortest[event], endpoints.longest[bounded]]),
        np.full(len(event) + len(bounded), NO_CLAUSE),
    )


def _needed(endpoints: Endpoints, found: Differences) -> Indexes:
    """Those that no order of other events between two says already."""
    owner = endpoints.owner
    in_order = found.right < len(endpoints)
    in_order &= found.left == endpoints.end[owner[found.left]]
    bound = np.where(in_order & (found.bound == -1), -1, 0)
    return implied_ties(Differences(owner[found.left], owner[found.right], bound, found.clause))


def _with_masses(endpoints: Endpoints, masses: Masses, laws: Differences) -> Endpoints:
    """The endpoints with what is left of their masses, and how probable each law is then."""
    event = np.unique(endpoints.owner[laws.left])
    whole = endpoints.whole.copy()
    shortest, longest = endpoints.shortest[event], endpoints.longest[event]
    whole[event] = agreeing(masses, event, endpoints.end[event], shortest, longest)
    return replace(endpoints, masses=masses, whole=whole)


def first_masses(masses: Masses, count: int) -> Masses:
    """The masses of the first events."""
    buckets = int(masses.starts[count])
    return Masses(
        masses.lower[:count],
        masses.upper[:count],
        masses.starts[: count + 1],
        masses.lo[:buckets],
        masses.hi[:buckets],
        masses.density[:buckets],
    )
