"""Sums over rows and of rows, some at a time.

Runs inside Spark workers: imports Numba only.
"""

from __future__ import annotations

from numba import njit

from cepctl.engines.confidence.gaps.rival_products import AT_ONCE, INDEX


@njit(nogil=True, cache=True)
def add_rows(target, rows, factors, width, since):
    """Add factors[i] times the i-th row of this width, from its place `since` on; some rows at a time."""
    size, i = len(factors), 0
    while i + AT_ONCE <= size:
        f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        at = i * width + since
        one, two, three, four = rows[at:], rows[at + width :], rows[at + 2 * width :], rows[at + 3 * width :]
        for k in range(INDEX(len(target))):
            target[k] += f0 * one[k] + f1 * two[k] + f2 * three[k] + f3 * four[k]
        i += AT_ONCE
    while i < size:
        f0, one = factors[i], rows[i * width + since :]
        for k in range(INDEX(len(target))):
            target[k] += f0 * one[k]
        i += 1


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def inner_product(one, other):
    """Sum of products; reassociated, so that several are taken at once."""
    total = 0.0
    for k in range(INDEX(len(one))):
        total += one[k] * other[k]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def total_of(row):
    """Sum of a row; reassociated as well."""
    total = 0.0
    for k in range(INDEX(len(row))):
        total += row[k]
    return total
