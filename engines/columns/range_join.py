"""Range join: for each query interval, the events with the same key whose interval overlaps it.

Events are sorted by (key, lower).  Among those of the query's key, a binary search on `lower` cuts off
those that start too late, one on the running maximum of `upper` those that end too early; what is left
is checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import order_of, starts_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Ticks

PAIRS_AT_ONCE = 1 << 20
"""Pairs that one step of a join produces, where memory allows."""


@dataclass(frozen=True)
class IntervalIndex:
    """Events of one component, ready to be joined.

    Shapes (m,) for m events, sorted by key and lower: `event` row numbers, `lower`, `upper`, and
    `reach`, the largest `upper` so far among those of the same key.  Those of key k lie between
    key_starts[k] and key_starts[k + 1].
    """

    event: Indexes
    lower: Ticks
    upper: Ticks
    reach: Ticks
    key_starts: Indexes


def interval_index(event: Indexes, key: Indexes, lower: Ticks, upper: Ticks) -> IntervalIndex:
    """Sort events for joining; `key` holds codes >= 0, all arrays have shape (m,)."""
    order = order_of(key, lower)
    event, lower, upper = event[order], lower[order], upper[order]
    key_starts = starts_of(key)
    # Where none ends before another that begins earlier, as among those of one width, it is known already.
    goes_on = np.ones(len(upper) + 1, dtype=bool)
    goes_on[key_starts] = False
    falls = (upper[1:] < upper[:-1]) & goes_on[1:-1]
    reach = _running_maximum(upper, key_starts) if falls.any() else upper
    return IntervalIndex(event, lower, upper, reach, key_starts)


def indexed_events(masses: Masses, event: Indexes, codes: Indexes) -> IntervalIndex:
    """Events ready to be joined by their intervals; those of code -1, which join nothing, are left out."""
    usable = codes >= 0
    if not usable.all():
        event, codes = event[usable], codes[usable]
    return interval_index(event, codes, masses.lower[event], masses.upper[event])


@kernel
def _running_maximum(upper, key_starts):
    reach = upper.copy()
    for k in range(len(key_starts) - 1):
        for at in range(key_starts[k] + 1, key_starts[k + 1]):
            reach[at] = max(reach[at], reach[at - 1])
    return reach


def overlapping(
    index: IntervalIndex, key: Indexes, first: Ticks, last: Ticks, at_once: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Indexes, Indexes]]:
    """Pairs (query row, event) with equal keys and overlapping intervals, in batches of about `at_once`.

    `key`, `first`, `last` have shape (n,): key code of each query (-1 joins nothing) and its interval
    of ticks, both ends included.

    Yields
    ------
    Two arrays of equal length: rows of the query arrays, ascending, and row numbers of events.

    Examples
    --------
    >>> one = np.zeros(2, dtype=np.int64)
    >>> index = interval_index(np.array([7, 8]), one, np.array([1, 4]), np.array([5, 9]))
    >>> rows, events = next(overlapping(index, one, np.array([6, 5]), np.array([8, 5])))
    >>> rows.tolist(), events.tolist()
    ([0, 1, 1], [8, 7, 8])
    """
    yield from listed(index, candidates_of(index, key, first, last), first, at_once)


@dataclass(frozen=True)
class Candidates:
    """Of n queries the first event of an index that may overlap, and how many do at most: shape (n,)."""

    begin: Indexes
    counts: Indexes


def candidates_of(index: IntervalIndex, key: Indexes, first: Ticks, last: Ticks) -> Candidates:
    """Count what `overlapping` lists, and sometimes a little more."""
    return Candidates(*_candidates(index.key_starts, index.lower, index.reach, key, first, last))


def listed(
    index: IntervalIndex, candidates: Candidates, first: Ticks, at_once: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Indexes, Indexes]]:
    """What `overlapping` yields, of queries whose candidates are known."""
    begin, counts = candidates.begin, candidates.counts
    for start, stop in batches(counts, at_once):
        size = int(counts[start:stop].sum())
        row, event = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        found = _pairs(start, stop, begin, counts, first, index.upper, index.event, row, event)
        yield row[:found], event[:found]


@kernel
def _candidates(key_starts, lower, reach, key, first, last):
    """Per query the first of its candidates and their number."""
    begin, counts = np.zeros(len(key), dtype=np.int64), np.zeros(len(key), dtype=np.int64)
    for i in range(len(key)):
        if 0 <= key[i] < len(key_starts) - 1:
            start, stop = key_starts[key[i]], key_starts[key[i] + 1]
            begin[i] = _first_from(reach, start, stop, first[i], False)
            end = _first_from(lower, start, stop, last[i], True)
            counts[i] = max(end - begin[i], 0)
    return begin, counts


@inner
def _first_from(values, low, high, wanted, beyond):
    """The first place from `low` to `high` that has what is wanted or more, or what is `beyond` it."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted or (beyond and values[middle] == wanted):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _pairs(start, stop, begin, counts, first, upper, events, row, event):
    """Fill `row` and `event` with the pairs that do overlap; returns their number."""
    found = 0
    for i in range(start, stop):
        for at in range(begin[i], begin[i] + counts[i]):
            if upper[at] >= first[i]:
                row[found] = i
                event[found] = events[at]
                found += 1
    return found


def batches(counts: Indexes, at_once: int) -> Iterator[tuple[int, int]]:
    """Split rows so that the counts of each part add up to `at_once` at most, at least one row each."""
    total = np.cumsum(counts)
    start, done = 0, 0
    while start < len(counts) and done < total[-1]:
        stop = int(np.searchsorted(total, done + at_once, side="right"))
        stop = max(stop, start + 1)
        yield start, stop
        start, done = stop, int(total[stop - 1])
