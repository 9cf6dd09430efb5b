"""Rooms between the neighbours of a Kleene group, and several as one part of separators and others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import FIRST, LAST, plus
from cepctl.engines.confidence.occurrence.asked import NONE, ONE
from cepctl.engines.confidence.occurrence.counted_records import no_records
from cepctl.engines.confidence.occurrence.links import no_links
from cepctl.engines.confidence.occurrence.separators import ConnectedProblems
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks


class GroupPlaces(NamedTuple):
    """Where a pattern has its group: `between`, shape (h, h), closed over the neighbours.

    `upper_by`, `lower_by`, shape (h,): how far a member may be after each of them, and each after a member.
    """

    between: Ticks
    upper_by: Ticks
    lower_by: Ticks

    @property
    def apart(self) -> bool:
        """Whether no window holds members together, so that all that are possible are possible together."""
        every = np.concatenate([self.between[~np.eye(len(self.between), dtype=bool)], *self[1:]])
        return not ((every >= 0) & (every < UNBOUNDED)).any()


class Rooms(NamedTuple):
    """n bindings of neighbours, shape (n, h), and who can be between those of each.

    Room i has member[offsets[i] : offsets[i + 1]], in the order of their ids; `certain`: those that are
    there in every world that has the neighbours.
    """

    singles: Indexes
    offsets: Indexes
    member: Indexes
    certain: Flags


@inner
def part_of_rooms(places, rooms, which, place):
    """Some rooms as the problems of one part, whose first events are the separators: their neighbours.

    Returns the part, the separators, and for each possible member of these rooms, one room after the other,
    its place in the part, -1 for a certain one.  `place`, -1 for each event, is working space that is left as
    it was.
    """
    neighbours, most, entries = rooms.singles.shape[1], 0, 0
    for room in which:
        entries += rooms.offsets[room + 1] - rooms.offsets[room]
    most = entries + len(which) * neighbours
    event, entry = np.empty(most, np.int64), np.full(entries, -1)
    count = 0
    for room in which:
        for v in range(neighbours):
            count = _numbered(rooms.singles[room, v], place, event, count)
    separators = np.arange(count)
    at = 0
    for room in which:
        for i in range(rooms.offsets[room], rooms.offsets[room + 1]):
            if not rooms.certain[i]:
                count = _numbered(rooms.member[i], place, event, count)
                entry[at] = place[rooms.member[i]]
            at += 1
    part = _with_differences(places, rooms, which, place, entry, event[:count])
    for e in event[:count]:
        place[e] = -1
    return part, separators, entry


@inner
def _numbered(event, place, events, count):
    if place[event] < 0:
        place[event], events[count] = count, event
        return count + 1
    return count


@inner
def _with_differences(places, rooms, which, place, entry, event):
    """Differences between neighbours decide whether a room is there, those of members only who is in it."""
    neighbours = rooms.singles.shape[1]
    most = len(which) * neighbours * neighbours + 2 * len(entry) * neighbours
    left, right = np.empty(most, np.int64), np.empty(most, np.int64)
    bound, mask = np.empty(most, np.int64), np.full((most, 1), NONE)
    count, at = 0, 0
    for problem in range(len(which)):
        singles = rooms.singles[which[problem]]
        for v in range(neighbours):
            for w in range(neighbours):
                if v != w and places.between[v, w] < UNBOUNDED:
                    left[count], right[count] = place[singles[v]], place[singles[w]]
                    bound[count], mask[count, 0] = places.between[v, w], ONE << np.uint64(problem)
                    count += 1
        for _ in range(rooms.offsets[which[problem]], rooms.offsets[which[problem] + 1]):
            if entry[at] >= 0:
                for v in range(neighbours):
                    if places.upper_by[v] < UNBOUNDED:
                        left[count], right[count] = entry[at], place[singles[v]]
                        bound[count] = places.upper_by[v]
                        count += 1
                    if places.lower_by[v] < UNBOUNDED:
                        left[count], right[count] = place[singles[v]], entry[at]
                        bound[count] = places.lower_by[v]
                        count += 1
            at += 1
    return ConnectedProblems(
        len(which), event.copy(), np.zeros(count, np.bool_), np.arange(count + 1), left[:count].copy(),
        right[:count].copy(), bound[:count].copy(), mask[:count].copy(), no_links(), no_records(),
    )  # fmt: skip


@inner
def room_of_member(places, separator, tick):
    """The first and last tick that the neighbours leave to a member; neighbour v is at tick[separator[v]]."""
    first, last = np.int64(FIRST), np.int64(LAST)
    for v in range(len(separator)):
        if places.lower_by[v] < UNBOUNDED:
            first = max(first, plus(tick[separator[v]], -places.lower_by[v]))
        if places.upper_by[v] < UNBOUNDED:
            last = min(last, plus(tick[separator[v]], places.upper_by[v]))
    return first, last
