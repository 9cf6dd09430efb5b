"""Joins: equality predicates as keys, and the events of a key whose interval overlaps that of a query.

Keys are small integers that are equal where the values are.  Two sources give them: `[attr]`, which all
components share, and equalities between two components.  A null equals nothing and gets the code -1.

Of a range join, events are sorted by (key, lower).  Among those of the query's key, a binary search on
`lower` cuts off those that start too late, one on the running maximum of `upper` those that end too early;
what is left is checked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.events import Events, value_codes
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import PLACES_PER_VALUE, Numbering, order_of, starts_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.plan import Alternative

PAIRS_AT_ONCE = 1 << 20
"""Pairs that one step of a join produces, where memory allows."""


@dataclass(frozen=True)
class KeyPart:
    """One equality: codes per event of the new component's side, and of the bound side, all below `width`."""

    new_codes: Indexes
    bound_codes: Indexes
    bound_component: int
    width: int

    @classmethod
    def of(cls, new_codes: Indexes, bound_codes: Indexes, bound_component: int) -> KeyPart:
        """With the width of the codes."""
        largest = max(int(new_codes.max(initial=0)), int(bound_codes.max(initial=0)))
        return cls(new_codes, bound_codes, bound_component, largest + 2)


@dataclass(frozen=True)
class JoinKey:
    """Key of one join step.

    `candidate_codes`: shape (m,), one per candidate, -1 for those that join nothing.
    `parts` and `levels` repeat the folding of several codes into one for the other side; a level is None
    where the codes of its part, the first one, are taken as they are.
    """

    candidate_codes: Indexes
    parts: tuple[KeyPart, ...]
    levels: tuple[Numbering | None, ...]

    def codes_of(self, rows: Indexes, singles: Sequence[int]) -> Indexes:
        """Codes of partial matches, shape (n,); `singles` maps columns to component indexes."""
        folded = np.zeros(len(rows), dtype=np.int64)
        for part, numbering in zip(self.parts, self.levels, strict=True):
            codes = part.bound_codes[rows[:, singles.index(part.bound_component)]]
            if numbering is None:
                folded = codes
                continue
            found = numbering.find(folded * part.width + codes)
            folded = np.where((folded >= 0) & (codes >= 0), found, -1)
        return folded


def join_key(
    alternative: Alternative,
    partition_by: Sequence[str],
    events: Events,
    component: int,
    bound: Set[int],
    candidates: Indexes,
) -> JoinKey:
    """Key for joining `component` to a partial match whose components are `bound`."""
    parts = _parts(alternative, partition_by, events, component, bound)
    folded = np.zeros(len(candidates), dtype=np.int64)
    for name in partition_by:
        column = events.frame.get_column(name)
        if column.null_count():
            folded[column.is_null().to_numpy()[candidates]] = -1
    levels: list[Numbering | None] = []
    for part in parts:
        codes = part.new_codes[candidates]
        # Clocks look codes up among those of candidates alone.
        if not levels and part.width <= PLACES_PER_VALUE * len(candidates) and events.clocks is None:
            folded = np.where(folded >= 0, codes, -1)
            levels.append(None)
            continue
        usable = (folded >= 0) & (codes >= 0)
        numbering, folded = Numbering.of(folded * part.width + codes, usable)
        levels.append(numbering)
    return JoinKey(folded, tuple(parts), tuple(levels))


def partition_codes(partition_by: Sequence[str], events: Events) -> Indexes:
    """One code per event for all `[attr]` of a query together, -1 where one is null; made once."""
    names = tuple(partition_by)
    if names in events.key_codes:
        return events.key_codes[names]
    folded = np.zeros(len(events), dtype=np.int64)
    for name in partition_by:
        codes = events.codes_of(name)
        usable = (folded >= 0) & (codes >= 0)
        together = folded * (int(codes.max(initial=0)) + 1) + codes
        folded = Numbering.of(together, usable)[1]
    events.key_codes[names] = folded
    return folded


def _parts(
    alternative: Alternative,
    partition_by: Sequence[str],
    events: Events,
    component: int,
    bound: Set[int],
) -> list[KeyPart]:
    parts = []
    if bound:
        for name in partition_by:
            codes = events.codes_of(name)
            parts.append(KeyPart.of(codes, codes, min(bound)))
    for equality in alternative.equalities:
        here, there = (equality.left, equality.left_attribute), (equality.right, equality.right_attribute)
        if there[0] == component:
            here, there = there, here
        if here[0] == component and there[0] in bound:
            if here[1] == there[1]:
                new = old = events.codes_of(here[1])
            else:
                new, old = value_codes(*(events.frame.get_column(side[1]) for side in (here, there)))
            parts.append(KeyPart.of(new, old, there[0]))
    return parts


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
