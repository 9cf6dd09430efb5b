"""Chains whose rivals must stay out of several gaps, on intervals of any width: densities carried over these.

A chain falls into steps: from one event to the next, or over all the gaps that some rivals have in common
(`tied_steps`).  A rival that must stay out of several gaps, and can lie in one of them alone, is kept out of
that one; and one that must stay out of later gaps of a step alone is kept out of all that come before where
it cannot lie in these.  Where it can, the chain is left, and so is one with a rival that may be at the tick
of an event between and has a hole in its mass, in which that may lie: the time range would err.

    name here    meaning
    reach        bit g: a rival can lie in gap g, whether it may or not
    forbidden    bit p: a rival must not lie in the gap after event p; the window ends that after the last
    never_at     bit p: nor at the tick of event p
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gaps.carried_chains import sum_carried
from cepctl.engines.confidence.gaps.carried_steps import Kept
from cepctl.engines.confidence.gaps.distinct_gaps import (
    FARTHEST,
    NotBetween,
    find_smallest,
    has_room,
    room_between,
    window_ticks,
)
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.work import CARRIED, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.blocks import Region, Rivals, Shape, between
from cepctl.engines.pattern.shapes import edge_of
from cepctl.numeric.arrays import Flags, Indexes, Ticks

MOST_EVENTS = 62
"""Of one chain: a bit for each."""


class Places(NamedTuple):
    """Rivals of n chains: chain i owns those from offsets[i] to offsets[i + 1] - 1."""

    offsets: Indexes
    rival: Indexes
    forbidden: Indexes
    never_at: Indexes


def places_of(shape: Shape, rivals: Sequence[Rivals], rows: Indexes) -> tuple[Flags, Places]:
    """Where the rivals of some chains must not lie; and which of these have rivals of that form alone."""
    length = len(shape.blocks)
    pairs: list[tuple[Indexes, Indexes, int, int]] = []
    usable = np.full(len(rows), length <= MOST_EVENTS)
    for each in (each.taken(rows) for each in rivals):
        for region in each.rule.regions:
            bits = None if each.rule.spared else _bits(region, shape)
            if bits is None:
                usable[each.row] = False
            else:
                pairs.append((each.row, each.event, *bits))
    none = np.zeros(0, dtype=np.int64)
    row = np.concatenate([none, *(each[0] for each in pairs)])
    event = np.concatenate([none, *(each[1] for each in pairs)])
    forbidden, never_at = (
        np.concatenate([none, *(np.full(len(each[0]), each[place]) for each in pairs)]) for place in (2, 3)
    )
    order = np.lexsort((event, row))
    row, event = row[order], event[order]
    first = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (event[1:] != event[:-1]))[: len(row)])
    if len(first):
        forbidden = np.bitwise_or.reduceat(forbidden[order], first)
        never_at = np.bitwise_or.reduceat(never_at[order], first)
    row, event = row[first], event[first]
    lowest = forbidden & -forbidden
    # One stretch of gaps after the other: then adding the lowest bit leaves a single one.
    usable[row[(forbidden + lowest) & forbidden != 0]] = False
    return usable, Places(np.searchsorted(row, np.arange(len(rows) + 1)), event, forbidden, never_at)


def _bits(region: Region, shape: Shape) -> tuple[int, int] | None:
    """The gaps that a region holds whole, and the events whose ticks it holds; None for any other region."""
    last = len(shape.blocks) - 1
    if edge_of(region, shape) == "after":
        return 1 << last, 0
    found = between(region)
    if found is None or found.after != 1 or found.before not in (-1, 0) or found.begin >= found.end:
        return None
    begin, end = found.begin, found.end
    inside = ((1 << end) - 1) & ~((1 << (begin + 1)) - 1)
    return ((1 << end) - 1) & ~((1 << begin) - 1), inside | (1 << end if found.before == 0 else 0)


@inner
def ends_of(forbidden):
    """The event before the first gap that a rival is kept out of, and the one after the last; or both 0."""
    first, last = np.zeros(len(forbidden), dtype=np.int64), np.zeros(len(forbidden), dtype=np.int64)
    for r in range(len(forbidden)):
        bits = forbidden[r]
        while bits and bits & 1 == 0:
            bits >>= 1
            first[r] += 1
        last[r] = first[r]
        while bits:
            bits >>= 1
            last[r] += 1
    return first, last


WORK_BOUND = most_products(CARRIED)
"""Products that a chain may take."""

MOST_VALUES = 1 << 22
"""Largest number of values that the matrices of a chain may have."""


def several_gap_chains(
    masses: Masses, event: Indexes, lower: Ticks, upper: Ticks, system: Ticks, places: Places,
    window: int | None,
) -> tuple[Indexes, Measured]:  # fmt: skip
    """Measure those of n chains that can be; also says which, ascending.

    `event`, `lower`, `upper`: shape (n, l), the last two valid intervals; `system`: closed constraints over
    the events; `places`: the rivals that can decide.
    """
    far = upper.max(axis=1).astype(np.uint64) - lower.min(axis=1).astype(np.uint64) >= FARTHEST
    confidence = np.full(len(event), np.nan)
    start, end = np.empty(len(event), dtype=np.int64), np.empty(len(event), dtype=np.int64)
    chains = _ChainEvents(event, lower, upper, has_room(system, lower, upper), far)
    bounds, answer = np.array([WORK_BOUND, MOST_VALUES]), (confidence, start, end)
    buckets = masses.buckets, masses.mirrored.buckets
    _sum_several(*buckets, masses.has_hole, chains, places, window_ticks(window), bounds, answer)
    solved = np.flatnonzero(~np.isnan(confidence))
    return solved, Measured.exact(confidence, start, end, start <= end).taken(solved)


class _ChainEvents(NamedTuple):
    """The events of n chains and valid intervals, which gaps have room, and who reaches too far."""

    event: Indexes
    lower: Ticks
    upper: Ticks
    room: Flags
    far: Flags


@kernel
def _sum_several(buckets, mirrored, has_hole, chains, places, window, bounds, answer):
    """Fill what is known of every chain; the confidence is NaN for those that are left."""
    event, lower, upper, room, far = chains
    offsets, rivals, forbidden, never_at = places
    confidence, start, end = answer
    for row in range(len(event)):
        own = slice(offsets[row], offsets[row + 1])
        low, high = lower[row].min(), upper[row].max()
        width = window if 0 < window <= high - low else 0
        if far[row]:
            continue
        usable, kept = _kept(
            buckets, has_hole, lower[row], upper[row], room[row], rivals[own], forbidden[own], never_at[own]
        )
        if not usable:
            continue
        found = sum_carried(buckets, kept, event[row], low, high, width, bounds)
        if not np.isnan(found):
            confidence[row] = min(max(found, 0.0), 1.0)
            start[row], end[row] = range_of_kept(buckets, mirrored, event[row], kept, window)


@inner
def _kept(buckets, has_hole, lower, upper, room, rivals, forbidden, never_at):
    """Which steps and rivals a chain has; also whether it can be measured by them."""
    length, count, usable = len(lower), len(rivals), True
    reach, inside = np.empty(count, dtype=np.int64), np.zeros(length, dtype=np.bool_)
    for r in range(count):
        usable = usable and not forbidden[r] >> (length - 1)
        reach[r] = _reach(buckets.lower[rivals[r]], buckets.upper[rivals[r]], lower, upper, room, never_at[r])
    first, last = ends_of(reach & forbidden)
    for r in range(count):
        for i in range(first[r] + 1, last[r]):
            inside[i] = True
    ends = np.flatnonzero(~inside)
    for r in range(count):
        # It is kept out of the earlier gaps of its step, too, where it can lie in none of them.
        while inside[first[r]] and last[r] > first[r] + 1:
            first[r] -= 1
            usable = usable and (reach[r] & ~forbidden[r]) >> first[r] & 1 == 0
        allowed = False
        for i in range(first[r] + 1, last[r]):
            allowed = allowed or not never_at[r] >> i & 1
        usable = usable and not (allowed and has_hole[rivals[r]])
    return usable, _sorted(rivals, first, last, never_at, ends, length)


@inner
def _reach(since, until, lower, upper, room, never_at):
    """The gaps in which a rival with this interval can lie."""
    found = 0
    for g in range(len(lower) - 1):
        closed = never_at >> (g + 1) & 1
        if until > lower[g] and since < upper[g + 1] + closed and (closed or room[g]):
            found |= 1 << g
    return found


@inner
def _sorted(rivals, first, last, never_at, ends, length):
    """The rivals of single gaps in the order of these, then the tied ones in that of steps."""
    order = np.empty(len(rivals), dtype=np.int64)
    offsets, ties = np.zeros(length, dtype=np.int64), np.zeros(len(ends), dtype=np.int64)
    count = 0
    for g in range(length - 1):
        for r in range(len(rivals)):
            if first[r] == g and last[r] == g + 1:
                order[count] = r
                count += 1
        offsets[g + 1] = count
    ties[0] = count
    for k in range(len(ends) - 1):
        for r in range(len(rivals)):
            if ends[k] == first[r] and last[r] > first[r] + 1:
                order[count] = r
                count += 1
        ties[k + 1] = count
    order = order[:count]
    closed = np.empty(count)
    for i in range(count):
        closed[i] = never_at[order[i]] >> last[order[i]] & 1
    return Kept(rivals[order], first[order], last[order], closed, never_at[order], offsets, ties, ends)


@inner
def range_of_kept(buckets, mirrored, event, kept, window):
    """First and last tick of a chain; the last before the first where it cannot happen.

    As in `distinct_gaps`, but a rival is kept out from one event to another that need not be its neighbour,
    as far as it must not be at the ticks of those between.  Where its mass has no hole, the chain is surely
    broken by it if and only if it lies between two such events wherever it is; that too holds of the smaller
    of two chains, tick by tick, where it holds of neither.
    """
    between, count = _between(kept)
    tick, last = np.empty(len(event), dtype=np.int64), len(event) - 1
    if not find_smallest(buckets, event, between, count, window, False, tick):
        return 1, 0
    start = tick[0]
    turned = NotBetween(between.rival, last - between.last, last - between.first, between.closed)
    if not find_smallest(mirrored, event[::-1].copy(), turned, count, window, True, tick):
        return 1, 0
    return start, -tick[0]


@inner
def _between(kept):
    """The rivals by the two events between which each must not lie, wherever the others are; how many."""
    between, found = room_between((kept.last - kept.first).sum()), 0
    for r in range(len(kept.event)):
        since = kept.first[r]
        for i in range(since + 1, kept.last[r] + 1):
            never = kept.never_at[r] >> i & 1 == 1
            if i == kept.last[r] or not never:
                between.rival[found], between.closed[found] = kept.event[r], never
                between.first[found], between.last[found] = since, i
                found, since = found + 1, i
    return between, found
