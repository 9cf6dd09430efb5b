"""The probability that some problem of a part holds: sums over the ticks of separators, one inside the other.

Given the ticks of all separators, `states` says how probable it is.  What only one problem asks of another
event is multiplied as soon as the separators that it is compared with have ticks, and sums that do not depend
on each other are multiplied (`separator_trees`).  Between breakpoints (`separator_nodes`) a sum is a
polynomial in the tick of each separator before it, of a degree that the number of other events bounds, so
that few ticks stand for all of a cell.  A problem that separators alone decide settles a whole cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import degree_of, is_weighted, weight_at
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.occurrence.asked import (
    NONE,
    ONE,
    Implied,
    Others,
    Sets,
    clauses_of_levels,
    implied_problems,
    leave_alive,
    levels_of_clauses,
    others_of,
    settled_at,
)
from cepctl.engines.confidence.occurrence.counted_records import degree_counted, hidden_below, weight_of_links
from cepctl.engines.confidence.occurrence.separator_nodes import Cuts, begins_of_cells, cuts_of
from cepctl.engines.confidence.occurrence.separator_trees import SeparatorTree
from cepctl.engines.confidence.occurrence.states import (
    BOUND,
    FAILED,
    LOOK,
    WORK,
    given_separators,
    mass_beside,
    new_pieces,
    new_states,
    shared,
)
from cepctl.engines.confidence.quadrature import most_nodes, place_certain_nodes
from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.numeric.arrays import Indexes, Reals, Ticks


class Levels(NamedTuple):
    """Of the separators, one per level: their tree, breakpoints, what each decides, what is settled then.

    `level_of`: the level of each event of the part, -1 for none.
    """

    tree: SeparatorTree
    level_of: Indexes
    cuts: Cuts
    offsets: Indexes
    clause: Indexes
    settled: Sets
    others: Others
    implied: Implied


class Walk(NamedTuple):
    """Where the sum is: a row per level of its cells, nodes and weights.

    `cursor` has the columns named below, `sums` a density, a coefficient and a total, and a row for the
    whole.  `alive`, shape (levels + 1, words): the problems that separators up to a level leave.  `share`,
    shape (levels + 1, blocks): of blocks of one problem the product of the events that these decide.
    """

    cells: Ticks
    nodes: Ticks
    weights: Reals
    cursor: Indexes
    sums: Reals
    alive: Sets
    share: np.ndarray[tuple[int, int], np.dtype[np.float64]]


_STEPS_OF_PRODUCT = 64
"""Additions and multiplications that take as long as one product of masses."""
_LOOKS_AT_BLOCK = 5
"""So many products take as long as to look at a block of problems, beside the first."""
_FIRST_LOOK = 16
"""This part of its bound a sum may take before it is asked how long the rest takes."""
_BY_FAR = 8
"""A sum is given up when by what it has taken the whole would take so many times its bound."""
_CELLS, _CELL, _NODES, _NODE = range(4)
_DENSITY, _COEFFICIENT, _TOTAL = range(3)


@inner
def union_probability(part, words, tree, buckets, work_bound):
    """Probability that some problem of a part holds, and the products that it took; NaN beyond the bound.

    Only the separators of a part of one problem may be a tree; those of others are one after the other.
    """
    level_of = np.full(len(part.event), -1)
    for level in range(len(tree.separators)):
        level_of[tree.separators[level]] = level
    others = others_of(part, words, level_of)
    implied = implied_problems(part, words, others)
    states, pieces = new_states(part.problems, part.mask.shape[1]), new_pieces(part)
    states.counters[BOUND], states.counters[LOOK] = work_bound, work_bound // _FIRST_LOOK
    tick = np.zeros(len(part.event), np.int64)
    level_of_clause = levels_of_clauses(part, level_of)
    offsets, clause = clauses_of_levels(level_of_clause, len(tree.separators))
    settled = settled_at(part, words, tree, level_of, level_of_clause, others)
    cuts = cuts_of(part, tree.separators, level_of, buckets)
    levels = Levels(tree, level_of, cuts, offsets, clause, settled, others, implied)
    walk = _new_walk(part, words, levels, buckets)
    some = _multiply(part, words, others, walk.share[0], walk.share[0], -1, buckets, tick, states, pieces)
    if not some:
        total = 0.0
    elif len(tree.separators) == 0:
        total = _some_block(part, words, levels, buckets, tick, words.full, walk.share[0], states, pieces)
    else:
        total = _summed(part, words, levels, walk, buckets, tick, states, pieces)
        if part.problems == 1:
            total *= walk.share[0, 0]
    failed = states.counters[FAILED] or states.counters[WORK] > work_bound
    return (np.nan if failed else total), states.counters[WORK]


@inner
def _multiply(part, words, others, before, after, level, buckets, tick, states, pieces):
    """Multiply what a level decides into the shares of blocks of one problem; whether any is left."""
    some = False
    for block in range(len(after)):
        after[block] = before[block]
        if words.full[words.begins[block]] == ONE and after[block] > 0.0:
            after[block] *= mass_beside(part, others, block, level, buckets, tick, states, pieces)
        some |= after[block] > 0.0
    return some


@inner
def _some_block(part, words, levels, buckets, tick, alive, share, states, pieces):
    """The probability that some problem of some block holds: given the separators blocks are independent."""
    total = 0.0
    for block in range(len(share)):
        own = alive[words.begins[block] : words.begins[block + 1]]
        if own.any():
            found = share[block]
            if words.full[words.begins[block]] != ONE:
                found = given_separators(
                    part, levels.others, levels.implied, block, buckets, tick, own, states, pieces
                )
            total += found * (1.0 - total)
            if states.counters[FAILED]:
                break
    return total


@inner
def _summed(part, words, levels, walk, buckets, tick, states, pieces):
    cursor, sums, tree, alone = walk.cursor, walk.sums, levels.tree, part.problems == 1
    separators, certain = tree.separators, np.ones(1)
    sums[len(separators), _COEFFICIENT], level = 1.0, 0
    _enter(part, levels, walk, 0, buckets, tick)
    while True:
        if cursor[level, _NODE] >= cursor[level, _NODES]:
            cursor[level, _CELL] += 1
            if cursor[level, _CELL] < cursor[level, _CELLS]:
                _begin_cell(part, words, levels, walk, level, buckets, tick, states)
                continue
            after = _after(tree, sums, level)
            if after == len(separators):
                return sums[len(separators), _COEFFICIENT]
            if after > level:
                _enter(part, levels, walk, after, buckets, tick)
            level = after
            continue
        node = cursor[level, _NODE]
        cursor[level, _NODE] += 1
        tick[separators[level]] = walk.cells[level, cursor[level, _CELL]] + walk.nodes[level, node]
        weight = sums[level, _DENSITY] * walk.weights[level, node]
        weight *= _weight_of(part, levels, level, buckets, tick)
        states.counters[WORK] += 1 + degree_of(buckets, part.event[separators[level]]) // _STEPS_OF_PRODUCT
        before, share = certain if alone else walk.share[level], walk.share[level + 1]
        states.counters[WORK] += _LOOKS_AT_BLOCK * (len(share) - 1)
        if states.counters[WORK] > states.counters[LOOK] and _too_much(tree, cursor, level, states.counters):
            states.counters[FAILED] = 1
            return 0.0
        if not _multiply(part, words, levels.others, before, share, level, buckets, tick, states, pieces):
            continue
        if alone:
            weight *= share[0]
        if tree.end[level] > level + 1:
            sums[level, _COEFFICIENT] = weight
            level += 1
            _enter(part, levels, walk, level, buckets, tick)
            continue
        if not alone:
            weight *= _some_block(
                part, words, levels, buckets, tick, walk.alive[level + 1], share, states, pieces
            )
        sums[level, _TOTAL] += weight
        if states.counters[FAILED]:
            return 0.0


@inner
def _too_much(tree, cursor, level, counters):
    """Whether the sum takes more than its bound, or would by far if its cells and nodes were alike.

    Of sums beside each other the first may be all there is to do: behind it all of them count as done.
    """
    counters[LOOK] = min(2 * counters[WORK], counters[BOUND])
    done = 0.0
    while level >= 0:
        of_cell = (cursor[level, _NODE] - 1 + done) / cursor[level, _NODES]
        done = (cursor[level, _CELL] + of_cell) / cursor[level, _CELLS]
        if tree.parent[level] != level - 1:
            done = 1.0
        level = tree.parent[level]
    return counters[WORK] > counters[BOUND] * min(_BY_FAR * done, 1.0)


@inner
def _weight_of(part, levels, level, buckets, tick):
    """What others of its series leave to the tick of a separator: by itself, and beside those before it."""
    place, weight = levels.tree.separators[level], 1.0
    if is_weighted(buckets, part.event[place]):
        weight = weight_at(buckets, part.event[place], tick[place])
    if len(part.links.left) > 0:
        weight *= weight_of_links(part.links, levels.level_of, level, tick)
    return weight


@inner
def _after(tree, sums, level):
    """Multiply a sum into that above it; returns where to go on: beside it, above, or after all."""
    count = len(tree.separators)
    above = tree.parent[level] if tree.parent[level] >= 0 else count
    sums[above, _COEFFICIENT] *= sums[level, _TOTAL]
    after, nothing = tree.end[level], sums[above, _COEFFICIENT] == 0.0
    if above == count:
        return count if nothing else after
    if nothing or after == tree.end[above]:
        sums[above, _TOTAL] += sums[above, _COEFFICIENT]
        return above
    return after


@inner
def _new_walk(part, words, levels, buckets):
    separators, cuts = levels.tree.separators, levels.cuts
    count = len(separators)
    degree = len(levels.others.event) + count
    for event in part.event:
        degree += degree_of(buckets, event) + degree_counted(part.counted, event, levels.level_of, 0, 0)
    degree += hidden_below(part.links, levels.level_of, 0, count)
    widest = 2
    for level in range(count):
        widest = max(widest, cuts.constants[level] + cuts.relatives[level] + 2)
    most = most_nodes(np.int64(1) << 62, degree) + 1
    alive = np.empty((count + 1, len(words.full)), np.uint64)
    alive[0] = words.full
    return Walk(
        np.empty((count, widest), np.int64), np.empty((count, most), np.int64), np.empty((count, most)),
        np.zeros((count, 4), np.int64), np.zeros((count + 1, 3)), alive,
        np.ones((count + 1, len(words.begins) - 1)),
    )  # fmt: skip


@inner
def _enter(part, levels, walk, level, buckets, tick):
    """Begin the sum over a separator, given the ticks of those before it."""
    walk.sums[level, _TOTAL] = 0.0
    walk.cursor[level, _CELLS] = begins_of_cells(
        levels.cuts, part, levels.tree.separators, level, tick, buckets, walk.cells[level]
    )
    walk.cursor[level, _CELL] = -1
    walk.cursor[level, _NODE] = walk.cursor[level, _NODES] = 0


@inlined
def _begin_cell(part, words, levels, walk, level, buckets, tick, states):
    """Place the nodes of a cell: none where no problem is left, or one is settled, which adds the cell."""
    cursor, sums, tree = walk.cursor, walk.sums, levels.tree
    event, cell = part.event[tree.separators[level]], cursor[level, _CELL]
    begin = walk.cells[level, cell]
    stop = buckets.upper[event] + 1 if cell + 1 == cursor[level, _CELLS] else walk.cells[level, cell + 1]
    cursor[level, _NODE] = cursor[level, _NODES] = 0
    sums[level, _DENSITY] = density_at(buckets, event, begin)
    if sums[level, _DENSITY] == 0.0:
        return
    tick[tree.separators[level]] = begin
    own = levels.clause[levels.offsets[level] : levels.offsets[level + 1]]
    left = walk.alive[level + 1]
    states.counters[WORK] += len(own) * part.mask.shape[1] // 2 + _LOOKS_AT_BLOCK * (len(words.begins) - 2)
    if not leave_alive(part, words, walk.alive[tree.parent[level] + 1], left, own, tick):
        return
    if _some_settled(left, levels.settled[level]):
        whole = _whole_cell(walk, level, buckets, event, begin, stop, states)
        sums[level, _TOTAL] += sums[level, _DENSITY] * whole
        return
    end = tree.end[level]
    degree = end - 1 - level
    for separator in tree.separators[level:end]:
        degree += degree_of(buckets, part.event[separator])
    degree += hidden_below(part.links, levels.level_of, level, end)
    for block in range(len(words.begins) - 1):
        own = left[words.begins[block] : words.begins[block + 1]]
        for i in range(levels.others.offsets[block], levels.others.offsets[block + 1]):
            if level <= levels.others.level[i] < end and shared(levels.others.problems[i], own):
                degree += 1 + degree_counted(
                    part.counted, part.event[levels.others.event[i]], levels.level_of, level, end
                )
    cursor[level, _NODES] = _placed(walk, level, stop - begin, degree, states)


@inner
def _placed(walk, level, ticks, degree, states):
    """Place nodes that sum what is positive; returns their number, none beyond the bound on the work."""
    count = place_certain_nodes(ticks, degree, walk.nodes[level], walk.weights[level])
    if count < ticks:
        # A system of half as many rows is solved.
        states.counters[WORK] += count * count * degree // (24 * _STEPS_OF_PRODUCT)
    if states.counters[WORK] > states.counters[BOUND]:
        states.counters[FAILED] = 1
        return 0
    return count


@inner
def _some_settled(left, settled):
    found = NONE
    for word in range(len(left)):
        found |= left[word] & settled[word]
    return found != NONE


@inner
def _whole_cell(walk, level, buckets, event, begin, stop, states):
    """The ticks of a cell, each with its weight."""
    if not is_weighted(buckets, event):
        return tick_count(begin, stop - 1)
    total = 0.0
    for i in range(_placed(walk, level, stop - begin, degree_of(buckets, event), states)):
        total += walk.weights[level, i] * weight_at(buckets, event, begin + walk.nodes[level, i])
    return total
