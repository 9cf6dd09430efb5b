"""Records of a writer that need no ticks of their own, counted or hidden between others: what they weigh.

Of n records on m ticks every choice of n of these is equally probable.  So how many are before a tick says
all of where the i-th is: with c of them before a range of M ticks and d inside, records c to c + d - 1 are
inside, in C(M, d) ways.  What is summed is numbers of records, and not their ticks: how probable it is that
certain ones are in none of some ranges.

Between events that one writer wrote d ticks apart, g others of the same ticks have room in C(d - 1, g) ways,
all of which are equally probable.  So they need not be summed: the two are *linked*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import room_weight
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Ticks

_NOTHING, _ROUNDED = 1e-290, 1e-20
_FEW = 300
"""Of so many records the ways to stand before, in and after a range are floats as they are."""


class CountedRecords(NamedTuple):
    """Events that stand for records of a unit: of group i those from offsets[i] on, or of one part all.

    `event`: the event that stands for the records, by row number.  `before`, `after`: those of the unit
    between which these lie, -1 for its ends; of a part by place.  `records`: how many lie between.  Those
    that count have the ranks rank[rank_offsets[k] : rank_offsets[k + 1]] among these, ascending.
    """

    offsets: Indexes
    event: Indexes
    records: Indexes
    before: Indexes
    after: Indexes
    rank_offsets: Indexes
    rank: Indexes


def nothing_counted(groups: int) -> CountedRecords:
    """No group has events that stand for records."""
    nothing = np.zeros(0, dtype=np.int64)
    offsets = np.zeros(groups + 1, np.int64), np.zeros(1, np.int64)
    return CountedRecords(offsets[0], nothing, nothing, nothing, nothing, offsets[1], nothing)


def counted_of_groups(counted: CountedRecords, groups: Indexes) -> CountedRecords:
    """Those of some groups."""
    some, offsets = owned(counted.offsets, groups)
    ranks, rank_offsets = owned(counted.rank_offsets, some)
    event, records, before, after = (
        each[some] for each in (counted.event, counted.records, counted.before, counted.after)
    )
    return CountedRecords(offsets, event, records, before, after, rank_offsets, counted.rank[ranks])


@inner
def counted_in(counted, group, event):
    """Those of one group, between places among its events."""
    begin, end = counted.offsets[group], counted.offsets[group + 1]
    first = counted.rank_offsets[begin]
    return CountedRecords(
        np.array([0, end - begin]), counted.event[begin:end].copy(), counted.records[begin:end].copy(),
        _places(counted.before[begin:end], event), _places(counted.after[begin:end], event),
        counted.rank_offsets[begin : end + 1] - first, counted.rank[first : counted.rank_offsets[end]].copy(),
    )  # fmt: skip


@inner
def _places(rows, event):
    found = np.full(len(rows), -1)
    for i in range(len(rows)):
        for e in range(len(event)):
            if event[e] == rows[i]:
                found[i] = e
    return found


@inner
def counted_within(counted, place):
    """Those between places in a part, of which `place` knows the events of the group."""
    before, after = np.full(len(counted.event), -1), np.full(len(counted.event), -1)
    for k in range(len(counted.event)):
        if counted.before[k] >= 0:
            before[k] = place[counted.before[k]]
        if counted.after[k] >= 0:
            after[k] = place[counted.after[k]]
    return CountedRecords(
        counted.offsets, counted.event, counted.records, before, after, counted.rank_offsets, counted.rank
    )


@inner
def no_records():
    """Nothing that stands for records."""
    return CountedRecords(
        np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64),
        np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64),
    )  # fmt: skip


@inner
def which_counted(counted, event):
    """The number of the records for which an event stands, -1 for none."""
    for k in range(len(counted.event)):
        if counted.event[k] == event:
            return k
    return -1


@inner
def degree_counted(counted, event, level_of, first, end):
    """By how much an event that stands for records raises the degree of levels `first` to before `end`.

    Beyond that of one event; what weighs a record of the unit there has the degree of their number already.
    """
    k = which_counted(counted, event)
    if k < 0:
        return 0
    for place in (counted.before[k], counted.after[k]):
        if place >= 0 and first <= level_of[place] < end:
            return 0
    return counted.records[k] - 1


@inner
def outside_of_ranges(counted, k, first, last, begins, ends, count):
    """The probability that no record that counts is in one of some ranges, disjoint and ascending.

    Records lie on the ticks from `first` to `last`; the ranges begin at `begins` and end at `ends`.
    """
    n, ticks = counted.records[k], last - first + 1
    if ticks < n:
        return 0.0
    ranks = counted.rank[counted.rank_offsets[k] : counted.rank_offsets[k + 1]]
    if count == 1 and n <= _FEW and first <= begins[0] <= ends[0] <= last:
        return _outside_of_range(n, ranks, begins[0] - first, ends[0] + 1 - begins[0], last - ends[0])
    ways, more, chance = np.zeros(n + 1), np.empty(n + 1), np.empty(n + 1)
    ways[0], at, least = 1.0, first, 0
    for f in range(count):
        begin, end = max(begins[f], first), min(ends[f], last)
        if begin > end:
            continue
        _place_chances(begin - at, ticks, chance)
        _advanced(ways, more, chance, ranks, False)
        ways, more = more, ways
        if end == last:
            # All that count are before what reaches to the end.
            at, least = begin, ranks[-1] + 1
            break
        _place_chances(end + 1 - begin, ticks, chance)
        _advanced(ways, more, chance, ranks, True)
        ways, more = more, ways
        at = end + 1
    _place_chances(last + 1 - at, ticks, chance)
    total = 0.0
    for d in range(n - least + 1):
        total += ways[n - d] * chance[d]
    _place_chances(ticks, ticks, chance)
    return total / chance[n]


@inner
def _outside_of_range(n, ranks, before, within, after):
    """For one range, by its ticks: the sum of C(before, c) C(within, d) C(after, n - c - d)."""
    ticks = before + within + after
    odds = n / (ticks + 1.0 - n)
    ways_within, ways_after = np.empty(n + 1), np.empty(n + 1)
    ways_within[0] = ways_after[0] = every = 1.0
    for d in range(n):
        share = odds / (d + 1.0)
        ways_within[d + 1] = ways_within[d] * (max(within - d, 0) * share)
        ways_after[d + 1] = ways_after[d] * (max(after - d, 0) * share)
        every *= (ticks - d) * share
    total, ways, upto = 0.0, 1.0, 0
    for c in range(n + 1):
        while upto < len(ranks) and ranks[upto] < c:
            upto += 1
        most = ranks[upto] if upto < len(ranks) else n
        found = 0.0
        for d in range(most - c + 1):
            found += ways_within[d] * ways_after[n - c - d]
        total += ways * found
        ways *= max(before - c, 0) * (odds / (c + 1.0))
    return total / every


@inner
def _place_chances(some, ticks, chance):
    """How probable each number of records is on some of the ticks, where every tick has one by itself.

    That all ticks have n of them is divided by in the end: it leaves what n records on n ticks are.  Ways are
    not counted, because their numbers grow beyond all floats.
    """
    n = len(chance) - 1
    odds = n / (ticks + 1.0 - n)
    chance[:] = 0.0
    likeliest = min(np.int64((some + 1.0) * (n / (ticks + 1.0))), some, n)
    chance[likeliest] = total = term = 1.0
    for d in range(likeliest, 0, -1):
        term *= d / ((some - d + 1.0) * odds)
        if term < _NOTHING:
            break
        chance[d - 1] = term
        total += term
    term, d = 1.0, likeliest
    while d < some and term > (_NOTHING if d < n else _ROUNDED * total):
        term *= (some - d) / (d + 1.0) * odds
        d += 1
        total += term
        if d <= n:
            chance[d] = term
    chance *= 1.0 / total


@inner
def _advanced(ways, more, chance, ranks, forbidden):
    """How probable so many records are before a tick further on, by the chances of what is between."""
    n = len(ways) - 1
    more[:] = 0.0
    upto = 0
    for c in range(n + 1):
        while upto < len(ranks) and ranks[upto] < c:
            upto += 1
        if ways[c] == 0.0:
            continue
        most = ranks[upto] if forbidden and upto < len(ranks) else n
        for d in range(most - c + 1):
            more[c + d] += ways[c] * chance[d]


class Links(NamedTuple):
    """Pairs of events, how many hidden ones stand between each, and where their weight is 1; shape (k,).

    `typical`: that many ticks are then to spare between the two.
    """

    left: Indexes
    right: Indexes
    hidden: Indexes
    typical: Ticks


NO_LINKS = Links(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


@inner
def no_links():
    """Links of nothing."""
    return Links(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


@inner
def weight_of_links(links, level_of, level, tick):
    """What the links weigh whose later placed event is that of a level."""
    weight = 1.0
    for i in range(len(links.left)):
        a, b = links.left[i], links.right[i]
        if max(level_of[a], level_of[b]) == level:
            weight *= room_weight(links.hidden[i], links.typical[i], tick[b] - tick[a] - 1 - links.hidden[i])
    return weight


@inner
def is_linked(links, event):
    """Whether an event is linked to another."""
    found = False
    for i in range(len(links.left)):
        found |= links.left[i] == event or links.right[i] == event
    return found


@inner
def hidden_below(links, level_of, first, end):
    """How many hidden events weigh the ticks of levels from `first` to before `end`."""
    count = 0
    for i in range(len(links.left)):
        if first <= max(level_of[links.left[i]], level_of[links.right[i]]) < end:
            count += links.hidden[i]
    return count


@inner
def placed_links(links, begin, end, event):
    """Links `begin` to `end` - 1 between rows of events, as links between the places of these."""
    found = Links(
        np.empty(end - begin, np.int64), np.empty(end - begin, np.int64), links.hidden[begin:end].copy(),
        links.typical[begin:end].copy(),
    )  # fmt: skip
    for i in range(end - begin):
        found.left[i] = found.right[i] = -1
        for e in range(len(event)):
            if event[e] == links.left[begin + i]:
                found.left[i] = e
            if event[e] == links.right[begin + i]:
                found.right[i] = e
    return found


@inner
def links_within(links, place):
    """Those both of whose events have a place, between these."""
    count, kept = 0, np.empty(len(links.left), np.int64)
    for i in range(len(links.left)):
        a, b = links.left[i], links.right[i]
        if a >= 0 and b >= 0 and place[a] >= 0 and place[b] >= 0:
            kept[count] = i
            count += 1
    found = Links(
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64),
    )  # fmt: skip
    for k in range(count):
        i = kept[k]
        found.left[k], found.right[k] = place[links.left[i]], place[links.right[i]]
        found.hidden[k], found.typical[k] = links.hidden[i], links.typical[i]
    return found
