"""The confidence of a chain at given offsets of clocks: its events moved, some with curves for masses.

The parts of a chain are copied side by side.  An event whose clock no other event has gets the mass of its
own tick and the offset together: that of the offset, moved, where the own part is one tick, else curves.

With curves, time is cut at the ends of all buckets.  In a cell every event has one polynomial, and so have,
at each of its ticks, the ways in which the first so many events come before: `placed[j]` of the first j.
Events are placed one after the other, cell by cell; cells of few ticks are gone through tick by tick.  With a
window the first event is put at few of its ticks (cepctl.engines.confidence.quadrature), and the others are
placed in what the window then leaves: part of its own cell, whole cells, and part of another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.laws import Buckets
from cepctl.engines.columns.tick_sums import apart, plus, sort_cuts
from cepctl.engines.confidence.chain.closed_form import Workspace, sum_chains, workspace
from cepctl.engines.confidence.chain.runs import NO_WINDOW, start_cells
from cepctl.engines.confidence.clocks.curved_cells import (
    CellSums,
    Curves,
    cell_sums,
    curve_at,
    fill_cells,
    part_at,
    part_of_curve,
    sum_before,
    times_curve,
)
from cepctl.engines.confidence.clocks.frames import CONVOLVED
from cepctl.engines.confidence.clocks.offset_masses import write_sum
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Indexes, Reals, Ticks

_CONVOLVED, _NO_CLOCK = CONVOLVED, NO_CLOCK
MOST_RAISED = 3
"""By how much an event raises the degree at most: its curve is of degree 2, and it is summed over."""
_MOST_RAISED = MOST_RAISED


class MovedChain(NamedTuple):
    """The events of one chain, numbered by position: `still` without offsets, `moved` with them.

    `raised`, shape (l,): by how much each event raises the degree of what it is summed in: 0 with one tick, 1
    where its buckets are even, more where they have curves.
    """

    still: Buckets
    moved: Buckets
    curves: Curves
    raised: Indexes
    positions: Indexes
    valid_lower: Ticks
    valid_upper: Ticks
    confidence: Reals
    space: Workspace
    curved: CurvedSpace


@inner
def room_for(positions, size):
    """Room for any chain of `positions` events with at most `size` buckets together."""
    return MovedChain(
        _parts(positions, size),
        _parts(positions, size),
        Curves(np.empty(size, dtype=np.int64), np.empty(size), np.empty(size), np.empty(size)),
        np.empty(positions, dtype=np.int64),
        np.arange(positions).reshape(1, -1),
        np.empty(positions, dtype=np.int64),
        np.empty(positions, dtype=np.int64),
        np.empty(1),
        workspace(1, positions, size),
        _curved_space(positions, size),
    )


@inner
def _parts(positions, size):
    return Buckets(
        np.empty(positions, dtype=np.int64),
        np.empty(positions, dtype=np.int64),
        np.zeros(positions + 1, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size),
    )


@inner
def copy_parts(chain, stamps, events, level, frame):
    """Copy own parts; of an event of level CONVOLVED that of its own tick and its offset together.

    `frame` is the clock whose offset such an event is derived from, NO_CLOCK where its ticks are absolute.
    """
    still, moved = chain.still, chain.moved
    at = 0
    for j in range(len(events)):
        event, begin = events[j], at
        if level[j] == _CONVOLVED:
            at, degree = write_sum(stamps, event, stamps.clock[event], frame, still, chain.curves, at)
        else:
            at, degree = _copy_own(chain, stamps.own, event, at), 0
        still.starts[j + 1] = at
        still.lower[j], still.upper[j] = still.lo[begin], still.hi[at - 1]
        chain.raised[j] = degree + 1 if still.lower[j] < still.upper[j] else 0
        for b in range(begin, at):
            still.density[b] = chain.curves.begin[b]
    moved.starts[0] = still.starts[0]
    for j in range(len(still.lower)):
        moved.lower[j], moved.upper[j] = still.lower[j], still.upper[j]
        moved.starts[j + 1] = still.starts[j + 1]
    for b in range(at):
        moved.lo[b], moved.hi[b], moved.density[b] = still.lo[b], still.hi[b], still.density[b]


@inner
def _copy_own(chain, own, event, at):
    """Copy the buckets of an own part; returns the place after the last."""
    still, curves = chain.still, chain.curves
    for b in range(own.starts[event], own.starts[event + 1]):
        still.lo[at], still.hi[at] = own.lo[b], own.hi[b]
        curves.degree[at] = 0
        curves.begin[at] = curves.middle[at] = curves.end[at] = own.density[b]
        at += 1
    return at


@inner
def move(chain, position, by):
    """Put one event where an offset puts it."""
    still, moved = chain.still, chain.moved
    moved.lower[position], moved.upper[position] = still.lower[position] + by, still.upper[position] + by
    for b in range(still.starts[position], still.starts[position + 1]):
        moved.lo[b], moved.hi[b] = still.lo[b] + by, still.hi[b] + by


@inner
def moved_confidence(chain, system, window):
    """Confidence of the chain where its events were moved to; 0 where it cannot happen."""
    lower, upper = chain.moved.lower, chain.moved.upper
    for i in range(len(lower)):
        earliest, latest = lower[i], upper[i]
        for j in range(len(lower)):
            if i != j and system[j, i] < UNBOUNDED:
                earliest = max(earliest, plus(lower[j], -system[j, i]))
            if i != j and system[i, j] < UNBOUNDED:
                latest = min(latest, plus(upper[j], system[i, j]))
        if earliest > latest:
            return 0.0
        chain.valid_lower[i], chain.valid_upper[i] = earliest, latest
    if chain.raised.max() > 1:
        valid = chain.valid_lower, chain.valid_upper
        return _curved_chain(chain.moved, chain.curves, chain.raised, *valid, window, chain.curved)
    bounds = chain.valid_lower.reshape(1, -1), chain.valid_upper.reshape(1, -1)
    sum_chains(chain.moved, chain.positions, *bounds, window, chain.space, chain.confidence)
    return chain.confidence[0]


class CurvedSpace(NamedTuple):
    """Room for the cells of a chain, and for the polynomials in one of them.

    `bucket[j, c]`: the bucket of event j in cell c, -1 for none.  `through`: as `_go_through` fills it.
    """

    cuts: Ticks
    refined: Ticks
    bucket: Indexes
    placed: Reals
    through: Reals
    given: Reals
    found: Reals
    between: Reals
    nodes: Ticks
    weights: Reals
    sums: CellSums


@inner
def _curved_space(positions, most_buckets):
    """Room for chains of `positions` events with at most `most_buckets` buckets together."""
    degree = _MOST_RAISED * positions + 4
    cuts = 2 * (most_buckets + positions)
    return CurvedSpace(
        np.empty(cuts, dtype=np.int64),
        np.empty(2 * cuts, dtype=np.int64),
        np.empty((positions, cuts), dtype=np.int64),
        np.empty(positions + 1),
        np.empty((positions + 1, positions + 1)),
        np.empty(degree),
        np.empty(degree),
        np.empty(degree),
        np.empty(degree, dtype=np.int64),
        np.empty(degree),
        cell_sums(positions, cuts, degree),
    )


@inner
def _curved_chain(buckets, curves, raised, valid_lower, valid_upper, window, space):
    """Confidence of a chain that can happen; exactly 1 where it is certain.

    `raised`, shape (l,): by how much each event raises the degree: 0 with one tick, else that of its curves
    and 1.
    """
    if _is_certain(buckets, window):
        return 1.0
    positions, top = len(raised), raised.sum()
    count = _cut(buckets, valid_lower, valid_upper, space)
    cuts = space.cuts[:count]
    if window == NO_WINDOW or apart(valid_lower[0], valid_upper[positions - 1]) < window:
        space.placed[:] = 0.0
        space.placed[0] = 1.0
        _place(buckets, curves, space, 0, top, cuts[0], cuts[count - 1], count)
        return space.placed[positions]
    fill_cells(buckets, curves, space.bucket[:, :count], cuts, top + 1, space.sums)
    pieces = start_cells(cuts, count, valid_lower[0], valid_upper[0], window, space.refined)
    total = 0.0
    for r in range(pieces - 1):
        begin, ticks = space.refined[r], space.refined[r + 1] - space.refined[r]
        cell = np.searchsorted(cuts, begin, side="right") - 1
        if 0 <= cell < count - 1 and space.bucket[0, cell] >= 0:
            total += _from_piece(buckets, curves, space, top, cell, begin, ticks, window, count)
    return total


@inner
def _from_piece(buckets, curves, space, top, cell, begin, ticks, window, count):
    """The part of the confidence where the first event has one of `ticks` ticks, all in one cell.

    What the window leaves to the others ends in one cell, too.  Where these are two, sums over part of either
    are known as polynomials, and those of the cells between do not depend on the first event's tick.
    """
    cuts, placed, bucket, sums = space.cuts[:count], space.placed, space.bucket[0, cell], space.sums
    last = np.searchsorted(cuts, plus(begin, window), side="right") - 1
    degree = _degree(curves, space, cell, min(last, count - 2))
    every = takes_every_tick(ticks, degree)
    nodes = ticks if every else summation_rule(ticks, degree, space.nodes, space.weights)
    if last > cell:
        _go_through(sums, cell + 1, last, space.through, placed)
    across, total = float(buckets.hi[bucket] - buckets.lo[bucket]), 0.0
    for k in range(nodes):
        tick = begin + (k if every else space.nodes[k])
        mass = curve_at(curves, bucket, float(tick - buckets.lo[bucket]), across)
        if last > cell:
            ways = _around(sums, cuts, cell, last, tick, plus(tick, window), space.through, placed)
        else:
            placed[:] = 0.0
            placed[1] = 1.0
            _place(buckets, curves, space, 1, top, tick + 1, plus(tick, window), count)
            ways = placed[-1]
        total += (mass if every else mass * space.weights[k]) * ways
    return total


@inner
def _go_through(sums, begin, stop, through, row):
    """Fill `through[k, j]`: the ways in which the events k to j - 1 lie in some whole cells."""
    positions = len(row) - 1
    for k in range(1, positions + 1):
        row[:] = 0.0
        row[k] = 1.0
        for c in range(begin, stop):
            for j in range(positions, k, -1):
                total = row[j]
                for i in range(k, j):
                    total += row[i] * sums.whole[c, i, j]
                row[j] = total
        for j in range(positions + 1):
            through[k, j] = row[j]


@inner
def _around(sums, cuts, cell, last, tick, end, through, row):
    """The ways of the others after a tick of one cell and before another tick, of cell `last`."""
    positions = len(row) - 1
    row[positions] = 1.0
    for j in range(1, positions):
        row[j] = 0.0
        if last < len(cuts) - 1:
            before, ticks = end - cuts[last], cuts[last + 1] - cuts[last]
            row[j] = part_at(sums.until, last, j, before, ticks, sums.between)
    total = 0.0
    for k in range(1, positions + 1):
        ways = 1.0
        if k > 1:
            after, ticks = cuts[cell + 1] - 1 - tick, cuts[cell + 1] - cuts[cell]
            ways = part_at(sums.left, cell, k, after, ticks, sums.between)
        if ways > 0.0:
            rest = 0.0
            for j in range(k, positions + 1):
                rest += through[k, j] * row[j]
            total += ways * rest
    return total


@inner
def _degree(curves, space, cell, last):
    """Of what a tick of the first event in a cell adds, where the window ends in cell `last`."""
    degree = curves.degree[space.bucket[0, cell]]
    for j in range(1, len(space.bucket)):
        raises = 0
        for b in (space.bucket[j, cell], space.bucket[j, last]):
            if b >= 0:
                raises = max(raises, curves.degree[b] + 1)
        degree += raises
    return degree


@inner
def _is_certain(buckets, window):
    """Whether all ticks of the events are in order and in the window: sums of masses may miss 1."""
    for j in range(1, len(buckets.lower)):
        if buckets.lower[j] <= buckets.upper[j - 1]:
            return False
    return window == NO_WINDOW or apart(buckets.lower[0], buckets.upper[-1]) < window


@inner
def _cut(buckets, valid_lower, valid_upper, space):
    """Fill the cells, [cuts[c], cuts[c + 1] - 1], and every event's bucket in each; returns how many ends."""
    count = 0
    for j in range(len(valid_lower)):
        for b in range(buckets.starts[j], buckets.starts[j + 1]):
            first, last = max(buckets.lo[b], valid_lower[j]), min(buckets.hi[b], valid_upper[j])
            if first <= last:
                space.cuts[count], space.cuts[count + 1] = first, last + 1
                count += 2
    count = sort_cuts(space.cuts, count)
    space.bucket[:, :count] = -1
    for j in range(len(valid_lower)):
        for b in range(buckets.starts[j], buckets.starts[j + 1]):
            first, last = max(buckets.lo[b], valid_lower[j]), min(buckets.hi[b], valid_upper[j])
            if first <= last:
                c = np.searchsorted(space.cuts[:count], first)
                while c < count - 1 and space.cuts[c] <= last:
                    space.bucket[j, c] = b
                    c += 1
    return count


@inner
def _place(buckets, curves, space, first, top, begin, stop, count):
    """Place the events from number `first` on at the ticks from `begin` to `stop` - 1."""
    cuts = space.cuts[:count]
    c = max(np.searchsorted(cuts, begin, side="right") - 1, 0)
    while c < count - 1 and cuts[c] < stop:
        start = max(cuts[c], begin)
        ticks = min(cuts[c + 1], stop) - start
        if 0 < ticks <= top + 1:
            _place_one_by_one(buckets, curves, space, first, c, start, ticks)
        elif ticks > 0:
            _place_in_cell(buckets, curves, space, first, c, start, float(ticks))
        c += 1


@inner
def _place_one_by_one(buckets, curves, space, first, cell, start, ticks):
    placed, bucket = space.placed, space.bucket
    for tick in range(start, start + ticks):
        for j in range(len(bucket) - 1, first - 1, -1):
            b = bucket[j, cell]
            if b >= 0 and placed[j] > 0.0:
                across = float(buckets.hi[b] - buckets.lo[b])
                placed[j + 1] += placed[j] * curve_at(curves, b, float(tick - buckets.lo[b]), across)


@inner
def _place_in_cell(buckets, curves, space, first, cell, start, ticks):
    """Place them at all ticks of a cell at once, which are more than the degree of what is summed."""
    placed, bucket, given, found = space.placed, space.bucket, space.given, space.found
    degree, before = -1, placed[first]
    for j in range(first, len(bucket)):
        mine, before = before, placed[j + 1]
        b = bucket[j, cell]
        if b < 0 or (degree < 0 and mine <= 0.0):
            degree = -1
            continue
        if degree < 0:
            degree, given[0] = 0, mine
        else:
            for i in range(degree + 1):
                given[i] += mine
        across = float(buckets.hi[b] - buckets.lo[b])
        curve = part_of_curve(curves, b, float(start - buckets.lo[b]), ticks, across)
        degree = times_curve(given, degree, ticks - 1.0, curve, found, space.between)
        placed[j + 1] += sum_before(found, degree, ticks)
        degree += 1
        given, found = found, given
