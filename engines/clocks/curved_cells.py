"""What the cells of a chain of curves (curves.py) hold of its events but the first, whole and in part.

Time is cut where some curve begins or ends.  Sums over the first so many ticks of a cell, and over its last,
are a polynomial each, or in a cell of few ticks listed; both are found once for all that asks.

    name here           the ways in which these events lie in a cell, in order
    whole[c, k, j]      the events from number k up to j - 1
    until[c, k]         those from k to the last, at its first so many ticks
    left[c, k]          those from 1 to k - 1, at its last so many ticks
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.clocks.curves import (
    mirrored_curve,
    part_of_curve,
    sum_before,
    times_curve,
    value_at,
)
from cepctl.engines.columns.laws import curve_at
from cepctl.engines.kernels.kernel import inner

NEVER, LISTED = -2, -1
"""Instead of the degree of a sum: it is 0 everywhere, or its values are listed."""
_NEVER, _LISTED = NEVER, LISTED


class PartSums(NamedTuple):
    """Sums over the first so many ticks of each cell, or over the last: polynomials, or lists of values."""

    values: Reals
    degree: Indexes


class CellSums(NamedTuple):
    """Room for the sums of all cells."""

    whole: Reals
    until: PartSums
    left: PartSums
    given: Reals
    found: Reals
    between: Reals
    ways: Reals


@inner
def cell_sums(positions, cells, room):
    """Room for so many cells of a chain, and for polynomials or lists of so many numbers."""
    return CellSums(
        np.empty((cells, positions + 1, positions + 1)),
        _part_sums(positions, cells, room),
        _part_sums(positions, cells, room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty((positions + 2, positions + 2)),
    )


@inner
def _part_sums(positions, cells, room):
    return PartSums(np.empty((cells, positions + 1, room)), np.empty((cells, positions + 1), dtype=np.int64))


@inner
def fill_cells(buckets, curves, bucket, cuts, most_listed, sums):
    """Fill the sums of all cells; those of up to `most_listed` ticks are gone through tick by tick.

    `bucket[j, c]`: the bucket of event j in cell c, -1 for none.
    """
    positions = len(bucket)
    for c in range(len(cuts) - 1):
        sums.whole[c] = 0.0
        sums.until.degree[c], sums.left.degree[c] = _NEVER, _NEVER
        for k in range(positions + 1):
            sums.whole[c, k, k] = 1.0
        ticks = cuts[c + 1] - cuts[c]
        if ticks <= most_listed:
            _list_until(buckets, curves, bucket[:, c], cuts[c], ticks, sums, c)
            if bucket[0, c] >= 0:
                _list_left(buckets, curves, bucket[:, c], cuts[c], ticks, sums, c)
            continue
        for k in range(1, positions):
            _sum_until(buckets, curves, bucket[:, c], cuts[c], float(ticks), sums, c, k)
        if bucket[0, c] >= 0:
            for k in range(2, positions + 1):
                _sum_left(buckets, curves, bucket[:, c], cuts[c], float(ticks), sums, c, k)


@inner
def part_at(part, cell, k, ticks, of, between):
    """One sum of `until` or `left`, over so many ticks of a cell that has `of` ticks."""
    degree = part.degree[cell, k]
    if degree == _NEVER:
        return 0.0
    if degree == _LISTED:
        return part.values[cell, k, ticks]
    return value_at(part.values[cell, k], degree, float(ticks), of - 1.0, between)


@inner
def _curve_in(buckets, curves, bucket, start, ticks):
    """The curve of a bucket on a cell of it."""
    across = float(buckets.hi[bucket] - buckets.lo[bucket])
    return part_of_curve(curves, bucket, float(start - buckets.lo[bucket]), ticks, across)


@inner
def _sum_until(buckets, curves, bucket, start, ticks, sums, cell, first):
    """Sum the events from `first` on over the ticks before; all sums end with the last event."""
    given, found, degree = sums.given, sums.found, 0
    given[0] = 1.0
    for j in range(first, len(bucket)):
        if bucket[j] < 0:
            return
        curve = _curve_in(buckets, curves, bucket[j], start, ticks)
        degree = times_curve(given, degree, ticks - 1.0, curve, found, sums.between)
        sums.whole[cell, first, j + 1] = sum_before(found, degree, ticks)
        degree += 1
        given, found = found, given
    sums.until.degree[cell, first] = degree
    for k in range(degree + 1):
        sums.until.values[cell, first, k] = given[k]


@inner
def _sum_left(buckets, curves, bucket, start, ticks, sums, cell, stop):
    """Sum the events from `stop` - 1 down to 1 over the ticks after, as sums over those before, mirrored."""
    given, found, degree = sums.given, sums.found, 0
    given[0] = 1.0
    for j in range(stop - 1, 0, -1):
        if bucket[j] < 0:
            return
        curve = mirrored_curve(_curve_in(buckets, curves, bucket[j], start, ticks))
        degree = times_curve(given, degree, ticks - 1.0, curve, found, sums.between)
        sum_before(found, degree, ticks)
        degree += 1
        given, found = found, given
    sums.left.degree[cell, stop] = degree
    for k in range(degree + 1):
        sums.left.values[cell, stop, k] = given[k]


@inner
def _mass_at(buckets, curves, bucket, tick):
    if bucket < 0:
        return 0.0
    across = float(buckets.hi[bucket] - buckets.lo[bucket])
    return curve_at(curves, bucket, float(tick - buckets.lo[bucket]), across)


@inner
def _list_until(buckets, curves, bucket, start, ticks, sums, cell):
    whole, positions = sums.whole[cell], len(bucket)
    for x in range(ticks):
        for k in range(1, positions):
            sums.until.values[cell, k, x] = whole[k, positions]
        for j in range(positions - 1, 0, -1):
            mass = _mass_at(buckets, curves, bucket[j], start + x)
            if mass > 0.0:
                for k in range(1, j + 1):
                    whole[k, j + 1] += whole[k, j] * mass
    sums.until.degree[cell, 1:positions] = _LISTED


@inner
def _list_left(buckets, curves, bucket, start, ticks, sums, cell):
    """List the sums over last ticks; `ways[i, k]`: events i to k - 1 at the ticks gone through so far."""
    ways, positions = sums.ways, len(bucket)
    ways[:] = 0.0
    for k in range(positions + 1):
        ways[k, k] = 1.0
    for x in range(ticks):
        for k in range(2, positions + 1):
            sums.left.values[cell, k, x] = ways[1, k]
        for i in range(1, positions):
            mass = _mass_at(buckets, curves, bucket[i], start + ticks - 1 - x)
            if mass > 0.0:
                for k in range(i + 1, positions + 1):
                    ways[i, k] += mass * ways[i + 1, k]
    sums.left.degree[cell, 2 : positions + 1] = _LISTED
