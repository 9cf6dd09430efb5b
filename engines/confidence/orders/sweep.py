"""The weights of all orders of some events by which a question is answered yes, in one pass over time.

What is kept between two pieces of time says which of the events alive have happened, which step came last in
each key, and how far the question is (`questions.py` makes a machine of it); how a piece changes it says
`cepctl.engines.order_laws.cells`.  Sums are scaled by powers of two, so that no product of factors leaves
the floats.

    name here      meaning
    way            how some events of rows are held at single ticks
    status         which windows' ends a piece lies beyond, a bit for each
"""

from __future__ import annotations

from math import ldexp
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.orders.questions import Plans, ways_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.order_laws.cells import OrderProblem, passed, problem_of, scale
from cepctl.engines.order_laws.keys import LawTables
from cepctl.engines.order_laws.sets import SetWalk, begun, closing, combinations, come_to, dot, lasts_of
from cepctl.numeric.arrays import Flags, Indexes


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
            held = problem.rows[plans.own[plans.starts[plan] : plans.starts[plan + 1]]]
            task = _Task(laws, problem, machine, plans, plan, held)
            found[p], exponents[p] = _summed(task, ways)


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


class _Task(NamedTuple):
    """What all ways to answer a question have in common; `held`: the kind of each anchor of its plan."""

    laws: LawTables
    problem: OrderProblem
    machine: Machine
    plans: Plans
    plan: int
    held: np.ndarray


@inner
def _summed(task, ways):
    """The sum over all ways.

    What comes before the first difference between two of them is done once, and so is what comes after the
    last: there their states are summed first.
    """
    problem, happened = task.problem, task.machine.happened
    cells, first = len(problem.cut) - 1, begun(task.laws, problem, happened)
    kept, begin = first, 0
    nothing = SetWalk(first.states[:0], first.sets, -1, 0)
    joined = [nothing]
    for _ in range((cells + 1) * task.machine.read.shape[1] - 1):
        joined.append(nothing)
    for way in range(len(ways.weight)):
        same = _same_pieces(task, ways, way) if way + 1 < len(ways.weight) else -1
        walk, start = kept, begin
        if same < start:
            kept, begin = first, 0
        pieces = ways.cut.shape[1] - 1
        after = min(ways.last[way] + 1, pieces) if len(task.held) > 0 else pieces
        for piece in range(start, after):
            if piece == same:
                kept, begin = walk, piece
            length = _length(ways, way, piece)
            if length > 0.0:
                walk = come_to(task.laws, problem, happened, walk, _cell_of(problem, ways, way, piece))
                at_tick = _held_at(task, ways, way, piece)
                walk = _passed(task, walk, _status(task, ways, way, piece), length, at_tick)
        cell, status = cells, 0
        if after < pieces:
            cell, status = _cell_of(problem, ways, way, after), _status(task, ways, way, after)
        walk = come_to(task.laws, problem, happened, walk, cell)
        _join(joined, status * (cells + 1) + cell, walk, ways.weight[way])
    return _finished(task, joined, nothing)


@inner
def _finished(task, joined, nothing):
    """The sum of what is left of all ways, those of one status together; the exponent of its power of two."""
    problem, machine = task.problem, task.machine
    cells, not_held = len(problem.cut) - 1, np.zeros(len(task.held), dtype=np.bool_)
    sums = [nothing]
    for status in range(machine.read.shape[1]):
        walk = nothing
        for cell in range(cells + 1):
            place = status * (cells + 1) + cell
            if len(walk.states) > 0:
                _join(joined, place, come_to(task.laws, problem, machine.happened, walk, cell), 1.0)
            walk = joined[place]
            if len(walk.states) > 0 and cell < cells:
                length = tick_count(problem.cut[cell], problem.cut[cell + 1] - 1)
                walk = _passed(task, walk, status, length, not_held)
        if len(walk.states) > 0:
            value, closes = np.zeros((1, 1)), closing(task.laws, problem, walk.sets)
            for a in range(len(machine.rests)):
                if machine.accepted[a]:
                    value[0, 0] += dot(walk.states[a], closes)
            if value[0, 0] != 0.0:
                _join(sums, 0, SetWalk(value, walk.sets, cells, walk.exponent), 1.0)
    found = sums[0]
    return found.states[0, 0] if len(found.states) > 0 else 0.0, found.exponent


@inner
def _join(joined, place, walk, weight):
    """Add states times a weight to what is known at a place."""
    known = joined[place]
    exponent = max(known.exponent, walk.exponent) if len(known.states) > 0 else walk.exponent
    states = walk.states * (weight * ldexp(1.0, max(walk.exponent - exponent, -2000)))
    if len(known.states) > 0:
        states = known.states * ldexp(1.0, max(known.exponent - exponent, -2000)) + states
    joined[place] = SetWalk(states, walk.sets, walk.cell, exponent)


@inner
def _passed(task, walk, status, length, at_tick):
    """What comes of a sum in a piece of its cell; `at_tick`: which anchors are held there."""
    problem, machine, sets, held = task.problem, task.machine, walk.sets, task.held
    target, ticked = _moves(problem, walk.cell, machine, status)
    mass = np.zeros(target.shape)
    for i in range(target.shape[1]):
        place = problem.starts[walk.cell] + i
        each = problem.density[place] * (1.0 if ticked else length)
        for anchor in range(len(held)):
            if sets.kind[i] == held[anchor]:
                each = 1.0 if at_tick[anchor] else 0.0
        for a in range(target.shape[0]):
            if target[a, i] >= 0:
                mass[a, i] = each * problem.over[place] * sets.gates[a, i]
    states = passed(walk.states, sets, target, mass, machine.rests, length if ticked else 1.0)
    size = len(sets.rates)
    for a in range(len(machine.rests)):
        hopes = machine.hopes[a, status]
        for anchor in range(len(held)):
            hopes = hopes and (not at_tick[anchor] or machine.happened[a, problem.own[held[anchor]]])
        if not hopes:
            states[a * size : (a + 1) * size] = 0.0
    power = scale(states)
    return SetWalk(states, sets, walk.cell, walk.exponent + power)


@inner
def _cell_of(problem, ways, way, piece):
    """The cell in which a piece of a way is."""
    return np.searchsorted(problem.cut, ways.cut[way, piece], side="right") - 1


@inner
def _same_pieces(task, ways, way):
    """How many pieces of a way the next one has, too, in the same status."""
    for piece in range(ways.cut.shape[1] - 1):
        same = _status(task, ways, way, piece) == _status(task, ways, way + 1, piece)
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
def _status(task, ways, way, piece):
    """Of a piece, the bits of window ends: after the last tick for a first event, before that for a last."""
    status, begin = 0, task.plans.first_offset[task.plans.starts[task.plan]]
    for mark in range(ways.mark.shape[1]):
        outside = (piece >= ways.mark[way, mark]) == (task.plans.offsets[begin + mark] > 0)
        if task.plans.bits[begin + mark] >= 0 and outside:
            status |= 1 << task.plans.bits[begin + mark]
    return status


@inner
def _held_at(task, ways, way, piece):
    """Which anchors are held in a piece."""
    found, start = np.zeros(len(task.held), dtype=np.bool_), task.plans.starts[task.plan]
    begin = task.plans.first_offset[start]
    for a in range(len(found)):
        for i in range(task.plans.first_offset[start + a], task.plans.first_offset[start + a + 1]):
            if task.plans.offsets[i] == 0 and _begins(ways, way, piece, i - begin):
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
