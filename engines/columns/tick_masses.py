"""The mass that one event has at a tick and on a range of ticks, and where its mass ends."""

from __future__ import annotations

from cepctl.engines.columns.tick_sums import LAST, tick_count
from cepctl.engines.kernels.kernel import inlined, inner


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
