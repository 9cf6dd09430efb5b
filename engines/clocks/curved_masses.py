"""Masses of copies of events; those alone on their clock have curves, for own tick and offset together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.clocks.summed_masses import CUTS_OF_BLOCK, write_sum
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.laws import Curves, Laws, curved_laws
from cepctl.engines.columns.masses import Buckets, Masses
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.offset_bounds import stamps_of

_NO_CLOCK = NO_CLOCK


@dataclass(frozen=True)
class CurvedMasses(Masses):
    """Masses with a curve for each bucket; `density` is positive, and says no more than that.

    `degree`, shape (n,): of the curves of each event, at most.
    """

    curves: Curves
    degree: Indexes

    @property
    def laws(self) -> Laws:
        """The laws of all events."""
        return curved_laws(self.buckets, self.degree, self.curves)


def curved_masses(clocks: EventClocks, event: Indexes, summed: Flags, shift: Ticks) -> CurvedMasses:
    """The masses of n rows: the own part of an event moved, or, where `summed`, added to its offset."""
    own, offsets = np.diff(clocks.own.starts)[event], np.diff(clocks.offsets.starts)[clocks.clock[event]]
    size = int(np.where(summed, CUTS_OF_BLOCK * own * offsets, own).sum())
    count = len(event)
    buckets = Buckets(
        np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count + 1, np.int64),
        np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size),
    )  # fmt: skip
    curves = Curves(np.zeros(size, np.int64), np.empty(size), np.empty(size), np.empty(size))
    degree = np.zeros(count, dtype=np.int64)
    used = _write(stamps_of(clocks), event, summed, shift, buckets, curves, degree)
    kept = Curves(curves.degree[:used], curves.begin[:used], curves.middle[:used], curves.end[:used])
    lo, hi, density = buckets.lo[:used], buckets.hi[:used], buckets.density[:used]
    return CurvedMasses(buckets.lower, buckets.upper, buckets.starts, lo, hi, density, kept, degree)


@kernel
def _write(stamps, event, summed, shift, buckets, curves, degree):
    """Fill all rows; returns how many buckets they have."""
    own, at = stamps.own, 0
    for row in range(len(event)):
        begin, source = at, event[row]
        if summed[row]:
            at, degree[row] = write_sum(stamps, source, stamps.clock[source], _NO_CLOCK, buckets, curves, at)
        else:
            for b in range(own.starts[source], own.starts[source + 1]):
                buckets.lo[at], buckets.hi[at] = own.lo[b] + shift[row], own.hi[b] + shift[row]
                curves.begin[at] = curves.middle[at] = curves.end[at] = own.density[b]
                curves.degree[at] = 0
                at += 1
        for b in range(begin, at):
            buckets.density[b] = 0.5 * (curves.begin[b] + curves.end[b])
        buckets.lower[row], buckets.upper[row] = buckets.lo[begin], buckets.hi[at - 1]
        buckets.starts[row + 1] = at
    return at
