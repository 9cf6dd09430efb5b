"""The sets of events that have happened in a cell, and how a piece of it changes what is known of them.

Events at one tick have the mean over their orders: k events in one given order on the n ticks of a piece have
n^k / k!.  Where the question tells ticks apart, a piece is summed by its b distinct ticks, C(n, b), and the
j-th event of a tick counts 1/j.  All terms are positive: nothing cancels.

    name here      meaning
    digit          how many events of a kind that is alive have happened
    place          a state of the machine and a set: state * sets + set
    states         by place and by what keys end with
    gate           factors of an event beside those that the digits keep
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.orders.set_powers import divide_rates
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.order_laws.scaled_sets import times_two_to

_LEAST = -(1 << 40)


class Digits(NamedTuple):
    """The sets of a cell with n kinds alive: their `kind`, the `stride` of the digit of each, 0 for none.

    `rates`, shape (sets, n): factor of one more event of a kind, times how many of it are left.  `gates`,
    shape (A, n), by state of the machine.  `follow`, `landing`, shape (combinations, n): factor of a kind
    after what keys end with, and what they end with then; `alike`: that is the same whatever it was.
    `powers`, shape (sets,): by which power of two states are divided, as `set_powers` says.
    """

    cell: int
    kind: np.ndarray
    stride: np.ndarray
    rates: np.ndarray
    gates: np.ndarray
    follow: np.ndarray
    landing: np.ndarray
    alike: bool
    powers: np.ndarray


@inner
def no_digits(states, combinations):
    """Those of no cell: of every kind all events have happened, or none."""
    none = np.zeros(0, dtype=np.int64)
    return Digits(
        -1, none, none, np.ones((1, 0)), np.ones((states, 0)),
        np.ones((combinations, 0)), np.zeros((combinations, 0), dtype=np.int64), True,
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@inner
def digits_of(own, cells, ends, happened, cell):
    """The sets of a cell."""
    begin = cells.starts[cell]
    kind = cells.kind[begin : cells.starts[cell + 1]]
    count = len(kind)
    stride, sets = np.zeros(count, dtype=np.int64), 1
    for i in range(count):
        if own.own[kind[i]] < 0:
            stride[i] = sets
            sets *= own.members[kind[i]] + 1
    factors = cells.factors[cells.pairs[cell] : cells.pairs[cell + 1]].reshape((count, count))
    rates = _rates(own.members[kind], stride, sets, factors)
    gates = np.ones((len(happened), count))
    for a in range(len(happened)):
        for o in range(happened.shape[1]):
            if happened[a, o]:
                for j in range(count):
                    gates[a, j] *= cells.gates[o, kind[j]]
    follow, landing = _after(own, ends, kind)
    alike = bool((landing == landing[0]).all())
    powers = divide_rates(own.members[kind], stride, cells, cell, rates, follow, landing)
    return Digits(cell, kind, stride, rates, gates, follow, landing, alike, powers)


@inner
def _after(own, ends, kind):
    """The factor of each kind after what keys may end with, and what they end with then."""
    follow = np.ones((len(ends.close), len(kind)))
    landing = np.empty((len(ends.close), len(kind)), dtype=np.int64)
    for i in range(len(kind)):
        slot = own.slot[kind[i]]
        for c in range(len(ends.close)):
            landing[c, i] = c
            if slot >= 0:
                last = c // ends.stride[slot] % ends.size[slot]
                landing[c, i] = c + (ends.after[kind[i]] - last) * ends.stride[slot]
                follow[c, i] = ends.follows[kind[i], last]
    return follow, landing


@inner
def _rates(counts, stride, sets, factors):
    rates = np.ones((sets, len(counts)))
    for i in range(len(counts)):
        if stride[i] > 0:
            for d in range(stride[i], stride[i] * (counts[i] + 1)):
                for j in range(len(counts)):
                    rates[d, j] = rates[d - stride[i], j] * factors[i, j]
    for j in range(len(counts)):
        if stride[j] > 0:
            _count_left(rates, j, stride[j], counts[j])
    return rates


@inner
def _count_left(rates, j, stride, count):
    """Multiply the rates of a kind by how many of its events are left."""
    for begin in range(0, len(rates), stride * (count + 1)):
        for digit in range(count + 1):
            for d in range(begin + digit * stride, begin + (digit + 1) * stride):
                rates[d, j] *= count - digit


@inner
def carried(states, own, happened, before, after):
    """The states by the digits of another cell: kinds that are over have happened, new ones have not.

    And the exponent of the power of two by which they are divided.
    """
    sets, size = len(before.rates), len(after.rates)
    place, complete, over = np.zeros(sets, dtype=np.int64), np.zeros(sets, dtype=np.int64), 0
    for i in range(len(before.kind)):
        stride, count, later = before.stride[i], own.members[before.kind[i]], -1
        if stride == 0:
            continue
        for j in range(len(after.kind)):
            if after.kind[j] == before.kind[i]:
                later = after.stride[j]
        over += later < 0
        for digit in range(1, count + 1):
            for d in range(digit * stride, (digit + 1) * stride):
                place[d] = place[d - digit * stride] + digit * max(later, 0)
                complete[d] = complete[d - digit * stride] + (later < 0 and digit == count)
    powers = before.powers - after.powers[place]
    most = _largest_power(states, powers, complete == over)
    found = np.zeros((len(happened) * size, states.shape[1]))
    for a in range(len(happened)):
        if not _misses(own, happened[a], before, after):
            for d in range(sets):
                if complete[d] == over:
                    for c in range(states.shape[1]):
                        value = states[a * sets + d, c]
                        found[a * size + place[d], c] = times_two_to(value, powers[d] - most)
    return found, most


@inner
def _largest_power(states, powers, stays):
    """The largest exponent of a set that stays and has a state."""
    most, sets = _LEAST, len(powers)
    for x in range(len(states)):
        if stays[x % sets] and powers[x % sets] > most and (states[x] != 0.0).any():
            most = powers[x % sets]
    return int(most)


@inner
def _misses(own, happened, before, after):
    """Whether an event of a row is over that has not happened."""
    for i in before.kind:
        if own.own[i] >= 0 and not happened[own.own[i]]:
            over = True
            for j in after.kind:
                over = over and i != j
            if over:
                return True
    return False


@inner
def pass_by_count(states, digits, target, rests, mass):
    """A piece in which only the order counts: k events have 1/k! beside their masses."""
    rested = np.full_like(target, -1)
    for a in range(target.shape[0]):
        for i in range(target.shape[1]):
            if target[a, i] >= 0:
                rested[a, i] = rests[target[a, i]]
    total, layer, spare, before = states.copy(), np.empty_like(states), np.empty_like(states), states
    active, count = _busy(states)
    listed, stamp, placed = np.empty_like(active), np.zeros_like(active), 0
    while count > 0:
        placed += 1
        count = _one_more(before, active, count, digits, rested, mass, layer, listed, stamp, placed)
        for n in range(count):
            for c in range(states.shape[1]):
                layer[listed[n], c] /= placed
                total[listed[n], c] += layer[listed[n], c]
        active, listed = listed, active
        before, layer, spare = layer, spare, layer
    return total


@inner
def pass_by_ticks(states, digits, target, rests, mass, length):
    """A piece by its distinct ticks: b of n are C(n, b), here times n^b, which masses hold, over n^b."""
    sets, total, rested = len(digits.rates), states.copy(), states
    group, other = np.empty_like(states), np.empty_like(states)
    after, spare = np.empty_like(states), np.empty_like(states)
    begun, count = _busy(states)
    listed, coming = np.empty_like(begun), np.empty_like(begun)
    stamp, rest_stamp = np.zeros_like(begun), np.zeros_like(begun)
    mark, ticks = 0, 0
    while count > 0:
        share = (length - ticks) / (length * (ticks + 1.0))
        ticks += 1
        if share == 0.0:
            break
        before, some, held, ended = rested, count, 0, 0
        while some > 0:
            held += 1
            mark += 1
            some = _one_more(before, begun, some, digits, target, mass, group, listed, stamp, mark)
            each = length * held if held > 1 else 1.0 / share
            for n in range(some):
                for c in range(states.shape[1]):
                    group[listed[n], c] /= each
                rest = rests[listed[n] // sets]
                if rest >= 0:
                    place = rest * sets + listed[n] % sets
                    if rest_stamp[place] != ticks:
                        rest_stamp[place] = ticks
                        coming[ended] = place
                        ended += 1
                        for c in range(states.shape[1]):
                            after[place, c] = 0.0
                    for c in range(states.shape[1]):
                        after[place, c] += group[listed[n], c]
            begun, listed = listed, begun
            before, group, other = group, other, group
        for n in range(ended):
            for c in range(states.shape[1]):
                total[coming[n], c] += after[coming[n], c]
        begun, coming, count = coming, begun, ended
        rested, after, spare = after, spare, after
    return total


@inner
def _busy(states):
    """The places to which some order has led, at the front, and how many they are."""
    found, count = np.empty(len(states), dtype=np.int64), 0
    for x in range(len(states)):
        busy = False
        for c in range(states.shape[1]):
            busy = busy or states[x, c] != 0.0
        if busy:
            found[count] = x
            count += 1
    return found, count


@inner
def _one_more(states, active, count, digits, target, mass, later, listed, stamp, mark):
    """One event more in every possible way; how many places are `listed`.

    `mass`, `target`, shape (A, n): of one event more, and the state then.  `stamp` is `mark` where `later`
    has been begun.
    """
    sets, found, kinds = len(digits.rates), 0, mass.shape[1]
    places, weights, which = np.empty(kinds, np.int64), np.empty(kinds), np.empty(kinds, np.int64)
    taken = np.empty(kinds)
    for n in range(count):
        x = active[n]
        a = x // sets
        d, ways = x - a * sets, 0
        for i in range(kinds):
            weight = mass[a, i] * digits.rates[d, i]
            if weight != 0.0 and target[a, i] >= 0:
                place = target[a, i] * sets + d + digits.stride[i]
                places[ways], weights[ways], which[ways] = place, weight, i
                ways += 1
                if stamp[place] != mark:
                    stamp[place] = mark
                    listed[found] = place
                    found += 1
                    for c in range(states.shape[1]):
                        later[place, c] = 0.0
        taken[:] = 0.0
        for c in range(states.shape[1]):
            value = states[x, c]
            if value != 0.0 and digits.alike:
                for i in range(kinds):
                    taken[i] += value * digits.follow[c, i]
            elif value != 0.0:
                for way in range(ways):
                    i = which[way]
                    factor = weights[way] * digits.follow[c, i]
                    later[places[way], digits.landing[c, i]] += value * factor
        for way in range(ways if digits.alike else 0):
            i = which[way]
            later[places[way], digits.landing[0, i]] += taken[i] * weights[way]
    return found
