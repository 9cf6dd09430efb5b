"""In which order the events of one problem are placed, so that what is left falls apart soonest.

Given the tick of an event, those that were compared through it alone are independent: each part is placed by
itself, and their sums multiply.  So a series of n samples takes sums about log n deep, not n (nested
dissection; George, "Nested dissection of a regular finite element mesh", SIAM Journal on Numerical Analysis
10 (1973)).  An event by itself is no separator: its mass is known.

    name here    meaning
    separator    an event that is placed, with its number; what depends on it has the numbers after it
    parent       the last separator before it on which it depends, -1 for none
    end          the number after the last separator that depends on it
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import is_weighted
from cepctl.engines.confidence.occurrence.counted_records import is_linked, which_counted
from cepctl.engines.confidence.occurrence.separators import compared_events
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes


class SeparatorTree(NamedTuple):
    """The separators of a part by their numbers: places among its events, parents and ends."""

    separators: Indexes
    parent: Indexes
    end: Indexes


class _Neighbours(NamedTuple):
    """Which events each is compared with: event i owns offsets[i] to offsets[i + 1] - 1."""

    offsets: Indexes
    event: Indexes


@inner
def one_after_the_other(separators):
    """A tree in which each separator depends on all those before it."""
    count = len(separators)
    return SeparatorTree(separators, np.arange(-1, count - 1), np.full(count, count))


@inner
def separator_tree(part, buckets):
    """The tree of a part that has one problem.

    Of events a, b, c, d, each compared with the next, b is placed first (one of the two in the middle); then
    a is by itself, and of c and d one is placed.
    """
    count = len(part.event)
    near = _neighbours(part)
    separators, parent, end = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    label, members = np.zeros(count, np.int64), np.arange(count)
    # Parts that are still to be looked at: their first and last place among the members, and their parent.
    waiting = np.empty((count + 1, 3), np.int64)
    pending, found, labels = 0, 0, 1
    for first, last in _split(near, label, members, 0, count, labels):
        waiting[pending] = first, last, -1
        pending += 1
    labels += pending
    while pending > 0:
        pending -= 1
        first, last, above = waiting[pending]
        own = members[first:last]
        weighs = is_weighted(buckets, part.event[own[0]]) or is_linked(part.links, own[0])
        if last - first == 1 and not weighs:
            continue
        best = own[0] if last - first == 1 else _best(part, near, label, own)
        separators[found], parent[found] = best, above
        label[best] = -1
        at = first
        while members[at] != best:
            at += 1
        members[at] = members[first]
        members[first] = best
        for begin, stop in _split(near, label, members, first + 1, last, labels):
            waiting[pending] = begin, stop, found
            pending += 1
            labels += 1
        found += 1
    for i in range(found - 1, -1, -1):
        end[i] = i + 1
    for i in range(found - 1, -1, -1):
        if parent[i] >= 0:
            end[parent[i]] = max(end[parent[i]], end[i])
    return SeparatorTree(separators[:found], parent[:found], end[:found])


@inner
def _neighbours(part):
    one, other = compared_events(part)
    offsets = np.zeros(len(part.event) + 1, np.int64)
    for i in range(len(one)):
        offsets[one[i] + 1] += 1
        offsets[other[i] + 1] += 1
    for e in range(len(part.event)):
        offsets[e + 1] += offsets[e]
    event, filled = np.empty(offsets[-1], np.int64), offsets[:-1].copy()
    for i in range(len(one)):
        event[filled[one[i]]], event[filled[other[i]]] = other[i], one[i]
        filled[one[i]] += 1
        filled[other[i]] += 1
    return _Neighbours(offsets, event)


@inner
def _split(near, label, members, first, last, fresh):
    """Sort members so that those which are connected stand together; where each such part begins and ends.

    Those that are labelled alike count as connected; each part gets a label of its own, from `fresh` on.
    """
    found = np.empty((last - first, 2), np.int64)
    count, at = 0, first
    old = label[members[first]] if first < last else np.int64(-1)
    reached = np.empty(last - first, np.int64)
    for i in range(first, last):
        seed = members[i]
        if label[seed] != old:
            continue
        reached[at - first] = seed
        label[seed] = fresh + count
        begin, stop = at, at + 1
        while at < stop:
            event = reached[at - first]
            for k in range(near.offsets[event], near.offsets[event + 1]):
                other = near.event[k]
                if label[other] == old:
                    label[other] = fresh + count
                    reached[stop - first] = other
                    stop += 1
            at += 1
        found[count, 0], found[count, 1] = begin, stop
        count += 1
    members[first:last] = reached
    return found[:count]


@inner
def _best(part, near, label, own):
    """The event without which the largest part is smallest, among those compared with many others.

    What stands for records has no tick, and is never placed.
    """
    most = 0
    degree = np.zeros(len(own), np.int64)
    for i in range(len(own)):
        for k in range(near.offsets[own[i]], near.offsets[own[i] + 1]):
            degree[i] += label[near.event[k]] == label[own[i]]
        if which_counted(part.counted, part.event[own[i]]) >= 0:
            degree[i] = -1
        most = max(most, degree[i])
    best, least, reach = -1, len(own) + 1, 0
    seen, reached = np.full(len(label), -1), np.empty(len(own), np.int64)
    for i in range(len(own)):
        if degree[i] < 0 or 2 * degree[i] < most:
            continue
        largest = _largest_without(near, label, own, own[i], seen, reached)
        if largest < least or (largest == least and (degree[i], -own[i]) > (reach, -best)):
            best, least, reach = own[i], largest, degree[i]
    return best


@inner
def _largest_without(near, label, own, left_out, seen, reached):
    """How many events the largest part has when one is left out."""
    largest = 0
    seen[left_out] = left_out
    for seed in own:
        if seen[seed] == left_out:
            continue
        seen[seed], reached[0] = left_out, seed
        at, stop = 0, 1
        while at < stop:
            for k in range(near.offsets[reached[at]], near.offsets[reached[at] + 1]):
                other = near.event[k]
                if label[other] == label[left_out] and seen[other] != left_out:
                    seen[other] = left_out
                    reached[stop] = other
                    stop += 1
            at += 1
        largest = max(largest, stop)
    return largest
