"""The weights of all orders of some events by which a question is answered yes, in one pass over time.

What is kept between two pieces of time says which of the events alive have happened, which step came last in
each key, and how far the question is (`questions.py` makes a machine of it); `sets.py` says how a piece
changes it.  Sums are scaled by powers of two, so that no product of factors leaves the floats.

    name here      meaning
    way            how some events of rows are held at single ticks
    status         which windows' ends a piece lies beyond, a bit for each
"""

from __future__ import annotations

from math import ldexp
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.orders.cells import cells_of, ends_of, own_of
from cepctl.engines.confidence.orders.sets import (
    carried,
    digits_of,
    no_digits,
    pass_by_count,
    pass_by_ticks,
)
from cepctl.engines.confidence.orders.ways import ways_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.key_passes import scale


class Machine(NamedTuple):
    """Where a question stands.

    `own`, shape (letters,): the event of a row that a letter is, -1 for others.  `read`, shape (letters,
    statuses): what is read of it in a piece of each status, -1 for nothing.  `moves`, shape (A, read): the
    next state, -1 where the answer is no; `rests`, shape (A,): the same after the end of a tick.  `happened`,
    shape (A, own).  `accepted`, shape (A,): where the answer is yes; `hopes`, shape (A, statuses): where it
    can still become yes in pieces from one of a status on.  State 0 is the first.
    """

    own: Indexes
    read: Indexes
    moves: Indexes
    rests: Indexes
    happened: Flags
    accepted: Flags
    hopes: Flags


@kernel
def sweep(buckets, laws, kinds, plans, plan, machine, most, found, exponents):
    """Fill `found` and `exponents`: the sum of each problem is found 2^exponent, -1 beyond `most` steps.

    `plan`, shape (P,): which events are held.
    """
    for p in range(len(found)):
        own = own_of(buckets, kinds, p, machine.own)
        cells = cells_of(buckets, laws, own, machine.happened.shape[1])
        ends = ends_of(laws, kinds, p, own)
        kind_of = np.full(machine.happened.shape[1], -1, dtype=np.int64)
        for k in range(len(own.own)):
            if own.own[k] >= 0:
                kind_of[own.own[k]] = k
        ways = ways_of(buckets, own, cells.cut, plans, plan[p], kind_of)
        steps = len(ways.weight) * _steps(own, cells, len(ends.close) * len(machine.rests))
        if len(ways.weight) == 0 or steps > most:
            found[p], exponents[p] = -1.0, 0
        else:
            found[p], exponents[p] = _summed(own, cells, ends, ways, plans, plan[p], machine)


@inner
def _steps(own, cells, combinations):
    """About how many steps one way takes."""
    total = 0.0
    for c in range(len(cells.cut) - 1):
        sets, placed, read, rows = 1.0, 0.0, 0, 0
        for i in range(cells.starts[c], cells.starts[c + 1]):
            k = cells.kind[i]
            if own.own[k] < 0:
                sets *= own.members[k] + 1.0
            if cells.density[i] > 0.0:
                placed += own.members[k]
                read += own.members[k] if own.letter[k] >= 0 else 0
                rows += own.own[k] >= 0
        passes = placed * (placed + 1.0) / 2.0 if rows > 0 and read > 1 else placed
        total += sets * passes * (cells.starts[c + 1] - cells.starts[c])
    return total * combinations


@inner
def _summed(own, cells, ends, ways, plans, plan, machine):
    """The sum over all ways.

    What comes before the first difference between two of them is done once, and so is what comes after the
    last: there their states are summed first.
    """
    first = np.zeros((len(machine.rests), len(ends.close)))
    first[0, 0] = 1.0
    held = _held(own, plans, plan)
    kept, kept_digits, kept_exponent, begin = first, no_digits(len(machine.rests), len(ends.close)), 0, 0
    joined = _no_states(len(cells.cut) * machine.read.shape[1])
    for way in range(len(ways.weight)):
        same = _same_pieces(ways, plans, plan, way) if way + 1 < len(ways.weight) else -1
        states, digits, exponent, start = kept, kept_digits, kept_exponent, begin
        if same < start:
            kept, kept_digits, begin = first, no_digits(len(machine.rests), len(ends.close)), 0
            kept_exponent = 0
        pieces = ways.cut.shape[1] - 1
        after = min(ways.last[way] + 1, pieces) if len(held) > 0 else pieces
        for piece in range(start, after):
            if piece == same:
                kept, kept_digits, kept_exponent, begin = states, digits, exponent, piece
            length = _length(ways, way, piece)
            if length == 0.0:
                continue
            cell = np.searchsorted(cells.cut, ways.cut[way, piece], side="right") - 1
            status = _status(ways.mark[way], plans, plan, piece)
            at_tick = _held_at(held, ways, way, plans, plan, piece)
            if cell != digits.cell:
                later = digits_of(own, cells, ends, machine.happened, cell)
                (states, power), digits = carried(states, own, machine.happened, digits, later), later
                exponent += power
            states = _passed(states, own, cells, digits, machine, status, length, held, at_tick)
            exponent += scale(states)
        cell, status = len(cells.cut) - 1, 0
        if after < pieces:
            cell = np.searchsorted(cells.cut, ways.cut[way, after], side="right") - 1
            status = _status(ways.mark[way], plans, plan, after)
        later = _digits_at(own, cells, ends, machine, cell)
        states, power = carried(states, own, machine.happened, digits, later)
        _join(joined, status * len(cells.cut) + cell, states, ways.weight[way], exponent + power)
    return _finished(own, cells, ends, machine, held, joined)


@inner
def _digits_at(own, cells, ends, machine, cell):
    """The sets of a cell, none after the last."""
    if cell == len(cells.cut) - 1:
        return no_digits(len(machine.rests), len(ends.close))
    return digits_of(own, cells, ends, machine.happened, cell)


@inner
def _held(own, plans, plan):
    """The kinds that are held, by anchor."""
    found = np.full(plans.starts[plan + 1] - plans.starts[plan], -1, dtype=np.int64)
    for a in range(len(found)):
        for k in range(len(own.own)):
            if own.own[k] == plans.own[plans.starts[plan] + a]:
                found[a] = k
    return found


@inner
def _no_states(count):
    found = [(np.zeros((0, 0)), 0)]
    for _ in range(count - 1):
        found.append((np.zeros((0, 0)), 0))
    return found


@inner
def _join(joined, place, states, weight, exponent):
    """Add states times a weight and a power of two to what is known at a place."""
    known, most = joined[place]
    if len(known) == 0:
        joined[place] = states * weight, exponent
    elif exponent > most:
        joined[place] = known * ldexp(1.0, max(most - exponent, -2000)) + states * weight, exponent
    else:
        joined[place] = known + states * (weight * ldexp(1.0, max(exponent - most, -2000))), most


@inner
def _finished(own, cells, ends, machine, held, joined):
    """The sum of what is left of all ways, those of one status together."""
    total, most = 0.0, 0
    for status in range(machine.read.shape[1]):
        states, exponent = np.zeros((0, 0)), 0
        digits = no_digits(len(machine.rests), len(ends.close))
        for cell in range(len(cells.cut)):
            place = status * len(cells.cut) + cell
            if len(states) == 0 and len(joined[place][0]) == 0:
                continue
            later = _digits_at(own, cells, ends, machine, cell)
            if len(states) > 0:
                states, power = carried(states, own, machine.happened, digits, later)
                _join(joined, place, states, 1.0, exponent + power)
            (states, exponent), digits = joined[place], later
            if cell < len(cells.cut) - 1:
                length = tick_count(cells.cut[cell], cells.cut[cell + 1] - 1)
                none = np.zeros(len(held), dtype=np.bool_)
                states = _passed(states, own, cells, digits, machine, status, length, held, none)
                exponent += scale(states)
        if len(states) > 0:
            value = _closed(states, ends, machine)
            if value != 0.0:
                total, most = _sum_of(total, most, value, exponent)
    return total, most


@inner
def _passed(states, own, cells, digits, machine, status, length, held, at_tick):
    """The states after a piece of some cell."""
    target, ticked = _moves(own, cells, machine, digits.cell, status)
    mass = _masses(cells, digits, length, held, at_tick, target)
    if ticked:
        states = pass_by_ticks(states, digits, target, machine.rests, mass, length)
    else:
        states = pass_by_count(states, digits, target, machine.rests, mass)
    sets = len(digits.rates)
    for a in range(len(machine.rests)):
        hopes = machine.hopes[a, status]
        for each in range(len(held)):
            hopes = hopes and (not at_tick[each] or machine.happened[a, own.own[held[each]]])
        if not hopes:
            states[a * sets : (a + 1) * sets] = 0.0
    return states


@inner
def _same_pieces(ways, plans, plan, way):
    """How many pieces of a way the next one has, too, in the same status."""
    for piece in range(ways.cut.shape[1] - 1):
        same = _status(ways.mark[way], plans, plan, piece) == _status(ways.mark[way + 1], plans, plan, piece)
        for end in (piece, piece + 1):
            same = same and ways.cut[way, end] == ways.cut[way + 1, end]
            same = same and not ways.moves[way, end] and not ways.moves[way + 1, end]
        for mark in range(ways.mark.shape[1]):
            same = same and _begins(ways, way, piece, mark) == _begins(ways, way + 1, piece, mark)
        if not same:
            return piece
    return ways.cut.shape[1] - 1


@inner
def _begins(ways, way, piece, mark):
    """Whether a piece begins at a mark; another cut may be there, too."""
    place = ways.mark[way, mark]
    return piece >= place and ways.cut[way, piece] == ways.cut[way, place]


@inner
def _length(ways, way, piece):
    """How many ticks a piece has, which need not be whole."""
    first, end = ways.cut[way, piece], ways.cut[way, piece + 1]
    whole = tick_count(first, end - 1) if first < end else 0.0
    return whole + (1.0 * ways.moves[way, piece + 1] - 1.0 * ways.moves[way, piece]) * ways.shift[way]


@inner
def _status(marks, plans, plan, piece):
    """Of a piece, the bits of window ends: after the last tick for a first event, before that for a last."""
    status, begin = 0, plans.first_offset[plans.starts[plan]]
    for mark in range(len(marks)):
        outside = (piece >= marks[mark]) == (plans.offsets[begin + mark] > 0)
        if plans.bits[begin + mark] >= 0 and outside:
            status |= 1 << plans.bits[begin + mark]
    return status


@inner
def _held_at(held, ways, way, plans, plan, piece):
    """Which anchors are held in a piece."""
    found, begin = np.zeros(len(held), dtype=np.bool_), plans.first_offset[plans.starts[plan]]
    for a in range(len(held)):
        place = plans.starts[plan] + a
        for i in range(plans.first_offset[place], plans.first_offset[place + 1]):
            if plans.offsets[i] == 0 and _begins(ways, way, piece, i - begin):
                found[a] = True
    return found


@inner
def _moves(own, cells, machine, cell, status):
    """To which state each kind alive leads from each, -1 for none; whether ticks are told apart.

    They are where the question reads two events, one of them of a row.
    """
    begin = cells.starts[cell]
    count, states = cells.starts[cell + 1] - begin, len(machine.rests)
    target = np.empty((states, count), dtype=np.int64)
    read, rows = 0, False
    for i in range(count):
        k = cells.kind[begin + i]
        letter = machine.read[own.letter[k], status] if own.letter[k] >= 0 else -1
        for a in range(states):
            target[a, i] = a if letter < 0 else machine.moves[a, letter]
        if letter >= 0 and cells.density[begin + i] > 0.0:
            read += own.members[k]
            rows = rows or own.own[k] >= 0
    return target, rows and read > 1


@inner
def _masses(cells, digits, length, held, at_tick, target):
    """The mass of one more event of each kind alive in a piece, by state, times factors of what is over."""
    begin = cells.starts[digits.cell]
    mass = np.zeros(target.shape)
    for i in range(target.shape[1]):
        each = cells.density[begin + i] * length
        for a in range(len(held)):
            if digits.kind[i] == held[a]:
                each = 1.0 if at_tick[a] else 0.0
        for a in range(target.shape[0]):
            if target[a, i] >= 0:
                mass[a, i] = each * cells.over[begin + i] * digits.gates[a, i]
    return mass


@inner
def _closed(states, ends, machine):
    total = 0.0
    for a in range(len(machine.rests)):
        if machine.accepted[a]:
            for c in range(len(ends.close)):
                total += states[a, c] * ends.close[c]
    return total


@inner
def _sum_of(total, most, value, exponent):
    """The sum of two numbers times powers of two, as one of each."""
    if total == 0.0:
        return value, exponent
    if exponent > most:
        return ldexp(total, max(most - exponent, -2000)) + value, exponent
    return total + ldexp(value, max(exponent - most, -2000)), most
