"""Range join: for each query interval, the events with the same key whose interval overlaps it.

Events are sorted by (key, lower).  Those that start too late are cut off by a binary search on
`lower`, those that end too early by one on the running maximum of `upper`; what is left is
checked exactly.  Keys and ticks are ranked into one number, so that both searches run over all
keys at once.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.engines.types import Indexes, Ticks

PAIRS_AT_ONCE = 1 << 20
"""Bound on the pairs produced by one step of a join; keeps memory flat."""


@dataclass(frozen=True)
class IntervalIndex:
    """Events of one component, ready to be joined.

    Shapes (m,) for m events: `event` row numbers, `upper`, `lower_rank` and `reach_rank` (key and
    tick in one number, ascending).  `lowers`, `reaches`: the distinct ticks behind the ranks.
    """

    event: Indexes
    lower: Ticks
    upper: Ticks
    lowers: Ticks
    reaches: Ticks
    lower_rank: Indexes
    reach_rank: Indexes


def interval_index(event: Indexes, key: Indexes, lower: Ticks, upper: Ticks) -> IntervalIndex:
    """Sort events for joining; `key` holds codes >= 0, all arrays have shape (m,)."""
    order = np.lexsort((lower, key))
    event, key, lower, upper = event[order], key[order], lower[order], upper[order]
    lowers, reaches = np.unique(lower), np.unique(upper)
    lower_rank = key * (len(lowers) + 1) + np.searchsorted(lowers, lower)
    reach_rank = key * (len(reaches) + 1) + np.searchsorted(reaches, upper)
    return IntervalIndex(event, lower, upper, lowers, reaches, lower_rank, np.maximum.accumulate(reach_rank))


def overlapping(
    index: IntervalIndex, key: Indexes, first: Ticks, last: Ticks
) -> Iterator[tuple[Indexes, Indexes]]:
    """Pairs (query row, event) with equal keys and overlapping intervals, in bounded batches.

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
    begin = np.searchsorted(
        index.reach_rank,
        key * (len(index.reaches) + 1) + np.searchsorted(index.reaches, first),
    )
    end = np.searchsorted(
        index.lower_rank,
        key * (len(index.lowers) + 1) + np.searchsorted(index.lowers, last, side="right"),
    )
    counts = np.where(key >= 0, np.maximum(end - begin, 0), 0)
    for start, stop in _batches(counts):
        chunk = counts[start:stop]
        row = np.repeat(np.arange(start, stop), chunk)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(chunk) - chunk, chunk)
        at = begin[row] + offset
        fits = index.upper[at] >= first[row]
        yield row[fits], index.event[at[fits]]


def _batches(counts: Indexes) -> Iterator[tuple[int, int]]:
    """Split rows so that each part yields about PAIRS_AT_ONCE pairs, at least one row each."""
    total = np.cumsum(counts)
    start, done = 0, 0
    while start < len(counts) and done < total[-1]:
        stop = int(np.searchsorted(total, done + PAIRS_AT_ONCE, side="right"))
        stop = max(stop, start + 1)
        yield start, stop
        start, done = stop, int(total[stop - 1])
