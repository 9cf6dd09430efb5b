"""Through the sets of one cell, forwards and backwards, and how often each step is taken on the way.

Of k events that happen in a cell of n ticks in one order the ticks are n^k / k! choices, each tie being
divided by the number of its orders.  A way through a cell adds one event at a time, so the p-th event in it
multiplies by n / p; the rates of `Cell` have the n.  How many events a set has beyond those with which the
cell began is p: forward values stand by that number (`least` is the smallest), backward values by the number
with which it ends.

    forward     [set, number at the begin - least, last step]
    worth       by the same: what a unit of a forward value adds to the sum at the end of the cell
    backward    [set, number at the end - least, last step], of ways that are not divided on their way
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner

NEGLIGIBLE = 2.0**-400
"""A forward value so small adds nothing to those of its set, but what it is worth may leave the floats."""


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
    followed = cell.followed
    for s in range(len(values)):
        for e in range(min(width, cell.sizes[s] - least + 1)):
            share = 1.0 / (cell.sizes[s] - least - e + 1.0)
            for k in range(cell.opens[s]):
                i, taken = cell.open[s, k], 0.0
                for last in range(len(cell.lasts)):
                    taken += values[s, e, last] * followed[i, last]
                values[s + cell.strides[i], e, cell.landing[i]] += taken * (cell.rates[s, i] * share)
    return values


@inner
def worth_of(cell, forward, least, left, after, following, flows):
    """The worth of each forward value; the cell ends in the sets `left`, whose values are worth `after`.

    Adds what is taken on the way, in units of that sum: to `following`, shape (l, k), steps from a last step
    to a class but for their factor; to `flows`, shape (s, k), steps out of a set to events of a class.
    """
    worth = np.zeros_like(forward)
    for row in range(len(left)):
        for e in range(worth.shape[1]):
            for last in range(worth.shape[2]):
                worth[left[row], e, last] = after[row, last]
    follow = cell.follow
    gain, flow = np.empty(len(cell.kinds)), np.empty(len(cell.kinds))
    for s in range(len(worth) - 1, -1, -1):
        opens = cell.opens[s]
        for e in range(min(worth.shape[1], cell.sizes[s] - least + 1)):
            share = 1.0 / (cell.sizes[s] - least - e + 1.0)
            for k in range(opens):
                i = cell.open[s, k]
                gain[k] = worth[s + cell.strides[i], e, cell.landing[i]] * (cell.rates[s, i] * share)
                flow[k] = 0.0
            for last in range(worth.shape[2]):
                value, own = forward[s, e, last], worth[s, e, last]
                if value > NEGLIGIBLE:
                    for k in range(opens):
                        i = cell.open[s, k]
                        own += gain[k] * follow[last, i]
                        following[last, i] += value * gain[k]
                        flow[k] += value * follow[last, i]
                    worth[s, e, last] = own
            for k in range(opens):
                flows[s, cell.open[s, k]] += flow[k] * gain[k]
    return worth


@inner
def backward_of(cell, forward, left, least, width, after):
    """Backward values of a cell that ends in the sets `left` with the values `after`, by last step.

    Sets that are not reached have none.
    """
    values = np.zeros((len(cell.sizes), width, len(cell.lasts)))
    for row in range(len(left)):
        for last in range(len(cell.lasts)):
            if after[row, last] != 0.0:
                values[left[row], cell.sizes[left[row]] - least, last] = after[row, last]
    for s in range(len(values) - 1, -1, -1):
        if forward[s].max() <= NEGLIGIBLE:
            values[s] = 0.0
            continue
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
def add_by_happened(cell, flows, found):
    """Add flows out of sets to `found`, shape (k, k), by events of a class that have happened before.

    One class after the other is summed over, the one of the highest digit first; what is left in flows[0] is
    the flow to each class out of all sets.
    """
    for j in range(len(cell.kinds) - 1, -1, -1):
        stride = cell.strides[j]
        for digit in range(1, cell.counts[j] + 1):
            share = digit / cell.counts[j]
            for s in range(stride):
                for i in range(flows.shape[1]):
                    flow = flows[digit * stride + s, i]
                    found[j, i] += share * flow
                    flows[s, i] += flow
