"""Where the probability of a part, given some of its separators, can change its polynomial.

Breakpoints are eliminated in numbers.  Separators are nested in levels, the last one innermost.  An event
that is not a separator is cut where its clauses say: at ticks of separators plus offsets, and at constants.
Where two of these meet, a level has a breakpoint: a constant, or the tick of a lower level plus an offset.
The breakpoints of a level make some at the levels below it, in turn, where two of them meet.  What is on both
sides of a meeting agrees there, so that it may be taken to either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import apart, plus, sort_cuts, with_cut
from cepctl.engines.confidence.chain.runs import WIDEST_CELL
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Ticks


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
