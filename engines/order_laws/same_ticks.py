"""How probable it is that an event of one kind comes before one of another in the order, at the same tick.

The ticks of k events in one order in a cell of n ticks are those of k independent uniform ones, sorted.  With
t ticks of n before a tick, x = t / n and y = (n - 1 - t) / n, those of p events before it and q after it are
where they should be with x^p y^q, a polynomial in t, for which few ticks stand.  So d + 1 events in a row are
at one tick with a weight that depends on how many come before and after them, and on nothing else.

What is left is a sum over the ways of d steps from the first of both events to the second.  They are followed
for all first events and all numbers at the begin at once: a row of them is carried from set to set.

    right     [number at the begin - least]: what the second event and what comes after it are worth
    carried   [place in the layer, kind of the last step, number at the begin - least, first kind]

Sets of one size are a layer: a way of d steps goes from one to the next, so that two of them are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.quadrature import node_count, place_nodes
from cepctl.engines.kernels.kernel import inner

_NEGLIGIBLE = 1e-15
"""Events at one tick are left out from a number on that is less probable than this: no sum shows it."""


@inner
def mean_powers(ticks, most):
    """The mean over t of x^p y^q for p + q <= most, shape (most + 1, most + 1).

    Of 4 ticks, that of x is (0 + 1 + 2 + 3) / 4^2 = 3/8, and so is that of y.
    """
    found, count = np.zeros((most + 1, most + 1)), node_count(ticks, most)
    nodes, weights = np.empty(count, dtype=np.int64), np.empty(count)
    place_nodes(ticks, most, nodes, weights)
    for node in range(count):
        x, y = nodes[node] / ticks, (ticks - 1 - nodes[node]) / ticks
        own = weights[node] / ticks
        for p in range(most + 1):
            value = own
            for q in range(most + 1 - p):
                found[p, q] += value
                value *= y
            own *= x
    return found


@inner
def most_at_once(ticks, most):
    """How many of `most` events can be at one tick of a cell with a probability that counts.

    Of 16 events of a day of 86,400 seconds four: any five are at one second with less than 1e-16.
    """
    chance = float(most)
    for size in range(1, most):
        # of any size + 1 events, whichever tick the first of them has
        chance *= (most - size) / ((size + 1.0) * ticks)
        if chance < _NEGLIGIBLE:
            return size
    return max(most, 1)


@inner
def one_tick_weights(ticks, most):
    """Weights of ways: d + 1 events in a row, and whichever others, are at one tick.

    By how many are before and how many come after them, `most` together, and by d from 1 on; for forward and
    backward values on both sides of the d + 1 events.  Two events of 4 ticks are at one with 1/4, and each
    order of theirs has half of that: found[0, 1, 0] = 1/8.
    """
    at_once = min(most_at_once(ticks, most), most)
    found = np.zeros((most, at_once, most))
    if at_once < 2:
        return found
    means = mean_powers(ticks, most - 2)
    share = np.ones(at_once + 1)
    for size in range(2, at_once + 1):
        share[size] = share[size - 1] / (size * ticks)
    # Of exactly so many at the tick first; then of more to the right, then of more to the left.
    for size in range(at_once, 1, -1):
        for before in range(most - size + 1):
            for after in range(most - size - before + 1):
                value = means[before, after] * share[size]
                if after > 0 and size < at_once:
                    value += after * found[before, size, after - 1]
                found[before, size - 1, after] = value
    for size in range(at_once - 1, 1, -1):
        for before in range(1, most - size + 1):
            for after in range(most - size - before + 1):
                found[before, size - 1, after] += before * found[before - 1, size, after]
    return found


class _Layers(NamedTuple):
    """Sets by how many events have happened in them: `order`, those of a size from `begin` of it on.

    `place`: of each in its layer; `widest`: the most that a layer has.
    """

    begin: np.ndarray
    order: np.ndarray
    place: np.ndarray
    widest: int


@inner
def add_same_ticks(through, backward, least_end, ticks, same):
    """Add to `same`, shape (k, k), how probable it is, of events of both kinds together, times Z.

    For forward and backward values see `key_passes.py`.  Of a and b on 4 ticks, each order with half of the
    weight, the forward value before both and the backward value after them are 1, so are both rates: the
    weight 1/8 of two at one tick is what is added for a before b, and for b before a.
    """
    most = least_end + backward.shape[1] - 1 - through.least
    weights = one_tick_weights(ticks, max(most, 0))
    depth = weights.shape[1] - 1
    if depth < 1:
        return
    firsts, layers = _firsts_of(through), _layers_of(through.sizes)
    width, kinds = through.forward.shape[1], len(through.stride)
    carried = np.zeros((2, layers.widest if depth > 1 else 1, kinds, width * kinds))
    for start in range(through.least + 1, through.least + most):
        numbers = min(width, start - through.least)
        row, right = np.empty(numbers * kinds), np.empty(numbers)
        for d in range(1, min(depth, through.least + most - start) + 1):
            size, own_weights = start + d - 1, weights[:, d]
            for s in layers.order[layers.begin[size] : layers.begin[size + 1]]:
                own = carried[d % 2, layers.place[s] if d > 1 else 0]
                for b in range(kinds):
                    if through.digits[s, b] == through.digits[-1, b]:
                        continue
                    if d == 1:
                        _begin(through, firsts, s, b, row)
                    else:
                        _go_on(through, own, s, b, row)
                    _fill_right(through, backward, least_end, own_weights, size - d, s, b, right)
                    for e in range(numbers):
                        for a in range(kinds):
                            same[a, b] += right[e] * row[e * kinds + a]
                    if d < depth and size + 1 < through.least + most:
                        place = layers.place[s + through.stride[b]]
                        for i in range(len(row)):
                            carried[(d + 1) % 2, place, b, i] = through.rates[s, b] * row[i]


@inner
def _firsts_of(through):
    """What goes out of each set to an event of each kind, by number at the begin, shape (s, k, e)."""
    width = through.forward.shape[1]
    found = np.zeros((len(through.sizes), len(through.stride), width))
    for s in range(len(found)):
        for i in range(len(through.stride)):
            for e in range(width if through.rates[s, i] != 0.0 else 0):
                for c in range(through.follow.shape[1]):
                    found[s, i, e] += through.forward[s, e, c] * through.follow[i, c]
                found[s, i, e] *= through.rates[s, i]
    return found


@inner
def _begin(through, firsts, s, b, row):
    """Fill the row of the ways from a first event right before a set to an event of kind b after it."""
    kinds = len(through.stride)
    for a in range(kinds):
        before, factor = s - through.stride[a], through.follow[b, through.landing[a]]
        for e in range(len(row) // kinds):
            row[e * kinds + a] = firsts[before, a, e] * factor if through.digits[s, a] > 0 else 0.0


@inner
def _go_on(through, carried, s, b, row):
    """Fill the row of the ways that are carried to a set, to an event of kind b after it."""
    row[:] = 0.0
    for c in range(len(through.stride)):
        factor = through.follow[b, through.landing[c]]
        for i in range(len(row) if through.digits[s, c] > 0 else 0):
            row[i] += factor * carried[c, i]


@inner
def _fill_right(through, backward, least_end, weights, size, s, b, right):
    """Fill `right` for an event of kind b after a set; `size`: of the sets before first events."""
    after = least_end - through.sizes[s] - 1
    for e in range(len(right)):
        right[e] = 0.0
        for x in range(max(-after, 0), backward.shape[1] if through.rates[s, b] != 0.0 else 0):
            later = backward[s + through.stride[b], x, through.landing[b]]
            right[e] += weights[size - through.least - e, after + x] * later
        right[e] *= through.rates[s, b]


@inner
def _layers_of(sizes):
    """Sets by how many events have happened in them."""
    begin, order = np.zeros(sizes[-1] + 2, dtype=np.int64), np.empty_like(sizes)
    place = np.empty_like(sizes)
    for s in range(len(sizes)):
        place[s] = begin[sizes[s] + 1]
        begin[sizes[s] + 1] += 1
    widest = begin.max()
    begin = np.cumsum(begin)
    for s in range(len(sizes)):
        order[begin[sizes[s]] + place[s]] = s
    return _Layers(begin, order, place, widest)
