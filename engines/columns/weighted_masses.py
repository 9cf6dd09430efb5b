"""Masses with weights: piecewise polynomials that say what a series leaves to an event at each of its ticks.

A polynomial on n ticks from `start` on is kept by coefficients c_k of

    C(x, k) / C(n, k),    x = tick - start,

which lie between 0 and 1.  What comes before an event makes its ticks the more probable the later they are:
then all coefficients are positive, and nothing cancels.  What comes after it is the same with time reversed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Buckets
from cepctl.engines.kernels.kernel import inner

NO_CELL = -1


class Polynomials(NamedTuple):
    """Polynomials on cells of ticks.

    Cell i has `ticks[i]` ticks from `start[i]` on, and coefficient[offsets[i] : offsets[i + 1]].
    """

    start: Ticks
    ticks: Ticks
    offsets: Indexes
    coefficient: Reals


class WeightedBuckets(NamedTuple):
    """`Buckets`, whose densities are weighted by polynomials.

    `before`, `after`: the cell that belongs to each bucket in `earlier` and `later`, NO_CELL for weight 1;
    those of `later` have ticks of the other sign.  `degree`: of the weights of each event, at most.
    """

    lower: Ticks
    upper: Ticks
    starts: Indexes
    lo: Ticks
    hi: Ticks
    density: Reals
    before: Indexes
    after: Indexes
    degree: Indexes
    earlier: Polynomials
    later: Polynomials


@dataclass(frozen=True)
class SeriesMasses:
    """What series leave to their events.

    Of n events m stand in series, at `place`, shape (n,), -1 for all others.  Event n + p is the one at place
    p with what is given of all before it; event n + m + p with what is given of all after it, n + 2 m + p
    with both.  `ratio`, shape (m,): the probability that an event follows as is given, where all before it
    do; `meeting`: that what is before an event and what is after it meet, where each holds by itself.
    """

    buckets: WeightedBuckets
    place: Indexes
    ratio: Reals
    meeting: Reals


@inner
def polynomial_at(polynomials, cell, tick):
    """The value of a cell's polynomial."""
    first, last = polynomials.offsets[cell], polynomials.offsets[cell + 1]
    x, n = float(tick - polynomials.start[cell]), float(polynomials.ticks[cell])
    total, basis = 0.0, 1.0
    for i in range(first, last):
        total += polynomials.coefficient[i] * basis
        k = float(i - first)
        if x <= k:
            break
        basis *= (x - k) / (n - k)
    return total


@inner
def is_weighted(buckets, event):
    """Whether an event has weights."""
    first = buckets.starts[event]
    return buckets.before[first] >= 0 or buckets.after[first] >= 0


@inner
def weight_at(buckets, event, tick):
    """What the polynomials of an event's bucket weigh a tick, which lies in one of them."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.lo[b] <= tick <= buckets.hi[b]:
            weight = 1.0
            if buckets.before[b] >= 0:
                weight *= polynomial_at(buckets.earlier, buckets.before[b], tick)
            if buckets.after[b] >= 0:
                weight *= polynomial_at(buckets.later, buckets.after[b], -tick)
            return weight
    return 0.0


def unweighted(buckets: Buckets) -> WeightedBuckets:
    """Masses all of whose weights are 1."""
    none = np.zeros(0, dtype=np.int64)
    cells = Polynomials(none, none.copy(), np.zeros(1, np.int64), np.zeros(0))
    no_cells = np.full(len(buckets.lo), NO_CELL)
    degree = np.zeros(len(buckets.lower), dtype=np.int64)
    return read_only(WeightedBuckets(*buckets, no_cells, no_cells.copy(), degree, cells, cells))


def read_only(buckets: WeightedBuckets) -> WeightedBuckets:
    """The same arrays, which may no more be written: one type for kernels, as in `Masses`."""
    for array in (*buckets[:-2], *buckets.earlier, *buckets.later):
        array.flags.writeable = False
    return buckets
