"""How many sequences of members rise in one value, counted without listing them.

In order of their values, members become the next of a sequence or not.  Of a sequence one thing says which
members may come behind: the earliest tick at which it can end.  So a table over these ticks counts them all:

    a sequence that ends at e, and a member x:   it ends at max(lower(x), e + 1), if that is at most upper(x)

Members lie after a tick s and before a tick t, which neighbours fix.  Where the latest t depends on s, by a
window of W ticks, a sequence is possible for s from one tick to another, which are ends of sequences less W,
and what is possible at two ticks of these next to each other is possible from the later one until the earlier
one's end.  So over ticks s_1 < s_2 < ... at which it may begin to be possible

    sequences  =  sum over i of  (possible at s_i)  -  sum over i of  (possible at s_i and at s_i+1)

Members of equal values that may follow each other are taken together, in each of their orders: a few steps of
several members.

Steps ask for the number of all sequences that end at or before a tick, which a Fenwick tree over the table
tells in logarithmic time.  Numbers have as many digits as they need, of 62 bits each.

    level       number of members of a sequence, where that is limited; else there is one level
    layer       steps that exclude each other: what they change counts from the next layer on
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np

from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks

_MOST_ALIKE = 6
"""So many members of equal values may follow each other in any order: 1,956 orders."""
_MOST_STEPS, _MOST_BEGINNINGS, _MOST_ENDS = 1 << 18, 1 << 12, 1 << 20
_MOST_WORK = 1 << 28
_BITS = 62
_DIGIT = (1 << 62) - 1
_FULL, _UNKNOWN, _WAITING = range(3)
"""Places of what is told: digits do not suffice, a tick is no end, and how many places of a layer change."""


@dataclass(frozen=True)
class SequenceSteps:
    """Steps of one or several members: what ends at e, at most `last`, ends at max(`first`, e + `length`).

    Those from offsets[i] to offsets[i + 1] - 1 exclude each other, and those of larger i come later.
    """

    first: Ticks
    last: Ticks
    length: Indexes
    offsets: Indexes

    def longest(self, begin: int, until: int) -> int:
        """The number of members of the longest sequence after a tick, and until another."""
        # The earliest end of a sequence of each number of members: the more they are, the later.
        earliest = np.array([begin])
        steps = list(zip(self.first.tolist(), self.last.tolist(), self.length.tolist(), strict=True))
        for start, stop in pairwise(self.offsets.tolist()):
            found = np.append(earliest, np.full(_MOST_ALIKE, UNBOUNDED))
            for first, last, length in steps[start:stop]:
                few = earliest[: np.searchsorted(earliest, last, side="right")]
                later = found[length : length + len(few)]
                np.minimum(later, np.maximum(first, few + length), out=later)
            earliest = found[: np.searchsorted(found, until, side="right")]
        return len(earliest) - 1

    def work(self, ends: Ticks) -> int:
        """How many ends all steps start from, and more for those they need not look at one by one."""
        begin = np.searchsorted(ends, self.first - self.length)
        looked_at = np.searchsorted(ends, self.last, side="right") - begin
        return int(np.maximum(looked_at, 0).sum()) + 16 * len(self.length)

    def totals(self, ends: Ticks, begins: Ticks, until: Ticks, most: int | None) -> list[int]:
        """How many sequences there are after each of some ticks, and until others; both shape (n,)."""
        levels = 1 if most is None else most + 1
        digits = 1
        while True:
            found = np.zeros((len(begins), digits), dtype=np.int64)
            flags = np.zeros(3, dtype=np.int64)
            steps = self.first, self.last, self.length, self.offsets
            _count(*steps, ends, begins, until, levels, found, flags)
            assert not flags[_UNKNOWN], "a sequence ends where none can"
            if not flags[_FULL]:
                break
            digits *= 2
        return [sum(digit << (_BITS * at) for at, digit in enumerate(row)) for row in found.tolist()]


@dataclass(frozen=True)
class SequenceRoom:
    """Members lie after a tick from `begin` to `latest`, and at most at `last`.

    `span`: at most so many ticks after the one that they lie after, UNBOUNDED for any.
    """

    begin: int
    latest: int
    last: int
    span: int

    def until(self, begin: Ticks) -> Ticks:
        """The last tick of members that lie after these."""
        return (
            np.minimum(self.last, begin + self.span)
            if self.span < UNBOUNDED
            else np.full_like(begin, self.last)
        )


@dataclass(frozen=True)
class Members:
    """Members by their values: numbers in the order in which they may follow each other; shapes (n,).

    `equal`: also those of the same number may.  `most`: how many a sequence may have, None for any.
    """

    value: Indexes
    lower: Ticks
    upper: Ticks
    equal: bool
    most: int | None

    def count(self, room: SequenceRoom) -> int | None:
        """How many sequences there are in a room; None where that takes too much work.

        Examples
        --------
        >>> members = Members(np.array([1, 2, 2]), np.array([1, 2, 3]), np.array([3, 4, 5]), False, None)
        >>> members.count(SequenceRoom(0, 0, 5, UNBOUNDED)), members.count(SequenceRoom(0, 9, 9, 5))
        (5, 5)
        """
        if not len(self.value):
            return 0
        steps = self._steps
        if steps is None:
            return None
        longest = steps.longest(room.begin, room.last)
        begins = self._beginnings(room, longest)
        if begins is None:
            return None
        ends = np.unique(np.concatenate([self._ends(room, longest), self._after(begins, room, longest)]))
        until = room.until(begins)
        runs = np.concatenate([begins, begins[1:]]), np.concatenate([until, until[:-1]])
        work = steps.work(ends) * len(runs[0])
        if len(ends) > _MOST_ENDS or work > _MOST_WORK:
            return None
        totals = steps.totals(ends, *runs, self.most)
        return sum(totals[: len(begins)]) - sum(totals[len(begins) :])

    @cached_property
    def _steps(self) -> SequenceSteps | None:
        """What a sequence may be made longer by; None where that are too many."""
        order = np.lexsort((self.lower, self.value))
        value, lower, upper = self.value[order], self.lower[order], self.upper[order]
        if not self.equal:
            begins = np.flatnonzero(np.diff(value, prepend=value[:1] - 1))
            one = np.ones(len(value), dtype=np.int64)
            return SequenceSteps(lower, upper - 1, one, np.append(begins, len(value)))
        return _steps_of(_clusters(value, lower, upper), lower, upper, self.most)

    def _beginnings(self, room: SequenceRoom, longest: int) -> Ticks | None:
        """The ticks after which a sequence may begin to be possible; None where these are too many."""
        latest = room.latest
        if room.span < UNBOUNDED:
            # From here on members may lie until the same tick, whatever they lie after.
            latest = min(latest, room.last - room.span)
        if latest <= room.begin or room.span >= UNBOUNDED:
            return np.array([room.begin])
        farthest = room.span - longest
        ends = self._ends(room, longest) - room.span
        begins = np.unique(np.concatenate([[room.begin], ends[(ends > room.begin) & (ends <= latest)]]))
        if farthest < 1 or (latest - room.begin) // farthest + len(begins) > _MOST_BEGINNINGS:
            return None
        # What is possible at two of them is known where the whole sequence fits behind the later one.
        gap, number = np.diff(begins, append=begins[-1] + 1), np.zeros(0, dtype=np.int64)
        between = (gap - 1) // farthest
        number = np.repeat(np.arange(len(begins)), between)
        place = np.arange(len(number)) - np.repeat(np.cumsum(between) - between, between)
        return np.unique(np.concatenate([begins, begins[number] + farthest * (place + 1)]))

    def _ends(self, room: SequenceRoom, longest: int) -> Ticks:
        """The earliest ticks at which sequences of members can end, wherever they may begin."""
        return self._after(np.maximum(self.lower, room.begin + 1) - 1, room, longest)

    def _after(self, begins: Ticks, room: SequenceRoom, longest: int) -> Ticks:
        """Some ticks, and those after them that may be filled by members one by one."""
        lower, upper = np.sort(self.lower), np.sort(self.upper)
        found, ticks = [], np.unique(begins)
        ended = np.searchsorted(upper, ticks + 1)
        for number in range(longest + 1):
            enough = np.searchsorted(lower, ticks + number, side="right") - ended >= number
            ticks, ended = ticks[enough], ended[enough]
            if not len(ticks):
                break
            found.append(ticks + number)
        every = np.unique(np.concatenate(found))
        return every[every <= room.last]


def _steps_of(layer: Indexes, lower: Ticks, upper: Ticks, most: int | None) -> SequenceSteps | None:
    """The steps of clusters of members, which take each of their orders."""
    sizes = np.bincount(layer)
    if sizes.max(initial=0) > _MOST_ALIKE:
        return None
    begins, parts = np.cumsum(sizes) - sizes, []
    for size in np.unique(sizes).tolist():
        clusters = np.flatnonzero(sizes == size)
        for many in range(1, size + 1 if most is None else min(size, most) + 1):
            orders = np.array(list(permutations(range(size), many)))
            if len(clusters) * len(orders) > _MOST_STEPS:
                return None
            member = begins[clusters][:, None, None] + orders
            parts.append((np.repeat(clusters, len(orders)), *_in_order(lower[member], upper[member])))
    of, first, last, length, possible = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.flatnonzero(possible)
    order = order[np.argsort(of[order], kind="stable")]
    offsets = np.searchsorted(of[order], np.arange(len(sizes) + 1))
    return SequenceSteps(first[order], last[order], length[order], offsets)


def _in_order(lower: Ticks, upper: Ticks) -> tuple[Ticks, Ticks, Indexes, Flags]:
    """First and last ends, lengths, and whether they are possible, of orders of members; shape (k, a, m)."""
    size = lower.shape[2]
    end, possible = lower[:, :, 0], np.ones(lower.shape[:2], dtype=bool)
    for place in range(1, size):
        end = np.maximum(lower[:, :, place], end + 1)
        possible &= end <= upper[:, :, place]
    last = (upper - np.arange(1, size + 1)).min(axis=2)
    return end.reshape(-1), last.reshape(-1), np.full(end.size, size), possible.reshape(-1)


def _clusters(value: Indexes, lower: Ticks, upper: Ticks) -> Indexes:
    """Number members, in order of value and beginning: a new number where one can but follow those before."""
    fresh = np.ones(len(value), dtype=bool)
    latest, before = 0, None
    for place, (own, begin, end) in enumerate(
        zip(value.tolist(), lower.tolist(), upper.tolist(), strict=True)
    ):
        fresh[place] = own != before or latest <= begin
        latest, before = end if fresh[place] else max(latest, end), own
    return np.cumsum(fresh) - 1


class _Changes(NamedTuple):
    """What a step adds to the numbers of each level: how much, where, in which order, and what is told."""

    change: Indexes
    changed: Flags
    todo: Indexes
    told: Indexes


@kernel
def _count(first, last, length, offsets, ends, begins, until, levels, totals, flags):
    """Fill totals, shape (runs, digits); a run counts sequences after begins[run] and until until[run]."""
    size, digits = len(ends), totals.shape[1]
    table = np.zeros((levels, size, digits), dtype=np.int64)
    tree = np.zeros((levels, size + 1, digits), dtype=np.int64)
    change = np.zeros((levels, size, digits), dtype=np.int64)
    used, changed = np.zeros((levels, size), dtype=np.bool_), np.zeros((levels, size), dtype=np.bool_)
    todo = np.empty((levels * size, 2), dtype=np.int64)
    changes = _Changes(change, changed, todo, flags)
    number = np.zeros(digits, dtype=np.int64)
    for run in range(len(begins)):
        begin, end = begins[run], until[run]
        table[:], tree[:], used[:] = 0, 0, False
        start = np.searchsorted(ends, begin)
        # The sequence of no member, which members can follow.
        number[:] = 0
        number[0] = 1
        table[0, start], used[0, start] = number, True
        _enter(tree[0], start, number, flags)
        for layer in range(len(offsets) - 1):
            flags[_WAITING] = 0
            for step in range(offsets[layer], offsets[layer + 1]):
                members = length[step]
                goal, most = max(first[step], begin + members), min(last[step], end - members)
                if goal <= end and most >= begin:
                    for level in range(levels):
                        into = 0 if levels == 1 else level + members
                        if into < levels:
                            here = table[level], tree[level], used[level]
                            _longer(*here, ends, members, goal, most, number, changes, into)
            for each in range(flags[_WAITING]):
                level, place = todo[each, 0], todo[each, 1]
                _add(table[level, place], change[level, place], flags)
                _enter(tree[level], place, change[level, place], flags)
                used[level, place], changed[level, place] = True, False
                change[level, place] = 0
        table[0, start, 0] -= 1
        for level in range(levels):
            for place in range(size):
                if used[level, place]:
                    _add(totals[run], table[level, place], flags)
        if flags[_FULL] or flags[_UNKNOWN]:
            return


@inner
def _longer(table, tree, used, ends, members, goal, most, number, changes, into):
    """Make sequences of one level longer by a step, where they end at or before `most`."""
    place = np.searchsorted(ends, goal)
    at = np.searchsorted(ends, min(goal - members, most), side="right")
    _up_to(tree, at, number, changes.told)
    if number.any():
        _put(number, ends, place, goal, changes, into)
    while at < len(ends) and ends[at] <= most:
        if used[at]:
            while place < len(ends) and ends[place] < ends[at] + members:
                place += 1
            _put(table[at], ends, place, ends[at] + members, changes, into)
        at += 1


@inner
def _put(number, ends, place, tick, changes, into):
    """Add a number to what changes at a tick."""
    change, changed, todo, flags = changes
    if place == len(ends) or ends[place] != tick:
        flags[_UNKNOWN] = 1
        return
    _add(change[into, place], number, flags)
    if not changed[into, place]:
        changed[into, place] = True
        todo[flags[_WAITING], 0], todo[flags[_WAITING], 1] = into, place
        flags[_WAITING] += 1


@inner
def _up_to(tree, count, number, flags):
    """The sum of the first so many numbers of a table."""
    number[:] = 0
    while count > 0:
        _add(number, tree[count], flags)
        count -= count & -count


@inner
def _enter(tree, place, number, flags):
    """Add a number at a place of a table to its tree."""
    at = place + 1
    while at < len(tree):
        _add(tree[at], number, flags)
        at += at & -at


@inner
def _add(into, other, flags):
    """Add a number to another, digit by digit."""
    carry = 0
    for digit in range(len(into)):
        value = into[digit] + other[digit] + carry
        carry = value >> _BITS
        into[digit] = value & _DIGIT
    if carry:
        flags[_FULL] = 1
