"""A table of sequences over the ticks at which they end, filled step by step: how many end at each.

Steps ask for the number of all sequences that end at or before a tick, which a Fenwick tree over the table
tells in logarithmic time.  Numbers have as many digits as they need, of 62 bits each.

    level       number of members of a sequence, where that is limited; else there is one level
    change      what a layer of steps adds: it counts from the next layer on
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks

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
        earliest = np.full(len(self.length) * int(self.length.max()) + 1, UNBOUNDED, dtype=np.int64)
        steps = self.first, self.last, self.length, self.offsets
        return int(_longest(*steps, begin, until, earliest))

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
            told = np.zeros(3, dtype=np.int64)
            steps = self.first, self.last, self.length, self.offsets
            _count(*steps, ends, begins, until, levels, found, told)
            assert not told[_UNKNOWN], "a sequence ends where none can"
            if not told[_FULL]:
                break
            digits *= 2
        return [sum(digit << (_BITS * at) for at, digit in enumerate(row)) for row in found.tolist()]


@kernel
def _longest(first, last, length, offsets, begin, until, earliest):
    """The most members that a sequence may have; earliest[k] becomes the earliest end of one of k."""
    earliest[0] = begin
    most = 0
    changed = np.empty(len(earliest), dtype=np.int64)
    for layer in range(len(offsets) - 1):
        # What a layer finds holds from the next layer on.
        top = most
        for k in range(top + 1):
            changed[k] = earliest[k]
        for step in range(offsets[layer], offsets[layer + 1]):
            size = length[step]
            for k in range(top + 1):
                if changed[k] > last[step]:
                    break
                end = max(first[step], changed[k] + size)
                if end <= until and end < earliest[k + size]:
                    earliest[k + size] = end
                    most = max(most, k + size)
    return most


class _Changes(NamedTuple):
    """What a step adds to the numbers of each level: how much, where, in which order, and what is told."""

    change: Indexes
    changed: Flags
    todo: Indexes
    told: Indexes


@kernel
def _count(first, last, length, offsets, ends, begins, until, levels, totals, told):
    """Fill totals, shape (runs, digits); a run counts sequences after begins[run] and until until[run]."""
    size, digits = len(ends), totals.shape[1]
    table = np.zeros((levels, size, digits), dtype=np.int64)
    tree = np.zeros((levels, size + 1, digits), dtype=np.int64)
    change = np.zeros((levels, size, digits), dtype=np.int64)
    used, changed = np.zeros((levels, size), dtype=np.bool_), np.zeros((levels, size), dtype=np.bool_)
    todo = np.empty((levels * size, 2), dtype=np.int64)
    changes = _Changes(change, changed, todo, told)
    number = np.zeros(digits, dtype=np.int64)
    for run in range(len(begins)):
        begin, end = begins[run], until[run]
        table[:], tree[:], used[:] = 0, 0, False
        start = np.searchsorted(ends, begin)
        # The sequence of no member, which members can follow.
        number[:] = 0
        number[0] = 1
        table[0, start], used[0, start] = number, True
        _enter(tree[0], start, number, told)
        for layer in range(len(offsets) - 1):
            told[_WAITING] = 0
            for step in range(offsets[layer], offsets[layer + 1]):
                members = length[step]
                goal, most = max(first[step], begin + members), min(last[step], end - members)
                if goal <= end and most >= begin:
                    for level in range(levels):
                        into = 0 if levels == 1 else level + members
                        if into < levels:
                            here = table[level], tree[level], used[level]
                            _longer(*here, ends, members, goal, most, number, changes, into)
            for each in range(told[_WAITING]):
                level, place = todo[each, 0], todo[each, 1]
                _add(table[level, place], change[level, place], told)
                _enter(tree[level], place, change[level, place], told)
                used[level, place], changed[level, place] = True, False
                change[level, place] = 0
        table[0, start, 0] -= 1
        for level in range(levels):
            for place in range(size):
                if used[level, place]:
                    _add(totals[run], table[level, place], told)
        if told[_FULL] or told[_UNKNOWN]:
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
    change, changed, todo, told = changes
    if place == len(ends) or ends[place] != tick:
        told[_UNKNOWN] = 1
        return
    _add(change[into, place], number, told)
    if not changed[into, place]:
        changed[into, place] = True
        todo[told[_WAITING], 0], todo[told[_WAITING], 1] = into, place
        told[_WAITING] += 1


@inner
def _up_to(tree, count, number, told):
    """The sum of the first so many numbers of a table."""
    number[:] = 0
    while count > 0:
        _add(number, tree[count], told)
        count -= count & -count


@inner
def _enter(tree, place, number, told):
    """Add a number at a place of a table to its tree."""
    at = place + 1
    while at < len(tree):
        _add(tree[at], number, told)
        at += at & -at


@inner
def _add(into, other, told):
    """Add a number to another, digit by digit."""
    carry = 0
    for digit in range(len(into)):
        value = into[digit] + other[digit] + carry
        carry = value >> _BITS
        into[digit] = value & _DIGIT
    if carry:
        told[_FULL] = 1
