"""Which groups are others moved in time: rows that ask the same of the same masses at the same distances.

Regular and coarse stamps put few intervals at few distances, so that the rows of many keys are those of
another key at another time.  The sum over their union knows nothing of time but distances, so such groups
have the same probability to the last bit.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses, mixed
from cepctl.engines.confidence.alike_matches import are_moved
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Clauses
from cepctl.engines.confidence.occurrence.settled import places_of_events
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes

_FEWEST = 1 << 8
"""Of fewer groups none is looked for."""
_TRIED = 1 << 12
"""After so many groups it is asked whether they repeat: to look takes a fiftieth of measuring them."""

_ODD = np.uint64(0x9E3779B97F4A7C15)


def moved_groups(events: Events, clauses: Clauses) -> Indexes | None:
    """For each of g groups the first that it is when moved, shape (g,).

    None where hardly any repeats, or there are so few of them, that it is quicker to measure each.
    """
    count = clauses.groups
    if count < _FEWEST or not events.masses.can_be_moved or _mostly_differ(events.masses, clauses):
        return None
    rank = events.id_rank - 1
    row_of_rank = np.empty(len(events), dtype=np.int64)
    row_of_rank[rank] = np.arange(len(events))
    first = np.empty(count, dtype=np.int64)
    slots = np.full(1 << (2 * count).bit_length(), -1, dtype=np.int64)
    found = _first_alike(clauses, rank, row_of_rank, events.masses.buckets, slots, _TRIED, first)
    return first if found else None


def _mostly_differ(masses: Masses, clauses: Clauses) -> bool:
    """Whether all but an eighth of the first groups differ by bounds and the ends of intervals alone."""
    tried = min(clauses.groups, _TRIED)
    begin = clauses.difference_offsets[clauses.clause_offsets[clauses.problem_offsets[: tried + 1]]]
    asked = slice(begin[0], begin[-1])
    left, right, bound = clauses.left[asked], clauses.right[asked], clauses.bound[asked]
    group = np.repeat(np.arange(tried), np.diff(begin))
    number = np.arange(len(group)) - (begin - begin[0])[group]
    since = np.zeros(tried, dtype=np.int64)
    since[group[::-1]] = masses.lower[np.where(left == NO_EVENT, right, left)][::-1]
    ends = [
        np.where(event == NO_EVENT, 0, end[event] - since[group])
        for event in (left, right)
        for end in (masses.lower, masses.upper)
    ]
    digest = np.zeros(len(group), dtype=np.uint64)
    for each in (number, bound, *ends):
        digest = (digest ^ each.astype(np.uint64)) * _ODD
        digest ^= digest >> np.uint64(29)
    found = np.zeros(tried, dtype=np.uint64)
    np.add.at(found, group, digest)
    return 8 * len(np.unique(found)) > 7 * tried


@kernel
def _first_alike(clauses, rank, row_of_rank, buckets, slots, tried, first):
    """Fill `first`; False where of the first `tried` groups all but an eighth differ."""
    different = 0
    for group in range(len(first)):
        if group == tried and 8 * different > 7 * tried:
            return False
        own = places_of_events(clauses, group, rank, row_of_rank)
        slot = np.int64(_hashed(clauses, group, own, buckets) & np.uint64(len(slots) - 1))
        while slots[slot] >= 0:
            other = places_of_events(clauses, slots[slot], rank, row_of_rank)
            if _asks_alike(clauses, slots[slot], group, other, own) and _masses_alike(
                clauses, group, other.event, own.event, buckets
            ):
                break
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot] = group
            different += 1
        first[group] = slots[slot]
    return True


@inner
def _hashed(clauses, group, own, buckets):
    digest = mixed(np.uint64(len(own.event)))
    low = clauses.difference_offsets[clauses.clause_offsets[clauses.problem_offsets[group]]]
    for i in range(len(own.left)):
        digest = mixed(digest ^ np.uint64(own.left[i]))
        digest = mixed(digest ^ np.uint64(own.right[i]))
        digest = mixed(digest ^ np.uint64(clauses.bound[low + i]))
    for event in own.event:
        digest = mixed(digest ^ np.uint64(buckets.lower[event] - buckets.lower[own.event[0]]))
        digest = mixed(digest ^ np.uint64(buckets.upper[event] - buckets.lower[event]))
    return digest


@inner
def _asks_alike(clauses, one, other, its, own):
    """Whether two groups ask the same of their events, by their places."""
    a, b = clauses.problem_offsets[one], clauses.problem_offsets[other]
    problems = clauses.problem_offsets[one + 1] - a
    if clauses.problem_offsets[other + 1] - b != problems or len(its.event) != len(own.event):
        return False
    c, d = clauses.clause_offsets[a], clauses.clause_offsets[b]
    for i in range(1, problems + 1):
        if clauses.clause_offsets[a + i] - c != clauses.clause_offsets[b + i] - d:
            return False
    e, f = clauses.difference_offsets[c], clauses.difference_offsets[d]
    for i in range(clauses.clause_offsets[a + problems] - c):
        if clauses.absent[c + i] != clauses.absent[d + i]:
            return False
        if clauses.difference_offsets[c + i + 1] - e != clauses.difference_offsets[d + i + 1] - f:
            return False
    for i in range(len(own.left)):
        if its.left[i] != own.left[i] or its.right[i] != own.right[i]:
            return False
        if clauses.bound[e + i] != clauses.bound[f + i]:
            return False
    return True


@inner
def _masses_alike(clauses, group, events, others, buckets):
    """Whether some events are as far apart as others, which a group has, with the same masses."""
    if not len(events):
        return True
    if buckets.lower[others[0]] != buckets.lower[events[0]] and _has_constants(clauses, group):
        return False
    return are_moved(buckets, events, others)


@inner
def _has_constants(clauses, group):
    """Whether a group compares events with ticks, which do not move."""
    first, last = clauses.problem_offsets[group], clauses.problem_offsets[group + 1]
    low = clauses.difference_offsets[clauses.clause_offsets[first]]
    high = clauses.difference_offsets[clauses.clause_offsets[last]]
    found = False
    for d in range(low, high):
        found |= clauses.left[d] == NO_EVENT or clauses.right[d] == NO_EVENT
    return found
