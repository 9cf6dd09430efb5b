"""Sums and differences of ticks and durations that stop at the ends of int64 instead of wrapping around.

Events lie within ±2^62, so that a sum which stopped is beyond all of them, as the exact one would be, and
compares with every tick as that does.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Ticks
from cepctl.engines.kernels.kernel import inner

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
