"""Few ways to hold events at single ticks, which stand for all of their ticks.

While the tick of one event moves inside a stretch of time that no cut enters, every piece that it cuts is
longer or shorter by as much, and all sums are polynomials in the tick, of a degree that the events cut by it
bound (`cepctl.engines.confidence.quadrature`).  Where two events are held, the first sum is over sums.

    name here      meaning
    anchor         an event of a row that is held
    offsets        where time is cut from the tick of an anchor, beside that tick; 0 is among them
    changes        other distances from a cut at which what is summed may change, where it is a sum itself
    bits           the bit of a piece's status that an offset decides, -1 for none
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.quadrature import node_count, place_nodes
from cepctl.engines.kernels.kernel import inner

_MOST_CUTS = 1 << 24


class Plans(NamedTuple):
    """Which events of rows are held, by plan: the anchors of plan i are from starts[i] on.

    `own`: the number of each, `offsets` from `first_offset` on, with their `bits`, and `changes`.
    """

    starts: Indexes
    own: Indexes
    first_offset: Indexes
    offsets: Ticks
    bits: Indexes
    first_change: Indexes
    changes: Ticks


class Ways(NamedTuple):
    """n ways to hold some anchors.

    `cut`, shape (n, P + 1): ticks where time is cut, in order; twice the same for a piece of no ticks.
    `tick`, shape (n, anchors): where each is held.  `weight`, shape (n,).
    """

    cut: np.ndarray
    tick: np.ndarray
    weight: np.ndarray


@inner
def ways_of(buckets, own, cut, plans, plan, kind_of):
    """All ways to hold the anchors of a plan; none where they are too many."""
    anchors = plans.starts[plan + 1] - plans.starts[plan]
    ways = Ways(cut.copy().reshape((1, len(cut))), np.zeros((1, anchors), dtype=np.int64), np.ones(1))
    for a in range(anchors):
        place = plans.starts[plan] + a
        offsets = plans.offsets[plans.first_offset[place] : plans.first_offset[place + 1]]
        changes = plans.changes[plans.first_change[place] : plans.first_change[place + 1]]
        held = np.empty(a + 1, dtype=np.int64)
        for b in range(a + 1):
            held[b] = kind_of[plans.own[plans.starts[plan] + b]]
        none = Ways(np.empty((0, 0), dtype=np.int64), np.empty((0, 0), dtype=np.int64), np.empty(0))
        count = _hold(buckets, own, ways, held, offsets, changes, none, False)
        width = ways.cut.shape[1] + len(offsets) + 1
        if count * width > _MOST_CUTS:
            return none
        found = Ways(
            np.empty((count, width), dtype=np.int64),
            np.zeros((count, anchors), dtype=np.int64),
            np.empty(count),
        )
        _hold(buckets, own, ways, held, offsets, changes, found, True)
        ways = found
    return ways


@inner
def _hold(buckets, own, ways, held, offsets, changes, found, fills):
    """Fill the ways to hold one more anchor, the last of `held`; how many they are."""
    event, at = own.event[held[-1]], 0
    for way in range(len(ways.weight)):
        cut = ways.cut[way]
        for piece in range(len(cut) - 1):
            density = density_at(buckets, event, cut[piece]) if cut[piece] < cut[piece + 1] else 0.0
            if density == 0.0:
                continue
            bounds = _bounds(cut, cut[piece], cut[piece + 1], offsets, changes)
            for i in range(len(bounds) - 1):
                begin, ticks = bounds[i], bounds[i + 1] - bounds[i]
                degree = _degree(buckets, own, cut, ways.tick[way], held, offsets, len(changes) > 0, begin)
                if not fills:
                    at += node_count(ticks, degree)
                    continue
                nodes = np.empty(node_count(ticks, degree), dtype=np.int64)
                weights = np.empty(len(nodes))
                place_nodes(ticks, degree, nodes, weights)
                for node in range(len(nodes)):
                    found.weight[at] = ways.weight[way] * density * weights[node]
                    found.tick[at] = ways.tick[way]
                    found.tick[at, len(held) - 1] = begin + nodes[node]
                    _put(cut, begin + nodes[node], offsets, found.cut[at])
                    at += 1
    return at


@inner
def _bounds(cut, first, end, offsets, changes):
    """The stretches of a piece in which an anchor moves and no cut meets another."""
    points = np.empty(2 + len(cut) * (len(offsets) + len(changes)), dtype=np.int64)
    points[0], points[1], count = first, end, 2
    for i in range(len(offsets) + len(changes)):
        offset = offsets[i] if i < len(offsets) else changes[i - len(offsets)]
        for tick in cut:
            if first < tick - offset < end:
                points[count] = tick - offset
                count += 1
    return np.unique(points[:count])


@inner
def _degree(buckets, own, cut, ticks, held, offsets, nested, begin):
    """A bound of the degree of what is summed: how many other events happen in pieces that move."""
    degree = 1 if nested else 0
    for k in range(len(own.event)):
        moves = nested
        for offset in offsets:
            place = np.searchsorted(cut, begin + offset, side="right") - 1
            if 0 <= place < len(cut) - 1 and not moves:
                moves = density_at(buckets, own.event[k], cut[place]) > 0.0
                for b in range(len(held) - 1):
                    if held[b] == k:
                        moves = cut[place] == ticks[b]
        if moves and k != held[-1]:
            degree += own.count[k]
    return degree


@inner
def _put(cut, tick, offsets, found):
    """The cuts with those that holding a tick makes, none beyond the first and the last."""
    found[: len(cut)] = cut
    count = len(cut)
    for i in range(-1, len(offsets)):
        at = tick + 1 if i < 0 else tick + offsets[i]
        at = min(max(at, cut[0]), cut[-1])
        place = count
        while place > 0 and found[place - 1] > at:
            found[place] = found[place - 1]
            place -= 1
        found[place] = at
        count += 1
