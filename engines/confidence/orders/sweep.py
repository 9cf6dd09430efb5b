"""The weights of all orders of some events by which a question is answered yes, in one pass over time.

What is kept between two pieces of time says which of the events alive have happened, which step came last in
each key, and how far the question is (`questions.py` makes a machine of it); `sets.py` says how a piece
changes it.  Sums are scaled by powers of two, so that no product of factors leaves the floats.

    name here      meaning
    way            how some events of rows are held at single ticks
    status         which windows' ends a piece lies beyond, a bit for each
"""

from __future__ import annotations

from math import frexp, ldexp
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


class Machine(NamedTuple):
    """Where a question stands.

    `own`, shape (letters,): the event of a row that a letter is, -1 for others.  `read`, shape (letters,
    statuses): what is read of it in a piece of each status, -1 for nothing.  `moves`, shape (A, read): the
    next state, -1 where the answer is no; `rests`, shape (A,): the same after the end of a tick.  `happened`,
    shape (A, own).  `accepted`, shape (A,): where the answer is yes.  State 0 is the first.
    """

    own: Indexes
    read: Indexes
    moves: Indexes
    rests: Indexes
    happened: Flags
    accepted: Flags


@kernel
def sweep(buckets, laws, kinds, plans, plan, machine, most, found, exponents):
    """Fill `found` and `exponents`: the sum of each problem is found 2^exponent, NaN beyond `most` steps.

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
            found[p], exponents[p] = np.nan, 0
        else:
            found[p], exponents[p] = _summed(own, cells, ends, ways, plans, plan[p], kind_of, machine)


@inner
def _steps(own, cells, combinations):
    """About how many steps one way takes."""
    total = 0.0
    for c in range(len(cells.cut) - 1):
        sets, placed, read, rows = 1.0, 0.0, 0, 0
        for i in range(cells.starts[c], cells.starts[c + 1]):
            k = cells.kind[i]
            if own.own[k] < 0:
                sets *= own.count[k] + 1.0
            if cells.density[i] > 0.0:
                placed += own.count[k]
                read += own.count[k] if own.letter[k] >= 0 else 0
                rows += own.own[k] >= 0
        passes = placed * (placed + 1.0) / 2.0 if rows > 0 and read > 1 else placed
        total += sets * passes * (cells.starts[c + 1] - cells.starts[c])
    return total * combinations


@inner
def _summed(own, cells, ends, ways, plans, plan, kind_of, machine):
    """The sum over all ways; what comes before the first difference between two of them is done once."""
    first = np.zeros((len(machine.rests), len(ends.close)))
    first[0, 0] = 1.0
    anchors = plans.own[plans.starts[plan] : plans.starts[plan + 1]]
    kept, kept_digits, kept_exponent, begin = first, no_digits(len(machine.rests), len(ends.close)), 0, 0
    total, most = 0.0, 0
    for way in range(len(ways.weight)):
        same = _same_pieces(ways, plans, plan, way) if way + 1 < len(ways.weight) else -1
        states, digits, exponent = kept, kept_digits, kept_exponent
        start = begin
        if same < start:
            kept, kept_digits, kept_exponent, begin = (
                first,
                no_digits(len(machine.rests), len(ends.close)),
                0,
                0,
            )
        for piece in range(start, ways.cut.shape[1] - 1):
            if piece == same:
                kept, kept_digits, kept_exponent, begin = states, digits, exponent, piece
            ticks = ways.cut[way, piece], ways.cut[way, piece + 1]
            if ticks[0] == ticks[1]:
                continue
            cell = np.searchsorted(cells.cut, ticks[0], side="right") - 1
            if cell != digits.cell:
                later = digits_of(own, cells, ends, machine.happened, cell)
                states, digits = carried(states, own, digits, later), later
            length = tick_count(ticks[0], ticks[1] - 1)
            status = _status(ways.tick[way], plans, plan, ticks[0])
            target, ticked = _moves(own, cells, machine, cell, status)
            mass = _masses(own, cells, cell, length, anchors, ways.tick[way], ticks[0])
            if ticked:
                states = pass_by_ticks(states, digits, target, machine.rests, mass, length)
            else:
                states = pass_by_count(states, digits, target, machine.rests, mass)
            exponent += _scaled(states)
        states = carried(states, own, digits, no_digits(len(machine.rests), len(ends.close)))
        value = ways.weight[way] * _closed(states, ends, machine)
        if value != 0.0:
            total, most = _joined(total, most, value, exponent)
    return total, most


@inner
def _same_pieces(ways, plans, plan, way):
    """How many pieces of a way the next one has, too, in the same status."""
    for piece in range(ways.cut.shape[1] - 1):
        begin = ways.cut[way, piece]
        same = begin == ways.cut[way + 1, piece]
        same = same and ways.cut[way, piece + 1] == ways.cut[way + 1, piece + 1]
        same = same and _status(ways.tick[way], plans, plan, begin) == _status(
            ways.tick[way + 1], plans, plan, begin
        )
        for a in range(ways.tick.shape[1]):
            same = same and (begin == ways.tick[way, a]) == (begin == ways.tick[way + 1, a])
        if not same:
            return piece
    return ways.cut.shape[1] - 1


@inner
def _status(ticks, plans, plan, begin):
    """Of a piece, the bits of window ends: after the last tick for a first event, before that for a last."""
    status = 0
    for a in range(len(ticks)):
        place = plans.starts[plan] + a
        for i in range(plans.first_offset[place], plans.first_offset[place + 1]):
            end = ticks[a] + plans.offsets[i]
            outside = begin >= end if plans.offsets[i] > 0 else begin < end
            if plans.bits[i] >= 0 and outside:
                status |= 1 << plans.bits[i]
    return status


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
            read += own.count[k]
            rows = rows or own.own[k] >= 0
    return target, rows and read > 1


@inner
def _masses(own, cells, cell, length, anchors, ticks, first):
    """The mass of an event of each kind alive in a piece, times the factors of those that are over."""
    begin = cells.starts[cell]
    mass = np.empty(cells.starts[cell + 1] - begin)
    for i in range(len(mass)):
        each = cells.density[begin + i] * length
        for a in range(len(anchors)):
            if own.own[cells.kind[begin + i]] == anchors[a]:
                each = 1.0 if first == ticks[a] else 0.0
        mass[i] = each * cells.over[begin + i]
    return mass


@inner
def _scaled(states):
    """Divide by a power of two, whose exponent is returned."""
    most = 0.0
    for x in range(states.shape[0]):
        for c in range(states.shape[1]):
            most = max(most, states[x, c])
    exponent = frexp(most)[1]
    factor = ldexp(1.0, -exponent)
    for x in range(states.shape[0]):
        for c in range(states.shape[1]):
            states[x, c] *= factor
    return exponent


@inner
def _closed(states, ends, machine):
    total = 0.0
    for a in range(len(machine.rests)):
        if machine.accepted[a]:
            for c in range(len(ends.close)):
                total += states[a, c] * ends.close[c]
    return total


@inner
def _joined(total, most, value, exponent):
    """The sum of two numbers times powers of two, as one of each."""
    if total == 0.0:
        return value, exponent
    if exponent > most:
        return ldexp(total, max(most - exponent, -2000)) + value, exponent
    return total + ldexp(value, max(exponent - most, -2000)), most
