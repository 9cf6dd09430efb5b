"""The few ticks of the separators of a part that stand for all of them, each with its weight.

Whatever is, given the separators, a sum of products of one factor for each other event, is summed exactly by
them: between breakpoints (`cuts`) it is a polynomial in the tick of each separator, of a degree that is the
number of others whose factors change there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.occurrence.asked import (
    Bits,
    all_bits,
    clauses_of_levels,
    leave_alive,
    levels_of_clauses,
)
from cepctl.engines.confidence.occurrence.cuts import begins_of_cells, cuts_of
from cepctl.engines.confidence.occurrence.separators import words_of
from cepctl.engines.confidence.quadrature import most_nodes, place_nodes
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Reals, Ticks


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
