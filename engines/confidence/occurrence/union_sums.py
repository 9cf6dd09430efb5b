"""The probability that some problem of a part holds: sums over the ticks of separators, one inside the other.

Given the ticks of all separators, `states` says how probable it is.  Between breakpoints (`cuts`) that is a
polynomial in the tick of each separator, of a degree that the number of other events bounds, so that few
ticks stand for all of a cell.  A problem that separators alone decide settles a whole cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.laws import degree_of, is_weighted, weight_at
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.occurrence.asked import (
    NONE,
    Bits,
    Others,
    clauses_of_levels,
    leave_alive,
    others_of,
    settled_at,
)
from cepctl.engines.confidence.occurrence.cuts import Cuts, cuts_of
from cepctl.engines.confidence.occurrence.level_cells import begins_of_cells
from cepctl.engines.confidence.occurrence.states import (
    BOUND,
    FAILED,
    WORK,
    given_separators,
    new_pieces,
    new_states,
)
from cepctl.engines.confidence.quadrature import most_nodes, place_nodes
from cepctl.engines.kernels.kernel import inlined, inner


class Levels(NamedTuple):
    """Of the separators, one per level: breakpoints, the clauses that each decides, what is settled then."""

    separators: Indexes
    cuts: Cuts
    offsets: Indexes
    clause: Indexes
    settled: Bits
    others: Others


class Walk(NamedTuple):
    """Where the sum is: a row per level of its cells, nodes and weights.

    `cursor` has the columns named below, `sums` a density, a coefficient and a total.  `alive`, shape
    (levels + 1, words): the problems that separators up to a level leave.
    """

    cells: Ticks
    nodes: Ticks
    weights: Reals
    cursor: Indexes
    sums: Reals
    alive: np.ndarray[tuple[int, int], np.dtype[np.uint64]]


_CELLS, _CELL, _NODES, _NODE = range(4)
_DENSITY, _COEFFICIENT, _TOTAL = range(3)


@inner
def union_probability(part, words, separators, buckets, work_bound):
    """Probability that some problem of a part holds, and the products that it took; NaN beyond the bound."""
    level_of = np.full(len(part.event), -1)
    for level in range(len(separators)):
        level_of[separators[level]] = level
    others = others_of(part, words, level_of)
    states, pieces = new_states(part.problems), new_pieces(part)
    states.counters[BOUND] = work_bound
    tick = np.zeros(len(part.event), np.int64)
    if len(separators) == 0:
        total = _some_word(part, others, buckets, tick, words.full, states, pieces)
        return (np.nan if states.counters[FAILED] else total), states.counters[WORK]
    offsets, clause = clauses_of_levels(part, level_of, len(separators))
    settled = settled_at(part, words, level_of, len(separators), others)
    levels = Levels(
        separators, cuts_of(part, separators, level_of, buckets), offsets, clause, settled, others
    )
    walk = _new_walk(part, words, levels, buckets)
    total = _summed(part, words, levels, walk, buckets, tick, states, pieces)
    return total, states.counters[WORK]


@inner
def _some_word(part, others, buckets, tick, alive, states, pieces):
    """The probability that some problem of some word holds: given the separators words are independent."""
    total = 0.0
    for word in range(len(alive)):
        if alive[word] != NONE:
            own = given_separators(part, others, word, buckets, tick, alive[word], states, pieces)
            total += own * (1.0 - total)
            if states.counters[FAILED]:
                break
    return total


@inner
def _summed(part, words, levels, walk, buckets, tick, states, pieces):
    cursor, sums, last = walk.cursor, walk.sums, len(levels.separators) - 1
    level = 0
    _enter(part, levels, walk, 0, buckets, tick)
    while True:
        if cursor[level, _NODE] >= cursor[level, _NODES]:
            cursor[level, _CELL] += 1
            if cursor[level, _CELL] < cursor[level, _CELLS]:
                _begin_cell(part, words, levels, walk, level, buckets, tick)
                continue
            if level == 0:
                return sums[0, _TOTAL]
            level -= 1
            sums[level, _TOTAL] += sums[level, _COEFFICIENT] * sums[level + 1, _TOTAL]
            continue
        node = cursor[level, _NODE]
        tick[levels.separators[level]] = walk.cells[level, cursor[level, _CELL]] + walk.nodes[level, node]
        weight = sums[level, _DENSITY] * walk.weights[level, node]
        event = part.event[levels.separators[level]]
        if is_weighted(buckets, event):
            weight *= weight_at(buckets, event, tick[levels.separators[level]])
        cursor[level, _NODE] += 1
        if level < last:
            sums[level, _COEFFICIENT] = weight
            level += 1
            _enter(part, levels, walk, level, buckets, tick)
            continue
        sums[level, _TOTAL] += weight * _some_word(
            part, levels.others, buckets, tick, walk.alive[level + 1], states, pieces
        )
        if states.counters[FAILED]:
            return np.nan


@inner
def _new_walk(part, words, levels, buckets):
    count, cuts = len(levels.separators), levels.cuts
    degree = len(levels.others.event) + count
    for separator in levels.separators:
        degree += degree_of(buckets, part.event[separator])
    widest = 2
    for level in range(count):
        widest = max(widest, cuts.constants[level] + cuts.relatives[level] + 2)
    most = most_nodes(np.int64(1) << 62, degree) + 1
    alive = np.empty((count + 1, len(words.full)), np.uint64)
    alive[0] = words.full
    return Walk(
        np.empty((count, widest), np.int64), np.empty((count, most), np.int64), np.empty((count, most)),
        np.zeros((count, 4), np.int64), np.zeros((count, 3)), alive,
    )  # fmt: skip


@inner
def _enter(part, levels, walk, level, buckets, tick):
    """Begin the sum over a separator, given the ticks of those before it."""
    walk.sums[level, _TOTAL] = 0.0
    walk.cursor[level, _CELLS] = begins_of_cells(
        levels.cuts, part, levels.separators, level, tick, buckets, walk.cells[level]
    )
    walk.cursor[level, _CELL] = -1
    walk.cursor[level, _NODE] = walk.cursor[level, _NODES] = 0


@inlined
def _begin_cell(part, words, levels, walk, level, buckets, tick):
    """Place the nodes of a cell: none where no problem is left, or one is settled, which adds the cell."""
    cursor, sums = walk.cursor, walk.sums
    event, cell = part.event[levels.separators[level]], cursor[level, _CELL]
    begin = walk.cells[level, cell]
    stop = buckets.upper[event] + 1 if cell + 1 == cursor[level, _CELLS] else walk.cells[level, cell + 1]
    cursor[level, _NODE] = cursor[level, _NODES] = 0
    sums[level, _DENSITY] = density_at(buckets, event, begin)
    if sums[level, _DENSITY] == 0.0:
        return
    tick[levels.separators[level]] = begin
    if not leave_alive(part, words, walk.alive, levels.offsets, levels.clause, level, tick):
        return
    left = walk.alive[level + 1]
    if _some_settled(left, levels.settled[level]):
        sums[level, _TOTAL] += sums[level, _DENSITY] * _whole_cell(walk, level, buckets, event, begin, stop)
        return
    degree = len(levels.separators) - 1 - level
    for separator in levels.separators[level:]:
        degree += degree_of(buckets, part.event[separator])
    for word in range(len(left)):
        for i in range(levels.others.offsets[word], levels.others.offsets[word + 1]):
            if levels.others.level[i] >= level and levels.others.problems[i] & left[word] != NONE:
                degree += 1
    cursor[level, _NODES] = place_nodes(stop - begin, degree, walk.nodes[level], walk.weights[level])


@inner
def _some_settled(left, settled):
    found = NONE
    for word in range(len(left)):
        found |= left[word] & settled[word]
    return found != NONE


@inner
def _whole_cell(walk, level, buckets, event, begin, stop):
    """The ticks of a cell, each with its weight."""
    if not is_weighted(buckets, event):
        return tick_count(begin, stop - 1)
    nodes, weights = walk.nodes[level], walk.weights[level]
    total = 0.0
    for i in range(place_nodes(stop - begin, degree_of(buckets, event), nodes, weights)):
        total += weights[i] * weight_at(buckets, event, begin + nodes[i])
    return total
