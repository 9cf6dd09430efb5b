"""Chains whose rivals may lie in several gaps: a table over ticks and over who of the rivals has its place.

A rival x that must not lie between the ticks s and u of two events of a chain, but may be at the ticks in
between, leaves, with m over the events in between,

    1 - P(s < t_x < u) + sum over m of P(t_x = t_m)  =  P(t_x <= s) + sum over m of P(t_x = t_m) + P(t_x >= u)

Each term speaks of the tick of one event of the chain alone.  So the chain is summed event by event, with a
bit for each rival that is open: whether one of its terms has been taken.  The work grows with the ticks, the
length, and two to the power of how many rivals are open at once; not with how many there are.  Nothing is
subtracted.

    name here    meaning
    forbidden    bit p: a rival must not lie in the gap after event p; the window ends that after the last
    never_at     bit p: nor at the tick of event p
    open         rivals whose first event is bound, and whose last one is not
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import LAST
from cepctl.engines.confidence.gaps.distinct_gaps import FARTHEST, window_ticks
from cepctl.engines.confidence.time_cells import fill_masses
from cepctl.engines.confidence.work import PLACED, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.blocks import Region, Shape, between
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.shapes import edge_of

MOST_EVENTS = 62
"""Of one chain: a bit for each."""
FEW_EVENTS = 4
"""Chains so short are left to nested sums, which do not know how wide intervals are, where these are wide."""
MOST_OPEN = 20
WORK_BOUND, SHORT_BOUND = most_products(PLACED), most_products(PLACED) // 20_000
NEVER = np.iinfo(np.int64).max


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


def most_products_of(length: int) -> int:
    """How many products a chain of so many events may take here."""
    return WORK_BOUND if length > FEW_EVENTS else SHORT_BOUND


def placed_chains(
    masses: Masses, event: Indexes, lower: Ticks, upper: Ticks, places: Places, window: int | None
) -> tuple[Reals, Ticks, Ticks]:
    """Confidence, first and last tick of chains with valid intervals, shape (n, l); NaN for too much work."""
    confidence = np.empty(len(event))
    start, end = np.empty(len(event), np.int64), np.empty(len(event), np.int64)
    bound = most_products_of(event.shape[1])
    far = upper.max(axis=1).astype(np.uint64) - lower.min(axis=1).astype(np.uint64) >= FARTHEST
    sum_placed(
        masses.buckets, event, lower, upper, *places, window_ticks(window), float(bound), far, confidence,
        start, end,
    )  # fmt: skip
    return confidence, start, end


@kernel
def sum_placed(
    buckets, event, lower, upper, offsets, rivals, forbidden, never_at, window, bound, far, confidence, start,
    end,
):  # fmt: skip
    """Fill what is known of each chain."""
    length = event.shape[1]
    for row in range(len(event)):
        some = slice(offsets[row], offsets[row + 1])
        first, last = ends_of(forbidden[some])
        low, high = lower[row].min(), upper[row].max()
        beyond = (last == length).any()
        binding = window > 0 and (high - low >= window or beyond)
        if (
            far[row]
            or (beyond and not binding)
            or products_of_places(lower[row], upper[row], first, last, binding) > bound
        ):
            confidence[row], start[row], end[row] = np.nan, 1, 0
            continue
        confidence[row], start[row], end[row] = _sum_chain(
            buckets, event[row], lower[row], upper[row], rivals[some], first, last, never_at[some],
            window if binding else 0,
        )  # fmt: skip


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


@inner
def products_of_places(lower, upper, first, last, binding):
    """How many products all ticks of all events take."""
    total = 0.0
    for m in range(len(lower)):
        before = after = 0
        for r in range(len(first)):
            before += first[r] < m <= last[r]
            after += first[r] <= m < last[r]
        most = max(before, after) + 1
        if most > MOST_OPEN:
            return np.inf
        total += (float(upper[m]) - float(lower[m]) + 2.0) * most * 2.0**most
    return total * (float(upper[0]) - float(lower[0]) + 1.0) if binding else total


@inner
def _sum_chain(buckets, event, lower, upper, rivals, first, last, never_at, window):
    """The sum over all ticks; with a window one for each tick of the first event."""
    table = _tables(buckets, event, lower, upper, rivals, first, last)
    if window == 0:
        return _sum_from(buckets, table, lower, upper, rivals, first, last, never_at, lower[0], upper[0], 0)
    total, start, end = 0.0, NEVER, -NEVER
    for tick in range(lower[0], upper[0] + 1):
        found, begin, finish = _sum_from(
            buckets, table, lower, upper, rivals, first, last, never_at, tick, tick, window
        )
        if finish >= begin:
            total, start, end = total + found, min(start, begin), max(end, finish)
    return min(total, 1.0), start if end >= start else 1, end if end >= start else 0


class Tables(NamedTuple):
    """The ticks of all events of a chain side by side, those of event m from begin[m] on.

    `mass`: of the event itself; `up_to` and `each`, by rival: its mass up to a tick, and at it.
    """

    begin: Indexes
    mass: Reals
    up_to: Reals
    each: Reals


@inner
def _tables(buckets, event, lower, upper, rivals, first, last):
    begin = np.zeros(len(event) + 1, dtype=np.int64)
    for m in range(len(event)):
        begin[m + 1] = begin[m] + upper[m] - lower[m] + 1
    mass, unused = np.empty(begin[-1]), np.empty(begin[-1])
    up_to, each = np.zeros((len(rivals), begin[-1])), np.zeros((len(rivals), begin[-1]))
    for m in range(len(event)):
        cut, own = np.arange(lower[m], upper[m] + 2), slice(begin[m], begin[m + 1])
        fill_masses(buckets, event[m], cut, unused[own], mass[own])
        for r in range(len(rivals)):
            if first[r] <= m <= last[r]:
                fill_masses(buckets, rivals[r], cut, up_to[r, own], each[r, own])
                for at in range(begin[m], begin[m + 1]):
                    up_to[r, at] = min(up_to[r, at] + each[r, at], 1.0)
    return Tables(begin, mass, up_to, each)


@inner
def _sum_from(buckets, table, lower, upper, rivals, first, last, never_at, since, until, window):
    """The same where the first event is at a tick from `since` on, until one; and first and last tick."""
    length = len(lower)
    open_now = np.empty(len(rivals), dtype=np.int64)
    count, base = 0, lower[0]
    sums, begins = np.ones((1, 1)), np.full((1, 1), NEVER)
    room = _room(length, first, last)
    value, begin = np.empty(room), np.empty(room, dtype=np.int64)
    total, start, end = 0.0, NEVER, -NEVER
    for m in range(length):
        lo, hi = (since, until) if m == 0 else (lower[m], upper[m])
        if window > 0:
            hi = min(hi, since + window - 1)
        following = _following(open_now, count, first, last, m)
        ticks, states = max(hi - lo + 1, 0), 1 << len(following)
        new_sums, new_begins = np.zeros((ticks + 1, states)), np.full((ticks + 1, states), NEVER)
        for t in range(lo, hi + 1):
            # All that the events before may do, up to the tick before.
            before = 0 if m == 0 else min(max(t - base, 0), len(sums) - 1)
            at = table.begin[m] + t - lower[m]
            own, some = table.mass[at], False
            for s in range(sums.shape[1]):
                value[s] = sums[before, s] * own
                begin[s] = t if m == 0 else begins[before, s]
                some = some or value[s] > 0.0
            for s in range(states):
                new_sums[t - lo + 1, s], new_begins[t - lo + 1, s] = (
                    new_sums[t - lo, s],
                    new_begins[t - lo, s],
                )
            if not some:
                continue
            _take_place(
                buckets, table, value, begin, open_now, count, rivals, first, last, never_at, m, at, t
            )
            for s in range(states):
                if value[s] > 0.0:
                    new_sums[t - lo + 1, s] += value[s]
                    new_begins[t - lo + 1, s] = min(new_begins[t - lo + 1, s], begin[s])
            if m == length - 1:
                left, earliest = _left_of(buckets, value, begin, following, rivals, since + window)
                if left > 0.0:
                    total, start, end = total + left, min(start, earliest), max(end, t)
        sums, begins, base = new_sums, new_begins, lo
        count = len(following)
        open_now[:count] = following
    return min(total, 1.0), start if end >= start else 1, end if end >= start else 0


@inner
def _room(length, first, last):
    """How many combinations of open rivals there are at most, with those that an event opens or closes."""
    most = 0
    for m in range(length):
        alive = 0
        for r in range(len(first)):
            alive += first[r] <= m <= last[r]
        most = max(most, alive)
    return 1 << most


@inner
def _following(open_now, count, first, last, m):
    """The rivals that are open after an event: those that stay, then those that it opens."""
    found = np.empty(len(first), dtype=np.int64)
    size = 0
    for i in range(count):
        if last[open_now[i]] > m:
            found[size] = open_now[i]
            size += 1
    for r in range(len(first)):
        if first[r] == m:
            found[size] = r
            size += 1
    return found[:size]


@inner
def _take_place(buckets, table, value, begin, open_now, count, rivals, first, last, never_at, m, at, tick):
    """What open rivals leave where event m is at a tick, and those that it opens."""
    bits = count
    for i in range(count - 1, -1, -1):
        r = open_now[i]
        forbidden = (never_at[r] >> m) & 1
        if last[r] == m:
            _close(value, begin, i, bits, min(mass_on(buckets, rivals[r], tick + forbidden, LAST), 1.0))
            bits -= 1
        elif not forbidden and table.each[r, at] > 0.0:
            for s in range(1 << bits):
                if not (s >> i) & 1:
                    _add(value, begin, s | 1 << i, s, table.each[r, at])
    for r in range(len(first)):
        if first[r] == m:
            for s in range(1 << bits):
                value[s | 1 << bits] = value[s] * table.up_to[r, at]
                begin[s | 1 << bits] = begin[s]
            bits += 1


@inner
def _close(value, begin, i, bits, behind):
    """Leave out bit i of so many: the rival has its place already, or lies behind."""
    for s in range(1 << (bits - 1)):
        unplaced = (s & ((1 << i) - 1)) | (s >> i) << (i + 1)
        placed = unplaced | 1 << i
        _add(value, begin, placed, unplaced, behind)
        value[s], begin[s] = value[placed], begin[placed]


@inner
def _add(value, begin, to, of, factor):
    """Add a part of one state to another."""
    amount = value[of] * factor
    if amount > 0.0:
        begin[to] = min(begin[to], begin[of]) if value[to] > 0.0 else begin[of]
        value[to] += amount


@inner
def _left_of(buckets, value, begin, open_rivals, rivals, tick):
    """What the rivals that are open at the end of a chain leave, which may lie behind the window."""
    for i in range(len(open_rivals) - 1, -1, -1):
        behind = min(mass_on(buckets, rivals[open_rivals[i]], tick, LAST), 1.0)
        _close(value, begin, i, i + 1, behind)
    return value[0], begin[0]
