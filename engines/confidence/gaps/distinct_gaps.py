"""Chains with a rival-free gap between neighbours: which matches are such, their gaps and their range.

Under skip_till_next_match, contiguity and inner negation, and negation at an edge where the ring is opened
(`opened_rings`), every rival of a match may lie anywhere but in one gap.  Where no rival can reach two gaps
of a match, the gaps are independent given the ticks of the chain, and a table per gap (`tables`) replaces a
sum over all rivals.  Matches that extend the same events share gaps, so each distinct one is tabulated once.

A gap between ticks s and t is certainly broken by a rival that lies inside wherever it is: one with lower > s
and upper < t.  Every other rival has a tick elsewhere, and rivals are independent, so a chain of possible
ticks is returned in some world exactly when no gap of it is certainly broken (the bound that ZDI10 calls
NELT).  Order, window and rivals (s >= lower or t <= upper of each) all hold of the smaller of two chains,
tick by tick, where they hold of both.  So there is one smallest chain, and pushing ticks up only as far as
some condition forces them finds it, however wide intervals are.  Between two events of a gap may be others of
the chain (`several_gaps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses, mixed
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.tick_masses import first_possible
from cepctl.engines.columns.tick_sums import LAST, shifted
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.blocks import Rivals
from cepctl.numeric.arrays import Flags, Indexes, Ticks

FARTHEST = 1 << 61
"""Chains that span this many ticks are left, so that no sum with their ticks exceeds int64."""


class Gaps(NamedTuple):
    """G distinct gaps: gap k lies between events left[k] and right[k], shape (G,).

    None of rivals[rival_offsets[k]:rival_offsets[k + 1]] may lie strictly inside; where one is negative, its
    complement is the event, which may not be at the tick of the right one, either.
    """

    left: Indexes
    right: Indexes
    rival_offsets: Indexes
    rivals: Indexes


@inner
def event_of(rival):
    """The event that a rival is."""
    return ~rival if rival < 0 else rival


@inner
def rivals_of_gaps(gaps, chosen):
    """The rivals of some gaps side by side: where those of each begin, and all of them."""
    offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
    for g in range(len(chosen)):
        offsets[g + 1] = offsets[g] + gaps.rival_offsets[chosen[g] + 1] - gaps.rival_offsets[chosen[g]]
    listed = np.empty(offsets[-1], dtype=np.int64)
    for g in range(len(chosen)):
        first = gaps.rival_offsets[chosen[g]]
        for k in range(offsets[g + 1] - offsets[g]):
            listed[offsets[g] + k] = gaps.rivals[first + k]
    return offsets, listed


@dataclass(frozen=True)
class GapChains:
    """n chains of l events, and the distinct gaps between neighbours.

    `event`, `lower`, `upper`: shape (n, l), the last two valid intervals.  `gap`: shape (n, l - 1), which
    of the `gaps` lies between neighbours.
    """

    event: Indexes
    lower: Ticks
    upper: Ticks
    gap: Indexes
    gaps: Gaps

    def taken(self, rows: Indexes) -> GapChains:
        """Some of the chains, with the gaps of all."""
        return replace(
            self, event=self.event[rows], lower=self.lower[rows], upper=self.upper[rows], gap=self.gap[rows]
        )


def window_ticks(window: int | None) -> np.int64:
    """The window for chains of events less than FARTHEST apart; 0 where there is none.

    A longer one says nothing, and would leave int64 when added to a tick.
    """
    return np.int64(0 if window is None or window > FARTHEST else window)


def gap_chains(
    masses: Masses,
    event: Indexes,
    lower: Ticks,
    upper: Ticks,
    system: Ticks,
    rivals: Sequence[tuple[int, bool, Rivals]],
    copies: Indexes,
) -> tuple[Flags, GapChains]:
    """Gaps of the chains whose rivals can each lie in one of them only.

    `event`, `lower`, `upper`, shape (n, l): the events of each chain and their valid intervals; `system`:
    closed constraints over them.  `rivals`: number of a gap, whether it holds the tick of the event behind
    it, and pairs of a chain and an event that may not lie in it.  `copies`, shape (l - 1,): how much higher
    than that of an event the number of the copy is that lies in a gap.  Returns which chains can, shape (n,),
    and the gaps of these alone.
    """
    # By raw intervals, so that the rivals of a gap are the same for all chains that share it: for one that
    # cannot decide a chain they leave every factor of it exactly as it is.
    found = _gap_rivals(masses, event, lower, upper, has_room(system, lower, upper), rivals, copies)
    first, last = masses.lower[event].min(axis=1), masses.upper[event].max(axis=1)
    near = last.astype(np.uint64) - first.astype(np.uint64) < FARTHEST
    usable = np.asarray(near) & ~found.entangled
    rows = np.flatnonzero(usable)
    return usable, _with_distinct_gaps(event, lower, upper, found, rows, copies)


def has_room(system: Ticks, lower: Ticks, upper: Ticks) -> Flags:
    """Gaps that can be as wide as to hold a tick, shape (n, l - 1)."""
    room = shifted(lower[:, :-1], 2) <= upper[:, 1:]
    return np.asarray(room & (np.diag(system, -1) >= 2))


def _with_distinct_gaps(
    event: Indexes, lower: Ticks, upper: Ticks, found: GapRivals, rows: Indexes, copies: Indexes
) -> GapChains:
    """Number the gaps of some chains; gaps of one left, one right event and the same rivals are one."""
    event, gaps = event[rows], event.shape[1] - 1
    place = (rows[:, np.newaxis] * gaps + np.arange(gaps)).reshape(-1)
    sizes, begins, digest = found.sizes[place], found.offsets[place], found.digests[place]
    left, right = event[:, :-1].reshape(-1), event[:, 1:].reshape(-1)
    # Gaps of one middle event stand side by side: the tables of a chain's neighbours are at hand.
    pivot = np.where(np.arange(gaps) < (gaps + 1) // 2, 1, 0)
    beside = np.where(np.tile(pivot, len(rows)) == 1, right, left)
    order = np.lexsort((digest, sizes, left, right, beside))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = ~_same(order, sizes, left, right)
    _tell_apart(order, begins, sizes, found.events, fresh)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    first = order[fresh]
    rival_offsets = np.concatenate([[0], np.cumsum(sizes[first])])
    owner, within = places_in_runs(sizes[first])
    listed = found.events[begins[first][owner] + within]
    rivals = (listed >> 2) + copies[first % gaps][owner]
    rivals = np.where(listed & 2, ~rivals, rivals)
    return GapChains(
        event, lower[rows], upper[rows], number.reshape(len(rows), gaps),
        Gaps(left[first], right[first], rival_offsets, rivals),
    )  # fmt: skip


def _same(order: Indexes, *keys: Indexes) -> Flags:
    """Whether neighbours in an order agree in all keys."""
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        ordered = key[order]
        same &= ordered[1:] == ordered[:-1]
    return same


@kernel
def _tell_apart(order, begins, sizes, events, fresh):
    """Mark as fresh also the lists, in this order, that differ from the one before."""
    for i in range(1, len(order)):
        if not fresh[i]:
            here, there = begins[order[i]], begins[order[i - 1]]
            for k in range(sizes[order[i]]):
                fresh[i] = fresh[i] or events[here + k] >> 1 != events[there + k] >> 1


class GapRivals(NamedTuple):
    """Lists of n chains with g gaps each, that of gap k of chain i at place p = i * g + k.

    A list holds 4 * event + 1 where the event can lie in the gap, 4 * event where it reaches there by raw
    intervals alone, 2 more where the gap is closed for it; ascending, each event once.  Where a moved copy of
    the event lies in the gap, the list holds the event: a rival is one, wherever its copies lie.

    `offsets`: shape (n * g + 1,), room for each list in `events`, of which `sizes[p]` are used.  `digests`: a
    number per list, equal where the events are; unequal lists nearly always differ.  `entangled`: shape (n,),
    chains with a rival that can lie in several of their gaps.
    """

    offsets: Indexes
    sizes: Indexes
    events: Indexes
    digests: Indexes
    entangled: Flags


def _gap_rivals(
    masses: Masses,
    event: Indexes,
    lower: Ticks,
    upper: Ticks,
    room: Flags,
    rivals: Sequence[tuple[int, bool, Rivals]],
    copies: Indexes,
) -> GapRivals:
    """List the rivals of each gap, by counting sort: the pairs are never sorted as a whole.

    `room`: as `has_room` says; all else is as for `gap_chains`.
    """
    count, gaps = len(event), event.shape[1] - 1
    raw = masses.lower[event], masses.upper[event]
    sizes = np.zeros(count * gaps, dtype=np.int64)
    for gap, closed, each in rivals:
        _count(each.row, each.event, copies[gap], gap, int(closed), masses.lower, masses.upper, *raw, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    events = np.empty(offsets[-1], dtype=np.int64)
    ends = offsets[:-1].copy()
    for gap, closed, each in rivals:
        bounds = _GapBounds(masses.lower, masses.upper, *raw, lower, upper, room)
        _list(each.row, each.event, copies[gap], gap, int(closed), bounds, ends, events)
    digests = np.empty(len(sizes), dtype=np.uint64)
    entangled = np.zeros(count, dtype=np.bool_)
    _settle(offsets, events, sizes, digests, entangled)
    return GapRivals(offsets, sizes, events, digests.view(np.int64), entangled)


@kernel
def _count(rows, rivals, copy, gap, closed, lower, upper, raw_lower, raw_upper, sizes):
    gaps = raw_lower.shape[1] - 1
    for i in range(len(rows)):
        row, rival = rows[i], rivals[i] + copy
        if upper[rival] > raw_lower[row, gap] and lower[rival] < raw_upper[row, gap + 1] + closed:
            sizes[row * gaps + gap] += 1


class _GapBounds(NamedTuple):
    """Intervals of all events, and of those of chains as stated and as left to them; which gaps have room."""

    lower: Ticks
    upper: Ticks
    raw_lower: Ticks
    raw_upper: Ticks
    valid_lower: Ticks
    valid_upper: Ticks
    room: Flags


@kernel
def _list(rows, rivals, copy, gap, closed, bounds, ends, events):
    lower, upper, raw_lower, raw_upper, valid_lower, valid_upper, room = bounds
    gaps = raw_lower.shape[1] - 1
    for i in range(len(rows)):
        row, rival = rows[i], rivals[i]
        since, until = lower[rival + copy], upper[rival + copy]
        if until > raw_lower[row, gap] and since < raw_upper[row, gap + 1] + closed:
            place = row * gaps + gap
            inside = until > valid_lower[row, gap] and since < valid_upper[row, gap + 1] + closed
            inside = inside and (closed or room[row, gap])
            events[ends[place]] = 4 * rival + 2 * closed + inside
            ends[place] += 1


@kernel
def _settle(offsets, events, sizes, digests, entangled):
    """Sort every list, leave each event once, and compare those of one chain."""
    gaps = len(sizes) // max(len(entangled), 1)
    for place in range(len(sizes)):
        sizes[place] = _once(events[offsets[place] : offsets[place + 1]])
        begin, digest = offsets[place], np.uint64(0)
        for i in range(begin, begin + sizes[place]):
            digest += mixed(np.uint64(events[i] >> 1))
        digests[place] = digest
        row, gap = place // gaps, place % gaps
        for other in range(place - gap, place):
            entangled[row] = entangled[row] or _meet(
                events[begin : begin + sizes[place]], events[offsets[other] : offsets[other] + sizes[other]]
            )


@inner
def _once(events):
    """Sort a list in place, so that each event stands once at its begin; returns how many these are."""
    for i in range(1, len(events)):
        if events[i - 1] > events[i]:
            events.sort()
            break
    size = 0
    for i in range(len(events)):
        if size and events[i] >> 2 == events[size - 1] >> 2:
            events[size - 1] = events[i]
        else:
            events[size] = events[i]
            size += 1
    return size


@inner
def _meet(one, other):
    """Whether some event can lie in both gaps."""
    j = 0
    for i in range(len(one)):
        while j < len(other) and other[j] >> 2 < one[i] >> 2:
            j += 1
        if j < len(other) and other[j] >> 2 == one[i] >> 2 and one[i] & other[j] & 1:
            return True
    return False


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
