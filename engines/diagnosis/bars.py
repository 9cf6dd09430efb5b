"""Where interval events can be, and how probable it is that they are under way, with or without clocks."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints, agreeing, cut_masses, joined_masses, of_points
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.on_clocks import measured_without_ties


def under_way(endpoints: Endpoints, event: int, ticks: Ticks) -> Reals:
    """P(start <= tick <= end) of one event by its law, for each of n ticks, shape (n,)."""
    count = len(ticks)
    start, end = np.full(count, event), np.full(count, endpoints.end[event])
    starts, begun = cut_masses(endpoints.masses, start, np.full(count, FIRST), ticks)
    ends, not_over = cut_masses(endpoints.masses, end, ticks, np.full(count, LAST))
    lengths = endpoints.shortest[start], endpoints.longest[start]
    places = np.arange(count)
    both = agreeing(joined_masses(starts, ends), places, count + places, *lengths)
    found: Reals = np.where((begun > 0) & (not_over > 0), begun * not_over * both, 0.0)
    shares: Reals = np.minimum(found / endpoints.whole[event], 1.0)
    return shares


_UNDER_WAY = (((0, 2, 0), (2, 1, 0)),)
"""Of an event and a moment: it does not start after the moment, nor end before."""


def endpoint_spans(events: Events) -> Masses:
    """First and last ticks of all endpoints, in any world; only these are meant."""
    clocks = events.endpoint_clocks
    return events.endpoints.masses if clocks is None else clocks.envelopes


def shares_under_way(events: Events, event: int, ticks: Ticks) -> Reals:
    """P(start <= tick <= end) of one event that lasts, for each of n ticks, shape (n,)."""
    ends, clocks = events.endpoints, events.endpoint_clocks
    if clocks is None or clocks.clock[event] == NO_CLOCK:
        return under_way(ends, event, ticks)
    one, of_end, count = np.array([event]), np.array([int(ends.end[event])]), len(ticks)
    starts = joined_masses(_taken(ends.masses, one), _moments(ticks))
    masses = joined_masses(starts, _taken(ends.masses, of_end))
    plain = of_points(starts)
    alone = Endpoints(masses, plain.end, plain.shortest, plain.longest, plain.whole)
    for into, values in ((alone.shortest, ends.shortest), (alone.longest, ends.longest)):
        into[0] = values[event]
    alone.whole[0], alone.end[0] = ends.whole[event], count + 1
    stamped = np.full(count + 2, NO_CLOCK)
    stamped[[0, count + 1]] = clocks.clock[event]
    measure = IntervalMeasure(_UNDER_WAY, alone, clocks=EventClocks(stamped, masses, clocks.offsets))
    pairs = np.stack([np.zeros(count, dtype=np.int64), 1 + np.arange(count)], axis=1)
    found = measured_without_ties(measure, pairs)
    shares: Reals = found.confidence
    return shares


def _moments(ticks: Ticks) -> Masses:
    return Masses(ticks, ticks, np.arange(len(ticks) + 1), ticks, ticks, np.ones(len(ticks)))


def _taken(masses: Masses, one: Indexes) -> Masses:
    here = slice(int(masses.starts[one[0]]), int(masses.starts[one[0] + 1]))
    lo, hi = masses.lo[here], masses.hi[here]
    starts = np.array([0, len(lo)])
    return Masses(masses.lower[one], masses.upper[one], starts, lo, hi, masses.density[here])
