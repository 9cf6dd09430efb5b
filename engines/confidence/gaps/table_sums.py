"""Sums over all ticks of a chain, from the tables of its gaps; see `tables` for their forms and the names.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from numba import njit

from cepctl.engines.confidence.gaps.rival_products import INDEX


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _sum_of_two(since, until, earliest, first_lower, base, window, binding, mass, summed):
    """Sum over all ticks of a chain of two."""
    total = 0.0
    for u in range(since, until + 1):
        oldest = max(u - window + 1, earliest) if binding else earliest
        total += mass[1, u - base] * summed[oldest - first_lower, u - base]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _sum_of_three(
    since, until, begin, stop, middle, earliest, first_lower, base, window, binding, mass, summed, table
):  # fmt: skip
    """Sum over all ticks of a chain of three; reassociated as `_product` is."""
    total = 0.0
    for u in range(since, until + 1):
        oldest = max(u - window + 1, earliest) if binding else earliest
        i, j = INDEX(oldest - first_lower), INDEX(u - base)
        inside = 0.0
        first, end = max(begin, oldest + 1) - middle, min(stop, u) - middle
        if first < end:
            for k in range(INDEX(first), INDEX(end)):
                inside += summed[i, k] * table[j, k]
        total += mass[j] * inside
    return total


@njit(nogil=True, cache=True)
def _carry(own, lower, valid_lower, valid_upper, tables, slot, oldest, carried):
    """Fill carried[j, t], for all events but the first and last, with the sum over what comes before t."""
    begin, stop = valid_lower[1] - lower[own[1]], valid_upper[1] - lower[own[1]] + 1
    carried[1, begin:stop] = tables[0, slot[0], oldest - lower[own[0]], begin:stop]
    for g in range(1, len(own) - 2):
        following, until = valid_lower[g + 1] - lower[own[g + 1]], valid_upper[g + 1] - lower[own[g + 1]] + 1
        for y in range(following, until):
            carried[g + 1, y] = _product(carried, g, tables[g, slot[g]], y, begin, stop)
        begin, stop = following, until


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _product(left, i, right, j, begin, stop):
    """Sum of products of two rows between two places; reassociated, so that several are taken at once."""
    total = 0.0
    if begin < stop:
        for k in range(INDEX(begin), INDEX(stop)):
            total += left[i, k] * right[j, k]
    return total
