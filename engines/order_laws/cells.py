"""The cells of a problem: time cut where a mass changes, which kinds are alive in each, and the sum over one.

In a cell it is enough to know how many events of each kind that is alive have happened.  Kinds that are over
have happened: their factors belong to the masses of those that go on.  Events of rows have factors of their
own (`sets.py`): they may be over and not have happened, where a question is answered with no.

What happens in a cell, or a stretch of it, is summed over all numbers of events, one event more after the
other.  Events at one tick have the mean over their orders: k of them in one given order count 1 / k!.  A
stretch of n ticks is summed by its b distinct ticks, C(n, b).  Where nothing tells its ticks apart that is
the same as one tick with the mass of all: k events in one order have n^k / k!.  All terms are positive:
nothing cancels.

    states     by place and by combination of what keys ended with (`sets.py`)
    layer      the places to which some order has led, and their states, without the others
    target     where the machine stands after an event of each kind, by its state; -1 for nowhere
    mass       of one event more, shape (A, n) as `target`; 0 where that is nowhere
    rests      where the machine stands when a tick has ended
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.kernels.kernel import inner

_LEAST_EXPONENT = -1022
"""Numbers below two to it are divided by it: a larger factor would be no number."""


class OrderProblem(NamedTuple):
    """The K kinds of a problem, and its C cells.

    Columns of `Kinds`; `begin`, `end`, `law`: of its slots.  `own`: the number of the event of rows that a
    kind is, -1 for none; `rows`: the kind of each of these events.  `cut`, shape (C + 1,): the first ticks of
    cells.  `kind`: those alive in cell c, from starts[c] on; `density`: the mass of one of its events at a
    tick; `over`: the factors of events that are over.
    """

    event: np.ndarray
    members: np.ndarray
    slot: np.ndarray
    code: np.ndarray
    letter: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    pairs: np.ndarray
    factors: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    law: np.ndarray
    own: np.ndarray
    rows: np.ndarray
    cut: np.ndarray
    starts: np.ndarray
    kind: np.ndarray
    density: np.ndarray
    over: np.ndarray


@inner
def problem_of(buckets, kinds, slots, p, own_of_letter, owns):
    """A problem of some kinds, with `owns` events of rows."""
    begin, end = kinds.starts[p], kinds.starts[p + 1]
    first_slot, end_slot = slots.starts[p], slots.starts[p + 1]
    own, rows = np.full(end - begin, -1, dtype=np.int64), np.full(owns, -1, dtype=np.int64)
    for k in range(end - begin):
        letter = kinds.letter[begin + k]
        if letter >= 0 and own_of_letter[letter] >= 0:
            own[k] = own_of_letter[letter]
            rows[own[k]] = k
    event, lower, upper = kinds.event[begin:end], kinds.lower[begin:end], kinds.upper[begin:end]
    cut = cuts_of(buckets, event)
    first, last = np.searchsorted(cut, lower), np.searchsorted(cut, upper, side="right") - 1
    starts = np.zeros(len(cut), dtype=np.int64)
    for k in range(len(event)):
        starts[first[k] + 1 : last[k] + 2] += 1
    starts = np.cumsum(starts)
    at, kind, density = starts.copy(), np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    for k in range(len(event)):
        for c in range(first[k], last[k] + 1):
            kind[at[c]], density[at[c]] = k, density_at(buckets, event[k], cut[c])
            at[c] += 1
    problem = OrderProblem(
        event, kinds.members[begin:end], kinds.slot[begin:end], kinds.code[begin:end],
        kinds.letter[begin:end], lower, upper, kinds.pairs[begin : end + 1], kinds.factors,
        slots.begin[first_slot:end_slot], slots.end[first_slot:end_slot], slots.law[first_slot:end_slot],
        own, rows, cut, starts, kind, density, np.ones(len(kind)),
    )  # fmt: skip
    _fill_over(problem)
    return problem


@inner
def cuts_of(buckets, events):
    """Begins of the cells of some events, and the tick after the last; where there are none one tick.

    Of events on 1..4 and 3..6: 1, 3, 5, 7.
    """
    room = 0
    for event in events:
        room += 2 * (buckets.starts[event + 1] - buckets.starts[event])
    points, at = np.zeros(max(room, 1), dtype=np.int64), 0
    for event in events:
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            points[at], points[at + 1] = buckets.lo[b], buckets.hi[b] + 1
            at += 2
    return points[: sort_cuts(points, len(points))].copy()


@inner
def factor_before(problem, i, j):
    """The factor of an event of kind i that comes before one of kind j; 1 where they share no tick."""
    a, b = min(i, j), max(i, j)
    place = problem.pairs[a] + b - a
    if place >= problem.pairs[a + 1]:
        return 1.0
    return problem.factors[0 if i <= j else 1, place]


@inner
def _fill_over(problem):
    """Fill the factor of each kind alive in a cell after all events that are over then, but those of rows."""
    factor = np.ones(len(problem.event))
    for c in range(len(problem.cut) - 1):
        alive, after = problem.kind[problem.starts[c] : problem.starts[c + 1]], problem.cut[c + 1]
        for i in range(len(alive)):
            problem.over[problem.starts[c] + i] = factor[alive[i]]
        for a in alive:
            if problem.upper[a] < after and problem.own[a] < 0:
                for b in alive:
                    for _ in range(problem.members[a] if problem.upper[b] >= after else 0):
                        factor[b] *= factor_before(problem, a, b)


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
