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
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.search.kleene.sequence_tables import SequenceSteps
from cepctl.numeric.arrays import Flags, Indexes, Ticks

_MOST_ALIKE = 6
"""So many members of equal values may follow each other in any order: 1,956 orders."""
_MOST_STEPS, _MOST_BEGINNINGS, _MOST_ENDS = 1 << 18, 1 << 12, 1 << 20
_MOST_WORK = 1 << 28


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
        layer = np.zeros(len(value), dtype=np.int64)
        _clusters(value, lower, upper, layer)
        return _steps_of(layer, lower, upper, self.most)

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


@kernel
def _clusters(value, lower, upper, layer):
    """Number members, in order of value and beginning: a new number where one can but follow those before."""
    latest = 0
    for i in range(1, len(value)):
        if value[i] != value[i - 1] or max(latest, upper[i - 1]) <= lower[i]:
            layer[i] = layer[i - 1] + 1
            latest = lower[i]
        else:
            layer[i] = layer[i - 1]
            latest = max(latest, upper[i - 1])
