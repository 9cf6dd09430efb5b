"""Sums of polynomials over consecutive ticks from half as many values, at places between the ticks.

A sum over n ticks of a polynomial of degree below 2 N is that of N values with positive weights: those at
the zeros of the N-th Gram polynomial (orthogonal over n equidistant points; Gautschi, "Orthogonal
Polynomials", 2004, section 1.5.2), the counterpart of Gauss' rule for integrals.  As a polynomial in n the
sum also has a value for n that is not whole: what is summed inside a sum reaches up to a place between
two ticks.  The zeros and weights are then those of the same recurrence,

    p_0 = 1,  b_{j+1} p_{j+1}(z) = z p_j(z) - b_j p_{j-1}(z),  b_j^2 = j^2 (1 - j^2 / n^2) / (4 j^2 - 1)

with z from -1 to 1 across n ticks, which has them as long as n > N - 1.  Of fewer ticks the sum is taken
from its values S(0) = 0, S(1), ... S(N') at whole numbers of them, interpolated.

Only where the places lie inside a cell of many ticks (see `lies_inside`), and only where it is known from
the constraints that something is possible: a sum over part of a tick may have either sign.

What the value at each node of a cell counts for values and sums at any other places of the cell.

The nodes are the zeros of the N-th Gram polynomial over n ticks (see `gauss_nodes`), so that a polynomial f
of degree below N is a sum of the Gram polynomials p_j before it, each with the sum over the nodes

    c_j = sum over i of f(x_i) p_j(x_i) w_i / n

The sum of p_j over the ticks before x has a closed form, too.  By the difference equation of Gram's
polynomials (Nikiforov, Suslov and Uvarov, "Classical Orthogonal Polynomials of a Discrete Variable", 1991,
section 2.1) it is -x (n - x) (p_j(x) - p_j(x - 1)) / (j (j + 1)), and these differences are the polynomials
orthogonal with the weight x (n - x), which obey a recurrence of their own: with v = 2 x / n - 1

    q_0 = 0,  q_1 = sqrt(1/2) / b_1,  a_{j+1} q_{j+1} = v q_j - a_j q_{j-1},  a_j = b_j sqrt(j^2 - 1) / j
    sum over s < x of p_j(s) = -2 x (n - x) / n / sqrt(j (j + 1)) * q_j(v)            for j > 0

Nothing is taken at a place outside the cell, and near an end of the cell nothing cancels.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner

_STEPS = 30
"""Newton's steps at most; three or four are usual."""

_FEW, _MANY = 6, 24
"""Numbers of zeros up to which the first may lie within a tick of the end, and from which on far inside."""


@inner
def real_count(degree):
    """How many places a sum of a polynomial of at most this degree needs."""
    return degree // 2 + 1


@inner
def holds_polynomials(ticks, count):
    """Whether values at this number of zeros over so many ticks tell a polynomial also between ticks.

    Polynomials of higher degree than about twice the root of the ticks may be bounded at every tick, and huge
    between two (Coppersmith and Rivlin, SIAM J. Math. Anal. 23, 1992).
    """
    return 3 * ticks >= count * count and ticks > 2 * count


@inner
def lies_inside(ticks, count):
    """Whether sums of sums may be taken at this number of zeros over so many ticks.

    The inner ones then reach from an end of the ticks to a zero.  Of more ticks than zeros they have positive
    weights; of fewer, weights whose sizes add up to the more, the higher the degree and the fewer the ticks:
    as few as are accepted here change a whole sum by less than 1e-16 of it.
    """
    if count <= _FEW:
        return ticks >= max(count * count, 4)
    return (ticks if count > _MANY else 6 * ticks) >= count * count * count


@inner
def place_real(ticks, degree, places, weights):
    """Fill places and weights for a sum over the ticks 0, 1, ... `ticks` - 1, which need not be whole.

    Returns their number.  Those of few ticks are ticks from 0 on, also beyond the last.
    """
    count = real_count(degree)
    if ticks == np.floor(ticks) and ticks <= count:
        for i in range(int(ticks)):
            places[i], weights[i] = i, 1.0
        return max(int(ticks), 0)
    if ticks < count:
        _interpolated(ticks, degree, places, weights)
        return degree + 1
    zeros_of_gram(ticks, count, places, weights)
    return count


@inner
def place_real_to_end(ticks, degree, places, weights):
    """Places from the end: those of few ticks are ticks from the last one back."""
    count = place_real(ticks, degree, places, weights)
    for i in range(count):
        places[i] = ticks - 1.0 - places[i]
    return count


@inner
def zeros_of_gram(ticks, count, places, weights):
    """Fill the places and weights of so many zeros over so many ticks, both from the first on."""
    across, inverse = np.zeros(count), np.ones(count + 1)
    for j in range(1, count):
        across[j] = np.sqrt(j * j * (1.0 - (j / ticks) * (j / ticks)) / (4.0 * j * j - 1.0))
        inverse[j] = 1.0 / across[j]
    for k in range((count + 1) // 2):
        middle = 2 * k + 1 == count
        zero = 0.0 if middle else _zero(ticks, count, k, across, inverse)
        weight = ticks / _squares(zero, count, across, inverse)
        places[k] = 0.5 * (ticks * (1.0 - zero) - 1.0)
        places[count - 1 - k] = 0.5 * (ticks * (1.0 + zero) - 1.0)
        weights[k] = weights[count - 1 - k] = weight


@inner
def _zero(ticks, count, k, across, inverse):
    """The k-th greatest zero, from 0 on, by Newton's steps."""
    angle = np.pi * (k + 0.75) / (count + 0.5)
    zero = np.cos(angle) * (1.0 - (1.0 - 1.0 / count) / (8.0 * count * count))
    # Of few ticks for each zero, they lie too far from Legendre's for Newton's steps to begin there.
    if 3.0 * ticks < count * max(count, 9):
        zero = _bisected(ticks, count, k, across, inverse)
    for _ in range(_STEPS):
        before, value, slope_before, slope = 0.0, 1.0, 0.0, 0.0
        for j in range(count):
            after = (zero * value - across[j] * before) * inverse[j + 1]
            slope_after = (value + zero * slope - across[j] * slope_before) * inverse[j + 1]
            before, value, slope_before, slope = value, after, slope, slope_after
        step = value / slope
        zero -= step
        # The next would be about the square of this one.
        if abs(step) * count < 1e-10:
            break
    return zero


@inner
def _bisected(ticks, count, k, across, inverse):
    """The k-th greatest zero to a fortieth of a tick: changes of sign tell how many are greater."""
    low, high = 0.0, 1.0
    while (high - low) * 20.0 * ticks > 1.0:
        zero, greater = 0.5 * (low + high), 0
        before, value = 0.0, 1.0
        for j in range(count):
            after = (zero * value - across[j] * before) * inverse[j + 1]
            greater += (after < 0.0) != (value < 0.0)
            before, value = value, after
        if greater > k:
            low = zero
        else:
            high = zero
    return 0.5 * (low + high)


@inner
def _squares(zero, count, across, inverse):
    """The sum of the squares of p_0 ... p_{count - 1}."""
    before, value, total = 0.0, 1.0, 1.0
    for j in range(count - 1):
        after = (zero * value - across[j] * before) * inverse[j + 1]
        before, value = value, after
        total += value * value
    return total


@inner
def _interpolated(ticks, degree, places, weights):
    """Fill the ticks 0 ... degree, and how much the value at each counts for the sum over part of them.

    The sum is a polynomial of one more degree, given at 0 ... degree + 1: in barycentric form.
    """
    share, total = 1.0, 0.0
    for m in range(degree + 2):
        each = share / (ticks - m)
        total += each
        if m:
            weights[m - 1] = each
            places[m - 1] = m - 1
        share *= -float(degree + 1 - m) / (m + 1)
    for i in range(degree, -1, -1):
        weights[i] /= total
        if i < degree:
            weights[i] += weights[i + 1]


@inner
def expand(ticks, nodes, weights, across, basis):
    """Fill b_1, b_2, ... and for each polynomial and node p_j(x_i) w_i / n; both by j."""
    count = len(nodes)
    for j in range(1, count):
        across[j] = np.sqrt(j * j * (1.0 - (j / ticks) * (j / ticks)) / (4.0 * j * j - 1.0))
    for i in range(count):
        place, before, value = (2.0 * nodes[i] + 1.0) / ticks - 1.0, 0.0, 1.0
        for j in range(count):
            basis[j, i] = value * weights[i] / ticks
            if j + 1 < count:
                before, value = value, (place * value - across[j] * before) / across[j + 1]


@inner
def shares_of_values(ticks, across, basis, places, polynomials, shares):
    """Fill how much the value at each node, a row each, counts for that at each of some places.

    `polynomials`: working space, a row for each of them.
    """
    count = len(across)
    for k in range(len(places)):
        polynomials[0, k] = 1.0
    for j in range(1, count):
        inverse, last = 1.0 / across[j], across[j - 1]
        for k in range(len(places)):
            value = ((2.0 * places[k] + 1.0) / ticks - 1.0) * polynomials[j - 1, k]
            polynomials[j, k] = (value - (last * polynomials[j - 2, k] if j > 1 else 0.0)) * inverse
    _combine(basis, len(across), len(places), polynomials, shares)


@inner
def shares_of_sums(ticks, across, basis, places, polynomials, shares):
    """What each node counts in the sum over the ticks before each place."""
    for k in range(len(places)):
        polynomials[0, k] = places[k]
    _sum_polynomials(ticks, across, places, -2.0, polynomials)
    _combine(basis, len(across), len(places), polynomials, shares)


@inner
def shares_of_sums_to_end(ticks, across, basis, places, polynomials, shares):
    """What each node counts in the sum over the ticks from each place on."""
    for k in range(len(places)):
        polynomials[0, k] = ticks - places[k]
    _sum_polynomials(ticks, across, places, 2.0, polynomials)
    _combine(basis, len(across), len(places), polynomials, shares)


@inner
def _sum_polynomials(ticks, across, places, factor, polynomials):
    """Fill the sums of p_1, p_2, ... over the ticks before each place, times -factor / 2."""
    count = len(across)
    for j in range(1, count):
        # The rows hold q_j until all are known.
        below = across[j - 1] * np.sqrt((j - 1.0) * (j - 1.0) - 1.0) / (j - 1.0) if j > 2 else 0.0
        scale = 1.0 / (across[j] * np.sqrt(j * j - 1.0) / j) if j > 1 else np.sqrt(0.5) / across[1]
        for k in range(len(places)):
            if j == 1:
                polynomials[1, k] = scale
            elif j == 2:
                polynomials[2, k] = scale * (2.0 * places[k] / ticks - 1.0) * polynomials[1, k]
            else:
                value = (2.0 * places[k] / ticks - 1.0) * polynomials[j - 1, k]
                polynomials[j, k] = scale * (value - below * polynomials[j - 2, k])
    for j in range(1, count):
        scale = factor / ticks / np.sqrt(j * (j + 1.0))
        for k in range(len(places)):
            polynomials[j, k] *= scale * places[k] * (ticks - places[k])


@inner
def _combine(basis, count, places, polynomials, shares):
    for i in range(count):
        for k in range(places):
            shares[i, k] = basis[0, i] * polynomials[0, k]
        for j in range(1, count):
            each = basis[j, i]
            for k in range(places):
                shares[i, k] += each * polynomials[j, k]
