"""Polynomials on a cell of ticks, kept so that products, sums and parts of them add what is positive alone.

On n = N + 1 ticks, at the offsets x = 0, 1, ... N, a polynomial of degree d is kept by d + 1 coefficients of

    b_i(x) = C(x, i) C(N - x, d - i) / C(N, d),

the probability that of d ticks drawn among the N others i come before x: Bernstein's polynomials for ticks.
What is positive has positive coefficients as a rule, and with these come, for d <= N,

    1                        all coefficients are 1
    x b_i                    = (i + 1) (N - d + i) / (d + 1) of the next degree's b_{i+1}, and
                               i (d + 1 - i) / (d + 1) of its b_i; for N - x the same mirrored
    sum of b_i below x       = n / (d + 1) times the sum of e_k for k > i, where e_k is as b_k of d + 1 ticks
                               drawn among all n: the (i + 1)-th of them is the one that was summed over
    e_k                      = (n - k) / n of b_k and (k + 1) / n of b_{k+1}

The cost depends on the degree alone.  A curve is such a polynomial of degree 2 at most, as the mass of a sum
of up to three uniform ticks has it between its cuts.

What the cells of a chain of curves hold of its events but the first, whole and in part, is kept so.
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

from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals


class Curves(NamedTuple):
    """The curve of each of some buckets: its degree, 2 at most, and its coefficients.

    `begin` and `end` are its values at the first and the last tick.  Of degree 1 it goes straight from one
    to the other, of degree 0 it has one value.
    """

    degree: Indexes
    begin: Reals
    middle: Reals
    end: Reals


@inner
def curve_at(curves, bucket, x, last):
    """The value at offset x of a bucket whose last offset is `last`."""
    degree, begin, end = curves.degree[bucket], curves.begin[bucket], curves.end[bucket]
    if degree == 0:
        return begin
    if degree == 1:
        return (begin * (last - x) + end * x) / last
    rest = last - x
    total = begin * rest * (rest - 1.0) + 2.0 * curves.middle[bucket] * x * rest + end * x * (x - 1.0)
    return total / (last * (last - 1.0))


@inner
def _step_at(curves, bucket, x, last):
    """By how much a curve of degree 2 is greater at x + 1 than at x."""
    middle = curves.middle[bucket]
    rise, more = middle - curves.begin[bucket], curves.end[bucket] - middle
    return 2.0 * (rise * (last - 1.0 - x) + more * x) / (last * (last - 1.0))


@inner
def part_of_curve(curves, bucket, x, ticks, last):
    """Degree and coefficients of a curve on `ticks` ticks from offset x on."""
    degree = curves.degree[bucket]
    if degree == 0 or ticks == last + 1.0:
        return degree, curves.begin[bucket], curves.middle[bucket], curves.end[bucket]
    across = ticks - 1.0
    begin, end = curve_at(curves, bucket, x, last), curve_at(curves, bucket, x + across, last)
    if across == 0.0:
        return 0, begin, begin, begin
    if degree == 1 or across == 1.0:
        return 1, begin, 0.5 * (begin + end), end
    # From the smaller end: what is derived from the greater one is lost where it is much smaller.
    if begin <= end:
        middle = begin + 0.5 * across * _step_at(curves, bucket, x, last)
    else:
        middle = end - 0.5 * across * _step_at(curves, bucket, x + across - 1.0, last)
    return 2, begin, middle, end


@inner
def mirrored_curve(curve):
    """Degree and coefficients, counted from the last tick."""
    degree, begin, middle, end = curve
    return degree, end, middle, begin


@inner
def value_at(given, degree, x, last, between):
    """The value of a polynomial at offset x, 0 to `last`; `between` is room for its coefficients.

    The last of the ticks drawn lies before x or after it, so that one degree less will do.
    """
    if degree == 0:
        return given[0]
    by = 1.0 / (last - degree + 1.0)
    for i in range(degree):
        between[i] = by * (given[i + 1] * (x - i) + given[i] * (last - x - (degree - 1.0 - i)))
    for d in range(degree - 1, 0, -1):
        by = 1.0 / (last - d + 1.0)
        for i in range(d):
            between[i] = by * (between[i + 1] * (x - i) + between[i] * (last - x - (d - 1.0 - i)))
    return between[0]


@inner
def times_curve(given, degree, last, curve, found, between):
    """Fill the product of a polynomial and a curve; returns its degree.

    `given` has this degree, on the offsets 0 to `last`; `between` is room for one more coefficient.
    """
    more, begin, middle, end = curve
    if more == 0:
        for i in range(degree + 1):
            found[i] = begin * given[i]
        return degree
    found[: degree + more + 1] = 0.0
    if more == 1:
        _add_times(given, degree, last, False, 0.0, end / last, found)
        _add_times(given, degree, last, True, 0.0, begin / last, found)
        return degree + 1
    pairs = last * (last - 1.0)
    between[: degree + 2] = 0.0
    _add_times(given, degree, last, False, 0.0, 1.0, between)
    _add_times(between, degree + 1, last, False, 1.0, end / pairs, found)
    _add_times(between, degree + 1, last, True, 0.0, 2.0 * middle / pairs, found)
    between[: degree + 2] = 0.0
    _add_times(given, degree, last, True, 0.0, 1.0, between)
    _add_times(between, degree + 1, last, True, 1.0, begin / pairs, found)
    return degree + 2


@inner
def _add_times(given, degree, last, mirrored, less, factor, found):
    """Add `factor` times (x - less) times a polynomial; `mirrored`: (last - x - less) times it."""
    by = factor / (degree + 1.0)
    for i in range(degree + 1):
        if mirrored:
            stays, moves = (degree + 1 - i) * (last - i - less), (degree - i - less) * (i + 1)
        else:
            stays, moves = (i - less) * (degree + 1 - i), (i + 1) * (last - degree + i - less)
        found[i] += by * stays * given[i]
        found[i + 1] += by * moves * given[i]


@inner
def sum_before(given, degree, ticks):
    """Turn a polynomial into that of its sums before each offset, one degree more; returns the whole sum."""
    total = before = 0.0
    for i in range(degree + 1):
        each = given[i]
        given[i] = (total * (ticks - i) + before * i) / (degree + 1.0)
        before = total
        total += each
    last = degree + 1
    given[last] = (total * (ticks - last) + before * last) / (degree + 1.0)
    return total * ticks / (degree + 1.0)


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
