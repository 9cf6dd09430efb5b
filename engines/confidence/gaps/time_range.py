"""Tightest time range of chains with rival-free gaps, and whether they can happen at all.

A gap between ticks s and t is certainly broken by a rival that lies inside wherever it is: one with
lower > s and upper < t.  Every other rival has a tick elsewhere, and rivals are independent, so a chain
of possible ticks is returned in some world exactly when no gap of it is certainly broken (the bound
that ZDI10 calls NELT).

Order, window and rivals (s >= lower or t <= upper of each) all hold of the smaller of two chains, tick by
tick, where they hold of both.  So there is one smallest chain, and pushing ticks up only as far as some
condition forces them finds it.  No step depends on how wide an interval is.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Flags, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import first_possible
from cepctl.engines.columns.tick_sums import LAST
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, event_of, window_ticks
from cepctl.engines.kernels.kernel import inner, kernel


def range_of_places(
    masses: Masses, chains: GapChains, window: int | None, first_place: int, last_place: int
) -> tuple[Ticks, Ticks, Flags]:
    """Smallest tick of the events at one place, largest of those at another, and which chains can happen.

    Each of shape (n,); the ticks of a chain that cannot happen say nothing.
    """
    width, length = window_ticks(window), chains.event.shape[1]
    first = _first_ticks(masses.buckets, chains.event, chains.gap, chains.gaps, width, first_place, False)
    event, gap = chains.event[:, ::-1].copy(), chains.gap[:, ::-1].copy()
    place = length - 1 - last_place
    last = _first_ticks(masses.mirrored.buckets, event, gap, chains.gaps, width, place, True)
    return first, -last, (first != LAST) & (last != LAST)


@kernel
def _first_ticks(buckets, event, gap, gaps, window, place, mirrored):
    count, length = event.shape
    result = np.empty(count, dtype=np.int64)
    tick = np.empty(length, dtype=np.int64)
    for row in range(count):
        for position in range(length):
            tick[position] = buckets.lower[event[row, position]]
        moving = True
        while moving:
            moving = _pushed(buckets, event[row], gap[row], gaps, tick, mirrored)
            earliest = tick[length - 1] - window + 1
            if window > 0 and tick[length - 1] != LAST and tick[0] < earliest:
                tick[0] = first_possible(buckets, event[row, 0], earliest)
                moving = True
            moving = moving and tick.max() != LAST
        result[row] = LAST if tick.max() == LAST else tick[place]
    return result


@inner
def _pushed(buckets, own, gap, gaps, tick, mirrored):
    """Push ticks up as order and rivals force them, once along the chain; tells whether any moved.

    Where time is mirrored, a gap that holds the tick of one end holds that of the left one.
    """
    lower, upper, rivals = buckets.lower, buckets.upper, gaps.rivals
    moved = False
    for g in range(len(own) - 1):
        if tick[g] == LAST or tick[g + 1] == LAST:
            return moved
        if tick[g + 1] <= tick[g]:
            tick[g + 1] = first_possible(buckets, own[g + 1], tick[g] + 1)
            moved = True
        for r in range(gaps.rival_offsets[gap[g]], gaps.rival_offsets[gap[g] + 1]):
            rival, closed = event_of(rivals[r]), rivals[r] < 0
            left, right = closed and mirrored, closed and not mirrored
            if tick[g] < lower[rival] + left and upper[rival] < tick[g + 1] + right:
                tick[g] = first_possible(buckets, own[g], lower[rival] + left)
                moved = True
                if tick[g] == LAST:
                    return moved
    return moved
