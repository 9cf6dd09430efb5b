"""Sums over all ticks of a chain, from the tables of its gaps; see `tables` for their forms and the names."""

from __future__ import annotations

from cepctl.engines.confidence.gaps.rival_products import AT_ONCE, INDEX
from cepctl.engines.confidence.gaps.row_sums import ONE, THREE, TWO
from cepctl.engines.kernels.kernel import inner


@inner
def total_of(own, lower, valid_lower, valid_upper, mass, tables, slot, window, carried):
    """Sum over all ticks of the chain."""
    last, base = len(own) - 1, lower[own[-1]]
    summed, table = tables[0, slot[0]], tables[last - 1, slot[last - 1]]
    binding = window > 0 and valid_upper[last] - valid_lower[0] >= window
    since, until = valid_lower[last], valid_upper[last]
    until = min(until, valid_upper[0] + window - 1) if binding else until
    if last == 1:
        return _sum_of_two(since, until, valid_lower[0], lower[own[0]], base, window, binding, mass, summed)
    begin, stop = valid_lower[last - 1], valid_upper[last - 1] + 1
    middle = lower[own[last - 1]]
    if last == 2:
        return _sum_of_three(
            since, until, begin, stop, middle, valid_lower[0], lower[own[0]], base, window, binding, mass[2],
            summed, table,
        )  # fmt: skip
    total, oldest = 0.0, valid_lower[0]
    if not binding:
        _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried)
    for u in range(since, until + 1):
        if binding:
            oldest = max(u - window + 1, valid_lower[0])
            _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried)
        inside = _product(
            carried, last - 1, table, u - base, max(begin, oldest + 1) - middle, min(stop, u) - middle
        )
        total += mass[last, u - base] * inside
    return total


@inner
def _sum_of_two(since, until, earliest, first_lower, base, window, binding, mass, summed):
    """Sum over all ticks of a chain of two."""
    total = 0.0
    for u in range(since, until + 1):
        oldest = max(u - window + 1, earliest) if binding else earliest
        total += mass[1, u - base] * summed[oldest - first_lower, u - base]
    return total


@inner
def _sum_of_three(
    since, until, begin, stop, middle, earliest, first_lower, base, window, binding, mass, summed, table
):  # fmt: skip
    """Sum over all ticks of a chain of three."""
    total = 0.0
    for u in range(since, until + 1):
        oldest = max(u - window + 1, earliest) if binding else earliest
        first, end = max(begin, oldest + 1) - middle, min(stop, u) - middle
        total += mass[u - base] * _product(summed, oldest - first_lower, table, u - base, first, end)
    return total


@inner
def _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried):
    """Fill carried[j, t], for all events but the first and last, with the sum over what comes before t."""
    begin, stop = valid_lower[1] - lower[own[1]], valid_upper[1] - lower[own[1]] + 1
    for t in range(begin, stop):
        carried[1, t] = tables[0, slot[0], oldest - lower[own[0]], t]
    for g in range(1, len(own) - 2):
        following, until = valid_lower[g + 1] - lower[own[g + 1]], valid_upper[g + 1] - lower[own[g + 1]] + 1
        for y in range(following, until):
            carried[g + 1, y] = _product(carried, g, tables[g, slot[g]], y, begin, stop)
        begin, stop = following, until


@inner
def _product(left, i, right, j, begin, stop):
    """Sum of products of two rows between two places, in four sums: none waits for the one before it."""
    if begin >= stop:
        return 0.0
    whole = stop - (stop - begin) % AT_ONCE
    i, j = INDEX(i), INDEX(j)
    s0 = s1 = s2 = s3 = 0.0
    for k in range(INDEX(begin), INDEX(whole), INDEX(AT_ONCE)):
        s0 += left[i, k] * right[j, k]
        s1 += left[i, k + ONE] * right[j, k + ONE]
        s2 += left[i, k + TWO] * right[j, k + TWO]
        s3 += left[i, k + THREE] * right[j, k + THREE]
    for k in range(INDEX(whole), INDEX(stop)):
        s0 += left[i, k] * right[j, k]
    return (s0 + s1) + (s2 + s3)
