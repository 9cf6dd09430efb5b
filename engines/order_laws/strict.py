"""How probable it is that an event of one class happens at an earlier tick than one of another, in a cell.

The later of both, of the class that is the goal, happens at a tick t + 1 of the cell; the other one has
happened by the end of t.  The sum over t is in the weights of `tied_ticks.rises_of`.  What is left is a sum
over the set at the end of t, and over the ways from there to the goal along which all events share its tick.
Those ways are followed backwards, one layer of sets (of one size) after the other, to all goals at once.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner
from cepctl.engines.order_laws.passes import add_by_happened
from cepctl.engines.order_laws.tied_ticks import rises_of


@inner
def add_rises(cell, forward, least, backward, least_end, scale, ticks, earlier):
    """Add to `earlier`, shape (k, k), how probably events of a class are at a tick before one of another.

    Values are those of `passes`; all are of events of a class together.
    """
    end = least_end + backward.shape[1] - 1
    most = end - least
    if most <= 0:
        return
    rises = rises_of(ticks, most)
    begin, order, place, widest = layers_of(cell)
    reached, reaches = _reached(forward)
    # By goal last: all goals are followed at once.
    ways = np.zeros((2, widest, len(cell.lasts), len(cell.kinds)))
    flow = np.zeros((len(cell.sizes), len(cell.kinds)))
    for e in range(forward.shape[1]):
        for size in range(least + e, end):
            first = order[begin[size] : begin[size + 1]]
            if not _has_any(forward, first, e):
                continue
            weights = rises[size - least - e]
            deepest = min(rises.shape[2] - 2, end - size)
            for j in range(deepest, 0, -1):
                layer = order[begin[size + j - 1] : begin[size + j]]
                _step_back(
                    cell, layer, reached, reaches, place, backward, weights, least_end - size, j,
                    j < deepest, ways[(j + 1) % 2], ways[j % 2],
                )  # fmt: skip
            for s in first:
                for last in reached[s, : reaches[s]]:
                    value = forward[s, e, last] * scale
                    for goal in range(len(cell.kinds)):
                        flow[s, goal] += value * ways[1, place[s], last, goal]
    for s in range(len(flow)):
        add_by_happened(cell, s, flow[s], earlier)


@inner
def _step_back(cell, layer, reached, reaches, place, backward, weights, coming, j, goes_on, following, own):
    """Ways from the sets of a layer to each goal, by place in the layer, last step and goal.

    At its begin at least `coming` events come.  The goal is the j-th step; or, if the way goes on, a later
    one, from the sets to which another step leads.
    """
    kinds = len(cell.kinds)
    values, total = np.empty(kinds), np.empty(kinds)
    for s in layer:
        values[:] = 0.0
        for k in range(cell.opens[s]):
            goal = cell.open[s, k]
            for x in range(max(1 - coming, 0), backward.shape[1]):
                values[goal] += (
                    weights[coming + x, j] * backward[s + cell.strides[goal], x, cell.landing[goal]]
                )
            values[goal] *= cell.rates[s, goal]
        for each in range(reaches[s]):
            last = reached[s, each]
            for goal in range(kinds):
                total[goal] = values[goal] * cell.follow[last, goal]
            for k in range(cell.opens[s] if goes_on else 0):
                i = cell.open[s, k]
                factor = cell.rates[s, i] * cell.follow[last, i]
                after, landing = place[s + cell.strides[i]], cell.landing[i]
                # Summed in an array of its own, so that the compiler sees that it is not the one read.
                for goal in range(kinds):
                    total[goal] += factor * following[after, landing, goal]
            for goal in range(kinds):
                own[place[s], last, goal] = total[goal]


@inner
def layers_of(cell):
    """Sets by how many events have happened in them.

    Where those of each number begin, the sets in that order, the place of each in its layer, and the most
    that a layer has.
    """
    begin = np.zeros(cell.sizes[-1] + 2, dtype=np.int64)
    order, place = np.empty_like(cell.sizes), np.empty_like(cell.sizes)
    for s in range(len(cell.sizes)):
        place[s] = begin[cell.sizes[s] + 1]
        begin[cell.sizes[s] + 1] += 1
    widest = begin.max()
    begin = np.cumsum(begin)
    for s in range(len(cell.sizes)):
        order[begin[cell.sizes[s]] + place[s]] = s
    return begin, order, place, widest


@inner
def _reached(forward):
    """Last steps with which one can be in each set: their places at the front, and how many they are."""
    reached = np.empty((forward.shape[0], forward.shape[2]), dtype=np.int64)
    reaches = np.zeros(forward.shape[0], dtype=np.int64)
    for s in range(forward.shape[0]):
        for last in range(forward.shape[2]):
            for e in range(forward.shape[1]):
                if forward[s, e, last] != 0.0:
                    reached[s, reaches[s]] = last
                    reaches[s] += 1
                    break
    return reached, reaches


@inner
def _has_any(forward, layer, e):
    for s in layer:
        for last in range(forward.shape[2]):
            if forward[s, e, last] != 0.0:
                return True
    return False
