"""One event more, and the sum over all numbers of events that happen in a stretch of time.

Events at one tick have the mean over their orders: k of them in one given order count 1 / k!.  A stretch of n
ticks is summed by its b distinct ticks, C(n, b).  Where nothing tells its ticks apart that is the same as one
tick with the mass of all: k events in one order have n^k / k!.  All terms are positive: nothing cancels.

    states     by place and by combination of what keys ended with (`sets.py`)
    layer      the places to which some order has led, and their states, without the others
    target     where the machine stands after an event of each kind, by its state; -1 for nowhere
    mass       of one event more, shape (A, n) as `target`; 0 where that is nowhere
    rests      where the machine stands when a tick has ended
"""

from __future__ import annotations

from math import frexp, ldexp

import numpy as np

from cepctl.engines.kernels.kernel import inner

_LEAST_EXPONENT = -1022
"""Numbers below two to it are divided by it: a larger factor would be no number."""


@inner
def layer_of(states):
    """The places to which some order has led, and their states."""
    places, count = np.empty(len(states), dtype=np.int64), 0
    for x in range(len(states)):
        if states[x].any():
            places[count] = x
            count += 1
    return places[:count], states[places[:count]]


@inner
def one_more(layer, sets, target, mass, row):
    """The layer after one event more, in every possible way.

    `row`, shape (places,): -1 everywhere, before and after.
    """
    places, states = layer
    size, kinds, count = len(sets.rates), len(sets.kind), 0
    room = min(len(places) * kinds, len(row))
    found, values = np.empty(room, dtype=np.int64), np.empty((room, states.shape[1]))
    for n in range(len(places)):
        a = places[n] // size
        d = places[n] - a * size
        for i in range(kinds):
            # Of factors without end each by itself: 0 times one is no number, and leads beyond all places.
            if mass[a, i] == 0.0 or sets.rates[d, i] == 0.0:
                continue
            weight = mass[a, i] * sets.rates[d, i]
            place = target[a, i] * size + d + sets.stride[i]
            if row[place] < 0:
                row[place], found[count], values[count] = count, place, 0.0
                count += 1
            later, total, onto = values[row[place]], 0.0, sets.landing[i, 0]
            for c in range(states.shape[1]):
                # Of one key all combinations lead to the same.
                if sets.landing[i, c] != onto:
                    later[onto] += total * weight
                    total, onto = 0.0, sets.landing[i, c]
                total += states[n, c] * sets.follow[i, c]
            later[onto] += total * weight
    for x in found[:count]:
        row[x] = -1
    return found[:count], values[:count]


@inner
def passed(states, sets, target, mass, rests, length):
    """The states after a stretch of so many ticks, each with the masses given.

    Two events on 4 ticks, of mass 1/4 at each, where no law speaks: at two ticks there are C(4, 2) = 6
    choices of 1/16 for each of two orders, at one 4 choices of 1/16, half for each order: 12/16 + 4/16 = 1.
    """
    size, total, begun, ticks = len(sets.rates), states.copy(), layer_of(states), 0
    row = np.full(len(states), -1, dtype=np.int64)
    while len(begun[0]) > 0 and ticks != length:
        after, group, held = np.zeros_like(states), begun, 0
        while len(group[0]) > 0:
            group = one_more(group, sets, target, mass, row)
            held += 1
            each = held if held > 1 else (ticks + 1.0) / (length - ticks)
            for n in range(len(group[0])):
                rest = rests[group[0][n] // size]
                for c in range(states.shape[1]):
                    group[1][n, c] /= each
                    if rest >= 0:
                        after[rest * size + group[0][n] % size, c] += group[1][n, c]
        total += after
        begun, ticks = layer_of(after), ticks + 1
    return total


@inner
def scale(values):
    """Divide values by a power of two, whose exponent is returned."""
    most = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            most = max(most, abs(values[i, j]))
    exponent = max(frexp(most)[1], _LEAST_EXPONENT)
    factor = ldexp(1.0, -exponent)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] *= factor
    return exponent
