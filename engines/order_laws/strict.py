"""How probable it is that an event of one class happens at an earlier tick than one of another, in a cell.

The later of both, of the class that is the goal, happens at a tick t + 1 of the cell; the other one has
happened by the end of t.  The sum over t is in the weights of `tied_ticks.rising`: what is left is a sum over
the set at the end of t, and over the ways from there to the goal along which all events share its tick.
Those ways are followed backwards, one layer of sets (of one size) after the other.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner
from cepctl.engines.order_laws.passes import add_by_happened
from cepctl.engines.order_laws.tied_ticks import mean_powers, most_at_once, rising


@inner
def add_rises(cell, forward, least, backward, least_end, scale, ticks, earlier):
    """Add to `earlier`, shape (k, k), how probably events of a class are at a tick before one of another.

    Values are those of `passes`; all are of events of a class together.
    """
    most = least_end + backward.shape[1] - 1 - least
    if most <= 0:
        return
    means, at_once = mean_powers(ticks, most), most_at_once(ticks, most)
    begin, order = layers_of(cell)
    ways = np.zeros((forward.shape[0], forward.shape[2]))
    flow = np.zeros((len(cell.sizes), len(cell.kinds)))
    for e in range(forward.shape[1]):
        for size in range(least + e, least_end + backward.shape[1] - 1):
            if not _has_any(forward, order[begin[size] : begin[size + 1]], e):
                continue
            weights = np.zeros((backward.shape[1], at_once + 2))
            for x in range(backward.shape[1]):
                coming = least_end + x - size
                if coming > 0:
                    weights[x] = rising(means, ticks, size - least - e, coming, at_once)
            deepest = min(at_once, least_end + backward.shape[1] - 1 - size)
            for goal in range(len(cell.kinds)):
                for j in range(deepest, 0, -1):
                    layer = order[begin[size + j - 1] : begin[size + j]]
                    _step_back(cell, layer, goal, backward, weights, j, j < deepest, ways)
                for s in order[begin[size] : begin[size + 1]]:
                    total = 0.0
                    for last in range(len(cell.lasts)):
                        total += forward[s, e, last] * ways[s, last]
                    flow[s, goal] += total * scale
    for s in range(len(flow)):
        add_by_happened(cell, s, flow[s], earlier)


@inner
def _step_back(cell, layer, goal, backward, weights, j, goes_on, ways):
    """Ways from the sets of a layer to the goal, which is the j-th step or, if `goes_on`, a later one."""
    for s in layer:
        ways[s] = 0.0
        if cell.digits[s, goal] == cell.counts[goal]:
            continue
        value = 0.0
        for x in range(backward.shape[1]):
            value += weights[x, j] * backward[s + cell.strides[goal], x, cell.landing[goal]]
        value *= cell.rates[s, goal]
        for last in range(len(cell.lasts)):
            ways[s, last] += value * cell.follow[last, goal]
        if not goes_on:
            continue
        for i in range(len(cell.kinds)):
            if cell.rates[s, i] != 0.0:
                value = ways[s + cell.strides[i], cell.landing[i]] * cell.rates[s, i]
                if value != 0.0:
                    for last in range(len(cell.lasts)):
                        ways[s, last] += value * cell.follow[last, i]


@inner
def layers_of(cell):
    """Sets by how many events have happened in them: where those of each number begin, and the sets."""
    begin = np.zeros(cell.sizes[-1] + 2, dtype=np.int64)
    for size in cell.sizes:
        begin[size + 1] += 1
    begin = np.cumsum(begin)
    order, at = np.empty(len(cell.sizes), dtype=np.int64), begin.copy()
    for s in range(len(cell.sizes)):
        order[at[cell.sizes[s]]] = s
        at[cell.sizes[s]] += 1
    return begin, order


@inner
def _has_any(forward, layer, e):
    for s in layer:
        for last in range(forward.shape[2]):
            if forward[s, e, last] != 0.0:
                return True
    return False
