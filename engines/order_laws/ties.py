"""How probable it is that an event of one class comes before one of another in the order, at the same tick.

With d steps from the first of both to the second, d + 1 events in a row are at one tick, which
`tied_ticks.ties_of` weighs.  What is left is a sum over the ways through those d steps.  They are followed
for all first events and all numbers at the begin at once: a row of them is carried from set to set.

    right     [class, number at the begin - least]: what the second event and what comes after it are worth
    carried   [place in the layer, class of the last step, number at the begin - least, first class]

Sets of one size are a layer: a way of d steps goes from one to the next, so that two of them are kept.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.kernels.kernel import inner
from cepctl.engines.order_laws.cells import next_set
from cepctl.engines.order_laws.tied_ticks import ties_of


@inner
def add_ties(cell, forward, least, backward, least_end, ticks, tied):
    """Add to `tied`, shape (k, k), how probable it is, of events of both classes together.

    Values are those of `passes`.
    """
    most = least_end + backward.shape[1] - 1 - least
    if most < 2:
        return
    weights = ties_of(ticks, most)
    depth = weights.shape[1] - 1
    if depth < 1:
        return
    firsts, digits = _firsts_of(cell, forward, least), digits_of(cell)
    right = np.empty((len(cell.kinds), forward.shape[1]))
    for s in range(len(cell.sizes)):
        numbers = min(forward.shape[1], cell.sizes[s] - least)
        if numbers > 0 and _fill_right(cell, s, least, backward, least_end, weights, 1, numbers, right):
            _add_next(cell, s, digits[s], firsts, right, numbers, tied)
    if depth > 1:
        _add_farther(cell, digits, firsts, least, backward, least_end, weights, depth, right, tied)


@inner
def _firsts_of(cell, forward, least):
    """What goes out of each set to an event of each class, by number at the begin, shape (s, k, e)."""
    found = np.zeros((len(cell.sizes), len(cell.kinds), forward.shape[1]))
    for s in range(len(found)):
        for k in range(cell.opens[s]):
            i = cell.open[s, k]
            for e in range(min(forward.shape[1], cell.sizes[s] - least + 1)):
                taken = 0.0
                for last in range(forward.shape[2]):
                    taken += forward[s, e, last] * cell.followed[i, last]
                found[s, i, e] = taken * cell.rates[s, i]
    return found


@inner
def _fill_right(cell, s, least, backward, least_end, weights, d, numbers, right):
    """Fill `right` for the second events that can happen after a set, d steps after the first ones."""
    some = False
    after = least_end - cell.sizes[s] - 1
    for k in range(cell.opens[s]):
        i = cell.open[s, k]
        for e in range(numbers):
            before = cell.sizes[s] - d - least - e
            total = 0.0
            for x in range(max(-after, 0), backward.shape[1]):
                total += weights[before, d, after + x] * backward[s + cell.strides[i], x, cell.landing[i]]
            right[i, e] = total * cell.rates[s, i]
            some = some or total != 0.0
    return some


@inner
def _add_next(cell, s, happened, firsts, right, numbers, tied):
    """Add the ways of one step: the set s is that between both events."""
    for a in range(len(cell.kinds)):
        if happened[a] > 0:
            own = firsts[s - cell.strides[a], a]
            for k in range(cell.opens[s]):
                b = cell.open[s, k]
                total = 0.0
                for e in range(numbers):
                    total += own[e] * right[b, e]
                tied[a, b] += total * cell.follow[cell.landing[a], b]


@inner
def _add_farther(cell, digits, firsts, least, backward, least_end, weights, depth, right, tied):
    """Add the ways of two steps or more, begun in one layer after the other."""
    begin, order, place, widest = layers_of(cell)
    end = least_end + backward.shape[1] - 1
    width, kinds = firsts.shape[2], len(cell.kinds)
    carried = np.zeros((2, widest, kinds, width * kinds))
    row = np.empty(width * kinds)
    for start in range(least + 2, end):
        for s in order[begin[start] : begin[start + 1]]:
            _carry_first(cell, s, digits[s], firsts, carried[0, place[s]])
        for d in range(2, min(depth, end - start + 1) + 1):
            size = start + d - 2
            own, following = carried[d % 2], carried[(d + 1) % 2]
            numbers = min(width, size - d - least + 1)
            for s in order[begin[size] : begin[size + 1]]:
                _fill_right(cell, s, least, backward, least_end, weights, d, numbers, right)
                goes_on = d < depth and size + 1 < end
                _step_on(cell, s, digits, own, right, numbers, goes_on, place, following, row, tied)


@inner
def _carry_first(cell, s, happened, firsts, found):
    """Fill what is carried to a set by a first event and the one right after it."""
    kinds = len(cell.kinds)
    found[:] = 0.0
    for c in range(kinds):
        if happened[c] == 0:
            continue
        middle = s - cell.strides[c]
        for a in range(kinds):
            if happened[a] - (a == c) > 0:
                factor = cell.follow[cell.landing[a], c] * cell.rates[middle, c]
                first = firsts[middle - cell.strides[a], a]
                for e in range(len(first)):
                    found[c, e * kinds + a] = first[e] * factor


@inner
def _step_on(cell, s, digits, own, right, numbers, goes_on, place, following, row, tied):
    """Add the ways that end with one more step out of a set; if others go on, carry them to the next."""
    kinds, at = len(cell.kinds), place[s]
    room = numbers * kinds
    for b in range(kinds):
        if digits[s, b] == cell.counts[b]:
            continue
        row[:room] = 0.0
        if cell.rates[s, b] != 0.0:
            for c in range(kinds):
                if digits[s, c] > 0:
                    factor = cell.follow[cell.landing[c], b]
                    for i in range(room):
                        row[i] += factor * own[at, c, i]
            for e in range(numbers):
                for a in range(kinds):
                    tied[a, b] += right[b, e] * row[e * kinds + a]
        if goes_on:
            rate, after = cell.rates[s, b], place[s + cell.strides[b]]
            for i in range(room):
                following[after, b, i] = rate * row[i]


@inner
def digits_of(cell):
    """How many events of each class have happened in each set, shape (s, k)."""
    found = np.zeros((len(cell.sizes), len(cell.kinds)), dtype=np.int64)
    for s in range(1, len(found)):
        found[s] = found[s - 1]
        next_set(found[s], cell.counts)
    return found


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
