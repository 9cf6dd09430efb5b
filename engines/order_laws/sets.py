"""The sets of events that have happened in a cell, and what one event more makes of each.

The number of a set has a digit for each kind that is alive in the cell: how many of its events have happened.
Events of rows have none, of these the machine of the question knows it.  Beside the set a key's last step is
known, as far as it matters: steps after which all factors are the same are one.

Each set has a power of two by which what is known of it is divided, where hundreds of events may happen: so
all of its events together bring about 1, however large their factors are and however many orders they have.
A rate leads from one set to another: it is multiplied by the power of the one and divided by that of the
other.  Where no product can leave the floats all powers are 1.

    place          a state of the machine and a set: state * sets + set
    combination    of what each key ended with last: one digit for each slot
    gate           factors of an event after those of rows
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.engines.order_laws.cells import factor_before

_MOST_EXPONENT = 400
_LEAST = -(1 << 40)


class Sets(NamedTuple):
    """The sets of a cell with n kinds alive: their `kind`, the `stride` of the digit of each, 0 for none.

    `digits`, shape (sets, n): how many events of each kind have happened, 0 for those without.  `rates`,
    shape (sets, n): factor of one more event of a kind, times how many of it are left.  `gates`, shape
    (A, n), by state of the machine.  `last`, shape (slots, l), `lasts`, shape (slots,): the codes that each
    key may end with, and how many.  `follow`, `landing`, shape (n, combinations): factor of a kind after
    each, and the combination then.  `powers`, shape (sets,): the exponents of the powers of two.
    """

    kind: np.ndarray
    stride: np.ndarray
    digits: np.ndarray
    rates: np.ndarray
    gates: np.ndarray
    last: np.ndarray
    lasts: np.ndarray
    follow: np.ndarray
    landing: np.ndarray
    powers: np.ndarray


@inner
def sets_of(laws, problem, happened, cell):
    """The sets of a cell; one, in which nothing can happen, before the first (-1) and after the last.

    `happened`, shape (A, events of rows): by state of the machine.
    """
    begin, end = 0, 0
    if 0 <= cell < len(problem.cut) - 1:
        begin, end = problem.starts[cell], problem.starts[cell + 1]
    kind = problem.kind[begin:end]
    stride, sets = np.zeros(len(kind), dtype=np.int64), 1
    for i in range(len(kind)):
        if problem.own[kind[i]] < 0:
            stride[i] = sets
            sets *= problem.members[kind[i]] + 1
    gates = np.ones((len(happened), len(kind)))
    for a in range(len(happened)):
        for o in range(happened.shape[1]):
            if happened[a, o]:
                for j in range(len(kind)):
                    gates[a, j] *= factor_before(problem, problem.rows[o], kind[j])
    last, lasts = lasts_of(laws, problem, cell)
    follow, landing = _after(laws, problem, kind, last, lasts)
    digits = _digits(problem.members[kind], stride, sets)
    found = Sets(
        kind, stride, digits, _rates(problem, kind, stride, digits), gates, last, lasts, follow, landing,
        np.zeros(sets, dtype=np.int64),
    )  # fmt: skip
    if len(kind) > 0:
        _divide(problem, cell, found)
    return found


@inner
def lasts_of(laws, problem, cell):
    """What each key may end with in a cell: a code by place for each slot, and how many there are.

    An event that another has certainly come after is not the last one.  With a on 1..4 and b on 3..6 a key
    begins, or ends with a, in the cell of 1..2; with any of the three in that of 3..4; with a or b in the
    last one.
    """
    begin = problem.cut[max(cell, 0)]
    upto = problem.cut[min(cell + 1, len(problem.cut) - 1)]
    codes = np.empty((len(problem.law), len(problem.code) + 1), dtype=np.int64)
    count = np.zeros(len(problem.law), dtype=np.int64)
    for slot in range(len(problem.law)):
        alike, some, latest = laws.alike[problem.law[slot]], False, begin
        for k in range(len(problem.code)):
            if problem.slot[k] == slot and cell >= 0 and problem.upper[k] < begin:
                latest = max(latest, problem.lower[k]) if some else problem.lower[k]
                some = True
        if not some:
            codes[slot, 0], count[slot] = alike[problem.begin[slot]], 1
        for k in range(len(problem.code)):
            if problem.slot[k] == slot and problem.lower[k] < upto and cell >= 0:
                code = alike[problem.code[k]]
                if (not some or problem.upper[k] >= latest) and _place_of(codes, count, slot, code) < 0:
                    codes[slot, count[slot]] = code
                    count[slot] += 1
    return codes, count


@inner
def _place_of(codes, count, slot, code):
    """The place of a code among those of a slot, -1 where it is none of them."""
    for place in range(count[slot]):
        if codes[slot, place] == code:
            return place
    return -1


@inner
def _after(laws, problem, kind, last, lasts):
    """The factor of each kind after what keys may end with, and what they end with then."""
    every = combinations(lasts)
    follow, landing = np.ones((len(kind), every)), np.empty((len(kind), every), dtype=np.int64)
    for i in range(len(kind)):
        slot, code = problem.slot[kind[i]], problem.code[kind[i]]
        for c in range(every):
            landing[i, c] = c
        if slot >= 0:
            law, unit = problem.law[slot], combinations(lasts[:slot])
            own = _place_of(last, lasts, slot, laws.alike[law, code])
            for c in range(every):
                place = c // unit % lasts[slot]
                landing[i, c] = c + (own - place) * unit
                follow[i, c] = laws.following[law, last[slot, place], code]
    return follow, landing


@inner
def combinations(lasts):
    """How many combinations there are of what keys may end with."""
    every = 1
    for count in lasts:
        every *= count
    return every


@inner
def closing(laws, problem, sets):
    """The factor of what follows all events, by what keys ended with."""
    found = np.ones(combinations(sets.lasts))
    for slot in range(len(problem.law)):
        unit = combinations(sets.lasts[:slot])
        for c in range(len(found)):
            last = sets.last[slot, c // unit % sets.lasts[slot]]
            found[c] *= laws.following[problem.law[slot], last, problem.end[slot]]
    return found


@inner
def dot(values, factors):
    """The sum of values times factors, in their order."""
    total = 0.0
    for i in range(len(values)):
        total += values[i] * factors[i]
    return total


@inner
def _digits(members, stride, sets):
    """How many events of each kind have happened in each set: with two As and a B 00, 10, 20, 01, 11, 21."""
    found = np.zeros((sets, len(members)), dtype=np.int64)
    for s in range(1, sets):
        found[s] = found[s - 1]
        for i in range(len(members)):
            if stride[i] > 0:
                found[s, i] = (found[s, i] + 1) % (members[i] + 1)
                if found[s, i] > 0:
                    break
    return found


@inner
def _rates(problem, kind, stride, digits):
    """The factor of one more event of a kind by the events of a set, times how many of it are left.

    With a and b alive, before(B, A) = 2, the rates of a and b are 1, 1 in the empty set, 0, 1 after a, 2, 0
    after b, and 0, 0 after both.
    """
    rates, count = np.ones(digits.shape), len(kind)
    for i in range(count):
        if stride[i] > 0:
            for j in range(count):
                factor = factor_before(problem, kind[i], kind[j])
                for d in range(stride[i], stride[i] * (problem.members[kind[i]] + 1)):
                    rates[d, j] = rates[d - stride[i], j] * factor
    for d in range(len(rates)):
        for j in range(count):
            if stride[j] > 0:
                left = problem.members[kind[j]] - digits[d, j]
                rates[d, j] = rates[d, j] * left if left > 0 else 0.0
    return rates


@inner
def _divide(problem, cell, sets):
    """Change rates by the powers of two that sets need, which are filled in."""
    begin, ticks = problem.starts[cell], tick_count(problem.cut[cell], problem.cut[cell + 1] - 1)
    mass, count, events, most = np.empty(len(sets.kind)), len(sets.kind), 0, 0
    for i in range(count):
        # An event that cannot happen here, but has before, brings no mass.
        density = problem.density[begin + i]
        mass[i] = (density * ticks if density > 0.0 else 1.0) * problem.over[begin + i]
        if sets.stride[i] > 0:
            events += problem.members[sets.kind[i]]
            most = max(
                most, _exponent(mass[i : i + 1]) + _exponent(sets.rates[:, i]) + _exponent(sets.follow[i])
            )
    if events * most <= _MOST_EXPONENT:
        return
    _fill_powers(sets, mass)
    for s in range(len(sets.rates)):
        for i in range(count):
            if sets.rates[s, i] != 0.0 and sets.stride[i] > 0:
                later = sets.powers[s + sets.stride[i]]
                sets.rates[s, i] = times_two_to(sets.rates[s, i], sets.powers[s] - later)


@inner
def _exponent(values):
    """The largest exponent of the numbers that are not 0, whatever its sign: of 1/8 and 2 that is 2."""
    low, high = np.inf, 0.0
    for value in values:
        if value != 0.0:
            low, high = min(low, value), max(high, value)
    return max(abs(frexp(low)[1]), abs(frexp(high)[1])) if high > 0.0 else 0


@inner
def _fill_powers(sets, mass):
    """What the events of a set bring in any order, by what keys end with, set by set from those before it."""
    stride, count = sets.stride, len(sets.stride)
    values = np.zeros((len(sets.rates), sets.follow.shape[1]))
    values[0] = 1.0
    for s in range(1, len(values)):
        size, unit = sets.digits[s].sum(), _LEAST
        for i in range(count):
            if sets.digits[s, i] > 0:
                before = s - stride[i]
                unit = max(unit, sets.powers[before] + frexp(mass[i] * sets.rates[before, i])[1])
        for i in range(count):
            if sets.digits[s, i] > 0:
                before = s - stride[i]
                rate = times_two_to(mass[i] * sets.rates[before, i], sets.powers[before] - unit) / size
                for c in range(values.shape[1]):
                    values[s, sets.landing[i, c]] += values[before, c] * sets.follow[i, c] * rate
        own = frexp(values[s].max())[1]
        sets.powers[s] = unit + own
        for c in range(values.shape[1]):
            values[s, c] = times_two_to(values[s, c], -own)


@inlined
def times_two_to(value, exponent):
    """A value times a power of two, 0 where that is too small; never too large."""
    return ldexp(value, int(min(max(exponent, -2000), 900)))


class Onward(NamedTuple):
    """Where the sets of one cell stand in the next: kinds that are over have happened, new ones have not.

    `place`, shape (sets,), -1 for a set in which an event that is over has not happened; `combination`, by
    combination; `power`, shape (sets,): that of a set, divided by its power in the next cell.
    """

    place: np.ndarray
    combination: np.ndarray
    power: np.ndarray


@inner
def onward(problem, before, after):
    """Where the sets of a cell stand in the next one."""
    sets = len(before.rates)
    place, lost = np.zeros(sets, dtype=np.int64), np.zeros(sets, dtype=np.bool_)
    for i in range(len(before.kind)):
        stride, count, later = before.stride[i], problem.members[before.kind[i]], -1
        for j in range(len(after.kind)):
            if after.kind[j] == before.kind[i]:
                later = after.stride[j]
        for d in range(sets if stride > 0 else 0):
            place[d] += before.digits[d, i] * max(later, 0)
            lost[d] = lost[d] or (later < 0 and before.digits[d, i] < count)
    power = before.powers - after.powers[place]
    place[lost] = -1
    combination = np.zeros(before.follow.shape[1], dtype=np.int64)
    unit, after_unit = 1, 1
    for slot in range(len(before.lasts)):
        for c in range(len(combination)):
            code = before.last[slot, c // unit % before.lasts[slot]]
            own = _place_of(after.last, after.lasts, slot, code)
            if own < 0 or combination[c] < 0:
                combination[c] = -1
            else:
                combination[c] += own * after_unit
        unit, after_unit = unit * before.lasts[slot], after_unit * after.lasts[slot]
    return Onward(place, combination, power)


@inner
def carried(states, problem, happened, before, after):
    """States in the sets of the next cell, and the exponent of the power of two by which they are divided.

    There are none where an event of a row is over and has not happened.
    """
    ways, sets, size = onward(problem, before, after), len(before.rates), len(after.rates)
    most = _LEAST
    for x in range(len(states)):
        if ways.place[x % sets] >= 0 and ways.power[x % sets] > most and states[x].any():
            most = ways.power[x % sets]
    found = np.zeros((len(happened) * size, after.follow.shape[1]))
    for a in range(len(happened)):
        if _misses(problem, happened[a], before, after):
            continue
        for d in range(sets):
            for c in range(states.shape[1] if ways.place[d] >= 0 else 0):
                value = states[a * sets + d, c]
                if value != 0.0:
                    value = times_two_to(value, ways.power[d] - most)
                    found[a * size + ways.place[d], ways.combination[c]] = value
    return found, int(most)


class SetWalk(NamedTuple):
    """How far a sum has come: states in the sets of a cell, divided by a power of two."""

    states: np.ndarray
    sets: Sets
    cell: int
    exponent: int


@inner
def begun(laws, problem, happened):
    """Before the first cell, where nothing has happened."""
    states = np.zeros((len(happened), 1))
    states[0, 0] = 1.0
    return SetWalk(states, sets_of(laws, problem, happened, -1), -1, 0)


@inner
def come_to(laws, problem, happened, walk, cell):
    """A sum that has come to a cell: the one in which it is, or a later one."""
    if cell == walk.cell:
        return walk
    sets = sets_of(laws, problem, happened, cell)
    states, power = carried(walk.states, problem, happened, walk.sets, sets)
    return SetWalk(states, sets, cell, walk.exponent + power)


@inner
def carried_back(worth, problem, before, after):
    """What the sets of a cell are worth, by what those of the next one are, divided by a power of two."""
    ways, found = onward(problem, before, after), np.zeros((len(before.rates), before.follow.shape[1]))
    most = _LEAST
    for d in range(len(found)):
        if ways.place[d] >= 0 and ways.power[d] > most and worth[ways.place[d]].any():
            most = ways.power[d]
    for d in range(len(found)):
        for c in range(found.shape[1]):
            if ways.place[d] >= 0 and ways.combination[c] >= 0:
                value = worth[ways.place[d], ways.combination[c]]
                found[d, c] = times_two_to(value, ways.power[d] - most)
    return found


@inner
def _misses(problem, happened, before, after):
    """Whether an event of a row is over that has not happened."""
    for i in before.kind:
        if problem.own[i] >= 0 and not happened[problem.own[i]]:
            over = True
            for j in after.kind:
                over = over and i != j
            if over:
                return True
    return False
