"""Sums over rows and of rows, some at a time."""

from __future__ import annotations

from cepctl.engines.confidence.gaps.rival_products import AT_ONCE, INDEX
from cepctl.engines.kernels.kernel import inner

ONE, TWO, THREE = INDEX(1), INDEX(2), INDEX(3)


@inner
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


@inner
def inner_product(one, other):
    """Sum of products, in four sums that are added up at the end: none waits for the one before it."""
    size = len(one)
    whole = size - size % AT_ONCE
    s0 = s1 = s2 = s3 = 0.0
    for k in range(INDEX(0), INDEX(whole), INDEX(AT_ONCE)):
        s0 += one[k] * other[k]
        s1 += one[k + ONE] * other[k + ONE]
        s2 += one[k + TWO] * other[k + TWO]
        s3 += one[k + THREE] * other[k + THREE]
    for k in range(INDEX(whole), INDEX(size)):
        s0 += one[k] * other[k]
    return (s0 + s1) + (s2 + s3)


@inner
def total_of(row):
    """Sum of a row, in four sums as well."""
    size = len(row)
    whole = size - size % AT_ONCE
    s0 = s1 = s2 = s3 = 0.0
    for k in range(INDEX(0), INDEX(whole), INDEX(AT_ONCE)):
        s0 += row[k]
        s1 += row[k + ONE]
        s2 += row[k + TWO]
        s3 += row[k + THREE]
    for k in range(INDEX(whole), INDEX(size)):
        s0 += row[k]
    return (s0 + s1) + (s2 + s3)
