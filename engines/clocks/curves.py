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
"""

from __future__ import annotations

from cepctl.engines.columns.laws import curve_at
from cepctl.engines.kernels.kernel import inner


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
    # From the smaller end: what is told from the greater one is lost where it is much smaller.
    if begin <= end:
        middle = begin + 0.5 * across * _step_at(curves, bucket, x, last)
    else:
        middle = end - 0.5 * across * _step_at(curves, bucket, x + across - 1.0, last)
    return 2, begin, middle, end


@inner
def mirrored_curve(curve):
    """The same degree and coefficients, told from the last tick."""
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
