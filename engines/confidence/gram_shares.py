"""What the value at each node of a cell counts for values and sums at any other places of the cell.

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
    """The same for the sum over the ticks before each place."""
    for k in range(len(places)):
        polynomials[0, k] = places[k]
    _sum_polynomials(ticks, across, places, -2.0, polynomials)
    _combine(basis, len(across), len(places), polynomials, shares)


@inner
def shares_of_sums_to_end(ticks, across, basis, places, polynomials, shares):
    """The same for the sum over the ticks from each place on."""
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
