"""What is given of events that share clocks: what it leaves to offsets, and which events stay tied.

An event of a clock is its own tick plus the offset, so own ticks and offsets are what is independent.  Of two
events of one clock the own parts tell the order; what is given of others may narrow an offset by itself, and
then the mass of the offset is cut, as that of an event without a clock is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies, event_ties
from cepctl.engines.given.contradictions import contradicted
from cepctl.engines.given.edges import Differences
from cepctl.engines.given.offsets_left import implied_on_clocks, offsets_left, refuse_impossible
from cepctl.engines.given.on_clocks import GivenOnClocks
from cepctl.engines.given.series import with_series
from cepctl.engines.given.ways_round import without_ways_round
from cepctl.plan.plan import Given


def known_on_clocks(
    given: Sequence[Given], found: Differences, events: Events, clocks: EventClocks
) -> Events:
    """The events as they are in the worlds that satisfy what is given.

    Raises
    ------
    ContradictionError
        If there is no such world.
    """
    refuse_impossible(given, found, events, clocks)
    found = found.taken(np.flatnonzero(~implied_on_clocks(found, clocks)))
    if not len(found):
        return events
    clocks = offsets_left(given, found, events, clocks)
    masses = clocks.envelopes
    left = without_ways_round(found.taken(np.flatnonzero(~implied_on_clocks(found, clocks))))
    known = replace(events, masses=masses, clocks=clocks)
    if not len(left):
        return known
    left = _tightest(left, clocks)
    ties = without_series(event_ties(len(events), left.left, left.right, left.bound), masses)
    _require_possible(given, events, GivenOnClocks.of(clocks, ties))
    return replace(known, ties=ties)


def without_series(ties: EventTies, masses: Masses) -> EventTies:
    """The same, all of whose components are summed as wholes: offsets tie the events of series to others."""
    return with_series(replace(ties, serial=np.zeros(len(ties.serial), dtype=bool)), masses)


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


def _require_possible(given: Sequence[Given], events: Events, known: GivenOnClocks) -> None:
    """Raise ContradictionError where masses with holes leave no world; else intervals have told."""
    for label in known.with_holes():
        if known.probability(label) == 0.0:
            raise contradicted(given, known.events_of(label).tolist(), events)
