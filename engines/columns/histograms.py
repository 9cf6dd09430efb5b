"""Histograms read in one pass, where nothing is wrong with them and all are in order."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import kernel
from cepctl.precision import MASS_TOLERANCE

_TOLERANCE = MASS_TOLERANCE


def histograms_in_order(
    lower: Ticks, upper: Ticks, lengths: Indexes, lo: Ticks, hi: Ticks, p: Reals
) -> tuple[Indexes, Ticks, Ticks, Reals] | None:
    """The buckets of n events, as `Masses` takes them: `starts`, `lo`, `hi` and `density`.

    `lengths`, shape (n,): how many of the buckets `lo`, `hi`, `p` an event has; one without is uniform.
    None where a bucket is wrong, has no probability or stands before an earlier one: then one has to
    look closer.

    Examples
    --------
    >>> ticks = np.array([1, 4]), np.array([3, 8]), np.array([0.5, 0.5])
    >>> found = histograms_in_order(np.array([0, 1]), np.array([9, 8]), np.array([0, 2]), *ticks)
    >>> [each.tolist() for each in found]
    [[0, 1, 3], [0, 1, 4], [9, 3, 8], [0.1, 0.16666666666666666, 0.1]]
    """
    count = len(lo) + int((lengths == 0).sum())
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    found = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count)
    return (starts, *found) if _read(lower, upper, lengths, lo, hi, p, starts, *found) else None


@kernel
def _read(lower, upper, lengths, lo, hi, p, starts, first, last, density):
    """Fill `starts`, `first`, `last` and `density`; False where something is wrong or out of order."""
    begin, at = 0, 0
    for event in range(len(lengths)):
        if lengths[event] == 0:
            first[at], last[at] = lower[event], upper[event]
            density[at] = 1.0 / tick_count(lower[event], upper[event])
            at += 1
        else:
            stop, total = begin + lengths[event], 0.0
            for b in range(begin, stop):
                if not 0.0 < p[b] < np.inf or lo[b] > hi[b] or (b > begin and lo[b] <= hi[b - 1]):
                    return False
                total += p[b]
            if abs(total - 1.0) > _TOLERANCE:
                return False
            for b in range(begin, stop):
                first[at], last[at] = lo[b], hi[b]
                density[at] = p[b] / total / tick_count(lo[b], hi[b])
                at += 1
            begin = stop
        starts[event + 1] = at
    return True
