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


class Cell(NamedTuple):
    """A cell, its k classes alive, its sets s, and the l last steps with which one can be in it.

    Attributes
    ----------
    kinds, counts, strides
        Class, how many events it has, and the worth of its digit, shape (k,).
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
    sizes: np.ndarray
    rates: np.ndarray
    open: np.ndarray
    opens: np.ndarray
    lasts: np.ndarray
    follow: np.ndarray
    followed: np.ndarray
    landing: np.ndarray


@inner
def cuts_of(buckets, events):
    """Begins of the cells of some events, and the tick after the last; where there are none one tick."""
    room = 0
    for event in events:
        room += 2 * (buckets.starts[event + 1] - buckets.starts[event])
    points, at = np.zeros(max(room, 1), dtype=np.int64), 0
    for event in events:
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
def cell_of(classes, roots, following, row_of, kinds, shares, entry_lasts):
    """The cell in which some classes are alive, with their masses there times the factors of what ended."""
    counts, strides, sets = np.empty_like(kinds), np.empty_like(kinds), 1
    for i in range(len(kinds)):
        counts[i], strides[i] = classes.members[kinds[i]], sets
        sets *= counts[i] + 1
    sizes, rates = np.zeros(sets, dtype=np.int64), np.empty((sets, len(kinds)))
    _fill_rates(classes, roots, kinds, counts, strides, shares, sizes, rates)
    opened, opens = np.empty(rates.shape, dtype=np.int64), np.zeros(sets, dtype=np.int64)
    _leave_open(counts, rates, opened, opens)
    lasts = _lasts_of(classes, row_of, kinds, entry_lasts)
    follow, landing = np.empty((len(lasts), len(kinds))), np.empty_like(kinds)
    for i in range(len(kinds)):
        step = classes.step[kinds[i]]
        landing[i] = place_of(lasts, row_of[step])
        for last in range(len(lasts)):
            follow[last, i] = following[lasts[last], step]
    followed = np.ascontiguousarray(follow.T)
    return Cell(kinds, counts, strides, sizes, rates, opened, opens, lasts, follow, followed, landing)


@inner
def _fill_rates(classes, roots, kinds, counts, strides, shares, sizes, rates):
    """How many events each set has, and the mass of one event of each class after it."""
    factor = np.ones((len(kinds), len(kinds)))
    for i in range(len(kinds)):
        rates[0, i] = shares[i]
        for j in range(len(kinds)):
            if i != j:
                factor[i, j] = root_before(classes, roots, kinds[i], kinds[j])
    digits = np.zeros_like(kinds)
    for s in range(1, len(sizes)):
        i = next_set(digits, counts)
        smaller = s - strides[i]
        sizes[s] = sizes[smaller] + 1
        for j in range(len(kinds)):
            rates[s, j] = rates[smaller, j] * factor[i, j]


@inner
def _leave_open(counts, rates, opened, opens):
    """Let every event that is left happen, and list the classes that have one."""
    digits = np.zeros_like(counts)
    for s in range(len(rates)):
        if s > 0:
            next_set(digits, counts)
        for i in range(len(counts)):
            rates[s, i] *= counts[i] - digits[i]
            if rates[s, i] != 0.0:
                opened[s, opens[s]] = i
                opens[s] += 1


@inlined
def next_set(digits, counts):
    """Turn the digits of a set, which is not the last, into those of the next; the lowest that is not 0."""
    i = 0
    while digits[i] == counts[i]:
        digits[i] = 0
        i += 1
    digits[i] += 1
    return i


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
