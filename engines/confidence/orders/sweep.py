"""The weights of all orders of some events by which a question is answered yes, in one pass over time.

What is kept between two pieces of time says which of the events alive have happened, which step came last in
each key, and how far the question is (`questions.py` makes a machine of it); how a piece changes it says
`cepctl.engines.order_laws.stretches`.  Sums are scaled by powers of two, so that no product of factors leaves
the floats.

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
from cepctl.engines.confidence.orders.ways import Plans, ways_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.cells import problem_of
from cepctl.engines.order_laws.sets import carried, closing, combinations, dot, lasts_of, sets_of
from cepctl.engines.order_laws.stretches import passed, scale


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


class Questions(NamedTuple):
    """Of each of P questions which events are held, as a plan of `plans`; all have one machine."""

    machine: Machine
    plans: Plans
    plan: Indexes


@kernel
def sweep(buckets, laws, kinds, slots, questions, most, found, exponents):
    """Fill `found` and `exponents`: the sum of each problem is found 2^exponent, -1 beyond `most` steps.

    Of a and b on 1..4 and next(A, B) = 4 that is 5/2, and whether a comes first at an earlier tick 3/2.
    """
    machine, plans = questions.machine, questions.plans
    for p in range(len(found)):
        plan = questions.plan[p]
        problem = problem_of(buckets, kinds, slots, p, machine.own, machine.happened.shape[1])
        ways = ways_of(buckets, problem, plans, plan)
        steps = len(ways.weight) * len(machine.rests) * _steps(laws, problem)
        if len(ways.weight) == 0 or steps > most:
            found[p], exponents[p] = -1.0, 0
        else:
            found[p], exponents[p] = _summed(laws, problem, ways, plans, plan, machine)


@inner
def _steps(laws, problem):
    """About how many steps one way takes, by state of the machine."""
    total = 0.0
    for c in range(len(problem.cut) - 1):
        sets, placed, read, rows = 1.0, 0.0, 0, 0
        for i in range(problem.starts[c], problem.starts[c + 1]):
            k = problem.kind[i]
            if problem.own[k] < 0:
                sets *= problem.members[k] + 1.0
            if problem.density[i] > 0.0:
                placed += problem.members[k]
                read += problem.members[k] if problem.letter[k] >= 0 else 0
                rows += problem.own[k] >= 0
        passes = placed * (placed + 1.0) / 2.0 if rows > 0 and read > 1 else placed
        _, lasts = lasts_of(laws, problem, c)
        total += sets * passes * combinations(lasts) * (problem.starts[c + 1] - problem.starts[c])
    return total


@inner
def _summed(laws, problem, ways, plans, plan, machine):
    """The sum over all ways.

    What comes before the first difference between two of them is done once, and so is what comes after the
    last: there their states are summed first.
    """
    first, none = np.zeros((len(machine.rests), 1)), sets_of(laws, problem, machine.happened, -1)
    first[0, 0] = 1.0
    held = _held(problem, plans, plan)
    kept, kept_sets, kept_cell, kept_exponent, begin = first, none, -1, 0, 0
    joined = _no_states(len(problem.cut) * machine.read.shape[1])
    for way in range(len(ways.weight)):
        same = _same_pieces(ways, plans, plan, way) if way + 1 < len(ways.weight) else -1
        states, sets, cell, exponent, start = kept, kept_sets, kept_cell, kept_exponent, begin
        if same < start:
            kept, kept_sets, kept_cell, kept_exponent, begin = first, none, -1, 0, 0
        pieces = ways.cut.shape[1] - 1
        after = min(ways.last[way] + 1, pieces) if len(held) > 0 else pieces
        for piece in range(start, after):
            if piece == same:
                kept, kept_sets, kept_cell, kept_exponent, begin = states, sets, cell, exponent, piece
            length = _length(ways, way, piece)
            if length == 0.0:
                continue
            status = _status(ways.mark[way], plans, plan, piece)
            at_tick = _held_at(held, ways, way, plans, plan, piece)
            own = np.searchsorted(problem.cut, ways.cut[way, piece], side="right") - 1
            if own != cell:
                later = sets_of(laws, problem, machine.happened, own)
                (states, power), sets = carried(states, problem, machine.happened, sets, later), later
                cell, exponent = own, exponent + power
            states = _passed(states, problem, cell, sets, machine, status, length, held, at_tick)
            exponent += scale(states)
        cell, status = len(problem.cut) - 1, 0
        if after < pieces:
            cell = np.searchsorted(problem.cut, ways.cut[way, after], side="right") - 1
            status = _status(ways.mark[way], plans, plan, after)
        later = sets_of(laws, problem, machine.happened, cell)
        states, power = carried(states, problem, machine.happened, sets, later)
        _join(joined, status * len(problem.cut) + cell, states, ways.weight[way], exponent + power)
    return _finished(laws, problem, machine, held, joined)


@inner
def _held(problem, plans, plan):
    """The kinds that are held, by anchor."""
    return problem.rows[plans.own[plans.starts[plan] : plans.starts[plan + 1]]]


@inner
def _no_states(count):
    """States that are not there yet, by place."""
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
def _finished(laws, problem, machine, held, joined):
    """The sum of what is left of all ways, those of one status together."""
    cells, nothing_held = len(problem.cut) - 1, np.zeros(len(held), dtype=np.bool_)
    sums = _no_states(1)
    for status in range(machine.read.shape[1]):
        states, exponent = np.zeros((0, 0)), 0
        sets = sets_of(laws, problem, machine.happened, -1)
        for cell in range(cells + 1):
            place = status * (cells + 1) + cell
            if len(states) == 0 and len(joined[place][0]) == 0:
                continue
            later = sets_of(laws, problem, machine.happened, cell)
            if len(states) > 0:
                states, power = carried(states, problem, machine.happened, sets, later)
                _join(joined, place, states, 1.0, exponent + power)
            (states, exponent), sets = joined[place], later
            if cell < cells:
                length = tick_count(problem.cut[cell], problem.cut[cell + 1] - 1)
                states = _passed(states, problem, cell, sets, machine, status, length, held, nothing_held)
                exponent += scale(states)
        if len(states) > 0:
            value, closes = np.zeros((1, 1)), closing(laws, problem, sets)
            for a in range(len(machine.rests)):
                if machine.accepted[a]:
                    value[0, 0] += dot(states[a], closes)
            if value[0, 0] != 0.0:
                _join(sums, 0, value, 1.0, exponent)
    value, exponent = sums[0]
    return value[0, 0] if len(value) > 0 else 0.0, exponent


@inner
def _passed(states, problem, cell, sets, machine, status, length, held, at_tick):
    """The states after a piece of a cell."""
    target, ticked = _moves(problem, cell, machine, status)
    ticks = length if ticked else 1.0
    mass = np.zeros(target.shape)
    for i in range(target.shape[1]):
        place = problem.starts[cell] + i
        each = problem.density[place] * (1.0 if ticked else length)
        for anchor in range(len(held)):
            if sets.kind[i] == held[anchor]:
                each = 1.0 if at_tick[anchor] else 0.0
        for a in range(target.shape[0]):
            if target[a, i] >= 0:
                mass[a, i] = each * problem.over[place] * sets.gates[a, i]
    states, size = passed(states, sets, target, mass, machine.rests, ticks), len(sets.rates)
    for a in range(len(machine.rests)):
        hopes = machine.hopes[a, status]
        for anchor in range(len(held)):
            hopes = hopes and (not at_tick[anchor] or machine.happened[a, problem.own[held[anchor]]])
        if not hopes:
            states[a * size : (a + 1) * size] = 0.0
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
def _moves(problem, cell, machine, status):
    """To which state each kind alive leads from each, -1 for none; whether ticks are told apart.

    They are where the question reads two events, one of them of a row.
    """
    begin, states = problem.starts[cell], len(machine.rests)
    target = np.empty((states, problem.starts[cell + 1] - begin), dtype=np.int64)
    read, rows = 0, False
    for i in range(target.shape[1]):
        k = problem.kind[begin + i]
        letter = machine.read[problem.letter[k], status] if problem.letter[k] >= 0 else -1
        for a in range(states):
            target[a, i] = a if letter < 0 else machine.moves[a, letter]
        if letter >= 0 and problem.density[begin + i] > 0.0:
            read += problem.members[k]
            rows = rows or problem.own[k] >= 0
    return target, rows and read > 1
