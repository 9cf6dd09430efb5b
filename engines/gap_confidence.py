"""Confidence of chains with rival-free gaps, by a table per distinct gap.

For a gap between events A and B with rivals R let

    Q(s, t) = product over r in R of 1 - P(s < t_r < t)

be the probability that no rival lies strictly between ticks s and t.  A chain is then a product of such
tables: the sum over all ticks is carried from event to event.  The window ties the last event to the
first: the table of the first gap is kept as sums over all first ticks from s on, so that the ticks
that the window still allows are one look-up, and a chain of three costs the square of its ticks, not
the cube (longer ones repeat the middle for each last tick).

    name here      in the semantics
    table          Q(s, t), times the mass of t; of the first gap summed over ticks from s on
    reach          last tick t with Q(s, t) > 0: the bound that ZDI10 calls NELT

Every term is positive, nothing cancels.  What is possible is decided apart, by `reach` alone, so that no
rounding can make a match appear or vanish.  Intervals have at most MOST_TICKS ticks.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cepctl.engines.gap_chains import GapChains
from cepctl.engines.masses import Masses
from cepctl.engines.types import Reals, Ticks

_NEVER = np.iinfo(np.int64).max
_TABLE_BYTES = 1 << 25
_MOST_SLOTS = 64


def gap_confidence(masses: Masses, chains: GapChains, window: int | None) -> tuple[Reals, Ticks, Ticks]:
    """Confidence, first and last tick of every chain, each of shape (n,); first after last if impossible."""
    count, length = chains.event.shape
    confidence = np.zeros(count)
    start, end = np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    if not count:
        return confidence, start, end
    ticks = int((masses.upper[chains.event] - masses.lower[chains.event]).max()) + 1
    slots = int(np.clip(_TABLE_BYTES // (8 * ticks * (ticks + 1) * (length - 1)), 1, _MOST_SLOTS))
    most_rivals = int(np.diff(chains.rival_offsets).max(initial=0))
    pivot = chains.event[:, length // 2]
    order = np.lexsort((chains.event[:, 0], pivot))
    _solve(
        order, chains.event, chains.lower, chains.upper, chains.gap, chains.left, chains.right,
        chains.rival_offsets, chains.rivals,
        masses.lower, masses.upper, masses.starts, masses.lo, masses.hi, masses.density,
        np.int64(0 if window is None else window),
        np.full((length - 1, slots), -1, dtype=np.int64),
        np.empty((length - 1, slots, ticks, ticks + 1)),
        np.empty((length - 1, slots, ticks), dtype=np.int64),
        np.empty((2, max(most_rivals, 1), ticks)),
        confidence, start, end,
    )  # fmt: skip
    return confidence, start, end


@njit(nogil=True, cache=True)
def _solve(  # type: ignore[no-untyped-def]
    order, event, valid_lower, valid_upper, gap, left, right, rival_offsets, rivals,
    lower, upper, starts, lo, hi, density, window,
    held, tables, reaches, cumulated, confidence, start, end,
):  # fmt: skip
    length, slots, ticks = event.shape[1], held.shape[1], tables.shape[2]
    mass = np.zeros((length, ticks))
    slot = np.zeros(length - 1, dtype=np.int64)
    carried = np.zeros((2, ticks))
    found = np.zeros((2, ticks), dtype=np.int64)
    for row in order:
        own = event[row]
        for g in range(length - 1):
            number = gap[row, g]
            slot[g] = number % slots
            if held[g, slot[g]] != number:
                held[g, slot[g]] = number
                others = rivals[rival_offsets[number] : rival_offsets[number + 1]]
                _tabulate(
                    left[number], right[number], others, lower, upper, starts, lo, hi, density,
                    cumulated, g == 0, tables[g, slot[g]], reaches[g, slot[g]],
                )  # fmt: skip
        for j in range(length):
            _masses(own[j], lower, upper, starts, lo, hi, density, mass[j])
        first, last = _range(own, lower, upper, mass, reaches, slot, window, found)
        if first > last:
            continue
        start[row], end[row] = first, last
        confidence[row] = _total(
            own, lower, valid_lower[row], valid_upper[row], mass, tables, slot, window, carried
        )


@njit(nogil=True, cache=True)
def _masses(event, lower, upper, starts, lo, hi, density, mass):  # type: ignore[no-untyped-def]
    """Mass of every tick of an event's interval."""
    mass[: upper[event] - lower[event] + 1] = 0.0
    for b in range(starts[event], starts[event + 1]):
        mass[lo[b] - lower[event] : hi[b] - lower[event] + 1] = density[b]


@njit(nogil=True, cache=True)
def _up_to(event, tick, lower, upper, starts, lo, hi, density):  # type: ignore[no-untyped-def]
    """P(t <= tick); exactly 0 and 1 outside the interval."""
    if tick < lower[event]:
        return 0.0
    if tick >= upper[event]:
        return 1.0
    total = 0.0
    for b in range(starts[event], starts[event + 1]):
        if lo[b] <= tick:
            total += density[b] * (float(min(hi[b], tick) - lo[b]) + 1.0)
    return min(total, 1.0)


@njit(nogil=True, cache=True)
def _tabulate(  # type: ignore[no-untyped-def]
    left, right, others, lower, upper, starts, lo, hi, density, cumulated, summed, table, reach
):  # fmt: skip
    """Fill the table of a gap and the last tick that each left tick reaches.

    Not summed: table[s, t] = Q(s, t) * mass of t.  Summed: table[t, s] = sum over ticks s' >= s of
    mass of s' * Q(s', t).  Ticks count from the events' lower ends.
    """
    width, height = upper[left] - lower[left] + 1, upper[right] - lower[right] + 1
    at_left, at_right = cumulated[0], cumulated[1]
    for r in range(len(others)):
        for x in range(width):
            at_left[r, x] = _up_to(others[r], lower[left] + x, lower, upper, starts, lo, hi, density)
        for y in range(height):
            at_right[r, y] = _up_to(others[r], lower[right] + y - 1, lower, upper, starts, lo, hi, density)
    weight = np.zeros(max(width, height))
    _masses(left if summed else right, lower, upper, starts, lo, hi, density, weight)
    row = np.empty(height)
    if summed:
        table[:height, width] = 0.0
    for x in range(width - 1, -1, -1):
        reach[x] = _last_reached(lower[left] + x, others, lower, upper)
        begin = min(max(lower[left] + x + 1 - lower[right], 0), height)
        stop = height if reach[x] >= upper[right] else max(reach[x] - lower[right] + 1, 0)
        row[:] = 0.0
        row[begin:stop] = 1.0
        for r in range(len(others)):
            here = at_left[r, x]
            if here < 1.0:
                for y in range(max(begin, lower[others[r]] + 1 - lower[right]), stop):
                    row[y] *= 1.0 - (at_right[r, y] - here)
        if summed:
            for y in range(height):
                table[y, x] = table[y, x + 1] + weight[x] * row[y]
        else:
            for y in range(height):
                table[x, y] = weight[y] * row[y]


@njit(nogil=True, cache=True)
def _last_reached(tick, others, lower, upper):  # type: ignore[no-untyped-def]
    """Last tick after which some rival certainly lies between it and `tick`."""
    reach = _NEVER
    for r in range(len(others)):
        if lower[others[r]] > tick:
            reach = min(reach, upper[others[r]])
    return reach


@njit(nogil=True, cache=True)
def _range(own, lower, upper, mass, reaches, slot, window, found):  # type: ignore[no-untyped-def]
    """Smallest first and largest last tick; (1, 0) if there is none.

    Going back from the last event: the earliest last tick that is left of each tick.  It never falls
    as the tick grows, so that only the next possible tick has to be looked at; likewise forwards.
    """
    length = len(own)
    here, there = found[0], found[1]
    for u in range(upper[own[-1]] - lower[own[-1]] + 1):
        there[u] = lower[own[-1]] + u if mass[length - 1, u] > 0.0 else _NEVER
    for g in range(length - 2, -1, -1):
        _earliest(own[g], own[g + 1], lower, upper, mass[g], reaches[g, slot[g]], there, here)
        here, there = there, here
    first = _NEVER
    for x in range(upper[own[0]] - lower[own[0]] + 1):
        if there[x] != _NEVER and (window == 0 or there[x] - (lower[own[0]] + x) < window):
            first = lower[own[0]] + x
            break
    if first == _NEVER:
        return 1, 0
    for x in range(upper[own[0]] - lower[own[0]] + 1):
        there[x] = lower[own[0]] + x if mass[0, x] > 0.0 else _NEVER
    for g in range(length - 1):
        _latest(own[g], own[g + 1], lower, upper, mass[g + 1], reaches[g, slot[g]], there, here)
        here, there = there, here
    last = lower[own[-1]]
    for u in range(upper[own[-1]] - lower[own[-1]], -1, -1):
        if there[u] != _NEVER and (window == 0 or lower[own[-1]] + u - there[u] < window):
            last = lower[own[-1]] + u
            break
    return first, last


@njit(nogil=True, cache=True)
def _earliest(left, right, lower, upper, mass, reach, there, here):  # type: ignore[no-untyped-def]
    """Earliest last tick after each tick of `left`, given those after each tick of `right`."""
    y = upper[right] - lower[right] + 1
    following = -1
    for x in range(upper[left] - lower[left], -1, -1):
        tick = lower[left] + x
        while y > 0 and lower[right] + y - 1 > tick:
            y -= 1
            if there[y] != _NEVER:
                following = y
        fits = mass[x] > 0.0 and following >= 0 and lower[right] + following <= reach[x]
        here[x] = there[following] if fits else _NEVER


@njit(nogil=True, cache=True)
def _latest(left, right, lower, upper, mass, reach, there, here):  # type: ignore[no-untyped-def]
    """Latest first tick before each tick of `right`, given those before each tick of `left`."""
    x, preceding = -1, -1
    width = upper[left] - lower[left] + 1
    for y in range(upper[right] - lower[right] + 1):
        tick = lower[right] + y
        while x + 1 < width and lower[left] + x + 1 < tick:
            x += 1
            if there[x] != _NEVER:
                preceding = x
        fits = mass[y] > 0.0 and preceding >= 0 and reach[preceding] >= tick
        here[y] = there[preceding] if fits else _NEVER


@njit(nogil=True, cache=True)
def _total(own, lower, valid_lower, valid_upper, mass, tables, slot, window, carried):  # type: ignore[no-untyped-def]
    """Sum over all ticks of the chain."""
    length = len(own)
    first, last = own[0], own[-1]
    summed = tables[0, slot[0]]
    binding = window > 0 and valid_upper[-1] - valid_lower[0] >= window
    total = 0.0
    if length == 2:
        for u in range(valid_lower[1], valid_upper[1] + 1):
            oldest = (max(u - window + 1, valid_lower[0]) if binding else valid_lower[0]) - lower[first]
            if oldest <= valid_upper[0] - lower[first]:
                total += mass[1, u - lower[last]] * summed[u - lower[last], oldest]
        return total
    if length == 3 and binding:
        return _three(own, lower, valid_lower, valid_upper, mass[1], summed, tables[1, slot[1]], window)
    begin = valid_lower[1] - lower[own[1]]
    stop = valid_upper[1] - lower[own[1]] + 1
    if not binding:
        for t in range(begin, stop):
            carried[0, t] = mass[1, t] * summed[t, valid_lower[0] - lower[first]]
        return _carry(
            own, lower, valid_lower, valid_upper, tables, slot, carried, valid_lower[-1], valid_upper[-1]
        )
    for u in range(valid_lower[-1], valid_upper[-1] + 1):
        oldest = max(u - window + 1 - lower[first], 0)
        if oldest <= valid_upper[0] - lower[first]:
            for t in range(begin, stop):
                carried[0, t] = mass[1, t] * summed[t, oldest]
            total += _carry(own, lower, valid_lower, valid_upper, tables, slot, carried, u, u)
    return total


@njit(nogil=True, cache=True)
def _three(own, lower, valid_lower, valid_upper, mass, summed, table, window):  # type: ignore[no-untyped-def]
    """A chain of three whose window binds: for each tick of the middle, all last ticks."""
    total = 0.0
    last_oldest = valid_upper[0] - lower[own[0]]
    for t in range(valid_lower[1], valid_upper[1] + 1):
        before, after = summed[t - lower[own[1]]], table[t - lower[own[1]]]
        offset = lower[own[2]] - window + 1 - lower[own[0]]  # from a last tick to the oldest first one
        begin = max(valid_lower[2], t + 1) - lower[own[2]]
        stop = min(valid_upper[2] - lower[own[2]], last_oldest - offset) + 1
        free = min(max(begin, -offset), stop)
        inside = 0.0
        for u in range(begin, free):
            inside += after[u]
        inside *= before[0]
        for u in range(free, stop):
            inside += after[u] * before[u + offset]
        total += mass[t - lower[own[1]]] * inside
    return total


@njit(nogil=True, cache=True)
def _carry(own, lower, valid_lower, valid_upper, tables, slot, carried, first_last, last_last):  # type: ignore[no-untyped-def]
    """Carry the sums per tick of the second event to the last, whose ticks are bounded."""
    length = len(own)
    here, there = carried[0], carried[1]
    for g in range(1, length - 1):
        table = tables[g, slot[g]]
        begin, stop = valid_lower[g + 1], valid_upper[g + 1]
        if g == length - 2:
            begin, stop = first_last, last_last
        begin, stop = begin - lower[own[g + 1]], stop - lower[own[g + 1]] + 1
        there[begin:stop] = 0.0
        for x in range(valid_lower[g] - lower[own[g]], valid_upper[g] - lower[own[g]] + 1):
            if here[x] > 0.0:
                for y in range(begin, stop):
                    there[y] += here[x] * table[x, y]
        here, there = there, here
    total = 0.0
    for u in range(first_last - lower[own[-1]], last_last - lower[own[-1]] + 1):
        total += here[u]
    return total
