"""The cells of a key, and the sets of its events in one of them: numbers whose digits count each class.

Time is cut where a mass changes.  In a cell each class that is alive there has a digit, how many of its
events have happened; classes that were alive before stand first, so that the sets with which a cell can
begin are the lowest numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inlined, inner

_NO_RANK = (1 << 63) - 1


class Cell(NamedTuple):
    """A cell, its k classes alive, its sets s, and the l last steps with which one can be in it.

    Attributes
    ----------
    kinds, counts, strides
        Class, how many events it has, and the worth of its digit, shape (k,).
    digits
        How many of each class have happened in a set, shape (s, k).
    sizes
        How many events have happened in a set, shape (s,).
    rates
        How many of n ticks' masses an event of a class adds to a set, by the factors `before`, shape (s, k).
    open, opens
        The classes, by place, of which an event can happen after a set, and how many they are.
    lasts
        The code of each last step, shape (l,); those at the begin of the cell stand first.
    follow
        The factor of a class after a last step, shape (l, k).
    followed
        The same by class first, shape (k, l).
    landing
        The place of a class among the last steps, shape (k,).
    """

    kinds: np.ndarray
    counts: np.ndarray
    strides: np.ndarray
    digits: np.ndarray
    sizes: np.ndarray
    rates: np.ndarray
    open: np.ndarray
    opens: np.ndarray
    lasts: np.ndarray
    follow: np.ndarray
    followed: np.ndarray
    landing: np.ndarray


@inner
def cuts_of(buckets, classes, key):
    """Begins of the cells of a key, and the tick after the last; of a key without events one tick."""
    if classes.starts[key] == classes.starts[key + 1]:
        return np.zeros(1, dtype=np.int64)
    room = 0
    for a in range(classes.starts[key], classes.starts[key + 1]):
        event = classes.event[a]
        room += 2 * (buckets.starts[event + 1] - buckets.starts[event])
    points = np.empty(room, dtype=np.int64)
    at = 0
    for a in range(classes.starts[key], classes.starts[key + 1]):
        event = classes.event[a]
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            points[at], points[at + 1] = buckets.lo[b], buckets.hi[b] + 1
            at += 2
    return np.unique(points)


@inner
def alive_in(classes, key, cut):
    """Which classes are alive in each cell: offsets into an array of classes, and that array."""
    begin, end = classes.starts[key], classes.starts[key + 1]
    size = 0
    for a in range(begin, end):
        size += np.searchsorted(cut, classes.upper[a] + 1) - np.searchsorted(cut, classes.lower[a])
    offsets, alive = np.zeros(len(cut), dtype=np.int64), np.empty(size, dtype=np.int64)
    coming, at = begin, 0
    for c in range(len(cut) - 1):
        if c > 0:
            for i in range(offsets[c - 1], offsets[c]):
                if classes.upper[alive[i]] >= cut[c]:
                    alive[at] = alive[i]
                    at += 1
        while coming < end and classes.lower[coming] == cut[c]:
            alive[at] = coming
            at += 1
            coming += 1
        offsets[c + 1] = at
    return offsets, alive


@inner
def shares_of(buckets, classes, offsets, alive, cut):
    """The mass of an event of each alive class in its cell."""
    shares = np.empty(len(alive))
    for c in range(len(cut) - 1):
        ticks = tick_count(cut[c], cut[c + 1] - 1)
        for i in range(offsets[c], offsets[c + 1]):
            shares[i] = density_at(buckets, classes.event[alive[i]], cut[c]) * ticks
    return shares


@inlined
def root_before(classes, roots, a, b):
    """The factor of an event of class a before one of class b that it shares a tick with."""
    if a < b:
        return roots[0, classes.pairs[a] + b - a]
    return roots[1, classes.pairs[b] + a - b]


@inner
def ended_factors(classes, roots, kinds, end, factors):
    """Multiply the factors of classes that go on by those of events that have certainly happened before."""
    for a in kinds:
        if classes.upper[a] < end:
            for b in kinds:
                if classes.upper[b] >= end:
                    for _ in range(classes.members[a]):
                        factors[b] *= root_before(classes, roots, a, b)


@inner
def cell_of(classes, roots, following, row_of, kinds, shares, to_come, entry_lasts):
    """The cell in which some classes are alive, with their masses there times the factors of what ended.

    Only events up to the rank `to_come`, of events that are not alive yet, can happen in it.
    """
    counts, strides, sets = np.empty_like(kinds), np.empty_like(kinds), 1
    for i in range(len(kinds)):
        counts[i], strides[i] = classes.members[kinds[i]], sets
        sets *= counts[i] + 1
    digits, sizes = _digits_of(counts, sets)
    rates = _rates_of(classes, roots, kinds, counts, strides, digits, shares)
    _block(classes.rank[kinds], to_come, counts, digits, rates)
    opened, opens = _open_of(rates)
    lasts = _lasts_of(classes, row_of, kinds, entry_lasts)
    follow, landing = np.empty((len(lasts), len(kinds))), np.empty_like(kinds)
    for i in range(len(kinds)):
        step = classes.step[kinds[i]]
        landing[i] = place_of(lasts, row_of[step])
        for last in range(len(lasts)):
            follow[last, i] = following[lasts[last], step]
    followed = np.ascontiguousarray(follow.T)
    return Cell(kinds, counts, strides, digits, sizes, rates, opened, opens, lasts, follow, followed, landing)


@inner
def _open_of(rates):
    opened, opens = np.empty(rates.shape, dtype=np.int64), np.zeros(len(rates), dtype=np.int64)
    for s in range(len(rates)):
        for i in range(rates.shape[1]):
            if rates[s, i] != 0.0:
                opened[s, opens[s]] = i
                opens[s] += 1
    return opened, opens


@inner
def _digits_of(counts, sets):
    """Digits of every set, and their sum."""
    digits, sizes = np.zeros((sets, len(counts)), dtype=np.int64), np.zeros(sets, dtype=np.int64)
    for s in range(1, sets):
        carry = True
        for i in range(len(counts)):
            digits[s, i] = digits[s - 1, i]
            if carry:
                carry = digits[s, i] == counts[i]
                digits[s, i] = 0 if carry else digits[s, i] + 1
            sizes[s] += digits[s, i]
    return digits, sizes


@inner
def _rates_of(classes, roots, kinds, counts, strides, digits, shares):
    rates = np.empty((len(digits), len(kinds)))
    factor = np.ones((len(kinds), len(kinds)))
    for i in range(len(kinds)):
        rates[0, i] = shares[i]
        for j in range(len(kinds)):
            if i != j:
                factor[i, j] = root_before(classes, roots, kinds[i], kinds[j])
    for s in range(1, len(digits)):
        i = 0
        while digits[s, i] == 0:
            i += 1
        for j in range(len(kinds)):
            rates[s, j] = rates[s - strides[i], j] * factor[i, j]
    for s in range(len(digits)):
        for j in range(len(kinds)):
            rates[s, j] *= counts[j] - digits[s, j]
    return rates


@inner
def lowest_to_come(classes, key, cut):
    """The lowest rank of a class that begins after each cell, more than any where there is none."""
    begin, end = classes.starts[key], classes.starts[key + 1]
    found = np.empty(len(cut) - 1, dtype=np.int64)
    lowest, a = np.int64(_NO_RANK), end
    for c in range(len(cut) - 2, -1, -1):
        while a > begin and classes.lower[a - 1] > cut[c]:
            a -= 1
            lowest = min(lowest, classes.rank[a])
        found[c] = lowest
    return found


@inner
def _block(ranks, to_come, counts, digits, rates):
    """Let no event come before one of a lower rank."""
    for j in range(len(ranks)):
        if to_come < ranks[j]:
            rates[:, j] = 0.0
        for i in range(len(ranks)):
            if ranks[i] < ranks[j]:
                for s in range(len(digits)):
                    if digits[s, i] < counts[i]:
                        rates[s, j] = 0.0


@inner
def _lasts_of(classes, row_of, kinds, entry_lasts):
    found = np.empty(len(entry_lasts) + len(kinds), dtype=np.int64)
    found[: len(entry_lasts)] = entry_lasts
    count = len(entry_lasts)
    for a in kinds:
        code = row_of[classes.step[a]]
        if place_of(found[:count], code) < 0:
            found[count] = code
            count += 1
    return found[:count]


@inner
def place_of(values, value):
    """The place of a value among others, -1 where it is not one of them."""
    for i in range(len(values)):
        if values[i] == value:
            return i
    return -1


@inner
def sets_left(cell, goes_on):
    """The sets in which all classes that end have happened, in the order of what goes on of them."""
    base, count = 0, 1
    for i in range(len(cell.kinds)):
        if goes_on[i]:
            count *= cell.counts[i] + 1
        else:
            base += cell.counts[i] * cell.strides[i]
    left = np.empty(count, dtype=np.int64)
    left[0] = base
    size = 1
    for i in range(len(cell.kinds)):
        if goes_on[i]:
            for d in range(1, cell.counts[i] + 1):
                for s in range(size):
                    left[d * size + s] = left[s] + d * cell.strides[i]
            size *= cell.counts[i] + 1
    return left
