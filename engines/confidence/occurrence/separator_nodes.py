"""The few ticks of the separators of a part that stand for all of them, and where its polynomials change.

Whatever is, given the separators, a sum of products of one factor for each other event, is summed exactly by
them: between breakpoints it is a polynomial in the tick of each separator, of a degree that is the number of
others whose factors change there.

Breakpoints are eliminated in numbers.  Separators are nested in levels, the last one innermost.  An event
that is not a separator is cut where its clauses say: at ticks of separators plus offsets, and at constants.
Where two of these meet, a level has a breakpoint: a constant, or the tick of a lower level plus an offset.
The breakpoints of a level make some at the levels below it, in turn, where two of them meet.  What is on both
sides of a meeting agrees there, so that it may be taken to either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import apart, plus, sort_cuts, with_cut
from cepctl.engines.confidence.chain.runs import WIDEST_CELL
from cepctl.engines.confidence.occurrence.asked import (
    Bits,
    all_bits,
    clauses_of_levels,
    leave_alive,
    levels_of_clauses,
)
from cepctl.engines.confidence.occurrence.separators import words_of
from cepctl.engines.confidence.quadrature import most_nodes, place_nodes
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


class SeparatorNodes(NamedTuple):
    """n assignments of ticks to h separators: `tick`, shape (n, h), `weight` and problems `alive`, both (n,).

    `alive`: the problems whose clauses on separators alone hold there.
    """

    tick: Ticks
    weight: Reals
    alive: Bits


class Comparisons(NamedTuple):
    """Of differences between a separator and another event: one at tick t cuts it at t + `offset`."""

    level: Indexes
    event: Indexes
    offset: Ticks
    first: Ticks
    last: Ticks


_CELLS, _CELL, _NODES, _NODE = range(4)


@inner
def separator_nodes(part, separators, buckets, most):
    """The nodes of all separators at which a problem is alive, none weighted; how many, -1 beyond `most`."""
    levels = len(separators)
    level_of = np.full(len(part.event), -1)
    for level in range(levels):
        level_of[separators[level]] = level
    cuts = cuts_of(part, separators, level_of, buckets)
    offsets, clause = clauses_of_levels(levels_of_clauses(part, level_of), levels)
    compared = _comparisons(part, level_of, buckets)
    widest = 2 + (cuts.constants + cuts.relatives).max()
    room = most_nodes(np.int64(1) << 62, len(part.event)) + 1
    cells, places = np.empty((levels, widest), np.int64), np.empty((levels, room), np.int64)
    weights, factor, density = np.empty((levels, room)), np.ones(levels + 1), np.zeros(levels)
    cursor = np.zeros((levels, 4), np.int64)
    words, alive = _one_word(part), np.full((levels + 1, 1), all_bits(part.problems))
    tick, seen = np.zeros(len(part.event), np.int64), np.full(len(part.event), -1)
    found = SeparatorNodes(np.empty((64, levels), np.int64), np.empty(64), np.empty(64, np.uint64))
    count, visited, level = 0, 0, 0
    cursor[0, _CELLS] = begins_of_cells(cuts, part, separators, 0, tick, buckets, cells[0])
    cursor[0, _CELL] = -1
    while level >= 0:
        if cursor[level, _NODE] >= cursor[level, _NODES]:
            cursor[level, _CELL] += 1
            cell = cursor[level, _CELL]
            if cell >= cursor[level, _CELLS]:
                level -= 1
                continue
            cursor[level, _NODE] = cursor[level, _NODES] = 0
            event, begin = part.event[separators[level]], cells[level, cell]
            stop = buckets.upper[event] + 1 if cell + 1 == cursor[level, _CELLS] else cells[level, cell + 1]
            density[level] = density_at(buckets, event, begin)
            tick[separators[level]] = begin
            own = clause[offsets[level] : offsets[level + 1]]
            if density[level] == 0.0 or not leave_alive(
                part, words, alive[level], alive[level + 1], own, tick
            ):
                continue
            visited += 1
            degree = levels - 1 - level + _changing(compared, cuts, level, begin, stop - 1, seen, visited)
            cursor[level, _NODES] = place_nodes(stop - begin, degree, places[level], weights[level])
            continue
        node = cursor[level, _NODE]
        cursor[level, _NODE] += 1
        tick[separators[level]] = cells[level, cursor[level, _CELL]] + places[level, node]
        factor[level + 1] = factor[level] * density[level] * weights[level, node]
        if level + 1 < levels:
            level += 1
            cursor[level, _CELLS] = begins_of_cells(
                cuts, part, separators, level, tick, buckets, cells[level]
            )
            cursor[level, _CELL] = -1
            cursor[level, _NODE] = cursor[level, _NODES] = 0
            continue
        if count == most:
            return -1, found
        found = _with_node(found, count, separators, tick, factor[levels], alive[levels, 0])
        count += 1
    return count, found


@inner
def _one_word(part):
    return words_of(np.zeros(len(part.absent), np.int64), np.array([0, part.problems]))


@inner
def _with_node(nodes, count, separators, tick, weight, alive):
    """Nodes with one more of them, in twice the room where it is full."""
    found = _twice(nodes) if count == len(nodes.weight) else nodes
    for i in range(len(separators)):
        found.tick[count, i] = tick[separators[i]]
    found.weight[count], found.alive[count] = weight, alive
    return found


@inner
def _twice(nodes):
    count = len(nodes.weight)
    found = SeparatorNodes(
        np.empty((2 * count, nodes.tick.shape[1]), np.int64), np.empty(2 * count),
        np.empty(2 * count, np.uint64),
    )  # fmt: skip
    for node in range(count):
        for i in range(nodes.tick.shape[1]):
            found.tick[node, i] = nodes.tick[node, i]
        found.weight[node], found.alive[node] = nodes.weight[node], nodes.alive[node]
    return found


@inner
def _comparisons(part, level_of, buckets):
    count = len(part.left)
    found = Comparisons(
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64), np.empty(count, np.int64),
    )  # fmt: skip
    kept = 0
    for d in range(count):
        x, y, c = part.left[d], part.right[d], part.bound[d]
        if x < 0 or y < 0 or (level_of[x] < 0) == (level_of[y] < 0):
            continue
        other, separator, offset = (x, y, plus(c, 1)) if level_of[x] < 0 else (y, x, -c)
        found.level[kept], found.event[kept], found.offset[kept] = level_of[separator], other, offset
        found.first[kept] = buckets.lower[part.event[other]]
        found.last[kept] = buckets.upper[part.event[other]]
        kept += 1
    return Comparisons(
        found.level[:kept], found.event[:kept], found.offset[:kept], found.first[:kept], found.last[:kept]
    )


@inner
def _changing(compared, cuts, level, begin, last, seen, stamp):
    """How many others have a factor that a separator from `begin` to `last`, or a later one, changes."""
    count = 0
    for d in range(len(compared.level)):
        if compared.level[d] < level or seen[compared.event[d]] == stamp:
            continue
        low, high = begin, last
        if compared.level[d] > level:
            low, high = cuts.low[compared.level[d]], cuts.high[compared.level[d]]
        reaches = plus(high, compared.offset[d]) >= compared.first[d]
        if reaches and plus(low, compared.offset[d]) <= compared.last[d]:
            seen[compared.event[d]] = stamp
            count += 1
    return count


class Cuts(NamedTuple):
    """Breakpoints per level: the constants constant[level, : constants[level]], inside of its interval.

    And, for each row of relative[level, : relatives[level]], the tick of a lower level plus an
    offset.  `low`, `high`: the separators' intervals.  `full`: whether there was too little room.
    """

    constant: Ticks
    constants: Indexes
    relative: Ticks
    relatives: Indexes
    low: Ticks
    high: Ticks
    full: Flags


@inner
def cuts_of(part, separators, level_of, buckets):
    """The breakpoints of all levels; `level_of` is -1 for what is not a separator."""
    levels, room = len(separators), 64
    low, high = np.empty(levels, np.int64), np.empty(levels, np.int64)
    for level in range(levels):
        low[level] = buckets.lower[part.event[separators[level]]]
        high[level] = buckets.upper[part.event[separators[level]]]
    while True:
        cuts = Cuts(
            np.empty((levels, room), np.int64), np.zeros(levels, np.int64),
            np.empty((levels, room, 2), np.int64), np.zeros(levels, np.int64), low, high,
            np.zeros(1, np.bool_),
        )  # fmt: skip
        _find(cuts, part, separators, level_of, buckets)
        if not cuts.full[0]:
            return cuts
        room *= 4


@inner
def _find(cuts, part, separators, level_of, buckets):
    levels = len(separators)
    for level in range(levels):
        event = part.event[separators[level]]
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            _add_constant(cuts, level, buckets.lo[b])
            _add_constant(cuts, level, buckets.hi[b] + 1)
        if apart(cuts.low[level], cuts.high[level]) > WIDEST_CELL:
            _add_constant(cuts, level, np.int64(0))
    _add_separator_differences(cuts, part, level_of)
    for e in range(len(part.event)):
        if level_of[e] < 0:
            _add_meetings(cuts, part, e, level_of, buckets)
    for level in range(levels - 1, 0, -1):
        _eliminate(cuts, level)
    for level in range(levels):
        cuts.constants[level] = sort_cuts(cuts.constant[level], cuts.constants[level])


@inner
def _add_constant(cuts, level, at):
    """Unless it is not inside of the separator's interval."""
    if not cuts.low[level] < at <= cuts.high[level]:
        return
    count = cuts.constants[level]
    if count == cuts.constant.shape[1]:
        count = sort_cuts(cuts.constant[level], count)
        cuts.constants[level] = count
        if 2 * count > cuts.constant.shape[1]:
            cuts.full[0] = True
            return
    cuts.constant[level, count] = at
    cuts.constants[level] = count + 1


@inner
def _add_relative(cuts, level, other, offset):
    """Unless it is known, or the two separators are never so far apart."""
    if plus(cuts.high[other], offset) < cuts.low[level] or plus(cuts.low[other], offset) > cuts.high[level]:
        return
    count = cuts.relatives[level]
    for i in range(count):
        if cuts.relative[level, i, 0] == other and cuts.relative[level, i, 1] == offset:
            return
    if count == cuts.relative.shape[1]:
        cuts.full[0] = True
        return
    cuts.relative[level, count, 0] = other
    cuts.relative[level, count, 1] = offset
    cuts.relatives[level] = count + 1


@inner
def _add_separator_differences(cuts, part, level_of):
    """Where differences between separators, or of one to a constant, begin or cease to hold."""
    for d in range(len(part.left)):
        x, y, c = part.left[d], part.right[d], part.bound[d]
        i = level_of[x] if x >= 0 else -1
        j = level_of[y] if y >= 0 else -1
        if (x >= 0 and i < 0) or (y >= 0 and j < 0):
            continue
        if y < 0:
            _add_constant(cuts, i, plus(c, 1))
        elif x < 0:
            _add_constant(cuts, j, -c)
        elif i > j:
            _add_relative(cuts, i, j, plus(c, 1))
        else:
            _add_relative(cuts, j, i, -c)


@inner
def _add_meetings(cuts, part, event, level_of, buckets):
    """Where two cuts of an event that is not a separator meet: of separators, or of one and a constant."""
    own = part.event[event]
    first, stop = buckets.lower[own], buckets.upper[own] + 1
    for d in range(len(part.left)):
        level, offset = _cut(part, d, event, level_of)
        if level < 0:
            continue
        for b in range(buckets.starts[own], buckets.starts[own + 1]):
            _add_constant(cuts, level, plus(buckets.lo[b], -offset))
            _add_constant(cuts, level, plus(buckets.hi[b] + 1, -offset))
        for g in range(len(part.left)):
            other, others = _cut(part, g, event, level_of)
            if other == _CONSTANT and first < others < stop:
                _add_constant(cuts, level, plus(others, -offset))
            elif (
                0 <= other < level
                and plus(cuts.high[other], others) > first
                and plus(cuts.low[other], others) < stop
            ):
                _add_relative(cuts, level, other, plus(others, -offset))


_CONSTANT, _NOWHERE = -1, -2


@inner
def _cut(part, d, event, level_of):
    """Where a difference cuts an event: the level of a separator and an offset, or _CONSTANT and a tick."""
    x, y, c = part.left[d], part.right[d], part.bound[d]
    if event not in (x, y):
        return np.int64(_NOWHERE), np.int64(0)
    other, offset = (y, plus(c, 1)) if x == event else (x, -c)
    return (np.int64(_CONSTANT) if other < 0 else level_of[other]), offset


@inner
def _eliminate(cuts, level):
    """Pass on to the levels below where two breakpoints of this one meet."""
    cuts.constants[level] = sort_cuts(cuts.constant[level], cuts.constants[level])
    for i in range(cuts.relatives[level]):
        k, c = cuts.relative[level, i, 0], cuts.relative[level, i, 1]
        _add_constant(cuts, k, plus(cuts.low[level], -c))
        _add_constant(cuts, k, plus(plus(cuts.high[level], 1), -c))
        for j in range(cuts.constants[level]):
            _add_constant(cuts, k, plus(cuts.constant[level, j], -c))
        for j in range(cuts.relatives[level]):
            other, offset = cuts.relative[level, j, 0], cuts.relative[level, j, 1]
            if other < k:
                _add_relative(cuts, k, other, plus(offset, -c))


@inner
def begins_of_cells(cuts, part, separators, level, tick, buckets, cells):
    """Fill the begins of the cells of a level, given the ticks of those below; returns their number."""
    event = part.event[separators[level]]
    cells[0] = buckets.lower[event]
    count = 1
    for i in range(cuts.constants[level]):
        cells[count] = cuts.constant[level, i]
        count += 1
    for i in range(cuts.relatives[level]):
        at = plus(tick[separators[cuts.relative[level, i, 0]]], cuts.relative[level, i, 1])
        if buckets.lower[event] < at <= buckets.upper[event]:
            count = with_cut(cells, count, at)
    return count
