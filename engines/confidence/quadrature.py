"""Exact summation of a polynomial over consecutive ticks from its values at a few of them.

A polynomial of degree below N over n ticks is summed by N whole ticks, spread like Chebyshev's points, and
weights that integrate the first N Gram polynomials exactly (those orthogonal over n equidistant points;
recurrence coefficient k^2 (n^2 - k^2) / (4 (4 k^2 - 1))). Whole ticks, not Gauss nodes, because what is
summed is itself a sum that has to be empty exactly when no tick is left. For few ticks each of them is a
node with weight 1.

A function that is a polynomial on a cell is kept by its values at such ticks; inside a cell they are
offsets from its start.

Time is cut into cells where masses change, so that all ticks of one have the same mass.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.tick_sums import distance, tick_count
from cepctl.engines.kernels.kernel import inner

CERTAIN = 4e-14
"""By how much a sum over few nodes may differ from that over all ticks, as a part of it."""
_LEAST_CERTAIN = 96
_NODES_OF_ROOT = 7.2
"""Times the root of a degree, so many nodes mostly do, as degrees from 96 to 1,400 show."""
_NOTHING = 1e-40


@inner
def node_count(ticks, degree):
    """How many ticks stand for `ticks` consecutive ones of a polynomial of at most this degree."""
    return ticks if takes_every_tick(ticks, degree) else degree + 1


@inner
def most_nodes(ticks, degree):
    """The largest `node_count` of at most this many ticks."""
    return min(ticks, max(degree + 2, (degree + 1) * (degree + 1) // 4))


@inner
def place_nodes(ticks, degree, nodes, weights):
    """Fill the offsets and summation weights of these nodes; returns their number."""
    if takes_every_tick(ticks, degree):
        for i in range(ticks):
            nodes[i] = i
            weights[i] = 1.0
        return ticks
    return summation_rule(ticks, degree, nodes, weights)


@inner
def place_certain_nodes(ticks, degree, nodes, weights):
    """Fill nodes and weights that sum a sum of positive products of so many factors; returns their number.

    Between breakpoints each factor is the number of ticks before, behind or between ends of the cell: what is
    summed is, with weights that are not negative, a sum of the probabilities that the record of some rank is
    at a tick, of `degree` + 1 records on the ticks.  A rule that sums each of these to 1 sums all such
    functions as exactly.  Of a high degree far fewer nodes do so than the degree has; which, is seen here.
    """
    count = degree + 1 if degree < _LEAST_CERTAIN else np.int64(_NODES_OF_ROOT * np.sqrt(degree))
    while count <= degree:
        if takes_every_tick(ticks, count - 1):
            return place_nodes(ticks, count - 1, nodes, weights)
        summation_rule(ticks, count - 1, nodes, weights)
        if _sum_records(ticks, degree, nodes, weights, count):
            return count
        count += count // 8
    return place_nodes(ticks, degree, nodes, weights)


@inner
def _sum_records(ticks, degree, nodes, weights, count):
    """Whether a rule sums the chances of the record of each rank to 1."""
    total, chance = np.zeros(degree + 1), np.empty(degree + 1)
    for k in range(count):
        _place_ranks(ticks, degree, nodes[k], chance)
        for a in range(degree + 1):
            total[a] += weights[k] * chance[a]
    return np.abs(total - 1.0).max() <= CERTAIN


@inner
def _place_ranks(ticks, degree, tick, chance):
    """How probable it is that the record of each rank is at a tick, of `degree` + 1 on so many ticks."""
    before, behind = float(tick), ticks - 1.0 - tick
    likeliest = np.int64(before * degree / (ticks - 1.0))
    likeliest = min(max(likeliest, np.int64(degree - behind)), tick)
    chance[:] = 0.0
    chance[likeliest] = total = term = 1.0
    for a in range(likeliest, degree):
        term *= (before - a) * (degree - a) / ((a + 1.0) * (behind - degree + a + 1.0))
        chance[a + 1] = term
        total += term
        if term < _NOTHING:
            break
    term = 1.0
    for a in range(likeliest, 0, -1):
        term *= a * (behind - degree + a) / ((before - a + 1.0) * (degree - a + 1.0))
        chance[a - 1] = term
        total += term
        if term < _NOTHING:
            break
    chance *= (degree + 1.0) / (ticks * total)


@inner
def place_few_nodes(ticks, degree, nodes, weights):
    """Place nodes without a system to be solved up to degree 3, and up to one more of these."""
    if degree > 3 or takes_every_tick(ticks, degree):
        return place_nodes(ticks, degree, nodes, weights)
    last, count = ticks - 1, float(ticks)
    nodes[0], nodes[1] = 0, last
    if degree <= 1:
        weights[0] = weights[1] = 0.5 * count
        return 2
    placed = 3
    if last % 2:
        # The last of an even number by itself: the others have one in their middle.
        nodes[3], weights[3] = last, 1.0
        last, count, placed = last - 1, count - 1.0, 4
    nodes[1], nodes[2] = last, last // 2
    weights[0] = weights[1] = count * (count + 1.0) / (6.0 * (count - 1.0))
    weights[2] = count - 2.0 * weights[0]
    return placed


@inner
def takes_every_tick(ticks, degree):
    """Whether so few ticks are summed one by one; else there is room for well-spread nodes."""
    return ticks <= max(degree + 2, (degree + 1) * (degree + 1) // 4)


@inner
def summation_rule(ticks, degree, nodes, weights):
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


@inner
def _solve_weights(ticks, count, nodes, weights):
    """Fill the weights; where the nodes are symmetric, even polynomials decide and half of them is solved."""
    n = float(ticks)
    symmetric = count % 2 == 0 or ticks % 2 == 1
    size, step = ((count + 1) // 2, 2) if symmetric else (count, 1)
    across = np.empty(count + 1)
    for j in range(count + 1):
        across[j] = np.sqrt(j * j * (n * n - j * j) / (4.0 * (4.0 * j * j - 1.0))) if j else 0.0
    inverse = 1.0 / across[1:]
    matrix = np.empty((size, size + 1))
    for k in range(size):
        x = float(nodes[k]) - 0.5 * (n - 1.0)
        twice = 2.0 if symmetric and 2 * k + 1 < count else 1.0
        before, value = 0.0, 1.0
        for j in range(count):
            if j % step == 0:
                matrix[j // step, k] = twice * value
            before, value = value, (x * value - across[j] * before) * inverse[j]
    matrix[:, size] = 0.0
    matrix[0, size] = n
    _solve_linear(matrix, weights)
    if symmetric:
        for k in range(size):
            weights[count - 1 - k] = weights[k]


@inner
def _solve_linear(matrix, solution):
    """Solve the system whose right side is the last column, by elimination in place."""
    size = len(matrix)
    for column in range(size):
        pivot = column
        for j in range(column + 1, size):
            if abs(matrix[j, column]) > abs(matrix[pivot, column]):
                pivot = j
        if pivot != column:
            for k in range(column, size + 1):
                swap = matrix[column, k]
                matrix[column, k] = matrix[pivot, k]
                matrix[pivot, k] = swap
        inverse = 1.0 / matrix[column, column]
        for j in range(column + 1, size):
            ratio = matrix[j, column] * inverse
            for k in range(column, size + 1):
                matrix[j, k] -= ratio * matrix[column, k]
    for j in range(size - 1, -1, -1):
        total = matrix[j, size]
        for k in range(j + 1, size):
            total -= matrix[j, k] * solution[k]
        solution[j] = total / matrix[j, j]


@inner
def cuts_within(buckets, events, low, high):
    """Where some event's mass changes between two ticks, and both ends of the time between them."""
    room = 2
    for event in events:
        room += 2 * (buckets.starts[event + 1] - buckets.starts[event])
    points = np.empty(room, dtype=np.int64)
    points[0], points[1] = low, high + 1
    count = 2
    for event in events:
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            for point in (buckets.lo[b], buckets.hi[b] + 1):
                if low < point <= high:
                    points[count] = point
                    count += 1
    return np.unique(points[:count])


@inner
def pieces_of(cut, first, last, window):
    """Begins of pieces from one tick to another, and the tick after them.

    A piece is in one cell, and so is the end of the window that begins there; `window` is 0 for none.
    """
    points = np.empty(2 * len(cut) + 2, dtype=np.int64)
    points[0], points[1] = first, last + 1
    count = 2
    for point in cut:
        if first < point <= last:
            points[count] = point
            count += 1
        if window > 0 and first < point - window + 1 <= last:
            points[count] = point - window + 1
            count += 1
    return np.unique(points[:count])


@inner
def fill_masses(buckets, event, cut, before, each):
    """Fill the mass before each cell, exactly 0 and 1 outside the interval, and that of a tick in it."""
    bucket, end = buckets.starts[event], buckets.starts[event + 1]
    total = 0.0
    for c in range(len(cut) - 1):
        while bucket < end and buckets.hi[bucket] < cut[c]:
            total += buckets.density[bucket] * tick_count(buckets.lo[bucket], buckets.hi[bucket])
            bucket += 1
        if bucket == end:
            before[c], each[c] = 1.0, 0.0
        elif buckets.lo[bucket] > cut[c]:
            before[c], each[c] = min(total, 1.0), 0.0
        else:
            inside = distance(buckets.lo[bucket], cut[c])
            before[c] = min(total + inside * buckets.density[bucket], 1.0)
            each[c] = buckets.density[bucket]
