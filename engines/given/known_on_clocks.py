"""What GIVEN says of events that share clocks: what it leaves to offsets, and which events stay tied.

An event of a clock is its own tick plus the offset, so own ticks and offsets are what is independent. Of
two events of one clock the own parts tell the order; what is known of others may narrow an offset by
itself, and then the mass of the offset is cut, as that of an event without a clock is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Flags
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies, distinct, event_ties
from cepctl.engines.given.closing import cut, intervals_left
from cepctl.engines.given.edges import NO_CLAUSE, Differences, contradicted, without_ways_round
from cepctl.engines.given.on_clocks import GivenOnClocks
from cepctl.engines.given.series import with_series
from cepctl.plan.plan import Given


def _same_clock(found: Differences, clocks: EventClocks) -> Flags:
    return np.asarray(clocks.clock[found.left] == clocks.clock[found.right])


def implied_on_clocks(found: Differences, clocks: EventClocks) -> Flags:
    """Those that hold wherever own ticks and offsets are."""
    return np.where(
        _same_clock(found, clocks), found.implied(clocks.own), found.implied(clocks.envelopes)
    ).astype(bool)


def refuse_impossible(
    given: Sequence[Given], found: Differences, events: Events, clocks: EventClocks
) -> None:
    """Raise ContradictionError where own parts of one clock's events contradict what is given."""
    own = clocks.own
    never = _same_clock(found, clocks) & (own.lower[found.left] - own.upper[found.right] > found.bound)
    for first in np.flatnonzero(never)[:1].tolist():
        clauses = [given[int(found.clause[first])]]
        raise contradicted(clauses, [int(found.left[first]), int(found.right[first])], events)


def offsets_left(
    given: Sequence[Given], found: Differences, events: Events, clocks: EventClocks
) -> EventClocks:
    """The clocks with the offsets, and the events without a clock, that are left: offsets follow events."""
    count, own = len(events), clocks.own
    tied = distinct(np.concatenate([found.left, found.right]), count)
    tied = tied[clocks.clock[tied] != NO_CLOCK]
    offset = count + clocks.clock[tied]
    nothing = np.full(2 * len(tied), NO_CLAUSE)
    whole = Differences(
        np.concatenate([found.left, tied, offset]),
        np.concatenate([found.right, offset, tied]),
        np.concatenate([found.bound, own.upper[tied], -own.lower[tied]]),
        np.concatenate([found.clause, nothing]),
    )
    lower, upper = intervals_left(given, whole, events, clocks.envelopes.followed_by(clocks.offsets))
    stamped = clocks.clock != NO_CLOCK
    return EventClocks(
        clocks.clock,
        cut(own, np.where(stamped, own.lower, lower[:count]), np.where(stamped, own.upper, upper[:count])),
        cut(clocks.offsets, lower[count:], upper[count:]),
    )


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
