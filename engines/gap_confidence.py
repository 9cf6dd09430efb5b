"""Confidence of chains with rival-free gaps, by a table per distinct gap.

For a gap between events A and B with rivals R let

    Q(s, t) = product over r in R of 1 - P(s < t_r < t)

be the probability that no rival lies strictly between ticks s and t.  A chain is then a product of such
tables: the sum over all ticks is carried from event to event.  The window ties the last event to the
first: the table of the first gap is kept as sums over all first ticks from s on, so that the ticks
that the window still allows are one row of it, and a chain of three costs the square of its ticks, not
the cube (longer ones repeat the middle for each last tick).

    name here      meaning
    summed         of the first gap: [s, t], sum over ticks s' >= s of mass of s' times Q(s', t)
    table          of the other gaps: [t, s], mass of s times Q(s, t)
    reach          last tick t with Q(s, t) > 0: the bound that ZDI10 calls NELT

Every term is positive, nothing cancels.  Wider intervals are for `gap_polynomials`.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cepctl.engines.gap_chains import GapChains
from cepctl.engines.masses import Masses, ticks_between
from cepctl.engines.types import Flags, Reals

MOST_TICKS = 512
"""Widest interval that is tabulated tick by tick."""

_NEVER = np.iinfo(np.int64).max
_TABLE_BYTES = 1 << 25
_MOST_SLOTS = 64
_INDEX = np.uintp
"""Loops over unsigned indexes need no look at negative ones, so that they are vectorised."""


def narrow(masses: Masses, chains: GapChains) -> Flags:
    """Chains of narrow intervals alone, shape (n,)."""
    widths = ticks_between(masses.lower[chains.event], masses.upper[chains.event])
    return np.asarray((widths <= MOST_TICKS).all(axis=1))


def gap_confidence(masses: Masses, chains: GapChains, window: int | None) -> Reals:
    """Confidence of every chain, shape (n,)."""
    count, length = chains.event.shape
    confidence = np.zeros(count)
    if not count:
        return confidence
    ticks = int((masses.upper[chains.event] - masses.lower[chains.event]).max()) + 1
    slots = int(np.clip(_TABLE_BYTES // (8 * ticks * ticks * (length - 1)), 1, _MOST_SLOTS))
    most_rivals = int(np.diff(chains.rival_offsets).max(initial=0))
    pivot = chains.event[:, length // 2]
    order = np.lexsort((chains.event[:, 0], pivot))
    _solve(
        order, chains.event, chains.lower, chains.upper, chains.gap, chains.left, chains.right,
        chains.rival_offsets, chains.rivals,
        masses.lower, masses.upper, masses.starts, masses.lo, masses.hi, masses.density,
        np.int64(0 if window is None else window),
        np.full((length - 1, slots), -1, dtype=np.int64),
        np.empty((length - 1, slots, ticks, ticks)),
        np.empty(ticks, dtype=np.int64),
        np.empty((2, max(most_rivals, 1), ticks)),
        confidence,
    )  # fmt: skip
    return confidence


@njit(nogil=True, cache=True)
def _solve(  # type: ignore[no-untyped-def]
    order, event, valid_lower, valid_upper, gap, left, right, rival_offsets, rivals,
    lower, upper, starts, lo, hi, density, window,
    held, tables, reach, cumulated, confidence,
):  # fmt: skip
    length, slots, ticks = event.shape[1], held.shape[1], tables.shape[2]
    mass = np.zeros((length, ticks))
    slot = np.zeros(length - 1, dtype=np.int64)
    carried = np.zeros((length, ticks))
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
                    cumulated, g == 0, tables[g, slot[g]], reach,
                )  # fmt: skip
        for j in range(length):
            _masses(own[j], lower, upper, starts, lo, hi, density, mass[j])
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
def _cumulate(event, first, upper, starts, lo, hi, density, up_to):  # type: ignore[no-untyped-def]
    """P(t <= tick) for consecutive ticks from `first`; exactly 0 and 1 outside the interval."""
    up_to[:] = 0.0
    for b in range(starts[event], starts[event + 1]):
        before = float(first) - float(lo[b]) + 1.0
        most = float(hi[b]) - float(lo[b]) + 1.0
        for i in range(len(up_to)):
            up_to[i] += density[b] * min(max(before + i, 0.0), most)
    certain = min(max(upper[event] - first, 0), len(up_to)) if upper[event] >= first else 0
    for i in range(certain):
        up_to[i] = min(up_to[i], 1.0)
    up_to[certain:] = 1.0


@njit(nogil=True, cache=True)
def _tabulate(  # type: ignore[no-untyped-def]
    left, right, others, lower, upper, starts, lo, hi, density, cumulated, first, table, reach
):  # fmt: skip
    """Fill the table of a gap, in the form for the first or for another, and the reach of left ticks.

    Ticks count from the events' lower ends.
    """
    width, height = upper[left] - lower[left] + 1, upper[right] - lower[right] + 1
    at_left, at_right = cumulated[0], cumulated[1]
    for r in range(len(others)):
        _cumulate(others[r], lower[left], upper, starts, lo, hi, density, at_left[r, :width])
        _cumulate(others[r], lower[right] - 1, upper, starts, lo, hi, density, at_right[r, :height])
    for x in range(width):
        reach[x] = _last_reached(lower[left] + x, others, lower, upper)
    weight = np.empty(width)
    _masses(left, lower, upper, starts, lo, hi, density, weight)
    for y in range(0 if first else height):
        free = table[y, :width]
        _free_before(y, left, right, others, lower, upper, at_left, at_right, reach, free)
        for x in range(width):
            free[x] *= weight[x]
    row = np.empty(height)
    for x in range(width - 1 if first else -1, -1, -1):
        _free_after(x, left, right, others, lower, upper, at_left, at_right, reach, row)
        here, later = table[x, :height], table[x + 1, :height]
        for y in range(height):
            here[y] = weight[x] * row[y] + (later[y] if x < width - 1 else 0.0)


@njit(nogil=True, cache=True)
def _free_after(x, left, right, others, lower, upper, at_left, at_right, reach, row):  # type: ignore[no-untyped-def]
    """Q(x, y) for all right ticks y."""
    height = len(row)
    begin = min(max(lower[left] + x + 1 - lower[right], 0), height)
    stop = height if reach[x] >= upper[right] else max(reach[x] - lower[right] + 1, 0)
    row[:] = 0.0
    row[begin:stop] = 1.0
    for r in range(len(others)):
        here = at_left[r, x]
        if here < 1.0:
            since = max(begin, lower[others[r]] + 1 - lower[right])
            for y in range(_INDEX(since), _INDEX(stop)):
                row[y] *= 1.0 - (at_right[r, y] - here)


@njit(nogil=True, cache=True)
def _free_before(y, left, right, others, lower, upper, at_left, at_right, reach, row):  # type: ignore[no-untyped-def]
    """Q(x, y) for all left ticks x."""
    width = len(row)
    stop = max(min(lower[right] + y - lower[left], width), 0)
    begin = np.searchsorted(reach[:width], lower[right] + y)
    row[:] = 0.0
    row[begin:stop] = 1.0
    for r in range(len(others)):
        there = at_right[r, y]
        if there > 0.0:
            until = max(min(stop, upper[others[r]] - lower[left]), begin)
            for x in range(_INDEX(begin), _INDEX(until)):
                row[x] *= 1.0 - (there - at_left[r, x])


@njit(nogil=True, cache=True)
def _last_reached(tick, others, lower, upper):  # type: ignore[no-untyped-def]
    """Last tick after which some rival certainly lies between it and `tick`."""
    reach = _NEVER
    for r in range(len(others)):
        if lower[others[r]] > tick:
            reach = min(reach, upper[others[r]])
    return reach


@njit(nogil=True, cache=True)
def _total(own, lower, valid_lower, valid_upper, mass, tables, slot, window, carried):  # type: ignore[no-untyped-def]
    """Sum over all ticks of the chain."""
    last, base = len(own) - 1, lower[own[-1]]
    summed, table = tables[0, slot[0]], tables[last - 1, slot[last - 1]]
    binding = window > 0 and valid_upper[last] - valid_lower[0] >= window
    oldest = valid_lower[0]
    if last > 1:
        begin, until = valid_lower[last - 1], valid_upper[last - 1] + 1
        before = lower[own[last - 1]]
        if last > 2 and not binding:
            _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried)
    total = 0.0
    for u in range(valid_lower[last], valid_upper[last] + 1):
        if binding:
            oldest = max(u - window + 1, valid_lower[0])
            if oldest > valid_upper[0]:
                break
        row = oldest - lower[own[0]]
        if last == 1:
            total += mass[1, u - base] * summed[row, u - base]
            continue
        first, stop = max(begin, oldest + 1) - before, min(until, u) - before
        if last == 2:
            inside = _product(summed, row, table, u - base, first, stop)
        else:
            if binding:
                _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried)
            inside = _product(carried, last - 1, table, u - base, first, stop)
        total += mass[last, u - base] * inside
    return total


@njit(nogil=True, cache=True)
def _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried):  # type: ignore[no-untyped-def]
    """Fill carried[j, t], for all events but the first and last, with the sum over what comes before t."""
    begin, stop = valid_lower[1] - lower[own[1]], valid_upper[1] - lower[own[1]] + 1
    carried[1, begin:stop] = tables[0, slot[0], oldest - lower[own[0]], begin:stop]
    for g in range(1, len(own) - 2):
        following, until = valid_lower[g + 1] - lower[own[g + 1]], valid_upper[g + 1] - lower[own[g + 1]] + 1
        for y in range(following, until):
            carried[g + 1, y] = _product(carried, g, tables[g, slot[g]], y, begin, stop)
        begin, stop = following, until


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _product(left, i, right, j, begin, stop):  # type: ignore[no-untyped-def]
    """Sum of products of two rows between two places; reassociated, so that several are taken at once."""
    total = 0.0
    if begin < stop:
        for k in range(_INDEX(begin), _INDEX(stop)):
            total += left[i, k] * right[j, k]
    return total
