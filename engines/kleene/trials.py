"""How many sets are tried above a threshold of confidence: counted before one of them is kept or measured.

A set is a path in the tree of sets with one more member each; a member of the path multiplies its bound by a
factor for each pair of cells of the neighbours (see `cell_bounds`).  The factors beside a row are computed
once, and a path holds its products alone, so that a trial takes no memory to speak of.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kleene.cell_products import times


@kernel
def count_tries(buckets, gaps, rows, weights, offsets, members, window, least, allowed):
    """How many sets are tried beside each of some rows; ends after more than `allowed`.

    Parameters
    ----------
    buckets, gaps
        Masses of all events, and gaps between the cells of the neighbours.
    rows, weights
        The rows, and what an empty set beside each carries along, shape (n, cells).
    offsets, members
        Row i chooses from the members offsets[i] to offsets[i + 1] - 1, in this order.
    window
        Members of a set can be less than so many ticks apart.
    least
        Sets whose bound is below it are tried, and do not grow.
    allowed
        How many may be tried.
    """
    tries = 0
    for i in range(len(rows)):
        own = members[offsets[i] : offsets[i + 1]]
        factors = np.ones((len(own), weights.shape[1]))
        for k in range(len(own)):
            times(buckets, gaps, rows[i], own[k], False, factors[k], factors[k])
        tries += _tried(factors, weights[i], buckets.lower[own], buckets.upper[own], window, least, allowed)
        if tries > allowed:
            break
    return tries


@inner
def _tried(factors, started, lower, upper, window, least, allowed):
    count = len(factors)
    carried = np.empty((count + 1, len(started)))
    carried[0] = started
    at = np.zeros(count + 1, dtype=np.int64)
    latest, earliest = np.empty(count + 1, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    tries = depth = 0
    while depth >= 0 and tries <= allowed:
        member = at[depth]
        if member == count:
            depth -= 1
            continue
        at[depth] += 1
        tries += 1
        last, first = lower[member], upper[member]
        if depth:
            last, first = max(last, latest[depth]), min(first, earliest[depth])
        if last - first >= window:
            continue
        before, after, factor = carried[depth], carried[depth + 1], factors[member]
        if _multiplied(before, factor, after) >= least:
            depth += 1
            latest[depth], earliest[depth], at[depth] = last, first, member + 1
    return tries


@inner
def _multiplied(one, other, products):
    """Fill in the products of two rows; their sum, in four sums that are added up at the end."""
    size = len(one)
    whole = size - size % 4
    s0 = s1 = s2 = s3 = 0.0
    for k in range(0, whole, 4):
        for place in range(k, k + 4):
            products[place] = one[place] * other[place]
        s0 += products[k]
        s1 += products[k + 1]
        s2 += products[k + 2]
        s3 += products[k + 3]
    for k in range(whole, size):
        products[k] = one[k] * other[k]
        s0 += products[k]
    return (s0 + s1) + (s2 + s3)
