"""Cells of time around a set of events and its two ends, and the few places that stand for the ticks of each.

Time is cut where some mass changes, so that what lies before a tick is linear within a cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.confidence.gauss_nodes import holds_polynomials, real_count, zeros_of_gram
from cepctl.engines.kernels.kernel import inner


class Cells(NamedTuple):
    """n cells of time, their masses, and the places that stand for all ticks of each.

    `cut`, shape (n + 1,): their first ticks, and the one after the last.  `each`, shape (members, n): the
    mass of a tick; `alive`, shape (n,): how many members have some.  `before`, `after`, shape (n,): the mass
    of a tick of the two ends.  `many`, shape (n,), `places`, `weights`, shape (n, most): of the ticks of the
    second end, counted from the first of the cell.
    """

    cut: Ticks
    each: Reals
    alive: Indexes
    before: Reals
    after: Reals
    many: Indexes
    places: Reals
    weights: Reals


@inner
def cells_between(buckets, before, after, members, low, high):
    """The cells from tick `low` to `high`, both included, with the masses of these events."""
    cut = _cuts(buckets, before, after, members, low, high)
    cells = len(cut) - 1
    each = np.zeros((len(members), cells))
    alive, many = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
    for k in range(len(members)):
        _spread(buckets, members[k], cut, each[k])
        for c in range(cells):
            alive[c] += each[k, c] > 0.0
    ends = np.zeros((2, cells))
    _spread(buckets, before, cut, ends[0])
    _spread(buckets, after, cut, ends[1])
    most = 1
    for c in range(cells):
        most = max(most, most_places(cut[c + 1] - cut[c], alive[c]))
    places, weights = np.empty((cells, most)), np.empty((cells, most))
    for c in range(cells):
        if ends[1, c] > 0.0:
            many[c] = place(cut[c + 1] - cut[c], alive[c], places[c], weights[c])
    return Cells(cut, each, alive, ends[0], ends[1], many, places, weights)


@inner
def most_places(ticks, degree):
    """How many places `place` may need for at most so many ticks."""
    count = real_count(degree)
    return min(ticks, max(2 * count, count * count // 3 + 1))


@inner
def place(ticks, degree, places, weights):
    """Fill places and weights that sum a polynomial of this degree over the first ticks; their number."""
    count = real_count(degree)
    if count == 1:
        places[0], weights[0] = 0.5 * (ticks - 1), ticks
        return 1
    if holds_polynomials(ticks, count):
        zeros_of_gram(float(ticks), count, places, weights)
        return count
    for i in range(ticks):
        places[i], weights[i] = i, 1.0
    return ticks


@inner
def _cuts(buckets, before, after, members, low, high):
    starts = buckets.starts
    room = 2 + 2 * (starts[before + 1] - starts[before] + starts[after + 1] - starts[after])
    for event in members:
        room += 2 * (starts[event + 1] - starts[event])
    points = np.empty(room, dtype=np.int64)
    points[0], points[1] = low, high + 1
    count = _add_cuts(buckets, before, low, high, points, 2)
    count = _add_cuts(buckets, after, low, high, points, count)
    for event in members:
        count = _add_cuts(buckets, event, low, high, points, count)
    return np.unique(points[:count])


@inner
def _add_cuts(buckets, event, low, high, points, count):
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        for point in (buckets.lo[b], buckets.hi[b] + 1):
            if low < point <= high:
                points[count] = point
                count += 1
    return count


@inner
def _spread(buckets, event, cut, each):
    """Fill the mass of a single tick in each cell."""
    bucket, stop = buckets.starts[event], buckets.starts[event + 1]
    for c in range(len(cut) - 1):
        while bucket < stop and buckets.hi[bucket] < cut[c]:
            bucket += 1
        if bucket < stop and buckets.lo[bucket] <= cut[c]:
            each[c] = buckets.density[bucket]
