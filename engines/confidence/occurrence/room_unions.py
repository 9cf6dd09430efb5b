"""The probability that some of several rooms has enough members: rooms of one key, which share events.

A room is what lies between the neighbours of a Kleene group.  Several are one part of separators and others.
Rooms that share no uncertain event are independent.  Of those that do, one that has enough only where
another has, too, adds nothing.  Given the ticks of all their neighbours (`separator_nodes`) the members are
independent, and are taken one by one with how many each room has so far as state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import Laws
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import FIRST, LAST, plus, with_cut
from cepctl.engines.confidence.occurrence.asked import NONE, ONE
from cepctl.engines.confidence.occurrence.counted_records import no_links, no_records
from cepctl.engines.confidence.occurrence.separator_nodes import separator_nodes
from cepctl.engines.confidence.occurrence.separators import ConnectedProblems, root_of
from cepctl.engines.confidence.occurrence.states import MOST_STATES
from cepctl.engines.confidence.work import UNIONS, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

MOST_ROOMS = 64
"""Rooms that share events: each is a bit of a word."""
WORK_BOUND = most_products(UNIONS)
_MOST_NODES = 1 << 21


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


class RoomKeys(NamedTuple):
    """Which rooms are of which key: key i has the rooms offsets[i] to offsets[i + 1] - 1.

    `some`: the probability of each room by itself; `need`: how many uncertain members it needs.
    """

    offsets: Indexes
    some: Reals
    need: Indexes


def united_rooms(
    buckets: Laws, places: GroupPlaces, rooms: Rooms, keys: RoomKeys, rank: Indexes
) -> tuple[Reals, Indexes]:
    """The probability that some room of each key has enough members; NaN where that is too costly.

    Returns, too, how many rooms share events there.  `rank`, shape (n,): the order of the events' ids.
    """
    count = len(keys.offsets) - 1
    probability, largest = np.zeros(count), np.zeros(count, np.int64)
    if count:
        unset = np.full(len(buckets.lower), -1)
        _unite(buckets, places, rooms, keys, rank, WORK_BOUND, unset, unset.copy(), probability, largest)
    return probability, largest


@kernel
def _unite(buckets, places, rooms, keys, rank, work_bound, place, owner, probability, largest):
    for key in range(len(probability)):
        first, last = keys.offsets[key], keys.offsets[key + 1]
        number = _parts(buckets, rooms, first, last, owner)
        none = 1.0
        for part in range(last - first):
            which = first + np.flatnonzero(number == part)
            if not len(which):
                continue
            which = _without_implied(buckets, places, rooms, which, rank)
            if len(which) == 1:
                none *= 1.0 - keys.some[which[0]]
                continue
            largest[key] = max(largest[key], len(which))
            if len(which) > MOST_ROOMS:
                none = np.nan
                break
            none *= 1.0 - _union(buckets, places, rooms, keys, which, work_bound, place)
        probability[key] = 1.0 - none


@inner
def _parts(buckets, rooms, first, last, owner):
    """The part of each room: the number of one of its rooms.  `owner`, -1 per event, is left as it was."""
    parent = np.arange(last - first)
    for room in range(first, last):
        for event in rooms.singles[room]:
            _join(buckets, event, room - first, owner, parent)
        for i in range(rooms.offsets[room], rooms.offsets[room + 1]):
            if not rooms.certain[i]:
                _join(buckets, rooms.member[i], room - first, owner, parent)
    for room in range(first, last):
        parent[room - first] = root_of(parent, room - first)
        for event in rooms.singles[room]:
            owner[event] = -1
        for i in range(rooms.offsets[room], rooms.offsets[room + 1]):
            owner[rooms.member[i]] = -1
    return parent


@inner
def _join(buckets, event, room, owner, parent):
    if buckets.lower[event] < buckets.upper[event]:
        if owner[event] < 0:
            owner[event] = room
        parent[root_of(parent, room)] = root_of(parent, owner[event])


@inner
def _without_implied(buckets, places, rooms, which, rank):
    kept = np.ones(len(which), np.bool_)
    for j in range(len(which)):
        for i in range(len(which)):
            if i != j and kept[i] and _implies(buckets, places, rooms, which[j], which[i], rank):
                kept[j] = False
                break
    return which[kept]


@inner
def _implies(buckets, places, rooms, one, other, rank):
    """Whether the other room has enough members in every world in which one has."""
    a, b = rooms.singles[one], rooms.singles[other]
    for v in range(len(a)):
        if places.upper_by[v] < UNBOUNDED and not _never_after(buckets, a[v], b[v]):
            return False
        if places.lower_by[v] < UNBOUNDED and not _never_after(buckets, b[v], a[v]):
            return False
        for w in range(len(a)):
            if v != w and places.between[v, w] < UNBOUNDED:
                always = buckets.upper[b[v]] - buckets.lower[b[w]] <= places.between[v, w]
                follows = _never_after(buckets, b[v], a[v]) and _never_after(buckets, a[w], b[w])
                if not (always or follows):
                    return False
    i = rooms.offsets[other]
    for at in range(rooms.offsets[one], rooms.offsets[one + 1]):
        while i < rooms.offsets[other + 1] and rank[rooms.member[i]] < rank[rooms.member[at]]:
            i += 1
        if i == rooms.offsets[other + 1] or rooms.member[i] != rooms.member[at]:
            return False
    return True


@inner
def _never_after(buckets, event, other):
    return event == other or buckets.upper[event] <= buckets.lower[other]


@inner
def _union(buckets, places, rooms, keys, which, work_bound, place):
    """The probability that one of these rooms has enough members."""
    need, stride = np.empty(len(which), np.int64), np.empty(len(which), np.int64)
    states = 1
    for j in range(len(which)):
        need[j], stride[j] = keys.need[which[j]], states
        states *= max(need[j], 1)
        if states > MOST_STATES:
            return np.nan
    part, separators, entry = part_of_rooms(places, rooms, which, place)
    members = _by_member(rooms, which, entry, len(part.event))
    separator = _separators_of_rooms(rooms, which, part, len(separators))
    count, nodes = separator_nodes(part, separators, buckets, min(work_bound // states, _MOST_NODES))
    if count < 0:
        return np.nan
    first, last = np.empty(len(which), np.int64), np.empty(len(which), np.int64)
    mass = np.empty((2, states))
    total, work = 0.0, 0
    for q in range(count):
        alive, won = nodes.alive[q], False
        for j in range(len(which)):
            first[j], last[j] = room_of_member(places, separator[j], nodes.tick[q])
            won |= need[j] <= 0 and (alive >> np.uint64(j)) & ONE != NONE
        if won:
            total += nodes.weight[q]
            continue
        found, work = _enough(
            part, nodes.tick[q], members, need, stride, (first, last), alive, mass, buckets, work
        )
        if work > work_bound:
            return np.nan
        total += nodes.weight[q] * found
    return min(total, 1.0)


@inner
def _by_member(rooms, which, entry, events):
    """The problems that each event of a part can be a member of, as nested offsets."""
    offsets = np.zeros(events + 1, np.int64)
    for e in entry:
        if e >= 0:
            offsets[e + 1] += 1
    for e in range(events):
        offsets[e + 1] += offsets[e]
    problem, filled = np.empty(offsets[-1], np.int64), offsets[:-1].copy()
    at = 0
    for j in range(len(which)):
        for _ in range(rooms.offsets[which[j]], rooms.offsets[which[j] + 1]):
            if entry[at] >= 0:
                problem[filled[entry[at]]] = j
                filled[entry[at]] += 1
            at += 1
    return offsets, problem


@inner
def _separators_of_rooms(rooms, which, part, separators):
    """The separator that each neighbour of each room is."""
    found = np.empty((len(which), rooms.singles.shape[1]), np.int64)
    for j in range(len(which)):
        for v in range(found.shape[1]):
            for h in range(separators):
                if part.event[h] == rooms.singles[which[j], v]:
                    found[j, v] = h
    return found


@inner
def _enough(part, tick, members, need, stride, room, alive, mass, buckets, work):
    """The probability that some room alive has enough members, the ticks of the separators being known."""
    (offsets, problem), (first, last) = members, room
    states, now, won = mass.shape[1], 0, 0.0
    mass[0, :] = 0.0
    mass[0, 0] = 1.0
    cut = np.empty(2 * len(need) + 1, np.int64)
    for e in range(len(part.event)):
        event = part.event[e]
        low, high = buckets.lower[event], buckets.upper[event]
        if e < len(tick):
            low = high = tick[e]
        cuts = 0
        for i in range(offsets[e], offsets[e + 1]):
            j = problem[i]
            if (alive >> np.uint64(j)) & ONE != NONE and first[j] <= high and last[j] >= low:
                cuts = with_cut(cut, cuts, max(first[j], low))
                cuts = with_cut(cut, cuts, min(last[j], high) + 1)
        if not cuts:
            continue
        mass[1 - now, :] = 0.0
        outside = 1.0
        for c in range(cuts - 1):
            inside = NONE
            for i in range(offsets[e], offsets[e + 1]):
                j = problem[i]
                if (alive >> np.uint64(j)) & ONE != NONE and first[j] <= cut[c] <= last[j]:
                    inside |= ONE << np.uint64(j)
            if inside == NONE:
                continue
            share = 1.0 if e < len(tick) else mass_on(buckets, event, cut[c], cut[c + 1] - 1)
            outside -= share
            work += states
            won += _advance(mass, now, share, inside, need, stride)
        outside = max(outside, 0.0)
        for s in range(states):
            mass[1 - now, s] += outside * mass[now, s]
        work += states
        now = 1 - now
    return min(won, 1.0), work


@inner
def _advance(mass, now, share, inside, need, stride):
    """Give one more member to the rooms of `inside`; returns what has enough then."""
    won = 0.0
    for s in range(mass.shape[1]):
        if mass[now, s] == 0.0:
            continue
        following, enough = s, False
        for j in range(len(need)):
            if (inside >> np.uint64(j)) & ONE != NONE:
                following += stride[j]
                enough |= (s // stride[j]) % need[j] + 1 >= need[j]
        if enough:
            won += share * mass[now, s]
        else:
            mass[1 - now, following] += share * mass[now, s]
    return won
