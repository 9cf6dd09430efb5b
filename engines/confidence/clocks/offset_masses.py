"""The masses that offsets of clocks give to events: moved, between two offsets, and summed with an own tick.

The mass of an own tick and an offset added up, less another offset, is in buckets whose densities are curves.
A bucket of each makes a block: how many ways there are to a tick rises and falls as a polynomial between the
sums of their ends.  One whose widest part alone has more than one tick is even, with two it is straight
between its cuts, with three it is bent.  Parts are named by their clock, NO_CLOCK for none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import pairs_apart
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Ticks

CUTS_OF_BLOCK = 8
_NO_CLOCK, _CUTS_OF_BLOCK, _NO_BLOCK = NO_CLOCK, CUTS_OF_BLOCK, -1


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


@inner
def blocks_of(stamps, event, clock, against):
    """How many blocks make the mass of an event that one clock moves, and another the other way."""
    count = stamps.own.starts[event + 1] - stamps.own.starts[event]
    for each in (clock, against):
        if each != _NO_CLOCK:
            count *= stamps.offsets.starts[each + 1] - stamps.offsets.starts[each]
    return count


@inner
def write_sum(stamps, event, clock, against, buckets, curves, at):
    """Write the buckets of an event's mass from place `at` on; returns the place after, and the degree.

    Their cuts are those of all blocks, so that each block is one polynomial in each of them.  Where no block
    is, there is no bucket: a hole, which a match cannot use.
    """
    blocks = blocks_of(stamps, event, clock, against)
    cuts, count, degree = np.empty(_CUTS_OF_BLOCK * blocks, dtype=np.int64), 0, 0
    for number in range(blocks):
        base, sizes, _ = _block(stamps, event, clock, against, number)
        count = _add_cuts(base, sizes, cuts, count)
        degree = max(degree, int(sizes[1] > 1) + int(sizes[2] > 1))
    cuts = np.unique(cuts[:count])
    for i in range(len(cuts) - 1):
        buckets.lo[at + i], buckets.hi[at + i] = cuts[i], cuts[i + 1] - 1
        curves.degree[at + i] = _NO_BLOCK
        curves.begin[at + i] = curves.middle[at + i] = curves.end[at + i] = 0.0
    for number in range(blocks):
        base, sizes, density = _block(stamps, event, clock, against, number)
        last = base + sizes[0] + sizes[1] + sizes[2] - 3
        i = np.searchsorted(cuts, base)
        while i < len(cuts) - 1 and cuts[i] <= last:
            _add_block(base, sizes, density, buckets, curves, at + i)
            i += 1
    return _without_holes(buckets, curves, at, at + len(cuts) - 1), degree


@inner
def _without_holes(buckets, curves, at, after):
    """Move together the buckets that some block is in; returns the place after the last."""
    for i in range(at, after):
        if curves.degree[i] == _NO_BLOCK:
            continue
        buckets.lo[at], buckets.hi[at], curves.degree[at] = buckets.lo[i], buckets.hi[i], curves.degree[i]
        curves.begin[at], curves.middle[at], curves.end[at] = curves.begin[i], curves.middle[i], curves.end[i]
        at += 1
    return at


@inner
def _block(stamps, event, clock, against, number):
    """First tick of a block, how many ticks its three parts have, widest first, and the mass of each way."""
    own, offsets = stamps.own, stamps.offsets
    buckets = own.starts[event + 1] - own.starts[event]
    b = own.starts[event] + number % buckets
    number //= buckets
    base, first, density = own.lo[b], own.hi[b] - own.lo[b] + 1, own.density[b]
    second = third = np.int64(1)
    if clock != _NO_CLOCK:
        buckets = offsets.starts[clock + 1] - offsets.starts[clock]
        b = offsets.starts[clock] + number % buckets
        number //= buckets
        base, second, density = (
            base + offsets.lo[b],
            offsets.hi[b] - offsets.lo[b] + 1,
            density * offsets.density[b],
        )
    if against != _NO_CLOCK:
        b = offsets.starts[against] + number
        base, third, density = (
            base - offsets.hi[b],
            offsets.hi[b] - offsets.lo[b] + 1,
            density * offsets.density[b],
        )
    widest, least = max(first, second, third), min(first, second, third)
    return base, (widest, first + second + third - widest - least, least), density


@inner
def _add_cuts(base, sizes, cuts, count):
    """Add where a block begins, where it is bent, and the tick after its last."""
    after = base + sizes[0] + sizes[1] + sizes[2] - 2
    for first in (0, sizes[0]):
        for second in (0, sizes[1]):
            for third in (0, sizes[2]):
                if (second and sizes[1] == 1) or (third and sizes[2] == 1):
                    continue
                cuts[count] = min(base + first + second + third, after)
                count += 1
    return count


@inner
def _add_block(base, sizes, density, buckets, curves, at):
    """Add a block to the curve of one bucket."""
    across = buckets.hi[at] - buckets.lo[at]
    first, last = buckets.lo[at] - base, buckets.hi[at] - base
    begin, end = _ways(sizes, first), _ways(sizes, last)
    middle, degree = 0.5 * (begin + end), int(begin != end)
    if sizes[2] > 1 and across > 1:
        degree = 2
        # From the smaller end: see `curves`.
        if begin <= end:
            middle = begin + 0.5 * across * (_two(sizes, first + 1) - _two(sizes, first + 1 - sizes[2]))
        else:
            middle = end - 0.5 * across * (_two(sizes, last) - _two(sizes, last - sizes[2]))
    curves.degree[at] = max(curves.degree[at], degree)
    curves.begin[at] += density * begin
    curves.middle[at] += density * middle
    curves.end[at] += density * end


@inner
def _ways(sizes, place):
    """How many ways there are to the tick at a place of a block."""
    if sizes[2] == 1:
        return _two(sizes, place)
    return pairs_apart(1 - sizes[1], 0, 0, sizes[0] - 1, place - sizes[2] + 1, place)


@inner
def _two(sizes, place):
    """How many ways the two widest parts alone have."""
    return float(max(min(place, sizes[1] - 1, sizes[0] + sizes[1] - 2 - place) + 1, 0))
