"""What a match asks of the clocks of its events, and where these events lie.

asked of                     told
one clock                    its offset, and what of it the order, window and timing of the match allow
two clocks                   the same of how far the first is ahead of the second
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.clocks.offset_masses import Difference, mass_between, shares_of_sum, support
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.events import Events
from cepctl.engines.diagnosis.posteriors import bin_ticks, prior_shares
from cepctl.engines.given.surely import tied_systems
from cepctl.engines.pattern.difference_constraints import closure, valid_bounds
from cepctl.engines.pattern.offset_bounds import offsets_of, valid_on_clocks
from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class OffsetShown:
    """An offset, or how far one clock is ahead of `other`, in ticks; what of it a match can use.

    `probability` is that of the usable part by itself, which no confidence of the match exceeds.
    """

    clock: str
    other: str | None
    lower: int
    upper: int
    valid_lower: int
    valid_upper: int
    probability: float


def valid_of(events: Events, system: Ticks, matches: Indexes) -> tuple[Ticks, Ticks]:
    """Valid lower and upper bounds of bound events, shape (n, l), which may share clocks and be tied.

    The intervals of a row that cannot happen are empty.
    """
    if events.ties is None:
        return _valid_alike(events, system, matches)
    lower, upper = np.ones(matches.shape, dtype=np.int64), np.zeros(matches.shape, dtype=np.int64)
    systems = tied_systems(events.ties, system, matches)
    distinct, which = np.unique(systems, axis=0, return_inverse=True)
    for number, each in enumerate(distinct):
        rows = np.flatnonzero(which.reshape(-1) == number)
        length = range(matches.shape[1])
        closed = closure(len(length), [(i, j, int(each[i, j])) for i in length for j in length])
        if (np.diag(closed) >= 0).all():
            lower[rows], upper[rows] = _valid_alike(events, closed, matches[rows])
    return lower, upper


def _valid_alike(events: Events, system: Ticks, matches: Indexes) -> tuple[Ticks, Ticks]:
    if events.clocks is not None:
        return valid_on_clocks(events.clocks, system, matches)
    return valid_bounds(events.masses.lower[matches], events.masses.upper[matches], system)


def time_shares(events: Events, event: int, edges: Reals) -> Reals:
    """Probability that an event lies in each bin, shape (bins,); an offset is part of it."""
    clocks = events.clocks
    if clocks is None or clocks.clock[event] == NO_CLOCK:
        return prior_shares(events.masses, event, edges)
    first, last = bin_ticks(edges)
    shares: Reals = np.zeros(len(first))
    shares_of_sum(clocks.own.buckets, event, clocks.offsets.buckets, clocks.clock[event], first, last, shares)
    return np.minimum(shares, 1.0)


def shared_offsets(
    plan: Plan, events: Events, system: Ticks, match: Sequence[int]
) -> tuple[OffsetShown, ...]:
    """What a possible match leaves of the offsets of its clocks, one by one and by pairs."""
    if events.clocks is None:
        return ()
    names, offsets = sorted(plan.clocks), events.clocks.offsets.buckets
    clocks, bound = offsets_of(events.clocks, system, np.array(match, dtype=np.int64))
    # Slot 0 stands for no clock.
    slots = {0: NO_CLOCK, **{slot: int(clock) for slot, clock in enumerate(clocks, 1)}}
    found = []
    for slot, other in ((i, j) for i in slots for j in slots if i and (j == 0 or j > i)):
        difference = Difference(offsets, slots[slot], slots[other])
        first, last = support(difference)
        least, most = max(first, -int(bound[other, slot])), min(last, int(bound[slot, other]))
        name = names[slots[other]] if other else None
        mass = min(float(mass_between(difference, least, most)), 1.0)
        found.append(OffsetShown(names[slots[slot]], name, int(first), int(last), least, most, mass))
    return tuple(sorted(found, key=lambda each: (each.other is not None, each.clock, each.other or "")))
