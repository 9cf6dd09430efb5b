"""The mass of an offset, or of the difference of two, and the masses of events that offsets move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import pairs_apart
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Ticks


def moved_masses(clocks: EventClocks, event: Indexes, shift: Ticks) -> Masses:
    """The masses of n rows.

    Parameters
    ----------
    clocks
        The own parts and the offsets.
    event
        Shape (n,): an event by row number, whose own part it is; or -1 - clock, whose offset it is.
    shift
        Shape (n,): by how many ticks each is moved.
    """
    owner, lo, hi, density = [], [], [], []
    for masses, rows, whose in (
        (clocks.own, (here := np.flatnonzero(event >= 0)), event[here]),
        (clocks.offsets, (there := np.flatnonzero(event < 0)), -1 - event[there]),
    ):
        bucket, begins = owned(masses.starts, whose)
        sizes = np.diff(begins)
        owner.append(np.repeat(rows, sizes))
        by = np.repeat(shift[rows], sizes)
        lo.append(masses.lo[bucket] + by)
        hi.append(masses.hi[bucket] + by)
        density.append(masses.density[bucket])
    whose = np.concatenate(owner)
    order = np.argsort(whose, kind="stable")
    begins = np.searchsorted(whose[order], np.arange(len(event) + 1))
    first, last = np.concatenate(lo)[order], np.concatenate(hi)[order]
    return Masses(
        first[begins[:-1]], last[begins[1:] - 1], begins, first, last, np.concatenate(density)[order]
    )


_FEW = 4
"""So many buckets are added up by themselves: a sum less another is not as exact."""


class Difference(NamedTuple):
    """How far the offset of `clock` is ahead of that of `other`, which is -1 for none: the offset itself."""

    offsets: Buckets
    clock: int
    other: int


@kernel
def support(difference):
    """First and last tick of a difference of offsets."""
    offsets, clock, other = difference
    first, last = offsets.lower[clock], offsets.upper[clock]
    if other >= 0:
        first -= offsets.upper[other]
        last -= offsets.lower[other]
    return first, last


@inner
def mass_at(difference, tick):
    """Probability that a difference of offsets is this tick."""
    offsets, clock, other = difference
    starts, lo, hi, density = offsets.starts, offsets.lo, offsets.hi, offsets.density
    total, meets = 0.0, starts[max(other, 0)]
    for b in range(starts[clock], starts[clock + 1]):
        if other < 0:
            if lo[b] <= tick <= hi[b]:
                return density[b]
            continue
        while meets < starts[other + 1] and hi[meets] < lo[b] - tick:
            meets += 1
        for o in range(meets, starts[other + 1]):
            begin, end = max(lo[o], lo[b] - tick), min(hi[o], hi[b] - tick)
            if begin > end:
                break
            total += density[b] * density[o] * (float(end) - float(begin) + 1.0)
    return total


@kernel
def mass_between(difference, first, last):
    """Probability that a difference of offsets lies between two ticks, both included."""
    offsets, clock, other = difference
    starts, lo, hi, density = offsets.starts, offsets.lo, offsets.hi, offsets.density
    total = 0.0
    if other < 0:
        for b in range(starts[clock], starts[clock + 1]):
            ticks = float(min(hi[b], last)) - float(max(lo[b], first)) + 1.0
            total += density[b] * max(ticks, 0.0)
        return total
    stop, upto = starts[other + 1], _sums_before(offsets, other)
    meets = whole = cut = done = starts[other]
    for b in range(starts[clock], starts[clock + 1]):
        # Of the other clock's buckets meets .. done - 1 hold such pairs, whole .. cut - 1 no others.
        while meets < stop and hi[meets] < lo[b] - last:
            meets += 1
        while whole < stop and lo[whole] < hi[b] - last:
            whole += 1
        while cut < stop and hi[cut] <= lo[b] - first:
            cut += 1
        while done < stop and lo[done] <= hi[b] - first:
            done += 1
        o = meets
        while o < done:
            if o == whole and cut - whole > _FEW:
                share = upto[cut - starts[other]] - upto[whole - starts[other]]
                total += density[b] * (float(hi[b]) - float(lo[b]) + 1.0) * share
                o = cut
                continue
            total += density[b] * density[o] * pairs_apart(lo[o], hi[o], lo[b], hi[b], first, last)
            o += 1
    return total


@inner
def _sums_before(offsets, clock):
    """The sums of an offset's buckets before each, and of all; nothing where these are few."""
    begin, count = offsets.starts[clock], offsets.starts[clock + 1] - offsets.starts[clock]
    found = np.zeros(count + 1 if count > _FEW else 0)
    for i in range(1, len(found)):
        b = begin + i - 1
        ticks = float(offsets.hi[b]) - float(offsets.lo[b]) + 1.0
        found[i] = found[i - 1] + offsets.density[b] * ticks
    return found


@kernel
def shares_of_sum(own, event, offsets, clock, first, last, shares):
    """Fill the probability that an event's own tick and its clock's offset add up to first[i] to last[i]."""
    for i in range(len(first)):
        shares[i] = 0.0
        for b in range(own.starts[event], own.starts[event + 1]):
            for o in range(offsets.starts[clock], offsets.starts[clock + 1]):
                # The offset's mirror image is subtracted.
                pairs = pairs_apart(-offsets.hi[o], -offsets.lo[o], own.lo[b], own.hi[b], first[i], last[i])
                shares[i] += own.density[b] * offsets.density[o] * pairs


@inner
def has_holes(buckets, owner):
    """Whether some tick between the ends of a mass is impossible."""
    for b in range(buckets.starts[owner] + 1, buckets.starts[owner + 1]):
        if buckets.lo[b] != buckets.hi[b - 1] + 1:
            return True
    return False
