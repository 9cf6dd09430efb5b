"""Sums and differences of ticks that stop at the ends of int64 instead of wrapping around; cuts of time.

Events lie within ±2^62, so that a sum which stopped is beyond all of them, as the exact one would be, and
compares with every tick as that does.

Cuts are ticks in ascending order, each once, at the front of an array with room for more. They are few, so
that a further one is put in its place by moving those after it. That is compiled into what calls it: as a
call of its own it made some sums take a tenth longer.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.numeric.arrays import Ticks


@inlined
def with_cut(cuts, count, at):
    """Put a tick among the first `count`, unless it is there; returns how many there are then."""
    place = count
    while place > 0 and cuts[place - 1] > at:
        place -= 1
    if place > 0 and cuts[place - 1] == at:
        return count
    for j in range(count, place, -1):
        cuts[j] = cuts[j - 1]
    cuts[place] = at
    return count + 1


@inner
def sort_cuts(ticks, count):
    """Sort the first `count` ticks in place, each once (Shell's sort); returns how many remain.

    NumPy's, compiled into each kernel that calls it, takes seconds to compile.
    """
    gap = 1
    while 16 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            tick = ticks[i]
            j = i - gap
            while j >= 0 and ticks[j] > tick:
                ticks[j + gap] = ticks[j]
                j -= gap
            ticks[j + gap] = tick
        gap //= 3
    kept = min(count, 1)
    for i in range(1, count):
        if ticks[i] != ticks[kept - 1]:
            ticks[kept] = ticks[i]
            kept += 1
    return kept


FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""The least and the greatest int64."""


def shifted(ticks: Ticks, amount: int) -> Ticks:
    """Add `amount` to every tick.

    Examples
    --------
    >>> shifted(np.array([2**63 - 2, 5]), 10).tolist()
    [9223372036854775807, 15]
    """
    if amount >= 0:
        if ticks.max(initial=FIRST) <= LAST - amount:
            return ticks + amount
        return np.where(ticks > LAST - amount, LAST, ticks + amount)
    if ticks.min(initial=LAST) >= FIRST - amount:
        return ticks + amount
    return np.where(ticks < FIRST - amount, FIRST, ticks + amount)


@inner
def plus(tick, amount):
    """One tick and an amount."""
    if amount >= 0:
        return LAST if tick > LAST - amount else tick + amount
    return FIRST if tick < FIRST - amount else tick + amount


@inner
def apart(first, last):
    """How far `last` is after `first`, which is not after it."""
    difference = last - first
    return LAST if difference < 0 else difference


@inner
def distance(start, end):
    """`end` - `start` as a float, negative where `end` is before; exact as long as floats are."""
    difference = end - start
    if (end > start) != (difference > 0):
        return float(end) - float(start)
    return float(difference)


@inner
def tick_count(first, last):
    """Number of ticks from `first` to `last`, both included, as a float."""
    return distance(first, last) + 1.0
