"""One pass over time that sums the weights of all orders of some events by which a question is answered yes.

Time is cut into pieces in which every event has one mass per tick.  What is kept between two pieces says
which of the events alive have happened, which step came last in each key, and how far the question is
(`questions.py` makes a machine of it).  Events at one tick have the mean over their orders: k events in one
given order on the n ticks of a piece have n^k / k!.  Where the question tells ticks apart, a piece is summed
by its b distinct ticks, C(n, b), and the j-th event of a tick counts 1/j.

All terms are positive: nothing cancels.  Sums are scaled by powers of two, so that no product of factors
leaves the floats.

    name here      meaning
    kind           events of one step and mass that the question does not tell apart, `counts` of them
    digit          how many events of a kind that is alive have happened
    gate           factors of an event beside those that the machine keeps
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.kernels.kernel import inner, kernel


class Kinds(NamedTuple):
    """K kinds over P pieces.

    `counts`, `first`, `last`, shape (K,): events, first and last piece alive.  `kept`: whether the machine
    knows if it has happened; then it is one event.  `key`, shape (K,): number of its key, -1 for none;
    `after`: what its key ends with once it has happened.  `follows`, shape (K, S): factor after each of what
    its key may end with.  `pairs`, shape (K, K): factor of the second after the first.  `letter`,
    shape (K, P): what the machine reads, -1 for nothing.
    """

    counts: Indexes
    first: Indexes
    last: Indexes
    kept: Flags
    key: Indexes
    after: Indexes
    follows: Reals
    pairs: Reals
    letter: Indexes


class Machine(NamedTuple):
    """Where a question stands.

    `moves`, shape (A, letters): the next state, -1 where the answer is no.  `rests`, shape (A,): the state
    after the end of a tick, -1 as well.  `gates`, shape (A, K): factors of each kind beside those that the
    state says have happened.  `accepted`, shape (A,): where the answer is yes.  State 0 is the first.
    """

    moves: Indexes
    rests: Indexes
    gates: Reals
    accepted: Flags


class Keys(NamedTuple):
    """What keys end with: `size` of each, `stride` in their combinations, `begin` the first of these.

    `close`, shape (combinations,): the factor of what follows all of the events.
    """

    size: Indexes
    stride: Indexes
    begin: int
    close: Reals


class _Piece(NamedTuple):
    """The digits of a piece: numbers of kinds, their strides, factors of the digits that have happened."""

    alive: Indexes
    stride: Indexes
    radix: Indexes
    factors: Reals


@kernel
def sweep(kinds, machine, keys, ticked, lengths, masses, found, exponents):
    """Fill `found` and `exponents`: the sum for each of n ways to fill the pieces is found 2^exponent.

    `ticked`, shape (P,): whether ticks are told apart.  `lengths`, shape (n, P), in ticks, and `masses`,
    shape (n, K, P), of an event of each kind in each piece.
    """
    for i in range(len(lengths)):
        found[i], exponents[i] = _swept(kinds, machine, keys, ticked, lengths[i], masses[i])


@inner
def _swept(kinds, machine, keys, ticked, lengths, masses):
    combinations = len(keys.close)
    states = np.zeros((len(machine.rests), 1, combinations))
    states[0, 0, keys.begin] = 1.0
    none = np.zeros(0, dtype=np.int64)
    digits = _Piece(none, none, none, np.ones((1, len(kinds.counts))))
    exponent = 0
    for p in range(len(lengths)):
        later = _digits_of(kinds, p)
        states = _carried(states, digits, later, kinds.counts)
        digits = later
        if ticked[p]:
            states = _by_ticks(states, kinds, machine, keys, digits, p, lengths[p], masses)
        else:
            states = _by_count(states, kinds, machine, keys, digits, p, masses)
        most = states.max()
        if most == 0.0:
            return 0.0, 0
        shift = int(np.floor(np.log2(most)))
        states = states * 2.0 ** (-shift)
        exponent += shift
    none_left = _Piece(none, none, none, digits.factors[:1])
    states = _carried(states, digits, none_left, kinds.counts)
    total = 0.0
    for a in range(len(machine.rests)):
        if machine.accepted[a]:
            for c in range(combinations):
                total += states[a, 0, c] * keys.close[c]
    return total, exponent


@inner
def _digits_of(kinds, p):
    """Which kinds have digits in a piece, and the factor of each kind after what has happened of them."""
    number = 0
    for k in range(len(kinds.counts)):
        number += not kinds.kept[k] and kinds.first[k] <= p <= kinds.last[k]
    alive, stride, radix = (
        np.empty(number, dtype=np.int64),
        np.empty(number, dtype=np.int64),
        np.empty(number, dtype=np.int64),
    )
    size, place = 1, 0
    for k in range(len(kinds.counts)):
        if not kinds.kept[k] and kinds.first[k] <= p <= kinds.last[k]:
            alive[place], stride[place], radix[place] = k, size, kinds.counts[k] + 1
            size *= kinds.counts[k] + 1
            place += 1
    factors = np.ones((size, len(kinds.counts)))
    for d in range(size):
        for i in range(number):
            digit = d // stride[i] % radix[i]
            for k in range(len(kinds.counts)):
                for _ in range(digit):
                    factors[d, k] *= kinds.pairs[alive[i], k]
    return _Piece(alive, stride, radix, factors)


@inner
def _carried(states, before, after, count):
    """The states by the digits of the next piece: kinds that are over have happened, new ones have not."""
    size = 1
    for radix in after.radix:
        size *= radix
    carried = np.zeros((states.shape[0], size, states.shape[2]))
    for d in range(size):
        source, possible = 0, True
        for i in range(len(after.alive)):
            digit = d // after.stride[i] % after.radix[i]
            known = False
            for j in range(len(before.alive)):
                if before.alive[j] == after.alive[i]:
                    source += digit * before.stride[j]
                    known = True
            possible = possible and (known or digit == 0)
        for j in range(len(before.alive)):
            over = True
            for i in range(len(after.alive)):
                over = over and before.alive[j] != after.alive[i]
            if over:
                source += count[before.alive[j]] * before.stride[j]
        if possible:
            carried[:, d, :] = states[:, source, :]
    return carried


@inner
def _by_count(states, kinds, machine, keys, digits, p, masses):
    """A piece in which only the order counts: k events have 1/k! beside their masses."""
    total, layer, busy, placed = states.copy(), states, _busy(states), 0
    while busy.any():
        placed += 1
        layer, busy = _one_more(layer, busy, kinds, machine, keys, digits, p, masses, 1.0 / placed, True)
        total += layer
    return total


@inner
def _by_ticks(states, kinds, machine, keys, digits, p, length, masses):
    """A piece by its distinct ticks: b of n are C(n, b), here times n^b, which masses hold, over n^b."""
    total, rested, busy, ticks, share = states.copy(), states, _busy(states), 0, 1.0
    while length > 0.0 and busy.any():
        share *= (1.0 - ticks / length) / (ticks + 1.0)
        ticks += 1
        if share == 0.0:
            return total
        after, held = np.zeros_like(states), 1
        group, some = _one_more(rested, busy, kinds, machine, keys, digits, p, masses, 1.0, False)
        busy = np.zeros_like(busy)
        while some.any():
            for a in range(len(machine.rests)):
                rest = machine.rests[a]
                if rest >= 0 and some[a].any():
                    after[rest] += group[a]
                    busy[rest] |= some[a]
            held += 1
            group, some = _one_more(
                group, some, kinds, machine, keys, digits, p, masses, 1.0 / (length * held), False
            )
        total += share * after
        rested = after
    return total


@inner
def _busy(states):
    """Which states, and digits in them, some order has led to."""
    busy = np.zeros(states.shape[:2], dtype=np.bool_)
    for a in range(states.shape[0]):
        for d in range(states.shape[1]):
            for c in range(states.shape[2]):
                busy[a, d] |= states[a, d, c] != 0.0
    return busy


@inner
def _one_more(states, busy, kinds, machine, keys, digits, p, masses, share, at_rest):
    """One event more in every possible way, each with this share of its mass; and what is busy then."""
    placed, later = np.zeros_like(states), np.zeros_like(busy)
    for k in range(len(kinds.counts)):
        mass = masses[k, p] * share
        if mass == 0.0:
            continue
        stride, radix = 0, 1
        for i in range(len(digits.alive)):
            if digits.alive[i] == k:
                stride, radix = digits.stride[i], digits.radix[i]
        letter = kinds.letter[k, p]
        for a in range(states.shape[0]):
            target = a if letter < 0 else machine.moves[a, letter]
            if at_rest and target >= 0:
                target = machine.rests[target]
            if target < 0:
                continue
            weight = mass * machine.gates[a, k]
            for d in range(states.shape[1]):
                if not busy[a, d]:
                    continue
                left = kinds.counts[k] - (d // stride % radix if stride else 0)
                if left > 0:
                    later[target, d + stride] = True
                    each = weight * left * digits.factors[d, k]
                    _place(states[a, d], placed[target, d + stride], kinds, keys, k, each)
    return placed, later


@inner
def _place(states, placed, kinds, keys, k, weight):
    """Add an event of a kind to what has happened, whatever its keys end with."""
    key = kinds.key[k]
    if key < 0:
        for c in range(len(states)):
            placed[c] += states[c] * weight
        return
    stride, size, after = keys.stride[key], keys.size[key], kinds.after[k]
    for c in range(len(states)):
        if states[c] != 0.0:
            last = c // stride % size
            placed[c + (after - last) * stride] += states[c] * weight * kinds.follows[k, last]
