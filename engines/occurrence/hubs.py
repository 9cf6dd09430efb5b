"""Independent parts of a group's problems, and the hubs of a part, given which all others are independent.

The hubs are a smallest set of events that leaves in no clause two others: a vertex cover of what is compared.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Flags, Indexes, Ticks

MOST_PROBLEMS = 64
"""Problems of one part: each is a bit of a state."""
MOST_HUBS = 12


class Part(NamedTuple):
    """Problems that share events with each other and with no other problem of the group.

    `event`: row numbers, by the rank of their ids.  Clauses as in `Settled`, with the places of events here;
    `mask` has a bit for each problem that asks for the clause.
    """

    problems: int
    event: Indexes
    absent: Flags
    offsets: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks
    mask: np.ndarray[tuple[int], np.dtype[np.uint64]]


@njit(nogil=True, cache=True)
def part_numbers(settled):
    """The part of each problem, numbered by their first problems; and how many there are."""
    problems = len(settled.problem_offsets) - 1
    parent = np.arange(len(settled.event))
    for p in range(problems):
        first = -1
        for k in settled.asked[settled.problem_offsets[p] : settled.problem_offsets[p + 1]]:
            for d in range(settled.offsets[k], settled.offsets[k + 1]):
                for e in (settled.left[d], settled.right[d]):
                    if e >= 0:
                        root = _root(parent, e)
                        if first < 0:
                            first = root
                        parent[root] = _root(parent, first)
    number = np.empty(problems, np.int64)
    known = np.full(len(parent), -1)
    count = 0
    for p in range(problems):
        k = settled.asked[settled.problem_offsets[p]]
        d = settled.offsets[k]
        root = _root(parent, max(settled.left[d], settled.right[d]))
        if known[root] < 0:
            known[root] = count
            count += 1
        number[p] = known[root]
    return number, count


@njit(nogil=True, cache=True)
def _root(parent, event):
    while parent[event] != event:
        event = parent[event]
    return event


@njit(nogil=True, cache=True)
def part_of(settled, number, which):
    """One part; its masks are those of its first MOST_PROBLEMS problems."""
    clauses = len(settled.absent)
    mask = np.zeros(clauses, np.uint64)
    count = 0
    for p in range(len(number)):
        if number[p] == which:
            if count < MOST_PROBLEMS:
                for k in settled.asked[settled.problem_offsets[p] : settled.problem_offsets[p + 1]]:
                    mask[k] |= np.uint64(1) << np.uint64(count)
            count += 1
    chosen = np.flatnonzero(mask)
    used = np.zeros(len(settled.event), np.bool_)
    offsets = np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        begin, end = settled.offsets[chosen[i]], settled.offsets[chosen[i] + 1]
        offsets[i + 1] = offsets[i] + end - begin
        for d in range(begin, end):
            for e in (settled.left[d], settled.right[d]):
                if e >= 0:
                    used[e] = True
    place = np.cumsum(used) - 1
    left, right = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
    bound = np.empty(offsets[-1], np.int64)
    for i in range(len(chosen)):
        begin = settled.offsets[chosen[i]]
        for at in range(offsets[i], offsets[i + 1]):
            d = begin + at - offsets[i]
            left[at] = -1 if settled.left[d] < 0 else place[settled.left[d]]
            right[at] = -1 if settled.right[d] < 0 else place[settled.right[d]]
            bound[at] = settled.bound[d]
    return Part(count, settled.event[used], settled.absent[chosen], offsets, left, right, bound, mask[chosen])


@njit(nogil=True, cache=True)
def hubs_of(part):
    """Whether MOST_HUBS events cover all comparisons, and a smallest cover, ascending."""
    one, other = _compared_events(part)
    chosen = np.zeros(len(part.event), np.bool_)
    edge, side = np.empty(MOST_HUBS + 1, np.int64), np.empty(MOST_HUBS + 1, np.int64)
    first = _uncovered(one, other, chosen)
    if first < 0:
        return True, np.flatnonzero(chosen)
    for size in range(1, MOST_HUBS + 1):
        depth = 0
        edge[0], side[0] = first, -1
        while depth >= 0:
            if side[depth] >= 0:
                chosen[_end(one, other, edge[depth], side[depth])] = False
            side[depth] += 1
            if side[depth] == 2:
                depth -= 1
                continue
            chosen[_end(one, other, edge[depth], side[depth])] = True
            left = _uncovered(one, other, chosen)
            if left < 0:
                return True, np.flatnonzero(chosen)
            if depth + 1 < size:
                depth += 1
                edge[depth], side[depth] = left, -1
    return False, np.flatnonzero(chosen)


@njit(nogil=True, cache=True)
def _end(one, other, edge, side):
    return one[edge] if side == 0 else other[edge]


@njit(nogil=True, cache=True)
def _compared_events(part):
    """Pairs of events that some clause compares, each once."""
    count = len(part.event)
    found = np.zeros((count, count), np.bool_)
    for k in range(len(part.absent)):
        for i in range(part.offsets[k], part.offsets[k + 1]):
            for j in range(part.offsets[k], part.offsets[k + 1]):
                _note(found, part.left[i], part.right[j])
                _note(found, part.left[i], part.left[j])
                _note(found, part.right[i], part.right[j])
    return np.nonzero(found)


@njit(nogil=True, cache=True)
def _note(found, a, b):
    if a >= 0 and b >= 0 and a != b:
        found[min(a, b), max(a, b)] = True


@njit(nogil=True, cache=True)
def _uncovered(one, other, chosen):
    for i in range(len(one)):
        if not chosen[one[i]] and not chosen[other[i]]:
            return i
    return -1
