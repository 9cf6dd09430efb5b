"""The confidence of a chain summed over one offset, or over the difference of two, at few of its ticks.

Between two walls (walls.py) the confidence is a polynomial in the offset.  In a chain ties run along the
order, and once at most through the window: cuts of two events meet where they are equal, or where that of the
later event is W after that of the earlier one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Reals, Ticks
from cepctl.engines.clocks.curved_chains import MOST_RAISED
from cepctl.engines.clocks.moved_chains import move, moved_confidence
from cepctl.engines.clocks.nodes import MOST_NODES
from cepctl.engines.clocks.offset_masses import mass_at
from cepctl.engines.confidence.chain.ring import NO_WINDOW
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner

_MOST_NODES = MOST_NODES
_MOST_RAISED = MOST_RAISED


class Rule(NamedTuple):
    """Room for the nodes and weights of a summation rule."""

    nodes: Ticks
    weights: Reals


@inner
def rule_room(positions):
    """Room for the degree of any chain of `positions` events over the difference of two offsets."""
    most = _MOST_RAISED * positions + 3
    return Rule(np.empty(most, dtype=np.int64), np.empty(most))


@inner
def piece_ends(parts, level, difference, window, first, last):
    """Where pieces of [first, last] begin, in order, and the tick after the last one.

    `parts` are the masses of the chain's events without the offset that moves those of level 1; `window` is
    NO_WINDOW where the window decides nothing.
    """
    offsets, clock, other = difference
    moved = still = 0
    for j in range(len(level)):
        buckets = parts.starts[j + 1] - parts.starts[j]
        if level[j] == 1:
            moved += buckets
        else:
            still += buckets
    own = offsets.starts[clock + 1] - offsets.starts[clock]
    against = 1 if other < 0 else offsets.starts[other + 1] - offsets.starts[other]
    walls = np.empty(8 * moved * still + 4 * own * against + 2, dtype=np.int64)
    walls[0], walls[1] = first, last + 1
    count = _ends_of_mass(difference, first, last, walls, 2)
    for i in range(len(level)):
        for j in range(len(level)):
            if level[i] == 1 and level[j] != 1:
                by = 0 if window == NO_WINDOW else (window if j < i else -window)
                count = _meetings(parts, i, j, by, first, last, walls, count)
    return _sorted_once(walls[:count])


@inner
def _meetings(parts, moved, still, by, first, last, walls, count):
    """Add the offsets at which a cut of one event meets one of another, or that moved `by`."""
    for b in range(2 * parts.starts[moved], 2 * parts.starts[moved + 1]):
        mine = _cut(parts, b)
        for o in range(2 * parts.starts[still], 2 * parts.starts[still + 1]):
            wall = _cut(parts, o) - mine
            if first < wall <= last:
                walls[count] = wall
                count += 1
            if by != 0 and first < wall + by <= last:
                walls[count] = wall + by
                count += 1
    return count


@inner
def _cut(buckets, number):
    """The cuts of buckets, numbered: the first tick of each, and the one after its last."""
    return buckets.lo[number // 2] if number % 2 == 0 else buckets.hi[number // 2] + 1


@inner
def _ends_of_mass(difference, first, last, walls, count):
    """Add the ticks at which the mass of a difference of offsets can change."""
    offsets, clock, other = difference
    for b in range(2 * offsets.starts[clock], 2 * offsets.starts[clock + 1]):
        end = _cut(offsets, b)
        begin, stop = (0, 1) if other < 0 else (2 * offsets.starts[other], 2 * offsets.starts[other + 1])
        for o in range(begin, stop):
            wall = end
            if other >= 0:
                wall -= _cut(offsets, o)
            if first < wall <= last:
                walls[count] = wall
                count += 1
    return count


@inner
def _sorted_once(values):
    values = np.sort(values)
    kept = 1
    for i in range(1, len(values)):
        if values[i] != values[kept - 1]:
            values[kept] = values[i]
            kept += 1
    return values[:kept]


@inner
def sum_over_offset(chain, rule, system, window, level, difference, walls):
    """The sum over all ticks between the walls, and whether the chain was certain at each that was looked at.

    The sum is -1 where more than MOST_NODES ticks would be looked at.
    """
    degree = np.int64(difference.other >= 0)
    for j in range(len(level)):
        degree += chain.raised[j]
    total, certain, looked_at = 0.0, True, 0
    for p in range(len(walls) - 1):
        begin, ticks = walls[p], walls[p + 1] - walls[p]
        every = takes_every_tick(ticks, degree)
        count = ticks if every else summation_rule(ticks, degree, rule.nodes, rule.weights)
        looked_at += count
        if looked_at > _MOST_NODES:
            return -1.0, False
        for k in range(count):
            tick = begin + (k if every else rule.nodes[k])
            mass = mass_at(difference, tick)
            if mass == 0.0:
                continue
            for j in range(len(level)):
                if level[j] == 1:
                    move(chain, j, tick)
            value = moved_confidence(chain, system, window)
            certain = certain and value == 1.0
            total += (mass if every else mass * rule.weights[k]) * value
    return total, certain
