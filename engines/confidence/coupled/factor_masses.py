"""The mass that the regions of a factor leave to its event, once its variables have their ticks."""

from __future__ import annotations

from cepctl.engines.columns.laws import law_on
from cepctl.engines.columns.tick_masses import ends_of, mass_on
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE
from cepctl.engines.kernels.kernel import inlined, inner


@inlined
def region_ticks(factors, region, first, last, tick):
    """What of the ticks from `first` to `last` a region holds: first and last tick."""
    for b in range(factors.bound_offsets[region], factors.bound_offsets[region + 1]):
        at = factors.constant[b]
        if factors.variable[b] != NO_VARIABLE:
            at = plus(at, tick[factors.variable[b]])
        if factors.is_lower[b]:
            first = max(first, at)
        else:
            last = min(last, at)
    return first, last


@inlined
def left_ticks(factors, number, earliest, latest, tick, outside):
    """First and last tick inside all inner regions, and how many others `outside` then holds, sorted."""
    lower, upper, count = earliest, latest, 0
    for r in range(factors.region_offsets[number], factors.region_offsets[number + 1]):
        first, last = region_ticks(factors, r, earliest, latest, tick)
        if factors.inside[r]:
            lower, upper = max(lower, first), min(upper, last)
        elif first <= last:
            i = count
            while i > 0 and outside[i - 1, 0] > first:
                outside[i, 0], outside[i, 1] = outside[i - 1, 0], outside[i - 1, 1]
                i -= 1
            outside[i, 0], outside[i, 1] = first, last
            count += 1
    return lower, upper, count


@inlined
def factor_mass(factors, number, buckets, tick, outside):
    """Mass of a factor's event inside all its inner regions and outside the union of the others."""
    event = factors.event[number]
    earliest, latest = ends_of(buckets, event)
    lower, upper, count = left_ticks(factors, number, earliest, latest, tick, outside)
    total = 0.0
    for g in range(count):
        if outside[g, 0] > lower:
            total += mass_on(buckets, event, lower, min(upper, outside[g, 0] - 1))
        lower = max(lower, outside[g, 1] + 1)
    return total + mass_on(buckets, event, lower, upper)


@inner
def bent_factor_mass(factors, number, laws, tick, outside):
    """The same where laws may be bent."""
    event = factors.event[number]
    earliest, latest = ends_of(laws, event)
    lower, upper, count = left_ticks(factors, number, earliest, latest, tick, outside)
    total = 0.0
    for g in range(count):
        if outside[g, 0] > lower:
            total += law_on(laws, event, lower, min(upper, outside[g, 0] - 1))
        lower = max(lower, outside[g, 1] + 1)
    return total + law_on(laws, event, lower, upper)
