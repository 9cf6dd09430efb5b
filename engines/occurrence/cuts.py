"""Where the probability of a part, given some of its hubs, can change its polynomial.

Breakpoints are eliminated in numbers.  Hubs are nested in levels, the last one innermost.  An event that is
not a hub is cut where its clauses say: at ticks of hubs plus offsets, and at constants.  Where two of
these meet, a level has a breakpoint: a constant, or the tick of a lower level plus an offset.  The
breakpoints of a level make some at the levels below it, in turn, where two of them meet.  What is on both
sides of a meeting agrees there, so that it may be taken to either.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_sums import apart, plus
from cepctl.engines.confidence.chain.closed_form import WIDEST_CELL


class Cuts(NamedTuple):
    """Breakpoints per level: the constants constant[level, : constants[level]], inside of the hub's interval.

    And, for each row of relative[level, : relatives[level]], the tick of a lower level plus an offset.
    """

    constant: Ticks
    constants: Indexes
    relative: Ticks
    relatives: Indexes


@njit(nogil=True, cache=True)
def cuts_of(part, hubs, level_of, buckets):
    """The breakpoints of all levels; `level_of` is -1 for what is not a hub."""
    levels = len(hubs)
    constant, constants = np.empty((levels, 64), np.int64), np.zeros(levels, np.int64)
    relative, relatives = np.empty((levels, 16, 2), np.int64), np.zeros(levels, np.int64)
    cuts = Cuts(constant, constants, relative, relatives)
    least, most = buckets.lower[part.event], buckets.upper[part.event]
    low, high = least[hubs], most[hubs]
    for level in range(levels):
        event = part.event[hubs[level]]
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            cuts = _with_constant(cuts, level, buckets.lo[b], low, high)
            cuts = _with_constant(cuts, level, buckets.hi[b] + 1, low, high)
        if apart(low[level], high[level]) > WIDEST_CELL:
            cuts = _with_constant(cuts, level, np.int64(0), low, high)
    cuts = _with_hub_differences(cuts, part, level_of, low, high)
    for e in range(len(part.event)):
        if level_of[e] < 0:
            cuts = _with_meetings(cuts, part, e, level_of, buckets, low, high)
    for level in range(levels - 1, 0, -1):
        cuts = _eliminated(cuts, level, low, high)
    for level in range(levels):
        cuts.constants[level] = _sorted_unique(cuts.constant[level, : cuts.constants[level]])
    return cuts


@njit(nogil=True, cache=True)
def _with_constant(cuts, level, at, low, high):
    if not low[level] < at <= high[level]:
        return cuts
    constant, count = cuts.constant, cuts.constants[level]
    if count == constant.shape[1]:
        count = _sorted_unique(constant[level])
        if 2 * count > constant.shape[1]:
            wider = np.empty((constant.shape[0], 2 * constant.shape[1]), np.int64)
            wider[:, : constant.shape[1]] = constant
            constant = wider
    constant[level, count] = at
    cuts.constants[level] = count + 1
    return Cuts(constant, cuts.constants, cuts.relative, cuts.relatives)


@njit(nogil=True, cache=True)
def _with_relative(cuts, level, other, offset, low, high):
    """Unless the two hubs are never so far apart."""
    if plus(high[other], offset) < low[level] or plus(low[other], offset) > high[level]:
        return cuts
    relative, count = cuts.relative, cuts.relatives[level]
    for i in range(count):
        if relative[level, i, 0] == other and relative[level, i, 1] == offset:
            return cuts
    if count == relative.shape[1]:
        wider = np.empty((relative.shape[0], 2 * count, 2), np.int64)
        wider[:, :count] = relative
        relative = wider
    relative[level, count, 0] = other
    relative[level, count, 1] = offset
    cuts.relatives[level] = count + 1
    return Cuts(cuts.constant, cuts.constants, relative, cuts.relatives)


@njit(nogil=True, cache=True)
def _with_hub_differences(cuts, part, level_of, low, high):
    """Where differences between hubs, or of one to a constant, begin or cease to hold."""
    for d in range(len(part.left)):
        x, y, c = part.left[d], part.right[d], part.bound[d]
        i = level_of[x] if x >= 0 else -1
        j = level_of[y] if y >= 0 else -1
        if (x >= 0 and i < 0) or (y >= 0 and j < 0):
            continue
        if y < 0:
            cuts = _with_constant(cuts, i, plus(c, 1), low, high)
        elif x < 0:
            cuts = _with_constant(cuts, j, -c, low, high)
        elif i > j:
            cuts = _with_relative(cuts, i, j, plus(c, 1), low, high)
        else:
            cuts = _with_relative(cuts, j, i, -c, low, high)
    return cuts


@njit(nogil=True, cache=True)
def _with_meetings(cuts, part, event, level_of, buckets, low, high):
    """Where two cuts of an event that is not a hub meet: of hubs, or a hub's and a constant."""
    moving = np.empty((len(part.left), 2), np.int64)
    count = 0
    own = part.event[event]
    first, stop = buckets.lower[own], buckets.upper[own] + 1
    begin, end = buckets.starts[own], buckets.starts[own + 1]
    fixed = np.empty(2 * (end - begin) + len(part.left), np.int64)
    for b in range(begin, end):
        fixed[2 * (b - begin)] = buckets.lo[b]
        fixed[2 * (b - begin) + 1] = buckets.hi[b] + 1
    known = 2 * (end - begin)
    for d in range(len(part.left)):
        if event not in (part.left[d], part.right[d]):
            continue
        is_left = part.left[d] == event
        other = part.right[d] if is_left else part.left[d]
        offset = plus(part.bound[d], 1) if is_left else -part.bound[d]
        if other < 0:
            if first < offset < stop:
                fixed[known] = offset
                known += 1
        else:
            fresh = True
            for i in range(count):
                fresh &= moving[i, 0] != level_of[other] or moving[i, 1] != offset
            if fresh:
                moving[count, 0], moving[count, 1] = level_of[other], offset
                count += 1
    known = _sorted_unique(fixed[:known])
    for i in range(count):
        level, offset = moving[i, 0], moving[i, 1]
        for at in fixed[:known]:
            cuts = _with_constant(cuts, level, plus(at, -offset), low, high)
        for j in range(count):
            other, others = moving[j, 0], moving[j, 1]
            if other < level and plus(high[other], others) > first and plus(low[other], others) < stop:
                cuts = _with_relative(cuts, level, other, plus(others, -offset), low, high)
    return cuts


@njit(nogil=True, cache=True)
def _eliminated(cuts, level, low, high):
    """Pass on to the levels below where two breakpoints of this one meet."""
    cuts.constants[level] = _sorted_unique(cuts.constant[level, : cuts.constants[level]])
    for i in range(cuts.relatives[level]):
        k, c = cuts.relative[level, i, 0], cuts.relative[level, i, 1]
        cuts = _with_constant(cuts, k, plus(low[level], -c), low, high)
        cuts = _with_constant(cuts, k, plus(plus(high[level], 1), -c), low, high)
        for j in range(cuts.constants[level]):
            cuts = _with_constant(cuts, k, plus(cuts.constant[level, j], -c), low, high)
        for j in range(cuts.relatives[level]):
            other, offset = cuts.relative[level, j, 0], cuts.relative[level, j, 1]
            if other < k:
                cuts = _with_relative(cuts, k, other, plus(offset, -c), low, high)
    return cuts


@njit(nogil=True, cache=True)
def _sorted_unique(values):
    """Sort in place, repetitions dropped; returns how many remain."""
    values.sort()
    kept = 0
    for i in range(len(values)):
        if kept == 0 or values[kept - 1] != values[i]:
            values[kept] = values[i]
            kept += 1
    return kept
