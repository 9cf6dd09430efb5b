"""The cells of a problem: time cut where a mass changes, and what is known of the kinds alive in each cell.

Events of one step and mass that the question does not tell apart are one kind.  Of a kind that is alive a
digit says how many of its events have happened, but for the events of rows, of which the machine of the
question knows it.  Kinds that are over have happened: their factors belong to the masses.

    name here      meaning
    slot           number of a key of the problem, -1 for events in none
    last           what a key may end with: steps after which all factors are the same are one
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.engines.order_laws.cells import cuts_of


class LawTables(NamedTuple):
    """The factors of laws by number of the law and codes.

    `alike`, shape (laws, codes): the first code after which all factors are the same.  `value`, shape (laws,
    codes, codes): where a factor `before` stands in the second axis of `roots`, whose first is its root.
    """

    following: Reals
    alike: Indexes
    value: Indexes
    roots: Reals


class Kinds(NamedTuple):
    """The kinds of P problems, those of problem p from starts[p] on, in the order of their first ticks.

    `event`: one of each, for the mass; `members`: how many they are; `letter`: what the question reads, -1
    for nothing.  `slots`: where the slots of each problem begin; of these `begin`, `end`, `law`: the codes
    around, and the number of the law.
    """

    starts: Indexes
    event: Indexes
    members: Indexes
    slot: Indexes
    code: Indexes
    letter: Indexes
    slots: Indexes
    begin: Indexes
    end: Indexes
    law: Indexes


class Own(NamedTuple):
    """The K kinds of one problem: columns of `Kinds` and of their masses.

    `own`: number of the event of a row that it is, -1 for none.
    """

    event: np.ndarray
    members: np.ndarray
    slot: np.ndarray
    code: np.ndarray
    law: np.ndarray
    letter: np.ndarray
    own: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Ends(NamedTuple):
    """What keys may end with: `size` of each slot, `stride` in their combinations; they begin with 0.

    `close`, shape (combinations,): the factor of what follows all of the events.  `after`, shape (K,): what a
    key ends with once a kind has happened; `follows`, shape (K, sizes): the factor of a kind after each.
    """

    size: np.ndarray
    stride: np.ndarray
    close: np.ndarray
    after: np.ndarray
    follows: np.ndarray


class Cells(NamedTuple):
    """C cells, and of each its kinds alive, from starts[c] on.

    `cut`, shape (C + 1,): their first ticks.  `kind`: which kinds; `density`: of an event at a tick; `over`:
    factors of those that are over.  `pairs`: where the factors of each two alive begin in `factors`.
    `gates`, shape (own, K): factor of a kind after each event of rows.
    """

    cut: np.ndarray
    starts: np.ndarray
    kind: np.ndarray
    density: np.ndarray
    over: np.ndarray
    pairs: np.ndarray
    factors: np.ndarray
    gates: np.ndarray


@inner
def own_of(buckets, kinds, p, own_of_letter):
    """The kinds of a problem."""
    begin, end = kinds.starts[p], kinds.starts[p + 1]
    own, law = np.full(end - begin, -1, dtype=np.int64), np.full(end - begin, -1, dtype=np.int64)
    lower, upper = np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.int64)
    for k in range(end - begin):
        event, slot = kinds.event[begin + k], kinds.slot[begin + k]
        lower[k], upper[k] = buckets.lower[event], buckets.upper[event]
        if kinds.letter[begin + k] >= 0:
            own[k] = own_of_letter[kinds.letter[begin + k]]
        if slot >= 0:
            law[k] = kinds.law[kinds.slots[p] + slot]
    return Own(
        kinds.event[begin:end], kinds.members[begin:end], kinds.slot[begin:end], kinds.code[begin:end], law,
        kinds.letter[begin:end], own, lower, upper,
    )  # fmt: skip


@inner
def ends_of(laws, kinds, p, own):
    """What the keys of a problem may end with."""
    slots = kinds.slots[p + 1] - kinds.slots[p]
    size, stride = np.zeros(slots, dtype=np.int64), np.ones(slots, dtype=np.int64)
    codes = np.empty((slots, len(own.code) + 1), dtype=np.int64)
    after = np.zeros(len(own.code), dtype=np.int64)
    for slot in range(slots):
        law = kinds.law[kinds.slots[p] + slot]
        codes[slot, 0] = laws.alike[law, kinds.begin[kinds.slots[p] + slot]]
        size[slot] = 1
    for k in range(len(own.code)):
        slot = own.slot[k]
        if slot >= 0:
            code, place = laws.alike[own.law[k], own.code[k]], 0
            while place < size[slot] and codes[slot, place] != code:
                place += 1
            if place == size[slot]:
                codes[slot, place] = code
                size[slot] += 1
            after[k] = place
    every, widest = 1, 1
    for slot in range(slots):
        stride[slot] = every
        every *= size[slot]
        widest = max(widest, size[slot])
    close, follows = np.ones(every), np.ones((len(own.code), widest))
    for slot in range(slots):
        law, end = kinds.law[kinds.slots[p] + slot], kinds.end[kinds.slots[p] + slot]
        for c in range(every):
            close[c] *= laws.following[law, codes[slot, c // stride[slot] % size[slot]], end]
    for k in range(len(own.code)):
        if own.slot[k] >= 0:
            for last in range(size[own.slot[k]]):
                follows[k, last] = laws.following[own.law[k], codes[own.slot[k], last], own.code[k]]
    return Ends(size, stride, close, after, follows)


@inlined
def overlap(own, i, j):
    """Whether two kinds of one key can be in either order."""
    return own.slot[i] >= 0 and own.slot[i] == own.slot[j] and (
        own.lower[i] <= own.upper[j] and own.lower[j] <= own.upper[i]
    )  # fmt: skip


@inner
def _repeats(own):
    """A number for each step, and how many events of each step can share a tick with those of a kind."""
    count = len(own.code)
    step, first = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    steps = 0
    for k in range(count):
        step[k] = -1
        for s in range(steps):
            if own.code[first[s]] == own.code[k] and own.slot[first[s]] == own.slot[k]:
                step[k] = s
        if step[k] < 0:
            step[k], first[steps] = steps, k
            steps += 1
    shared = np.zeros((count, steps), dtype=np.int64)
    for i in range(count):
        j = i
        while j < count and own.lower[j] <= own.upper[i]:
            if overlap(own, i, j):
                shared[i, step[j]] += own.members[j]
                if i != j:
                    shared[j, step[i]] += own.members[i]
            j += 1
    return step, shared


@inner
def cells_of(buckets, laws, own, owns):
    """The cells of a problem."""
    cut = cuts_of(buckets, own.event)
    first, last = np.searchsorted(cut, own.lower), np.searchsorted(cut, own.upper)
    starts = np.zeros(len(cut), dtype=np.int64)
    for k in range(len(own.code)):
        last[k] -= cut[last[k]] > own.upper[k]
        starts[first[k] + 1 : last[k] + 2] += 1
    starts = np.cumsum(starts)
    at, kind, density = starts.copy(), np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    for k in range(len(own.code)):
        for c in range(first[k], last[k] + 1):
            kind[at[c]], density[at[c]] = k, density_at(buckets, own.event[k], cut[c])
            at[c] += 1
    step, shared = _repeats(own)
    pairs, factors = _pairs_of(laws, own, step, shared, starts, kind)
    gates = np.ones((owns, len(own.code)))
    for i in range(len(own.code)):
        for j in range(len(own.code) if own.own[i] >= 0 else 0):
            if overlap(own, i, j):
                gates[own.own[i], j] = _factor(laws, own, step, shared, i, j)
    over = _factors_over(own, starts, kind, last, pairs, factors)
    return Cells(cut, starts, kind, density, over, pairs, factors, gates)


@inner
def _pairs_of(laws, own, step, shared, starts, kind):
    """Where the factors of each two kinds alive in a cell begin, and these."""
    pairs = np.zeros(len(starts), dtype=np.int64)
    pairs[1:] = np.cumsum((starts[1:] - starts[:-1]) ** 2)
    factors, place = np.ones(pairs[-1]), 0
    for c in range(len(starts) - 1):
        for i in kind[starts[c] : starts[c + 1]]:
            for j in kind[starts[c] : starts[c + 1]]:
                if overlap(own, i, j):
                    factors[place] = _factor(laws, own, step, shared, i, j)
                place += 1
    return pairs, factors


@inner
def _factors_over(own, starts, kind, last, pairs, factors):
    """The factor of each kind alive in a cell after all events, but those of rows, that are over then."""
    over, factor = np.ones(len(kind)), np.ones(len(own.code))
    for c in range(len(starts) - 1):
        alive = kind[starts[c] : starts[c + 1]]
        for i in range(len(alive)):
            over[starts[c] + i] = factor[alive[i]]
        for i in range(len(alive)):
            if last[alive[i]] == c and own.own[alive[i]] < 0:
                for j in range(len(alive)):
                    for _ in range(own.members[alive[i]] if last[alive[j]] > c else 0):
                        factor[alive[j]] *= factors[pairs[c] + i * len(alive) + j]
    return over


@inner
def _factor(laws, own, step, shared, i, j):
    """The factor of an event of a kind after one of another, by how many repeat their steps."""
    value = laws.value[own.law[i], own.code[i], own.code[j]]
    return laws.roots[max(shared[i, step[j]], shared[j, step[i]], 1), value]
