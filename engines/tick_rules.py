"""Exact summation of a polynomial over consecutive ticks from its values at a few of them.

A polynomial of degree below N over n ticks is summed by N whole ticks, spread like Chebyshev's
points, and weights that integrate the first N Gram polynomials exactly (those orthogonal over n
equidistant points; recurrence coefficient k^2 (n^2 - k^2) / (4 (4 k^2 - 1))).  Whole ticks, not
Gauss nodes, because what is summed is itself a sum that has to be empty exactly when no tick is left.
For few ticks each of them is a node with weight 1.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def takes_every_tick(ticks, degree):  # type: ignore[no-untyped-def]
    """Whether so few ticks are summed one by one; else there is room for well-spread nodes."""
    return ticks <= max(degree + 2, (degree + 1) * (degree + 1) // 4)


@njit(nogil=True, cache=True)
def summation_rule(ticks, degree, nodes, weights):  # type: ignore[no-untyped-def]
    """Fill offsets 0 <= nodes < ticks and weights; returns their number N = degree + 1.

    Exact for polynomials of at most this degree: sum over t of p(t) = sum over k of
    weights[k] * p(nodes[k]).  `ticks` must exceed what `takes_every_tick` accepts.
    """
    count = degree + 1
    for k in range((count + 1) // 2):
        spread = 0.5 * (ticks - 1) * (1.0 - np.cos(np.pi * (k + 0.5) / count))
        offset = np.int64(np.floor(spread))
        if k > 0 and offset <= nodes[k - 1]:
            offset = nodes[k - 1] + 1
        nodes[k] = offset
        nodes[count - 1 - k] = ticks - 1 - offset
    if count % 2:
        nodes[count // 2] = (ticks - 1) // 2
    _solve_weights(ticks, count, nodes, weights)
    return count


@njit(nogil=True, cache=True)
def _solve_weights(ticks, count, nodes, weights):  # type: ignore[no-untyped-def]
    n = float(ticks)
    matrix = np.empty((count, count + 1))
    for k in range(count):
        x = float(nodes[k]) - 0.5 * (n - 1.0)
        before, value = 0.0, 1.0
        for j in range(count):
            matrix[j, k] = value
            here = np.sqrt(j * j * (n * n - j * j) / (4.0 * (4.0 * j * j - 1.0))) if j else 0.0
            m = j + 1.0
            ahead = np.sqrt(m * m * (n * n - m * m) / (4.0 * (4.0 * m * m - 1.0)))
            before, value = value, (x * value - here * before) / ahead
    matrix[:, count] = 0.0
    matrix[0, count] = n
    for column in range(count):
        pivot = column
        for j in range(column + 1, count):
            if abs(matrix[j, column]) > abs(matrix[pivot, column]):
                pivot = j
        if pivot != column:
            for k in range(column, count + 1):
                swap = matrix[column, k]
                matrix[column, k] = matrix[pivot, k]
                matrix[pivot, k] = swap
        for j in range(column + 1, count):
            ratio = matrix[j, column] / matrix[column, column]
            for k in range(column, count + 1):
                matrix[j, k] -= ratio * matrix[column, k]
    for j in range(count - 1, -1, -1):
        total = matrix[j, count]
        for k in range(j + 1, count):
            total -= matrix[j, k] * weights[k]
        weights[j] = total / matrix[j, j]
