"""Through the sets of one cell, forwards and backwards, and how often each step is taken on the way.

Of k events that happen in a cell of n ticks in one order the ticks are n^k / k! choices, each tie being
divided by the number of its orders.  A way through a cell adds one event at a time, so the p-th event in it
multiplies by n / p; the rates of `Cell` have the n.  How many events a set has beyond those with which the
cell began is p: forward values stand by that number (`least` is the smallest), backward values by the number
with which it ends.

    forward     [set, number at the begin - least, last step]
    backward    [set, number at the end - least, last step]
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner


@inner
def span_of(values, sets, sizes):
    """Smallest number of events of the sets that have a value, and how many there are up to the largest."""
    least, most = -1, -1
    for row in range(len(sets)):
        for last in range(values.shape[1]):
            if values[row, last] != 0.0:
                size = sizes[sets[row]]
                least = size if least < 0 else min(least, size)
                most = max(most, size)
    return max(least, 0), max(most, 0) - max(least, 0) + 1


@inner
def forward_of(cell, entry, least, width):
    """Forward values of a cell that begins with `entry`, by set and last step."""
    values = np.zeros((len(cell.sizes), width, len(cell.lasts)))
    for s in range(len(entry)):
        for last in range(entry.shape[1]):
            if entry[s, last] != 0.0:
                values[s, cell.sizes[s] - least, last] = entry[s, last]
    kinds = len(cell.kinds)
    taken = np.empty(kinds)
    for s in range(len(values)):
        for e in range(min(width, cell.sizes[s] - least + 1)):
            taken[:] = 0.0
            for last in range(len(cell.lasts)):
                value = values[s, e, last]
                if value != 0.0:
                    for i in range(kinds):
                        taken[i] += value * cell.follow[last, i]
            place = cell.sizes[s] - least - e + 1.0
            for i in cell.open[s, : cell.opens[s]]:
                values[s + cell.strides[i], e, cell.landing[i]] += taken[i] * cell.rates[s, i] / place
    return values


@inner
def backward_of(cell, left, least, width, after):
    """Backward values of a cell that ends in the sets `left` with the values `after`, by last step."""
    values = np.zeros((len(cell.sizes), width, len(cell.lasts)))
    for row in range(len(left)):
        for last in range(len(cell.lasts)):
            if after[row, last] != 0.0:
                values[left[row], cell.sizes[left[row]] - least, last] = after[row, last]
    for s in range(len(values) - 1, -1, -1):
        for x in range(width):
            coming = least + x - cell.sizes[s]
            if coming > 0:
                for i in cell.open[s, : cell.opens[s]]:
                    value = values[s + cell.strides[i], x, cell.landing[i]] * cell.rates[s, i] / coming
                    for last in range(len(cell.lasts)):
                        values[s, x, last] += value * cell.followed[i, last]
    return values


@inner
def summed(values, sets):
    """Values of some sets by last step, whatever the number."""
    found = np.zeros((len(sets), values.shape[2]))
    for row in range(len(sets)):
        for e in range(values.shape[1]):
            for last in range(values.shape[2]):
                found[row, last] += values[sets[row], e, last]
    return found


@inner
def shared_ways(most):
    """The weights p! r! / (p + r + 1)! for p + r < most: of a step with p before it and r after it."""
    found = np.zeros((most, most))
    for p in range(most):
        found[p, 0] = 1.0 / (p + 1.0)
        for r in range(1, most - p):
            found[p, r] = found[p, r - 1] * r / (p + r + 1.0)
    return found


@inner
def add_flows(cell, forward, least, backward, least_end, scale, following, in_order, happening):
    """Add how probable each step is in a cell.

    To `following`, shape (l, k), by last step; to `in_order`, shape (k, k), by events of a class that have
    happened before an event of another; to `happening`, shape (k,).  All are of events of a class together.
    """
    kinds = len(cell.kinds)
    ways = shared_ways(max(int(cell.sizes[-1]), 1))
    rest, flow = np.empty(kinds), np.empty(kinds)
    for s in range(len(forward)):
        flow[:] = 0.0
        for e in range(min(forward.shape[1], cell.sizes[s] - least + 1)):
            before = cell.sizes[s] - least - e
            rest[:] = 0.0
            for i in cell.open[s, : cell.opens[s]]:
                for x in range(max(cell.sizes[s] + 1 - least_end, 0), backward.shape[1]):
                    way = backward[s + cell.strides[i], x, cell.landing[i]]
                    rest[i] += ways[before, least_end + x - cell.sizes[s] - 1] * way
                rest[i] *= cell.rates[s, i] * scale
            for last in range(len(cell.lasts)):
                value = forward[s, e, last]
                if value != 0.0:
                    for i in range(kinds):
                        part = value * cell.follow[last, i] * rest[i]
                        following[last, i] += part
                        flow[i] += part
        for i in range(kinds):
            happening[i] += flow[i]
        add_by_happened(cell, s, flow, in_order)


@inner
def add_by_happened(cell, s, flow, found):
    """Add a flow out of a set to each event of a class in it."""
    for j in range(len(cell.kinds)):
        if cell.digits[s, j] > 0:
            share = cell.digits[s, j] / cell.counts[j]
            for i in range(len(flow)):
                found[j, i] += share * flow[i]
