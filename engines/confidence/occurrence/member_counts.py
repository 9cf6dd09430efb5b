"""How many of the events that can be between neighbours are there: counted, where their sets are too many.

Given the ticks of the neighbours members are independent.  How many of them are between has, at each node of
the neighbours (`separator_nodes`), a distribution that is one convolution per member, and these are summed by
weight.  From it follow the probability that enough are there, and how many sets of them are expected; the
cost is nodes times the square of the members, where a list of the sets takes two to their power.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import Laws
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import FIRST, LAST, plus
from cepctl.engines.confidence.occurrence.likeliest_sets import MembersBetween, likeliest_set
from cepctl.engines.confidence.occurrence.room_unions import GroupPlaces, Rooms, part_of_rooms, room_of_member
from cepctl.engines.confidence.occurrence.separator_nodes import separator_nodes
from cepctl.engines.confidence.work import COUNTS, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Reals, Ticks

WORK_BOUND = most_products(COUNTS)
"""Products that the members of one room may take."""
_MOST_HELD = 1 << 23
"""Numbers that the nodes of one room may have together."""


class Sizes(NamedTuple):
    """How many members a set may have, and how many sets there are.

    `sets[n]`: of n members; `with_one[n]`: of n members and one more, which is in each.
    """

    least: int
    most: int
    sets: Reals
    with_one: Reals


class MemberCounts(NamedTuple):
    """Of n rooms, shape (n,): what is known of the sets in each; NaN for what is too costly.

    `some`: the probability that there is one; `expected`: how many there are; `matches`: how many are
    possible, 0 where none is.  `confidence`, `first`: of the best of them, and its first tick; `start`,
    `end`: of all.  `chosen`: which possible members are in the best.
    """

    some: Reals
    expected: Reals
    matches: Reals
    confidence: Reals
    first: Ticks
    start: Ticks
    end: Ticks
    chosen: Flags


def member_counts(buckets: Laws, places: GroupPlaces, rooms: Rooms, sizes: Sizes) -> MemberCounts:
    """Count the members of each room."""
    count = len(rooms.singles)
    some, expected, confidence = np.full((3, count), np.nan)
    first, start, end = np.zeros((3, count), np.int64)
    chosen = np.zeros(len(rooms.member), bool)
    found = MemberCounts(some, expected, np.zeros(count), confidence, first, start, end, chosen)
    if count:
        _count(buckets, places, rooms, sizes, WORK_BOUND, np.full(len(buckets.lower), -1), found)
    return found


@kernel
def _count(buckets, places, rooms, sizes, work_bound, place, found):
    which = np.empty(1, np.int64)
    for room in range(len(rooms.singles)):
        which[0] = room
        _count_room(buckets, places, rooms, sizes, work_bound, place, found, which)


@inner
def _count_room(buckets, places, rooms, sizes, work_bound, place, found, which):
    room = which[0]
    begin, end = rooms.offsets[room], rooms.offsets[room + 1]
    part, separators, entry = part_of_rooms(places, rooms, which, place)
    members = len(part.event) - len(separators)
    most = min(work_bound // ((members + 1) * (members + 1)), _MOST_HELD // (members + 1))
    count, nodes = separator_nodes(part, separators, buckets, most)
    if count == 0:
        return
    low, high = neighbour_bounds(places, rooms.singles[room], buckets)
    inside = np.zeros((max(count, 0), members))
    if count > 0:
        _fill(inside, part, entry, nodes, places, buckets)
    possible, column, columns = _possible(rooms, begin, end, entry, inside, count, places, low, high, buckets)
    lower, upper = np.empty(len(possible), np.int64), np.empty(len(possible), np.int64)
    for p in range(len(possible)):
        lower[p] = buckets.lower[rooms.member[possible[p]]]
        upper[p] = buckets.upper[rooms.member[possible[p]]]
    number, found.start[room], found.end[room] = set_range(places, lower, upper, low, high, sizes)
    found.matches[room] = number
    if number == 0.0 or count < 0:
        return
    kept = np.empty((count, len(columns)))
    for q in range(count):
        for i in range(len(columns)):
            kept[q, i] = inside[q, columns[i]]
    certain = len(possible) - len(columns)
    weight = nodes.weight[:count]
    found.some[room], found.expected[room] = _summed(weight, kept, certain, sizes)
    chosen = np.zeros(len(possible), np.bool_)
    between = MembersBetween(weight, kept, column, lower, low, places.upper_by, places.lower_by)
    largest = min(sizes.most, len(possible))
    found.confidence[room], found.first[room] = likeliest_set(
        between, sizes.least, largest, work_bound, chosen
    )
    if found.confidence[room] < 0.0:
        found.confidence[room] = np.nan
    for p in range(len(possible)):
        found.chosen[possible[p]] = chosen[p]


@inner
def _fill(inside, part, entry, nodes, places, buckets):
    """How probable each uncertain member is between the neighbours, at each node."""
    levels = nodes.tick.shape[1]
    separator = np.arange(levels)
    for q in range(inside.shape[0]):
        first, last = room_of_member(places, separator, nodes.tick[q])
        for e in range(inside.shape[1]):
            event = part.event[levels + e]
            low, high = max(first, buckets.lower[event]), min(last, buckets.upper[event])
            inside[q, e] = min(mass_on(buckets, event, low, high), 1.0) if low <= high else 0.0


@inner
def _possible(rooms, begin, end, entry, inside, count, places, low, high, buckets):
    """The members that some world has between: their places, the column of each, and the columns in use.

    Where the nodes are too many to be known, `count` below 0, the ends of the intervals decide.
    """
    first, last = np.int64(FIRST), np.int64(LAST)
    for v in range(len(low)):
        if places.lower_by[v] < UNBOUNDED:
            first = max(first, plus(low[v], -places.lower_by[v]))
        if places.upper_by[v] < UNBOUNDED:
            last = min(last, plus(high[v], places.upper_by[v]))
    possible, column = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
    columns = np.empty(end - begin, np.int64)
    kept, used = 0, 0
    for i in range(begin, end):
        event = rooms.member[i]
        if max(first, buckets.lower[event]) > min(last, buckets.upper[event]):
            continue
        if rooms.certain[i]:
            possible[kept], column[kept] = i, -1
            kept += 1
            continue
        at = entry[i - begin] - len(low)
        some = count < 0
        for q in range(count):
            if inside[q, at] > 0.0:
                some = True
                break
        if some:
            possible[kept], column[kept], columns[used] = i, used, at
            kept += 1
            used += 1
    return possible[:kept], column[:kept], columns[:used]


@inner
def _summed(weight, inside, certain, sizes):
    """The probability of at least one set, and the expected number of sets."""
    members = inside.shape[1]
    whole, share = np.zeros(members + 1), np.empty(members + 1)
    for q in range(len(weight)):
        share[0] = 1.0
        for i in range(members):
            p = inside[q, i]
            share[i + 1] = share[i] * p
            for k in range(i, 0, -1):
                share[k] = share[k] * (1.0 - p) + share[k - 1] * p
            share[0] *= 1.0 - p
        for k in range(members + 1):
            whole[k] += weight[q] * share[k]
    some, expected = 0.0, 0.0
    for k in range(members + 1):
        if certain + k >= sizes.least and whole[k] > 0.0:
            some += whole[k]
            expected += whole[k] * sizes.sets[certain + k]
    return min(some, 1.0), expected


@inner
def neighbour_bounds(places, singles, buckets):
    """The first and the last tick of each neighbour beside the others."""
    count = len(singles)
    low, high = np.empty(count, np.int64), np.empty(count, np.int64)
    for v in range(count):
        low[v], high[v] = buckets.lower[singles[v]], buckets.upper[singles[v]]
        for w in range(count):
            if v != w and places.between[w, v] < UNBOUNDED:
                low[v] = max(low[v], plus(buckets.lower[singles[w]], -places.between[w, v]))
            if v != w and places.between[v, w] < UNBOUNDED:
                high[v] = min(high[v], plus(buckets.upper[singles[w]], places.between[v, w]))
    return low, high


@inner
def set_range(places, lower, upper, low, high, sizes):
    """The number of possible sets, and the first and the last tick of all of them.

    A set is possible when the latest of its beginnings is not after the earliest of its ends, plus what a
    window leaves between two members.  Each is counted where the last to begin stands, as one before it.
    """
    within = np.int64(UNBOUNDED)
    for v in range(len(low)):
        if places.upper_by[v] < UNBOUNDED and places.lower_by[v] < UNBOUNDED:
            within = min(within, places.upper_by[v] + places.lower_by[v])
    number, start, end = 0.0, np.int64(LAST), np.int64(FIRST)
    for i in range(len(lower)):
        company, least = _company(lower, upper, i, within)
        if company >= sizes.least - 1:
            number += sizes.with_one[company]
            first = least if sizes.most > 1 else lower[i]
            start = min(start, _start(places, lower[i], first, low))
        # With time reversed what ends comes first.
        company, least = _company(-upper, -lower, i, within)
        if company >= sizes.least - 1:
            last = -least if sizes.most > 1 else upper[i]
            end = max(end, _end(places, upper[i], last, high))
    return number, start, end


@inner
def _company(lower, upper, i, within):
    """How many of those that begin before member i, or with it and are named before, may go with it.

    And the first beginning of them and of it.
    """
    company, least = 0, lower[i]
    for j in range(len(lower)):
        before = lower[j] < lower[i] or (lower[j] == lower[i] and j < i)
        if before and (within == UNBOUNDED or plus(upper[j], within) >= lower[i]):
            company += 1
            least = min(least, lower[j])
    return company, least


@inner
def _start(places, latest, first, low):
    """The first tick of a set whose last member begins at `latest` and whose first one at `first`."""
    start, least = np.int64(LAST), first
    for v in range(len(low)):
        at = low[v]
        if places.upper_by[v] < UNBOUNDED:
            at = max(at, plus(latest, -places.upper_by[v]))
        start = min(start, at)
        if places.lower_by[v] < UNBOUNDED:
            least = max(least, plus(at, -places.lower_by[v]))
    return min(start, least)


@inner
def _end(places, earliest, last, high):
    end, most = np.int64(FIRST), last
    for v in range(len(high)):
        at = high[v]
        if places.lower_by[v] < UNBOUNDED:
            at = min(at, plus(earliest, places.lower_by[v]))
        end = max(end, at)
        if places.upper_by[v] < UNBOUNDED:
            most = min(most, plus(at, places.upper_by[v]))
    return max(end, most)
