"""Tightest time range of chains with rival-free gaps, and whether they can happen at all.

A gap between ticks s and t is certainly broken by a rival that lies inside wherever it is: one with
lower > s and upper < t.  Every other rival has a tick elsewhere, and rivals are independent, so a chain
of possible ticks is returned in some world exactly when no gap of it is certainly broken (the bound
that ZDI10 calls NELT).

Order, window and rivals (s >= lower or t <= upper of each) all hold of the smaller of two chains, tick by
tick, where they hold of both.  So there is one smallest chain, and pushing ticks up only as far as some
condition forces them finds it.  No step depends on how wide an interval is.  What lies between the two events
of a gap may be other events of the chain (`several_gaps`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import first_possible
from cepctl.engines.columns.tick_sums import LAST
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, event_of, window_ticks
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Ticks


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


class NotBetween(NamedTuple):
    """Rivals of a chain that must not lie between two events of it, shape (n,) each.

    Nor at the tick of the later one, where it is `closed`; of the earlier one, where time is mirrored.
    """

    rival: Indexes
    first: Indexes
    last: Indexes
    closed: Flags


@inner
def room_between(count):
    """Room for so many rivals."""
    places = np.empty((3, count), dtype=np.int64)
    return NotBetween(places[0], places[1], places[2], np.empty(count, dtype=np.bool_))


@kernel
def _first_ticks(buckets, event, gap, gaps, window, place, mirrored):
    offsets, most = gaps.rival_offsets, 0
    result, tick = np.empty(len(event), dtype=np.int64), np.empty(event.shape[1], dtype=np.int64)
    for row in range(len(event)):
        size = 0
        for g in gap[row]:
            size += offsets[g + 1] - offsets[g]
        most = max(most, size)
    between = room_between(most)
    for row in range(len(event)):
        found = 0
        for g in range(gap.shape[1]):
            for rival in gaps.rivals[offsets[gap[row, g]] : offsets[gap[row, g] + 1]]:
                between.rival[found], between.closed[found] = event_of(rival), rival < 0
                between.first[found], between.last[found] = g, g + 1
                found += 1
        happens = find_smallest(buckets, event[row], between, found, window, mirrored, tick)
        result[row] = tick[place] if happens else LAST
    return result


@inner
def find_smallest(buckets, event, between, count, window, mirrored, tick):
    """Fill the ticks of the smallest chain, which `count` rivals leave; tells whether there is one."""
    for i in range(len(event)):
        tick[i] = buckets.lower[event[i]]
    moving = True
    while moving:
        moving = _pushed(buckets, event, between, count, tick, mirrored)
        earliest = tick[-1] - window + 1
        if window > 0 and tick[-1] != LAST and tick[0] < earliest:
            tick[0] = first_possible(buckets, event[0], earliest)
            moving = True
        for each in tick:
            if each == LAST:
                return False
    return True


@inner
def _pushed(buckets, event, between, count, tick, mirrored):
    """Push ticks up as order and rivals force them, once along the chain; tells whether any moved."""
    moved = False
    for i in range(1, len(event)):
        if tick[i - 1] != LAST and tick[i] <= tick[i - 1]:
            tick[i] = first_possible(buckets, event[i], tick[i - 1] + 1)
            moved = True
    for k in range(count):
        rival, i = between.rival[k], between.first[k]
        after = buckets.lower[rival] + (between.closed[k] and mirrored)
        before = buckets.upper[rival] - (between.closed[k] and not mirrored)
        if tick[i] != LAST and tick[i] < after and before < tick[between.last[k]]:
            tick[i] = first_possible(buckets, event[i], after)
            moved = True
    return moved
