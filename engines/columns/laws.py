"""The law of each event, for kernels: buckets of even mass, and what bends them, in one type of arrays.

    even       the density of a bucket is the mass of each of its ticks
    weighted   a polynomial, or two, weigh the ticks of a bucket: what a series of ties leaves to an event
    rooms      such a polynomial in closed form: in how many ways others have room (`room_weight`)

A weight on n ticks from `start` on is kept by coefficients c_k of

    C(x, k) / C(n, k),    x = tick - start,

which lie between 0 and 1.  What comes before an event makes its ticks the more probable the later they are:
then all coefficients are positive, and nothing cancels.  What comes after it is the same with time reversed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals, Ticks

NO_CELL = -1


class Buckets(NamedTuple):
    """The arrays of `cepctl.engines.columns.masses.Masses` for a kernel: one argument, read by field."""

    lower: Ticks
    upper: Ticks
    starts: Indexes
    lo: Ticks
    hi: Ticks
    density: Reals


class Polynomials(NamedTuple):
    """Polynomials on cells of ticks.

    Cell i has `ticks[i]` ticks from `start[i]` on, and coefficient[offsets[i] : offsets[i + 1]].  Where
    `others[i]` is not negative it is the room of so many from `start[i]` on, scaled at `ticks[i]`.
    """

    start: Ticks
    ticks: Ticks
    others: Indexes
    offsets: Indexes
    coefficient: Reals


class Laws(NamedTuple):
    """`Buckets`, and what bends them; arrays of length 0 where nothing does.

    `degree`: of the polynomials of each event, at most.  `before`, `after`: the cell that belongs to each
    bucket in `earlier` and `later`, NO_CELL for weight 1; those of `later` have ticks of the other sign.
    """

    lower: Ticks
    upper: Ticks
    starts: Indexes
    lo: Ticks
    hi: Ticks
    density: Reals
    degree: Indexes
    before: Indexes
    after: Indexes
    earlier: Polynomials
    later: Polynomials


@inner
def degree_of(laws, event):
    """By how much an event's mass raises the degree of a sum over its ticks."""
    return laws.degree[event] if len(laws.degree) > 0 else 0


@inner
def is_weighted(laws, event):
    """Whether an event has weights."""
    if len(laws.before) == 0:
        return False
    first = laws.starts[event]
    return laws.before[first] >= 0 or laws.after[first] >= 0


@inner
def weight_at(laws, event, tick):
    """What the polynomials of an event's bucket weigh a tick, which lies in one of them."""
    for b in range(laws.starts[event], laws.starts[event + 1]):
        if laws.lo[b] <= tick <= laws.hi[b]:
            weight = 1.0
            if laws.before[b] >= 0:
                weight *= _polynomial_at(laws.earlier, laws.before[b], tick)
            if laws.after[b] >= 0:
                weight *= _polynomial_at(laws.later, laws.after[b], -tick)
            return weight
    return 0.0


@inner
def _polynomial_at(polynomials, cell, tick):
    """The value of a cell's polynomial."""
    others = polynomials.others[cell]
    if others >= 0:
        return room_weight(others, polynomials.ticks[cell], tick - polynomials.start[cell] - others)
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
def room_weight(others, typical, spare):
    """In how many ways `others` have room where so many ticks are to spare: C(spare + others, others).

    Scaled to be 1 where `typical` ticks are.

    >>> [float(room_weight(2, 3, spare)) for spare in (-1, 0, 3)]
    [0.0, 0.1, 1.0]
    """
    if spare < 0:
        return 0.0
    weight, x, n = 1.0, float(spare), float(typical)
    for k in range(1, others + 1):
        weight *= (x + k) / (n + k)
    return weight


def even_laws(buckets: Buckets) -> Laws:
    """Laws that nothing bends."""
    return Laws(*buckets, _NONE, _NONE, _NONE, _NO_CELLS, _NO_CELLS)


def weighted_laws(
    buckets: Buckets,
    degree: Indexes,
    before: Indexes,
    after: Indexes,
    earlier: Polynomials,
    later: Polynomials,
) -> Laws:
    """Laws that polynomials weigh."""
    return _read_only(Laws(*buckets, degree, before, after, earlier, later))


def _read_only(laws: Laws) -> Laws:
    """Arrays that may no more be written: one type for kernels, as in `Masses`."""
    for part in (laws[:9], laws.earlier, laws.later):
        for array in part:
            array.flags.writeable = False
    return laws


_NONE, _NO_REALS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float64)
_NO_CELLS = Polynomials(_NONE, _NONE, _NONE, _NONE, _NO_REALS)
_NONE.flags.writeable = _NO_REALS.flags.writeable = False
