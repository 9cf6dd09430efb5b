"""Cells of time, the few ticks that stand for all of a cell, and polynomials given at these ticks.

A function that is a polynomial on a cell is kept by its values at whole ticks that are spread like
Chebyshev's points (see `quadrature`), so that every number is that of a true assignment of ticks, or at
places between ticks (see `gauss_nodes`).  Between them it is interpolated in barycentric form (Berrut and
Trefethen, "Barycentric Lagrange interpolation", SIAM Review 46 (2004), section 4), which is stable for such
nodes at any degree; where a cell has few ticks each of them is a node and nothing is interpolated.

Ticks inside a cell are offsets from its start.  Runs inside Spark workers: imports Numba only.
"""

from __future__ import annotations

from numba import njit

from cepctl.engines.confidence.gauss_nodes import place_real, place_real_to_end
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick


@njit(nogil=True, cache=True)
def node_count(ticks, degree):
    """How many ticks stand for `ticks` consecutive ones of a polynomial of at most this degree."""
    return ticks if takes_every_tick(ticks, degree) else degree + 1


@njit(nogil=True, cache=True)
def most_nodes(ticks, degree):
    """The largest `node_count` of at most this many ticks."""
    return min(ticks, max(degree + 2, (degree + 1) * (degree + 1) // 4))


@njit(nogil=True, cache=True)
def place_nodes(ticks, degree, nodes, weights):
    """Fill the offsets and summation weights of these nodes; returns their number."""
    if takes_every_tick(ticks, degree):
        for i in range(ticks):
            nodes[i] = i
            weights[i] = 1.0
        return ticks
    return summation_rule(ticks, degree, nodes, weights)


@njit(nogil=True, cache=True)
def barycentric_weights(nodes, weights):
    """Weights of interpolation through nodes, up to a common factor; nodes over an interval of length 4."""
    scale = 4.0 / max(float(nodes[-1] - nodes[0]), 1.0)
    for i in range(len(nodes)):
        product = 1.0
        for j in range(len(nodes)):
            if j != i:
                product *= float(nodes[i] - nodes[j]) * scale
        weights[i] = 1.0 / product


@njit(nogil=True, cache=True)
def interpolate(nodes, barycentric, offset, shares):
    """Fill how much the value at each node counts for the value at an offset."""
    total = 0.0
    for i in range(len(nodes)):
        if nodes[i] == offset:
            shares[: len(nodes)] = 0.0
            shares[i] = 1.0
            return
        shares[i] = barycentric[i] / float(offset - nodes[i])
        total += shares[i]
    for i in range(len(nodes)):
        shares[i] /= total


@njit(nogil=True, cache=True)
def partial_sum_shares(nodes, barycentric, every, first, stop, places, weights, shares, total):
    """Fill how much the value at each node counts for the sum over the offsets from `first` to `stop` - 1.

    `first` is 0, or `stop` the end of the cell; the other need not be whole.  `every`: whether all ticks of
    the cell are nodes.  `places`, `weights`, `shares`: working space.
    """
    count = len(nodes)
    total[:count] = 0.0
    if every:
        total[int(first) : int(stop)] = 1.0
    if every or not count or first >= stop:
        return
    if first > 0.0:
        points = place_real_to_end(stop - first, count - 1, places, weights)
    else:
        points = place_real(stop - first, count - 1, places, weights)
    for p in range(points):
        interpolate(nodes, barycentric, first + places[p], shares)
        for i in range(count):
            total[i] += weights[p] * shares[i]
