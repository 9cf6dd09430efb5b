"""Products over the members of groups, one for each pair of cells of the neighbours' ticks; compiled.

`cell_bounds` says what they bound.  Sets that are tried above a threshold are counted before one of them is
kept or measured: a set is a path in the tree of sets with one more member each.  The factors beside a row are
computed once, and a path holds its products alone, so that a trial takes no memory to speak of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Ticks


class CellGaps(NamedTuple):
    """Gaps that cells of the neighbours leave to a member: ticks, ends included, shape (n, cells).

    The widest gap is from `first` to `last`, the narrowest one from `surely_first` to `surely_last`.
    `together`: both ends are those of one neighbour, so that its cells come alone and not in pairs.
    """

    first: Ticks
    surely_first: Ticks
    last: Ticks
    surely_last: Ticks
    together: bool


@kernel
def share_of_cells(buckets, event, cells, shares):
    for i in range(len(event)):
        for c in range(shares.shape[1]):
            shares[i, c] = 0.0
            if cells[i, c] < cells[i, c + 1]:
                mass = mass_on(buckets, event[i], cells[i, c], cells[i, c + 1] - 1)
                shares[i, c] = min(mass, 1.0)


@kernel
def pair_cells(before, after, earlier, later, before_share, after_share, weights):
    """P(both neighbours in their cells), but 0 unless s - t <= earlier and t - s <= later there."""
    for i in range(len(weights)):
        for j in range(before_share.shape[1]):
            for k in range(after_share.shape[1]):
                possible = before[i, j] <= plus(after[i, k + 1] - 1, earlier)
                possible &= after[i, k] <= plus(before[i, j + 1] - 1, later)
                share = before_share[i, j] * after_share[i, k] if possible else 0.0
                weights[i, j * after_share.shape[1] + k] = share


@inner
def _times_slowly(buckets, first, last, event, together, outside, weights, found):
    others = 1 if together else len(last)
    for c in range(len(weights)):
        i, j = c // others, c if together else c % others
        share = min(mass_on(buckets, event, first[i], last[j]), 1.0) if first[i] <= last[j] else 0.0
        found[c] = weights[c] * (1.0 - share if outside else share)


@inner
def times(buckets, gaps, row, event, outside, weights, found):
    """`weights` times P(an event is in the widest gap of each pair of cells, or outside of the narrowest).

    `found` may be `weights` itself.
    """
    first = gaps.surely_first[row] if outside else gaps.first[row]
    last = gaps.surely_last[row] if outside else gaps.last[row]
    b = buckets.starts[event]
    lo, hi, density = buckets.lo[b], buckets.hi[b], buckets.density[b]
    if buckets.starts[event + 1] > b + 1 or hi - lo < 0 or gaps.together:
        _times_slowly(buckets, first, last, event, gaps.together, outside, weights, found)
        return
    c = 0
    for i in range(len(first)):
        begin = max(lo, first[i])
        for j in range(len(last)):
            room = begin <= last[j] and begin <= hi
            share = min(density * float(min(hi, last[j]) - begin + 1), 1.0) if room else 0.0
            found[c] = weights[c] * (1.0 - share if outside else share)
            c += 1


@kernel
def narrow(buckets, gaps, rows, offsets, members, outside, weights):
    for i in range(len(rows)):
        for at in range(offsets[i], offsets[i + 1]):
            times(buckets, gaps, rows[i], members[at], outside, weights[i], weights[i])


@kernel
def lengthen(buckets, gaps, rows, weights, offsets, members, whole, found):
    passed = np.empty(weights.shape[1])
    for i in range(len(rows)):
        for c in range(len(passed)):
            passed[c] = weights[i, c]
        for at in range(offsets[i], offsets[i + 1]):
            times(buckets, gaps, rows[i], members[at], False, passed, found[at])
            if whole:
                times(buckets, gaps, rows[i], members[at], True, passed, passed)


@kernel
def count_tries(buckets, gaps, rows, weights, offsets, members, window, least, allowed):
    """How many sets are tried beside each of some rows; ends after more than `allowed`.

    `buckets`, `gaps`: masses of all events, and gaps between the cells of the neighbours.  `rows`, `weights`:
    the rows, and what an empty set beside each carries along, shape (n, cells).  `offsets`, `members`: row i
    chooses from the members offsets[i] to offsets[i + 1] - 1, in this order.  `window`: members of a set can
    be less than so many ticks apart.  `least`: sets whose bound is below it are tried, and do not grow.
    `allowed`: how many may be tried.
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
