"""The mass of one event at a tick and on a range of ticks, where it ends; and how far apart two events are.

Of two buckets of m and M >= m ticks, the number of pairs of ticks that are d apart rises by one with d up to
m, stays there, and falls by one: what bounds leave of each part is an arithmetic series of positive terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.tick_sums import LAST, tick_count
from cepctl.engines.kernels.kernel import inlined, inner, kernel
from cepctl.numeric.arrays import Indexes, Reals, Ticks

if TYPE_CHECKING:
    from cepctl.engines.columns.masses import Masses


@inlined
def ends_of(buckets, event):
    """First and last tick that has mass."""
    return buckets.lo[buckets.starts[event]], buckets.hi[buckets.starts[event + 1] - 1]


@inlined
def mass_on(buckets, event, lower, upper):
    """The mass that an event has from `lower` to `upper`."""
    total = 0.0
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        first, last = max(buckets.lo[b], lower), min(buckets.hi[b], upper)
        if first <= last:
            total += buckets.density[b] * tick_count(first, last)
    return total


@inlined
def density_at(buckets, event, tick):
    """The mass that an event has at a tick."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.lo[b] <= tick <= buckets.hi[b]:
            return buckets.density[b]
    return 0.0


@inner
def first_possible(buckets, event, tick):
    """First tick of positive mass at or after `tick`; LAST where there is none."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.hi[b] >= tick:
            return max(buckets.lo[b], tick)
    return LAST


def difference_probability(
    masses: Masses, pairs: Indexes, lower: Ticks, upper: Ticks, least: Ticks, most: Ticks
) -> Reals:
    """P(least <= t_1 - t_0 <= most, both within `lower` and `upper`) of independent pairs, shape (n,).

    `pairs`, `lower`, `upper` have shape (n, 2), `least` and `most` shape (n,).
    """
    found = np.zeros(len(pairs))
    _differences(masses.buckets, pairs, lower, upper, least, most, found)
    return found


@kernel
def _differences(buckets, pairs, lower, upper, least, most, found):
    for row in range(len(pairs)):
        one, other = pairs[row, 0], pairs[row, 1]
        for b in range(buckets.starts[one], buckets.starts[one + 1]):
            first, last = max(buckets.lo[b], lower[row, 0]), min(buckets.hi[b], upper[row, 0])
            if first > last:
                continue
            for c in range(buckets.starts[other], buckets.starts[other + 1]):
                begin, end = max(buckets.lo[c], lower[row, 1]), min(buckets.hi[c], upper[row, 1])
                if begin <= end:
                    apart = pairs_apart(first, last, begin, end, least[row], most[row])
                    found[row] += buckets.density[b] * buckets.density[c] * apart


@inner
def pairs_apart(first, last, begin, end, least, most):
    """Number of pairs of a tick from `first` to `last` and one from `begin` to `end`, so far apart."""
    fewer, more = tick_count(first, last), tick_count(begin, end)
    if fewer > more:
        fewer, more = more, fewer
    # Both bounds counted from the smallest difference, in whole ticks: far apart, floats would round them.
    low, high = begin - last, end - first
    first_held, last_held = max(least, low), min(most, high)
    if first_held > last_held:
        return 0.0
    start, stop, span = float(first_held - low), float(last_held - low), float(high - low)
    rising = _series(start, min(stop, fewer - 2.0))
    flat = fewer * max(min(stop, more - 1.0) - max(start, fewer - 1.0) + 1.0, 0.0)
    return rising + flat + _series(span - stop, min(span - start, fewer - 2.0))


@inner
def _series(begin, end):
    """Sum of d + 1 for all whole d from begin to end."""
    return max(end - begin + 1.0, 0.0) * (begin + end + 2.0) / 2.0
