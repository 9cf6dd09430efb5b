"""Confidence of chains of any length with rival-free gaps, on intervals of any width: a density is carried.

Of events 1, 2, ... l let Q_i(s, t) be the probability that no rival lies in the gap between i, at s, and
i + 1, at t.  The density of an event that is reached,

    f_1(t) = mass_1(t),    f_{i+1}(t) = mass_{i+1}(t) times sum over s < t of f_i(s) Q_i(s, t)

is a polynomial between two ticks at which the mass of an event or a rival changes: it is kept by its values
at a few whole ticks of each such cell (`quadrature`).  The confidence is the sum of f_l.  A step costs the
square of all nodes, which are the more, the more events and rivals share a cell.

A window ties the last event to the first.  First events whose window no last one can leave are summed as
above.  Of the others each node is carried by itself, from the tick after it to the last that its window
allows: only what begins or ends in the middle of a cell is then made anew.

    name here      meaning
    part           consecutive ticks of one cell, all of them or those that a window leaves
    step           a matrix over nodes: what f_i at each counts for f_{i+1} at each, but for its mass
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, event_of, rivals_of_gaps, window_ticks
from cepctl.engines.confidence.quadrature import most_nodes, node_count, place_nodes
from cepctl.engines.confidence.time_cells import cuts_within, fill_masses, pieces_of
from cepctl.engines.kernels.kernel import inner, kernel


class Carried(NamedTuple):
    """What one chain of l events is on n cells of time.

    `cut`: shape (n + 1,).  `density`: of a tick, shape (l, n).  `offsets`: the rivals of gap g are those from
    offsets[g] to offsets[g + 1] - 1.  `before`, `slope`, shape (rivals, n): the mass before a cell, and that
    of each tick in it; `closed`: 1 where the gap holds the tick of its right end for a rival, else 0.
    `begun`, `left`, shape (l, n): degree of f in a cell, and of what a chain is worth from a tick of it on.
    `degree`: the highest of what is summed over a cell.
    """

    cut: Ticks
    density: Reals
    offsets: Indexes
    before: Reals
    slope: Reals
    closed: Reals
    begun: Indexes
    left: Indexes
    degree: Indexes


class Part(NamedTuple):
    """Ticks of a cell from `begin` on: offsets of their nodes in the cell, and weights of a sum over them."""

    cell: int
    begin: int
    node: Indexes
    weight: Reals


def carried_confidence(
    masses: Masses, chains: GapChains, window: int | None, bound: float, most_values: int
) -> Reals:
    """Confidence of every chain, shape (n,), each summed alone.

    NaN for those that take more than `bound` products, or tables of more than `most_values` values.
    """
    confidence = np.full(len(chains.event), np.nan)
    bounds = np.array([bound, most_values], dtype=np.float64)
    _solve(masses.buckets, chains.gaps, chains.event, chains.gap, window_ticks(window), bounds, confidence)
    found: Reals = np.clip(confidence, 0.0, 1.0)
    return found


@kernel
def _solve(buckets, gaps, event, gap, window, bounds, confidence):
    for i in range(len(event)):
        chain = _carried(buckets, gaps, event[i], gap[i], window)
        confidence[i] = _sum_chain(chain, event[i], buckets, window, bounds)


@inner
def _carried(buckets, gaps, event, gap, window):
    """Cells of a chain, and what is known of each."""
    offsets, rivals = rivals_of_gaps(gaps, gap)
    closed, own = np.where(rivals < 0, 1.0, 0.0), np.empty(len(rivals), dtype=np.int64)
    for r in range(len(rivals)):
        own[r] = event_of(rivals[r])
    low, high = buckets.lower[event[0]], buckets.upper[event[-1]]
    for e in event:
        low, high = min(low, buckets.lower[e]), max(high, buckets.upper[e])
    cut = cuts_within(buckets, np.unique(np.concatenate((own, event))), low, high)
    free = buckets.upper[event[-1]] - window + 1
    if window > 0 and low < free <= high:
        # From here on the window holds whatever comes last.
        cut = np.unique(np.append(cut, free))
    cells = len(cut) - 1
    before, slope = np.empty((len(own), cells)), np.empty((len(own), cells))
    for r in range(len(own)):
        fill_masses(buckets, own[r], cut, before[r], slope[r])
    density = np.empty((len(event), cells))
    for i in range(len(event)):
        for c in range(cells):
            density[i, c] = density_at(buckets, event[i], cut[c])
    begun, left = _degrees(density, offsets, slope)
    degree = np.zeros(cells, dtype=np.int64)
    for c in range(cells):
        for i in range(len(event)):
            if density[i, c] > 0.0:
                alive = _alive(offsets, slope, i, c) if i + 1 < len(event) else 0
                degree[c] = max(degree[c], begun[i, c] + alive)
    return Carried(cut, density, offsets, before, slope, closed, begun, left, degree)


@inner
def _alive(offsets, slope, gap, cell):
    """How many rivals of a gap have mass in a cell."""
    return np.int64((slope[offsets[gap] : offsets[gap + 1], cell] > 0.0).sum())


@inner
def _degrees(density, offsets, slope):
    """Degrees in each cell: of what is carried to an event, and of what is worth a tick of it."""
    length, cells = density.shape
    begun, left = np.zeros((length, cells), dtype=np.int64), np.zeros((length, cells), dtype=np.int64)
    for c in range(cells):
        for i in range(1, length):
            own = begun[i - 1, c] + 1 if density[i - 1, c] > 0.0 else 0
            begun[i, c] = own + _alive(offsets, slope, i - 1, c)
        for i in range(length - 2, -1, -1):
            own = left[i + 1, c] + 1 if density[i + 1, c] > 0.0 else 0
            left[i, c] = own + _alive(offsets, slope, i, c)
    return begun, left


@inner
def _part(cell, begin, ticks, degree):
    """So many ticks of a cell, from `begin` on."""
    count = node_count(ticks, degree)
    node, weight = np.empty(count, dtype=np.int64), np.empty(count)
    place_nodes(ticks, degree, node, weight)
    return Part(cell, begin, node + begin, weight)


@inner
def _sum_chain(chain, event, buckets, window, bounds):
    """The confidence, NaN where it is too much work."""
    bound, most_values = bounds
    cells = len(chain.cut) - 1
    parts, first = [], np.zeros(cells + 1, dtype=np.int64)
    for c in range(cells):
        used = (chain.density[:, c] > 0.0).any()
        ticks = chain.cut[c + 1] - chain.cut[c] if used else 0
        parts.append(_part(c, 0, ticks, chain.degree[c]))
        first[c + 1] = first[c] + len(parts[c].node)
    nodes, gaps = float(first[-1]), len(chain.offsets) - 1
    work = nodes * nodes * (len(chain.slope) + gaps)
    if work > bound or nodes * nodes * gaps > most_values:
        return np.nan
    last, latest = buckets.upper[event[0]], buckets.upper[event[-1]]
    free = latest - window + 1 if window > 0 else chain.cut[0]
    pieces = pieces_of(chain.cut, buckets.lower[event[0]], min(last, free - 1), window)
    if buckets.lower[event[0]] > min(last, free - 1):
        pieces = pieces[:0]
    for k in range(len(pieces) - 1):
        degree = _degree_of(chain, pieces[k], pieces[k] + window - 1)
        work += (
            node_count(pieces[k + 1] - pieces[k], degree) * nodes * (nodes * gaps + 20.0 * len(chain.slope))
        )
    if work > bound:
        return np.nan
    steps = np.zeros((gaps, first[-1], first[-1]))
    for g in range(gaps):
        for b in range(cells):
            _fill_steps(chain, parts, first, g, b, steps[g])
    total = _unbound(chain, parts, first, steps, free)
    for k in range(len(pieces) - 1):
        total += _bound(chain, parts, first, steps, pieces[k], pieces[k + 1], window, latest)
    return total


@inner
def _fill_steps(chain, parts, first, gap, to, step):
    """The rows of a step for the nodes of one cell."""
    if chain.density[gap + 1, to] > 0.0:
        rows = slice(first[to], first[to + 1])
        for c in range(to):
            if chain.density[gap, c] > 0.0:
                _fill_block(chain, gap, parts[c], parts[to], step[rows, first[c] : first[c + 1]])
        if chain.density[gap, to] > 0.0:
            _fill_own(chain, gap, parts[to], step[rows, rows])


@inner
def _fill_block(chain, gap, source, target, block):
    """What the nodes of one part count for those of a later one."""
    for t in range(len(target.node)):
        for s in range(len(source.node)):
            block[t, s] = source.weight[s]
    for r in range(chain.offsets[gap], chain.offsets[gap + 1]):
        start, each = chain.before[r, source.cell], chain.slope[r, source.cell]
        end, slope = chain.before[r, target.cell], chain.slope[r, target.cell]
        if start >= 1.0 or (end == 0.0 and slope == 0.0):
            continue
        for t in range(len(target.node)):
            until = min(end + slope * (target.node[t] + chain.closed[r]), 1.0)
            for s in range(len(source.node)):
                here = min(start + each * (source.node[s] + 1.0), 1.0)
                block[t, s] *= 1.0 - abs(until - here)


@inner
def _fill_own(chain, gap, part, block):
    """What the nodes of a part count for its later ones, and for those between that they stand for."""
    count, cell = len(part.node), part.cell
    room = most_nodes(part.node[-1] + 1 - part.begin, chain.degree[cell]) + 1
    place, weight = np.empty(room, dtype=np.int64), np.empty(room)
    shares = _lagrange(part.node)
    for t in range(count):
        ticks = part.node[t] - part.begin
        some = place_nodes(ticks, chain.degree[cell], place, weight)
        for k in range(some):
            at = part.begin + place[k]
            each = weight[k]
            for r in range(chain.offsets[gap], chain.offsets[gap + 1]):
                each *= 1.0 - chain.slope[r, cell] * (part.node[t] - 1.0 - at + chain.closed[r])
            _share(part.node, shares, at, each, block[t])


@inner
def _lagrange(node):
    """How much each node counts beside the others in a polynomial through them (barycentric weights)."""
    count = len(node)
    weights = np.ones(count)
    scale = 4.0 / max(node[-1] - node[0], 1) if count else 1.0
    for j in range(count):
        for m in range(count):
            if m != j:
                weights[j] /= (node[j] - node[m]) * scale
    return weights


@inner
def _share(node, weights, at, each, row):
    """Add to a row `each` times what its nodes count for the value at a tick."""
    total = 0.0
    for j in range(len(node)):
        if node[j] == at:
            row[j] += each
            return
        total += weights[j] / (at - node[j])
    for j in range(len(node)):
        row[j] += each * weights[j] / (at - node[j]) / total


@inner
def _unbound(chain, parts, first, steps, free):
    """The sum over first events from a tick on, whose windows hold whatever comes last."""
    density, cells = chain.density, len(chain.cut) - 1
    values = np.zeros(first[-1])
    for c in range(cells):
        if chain.cut[c] >= free:
            values[first[c] : first[c + 1]] = density[0, c]
    for g in range(len(steps)):
        values = _carry(density[g + 1], first, steps[g], values, 0, cells)
    total = 0.0
    for c in range(cells):
        total += _weighted(parts[c], values[first[c] : first[c + 1]])
    return total


@inner
def _carry(density, first, step, values, begin, end):
    """One step, over whole cells."""
    found = np.zeros(len(values))
    for c in range(begin, end):
        if density[c] > 0.0:
            for t in range(first[c], first[c + 1]):
                total = 0.0
                for s in range(first[begin], first[c + 1]):
                    total += step[t, s] * values[s]
                found[t] = density[c] * total
    return found


@inner
def _weighted(part, values):
    total = 0.0
    for k in range(len(values)):
        total += part.weight[k] * values[k]
    return total


@inner
def _cell_of(chain, tick):
    return min(np.searchsorted(chain.cut, tick, side="right"), len(chain.cut) - 1) - 1


@inner
def _degree_of(chain, first, until):
    """The degree of what a first event is worth, whose window ends at a tick."""
    here, there = _cell_of(chain, first), _cell_of(chain, until)
    last = len(chain.density) - 1
    ending = chain.begun[last, there] + 1 if chain.density[last, there] > 0.0 else 0
    return chain.left[0, here] + ending


@inner
def _bound(chain, parts, first, steps, begin, end, window, latest):
    """The sum over first events of a piece, each of which the window ends for itself."""
    cell = _cell_of(chain, begin)
    if chain.density[0, cell] == 0.0:
        return 0.0
    piece = _part(cell, begin - chain.cut[cell], end - begin, _degree_of(chain, begin, begin + window - 1))
    total = 0.0
    for k in range(len(piece.node)):
        tick = chain.cut[cell] + piece.node[k]
        until = min(tick + window - 1, latest)
        if tick < until:
            total += piece.weight[k] * _within(chain, parts, first, steps, cell, tick, until)
    return chain.density[0, cell] * total


@inner
def _within(chain, parts, first, steps, cell, tick, until):
    """What a first event at a tick is worth, if the last one comes at `until` at the latest."""
    top = _cell_of(chain, until)
    start = tick + 1 - chain.cut[cell]
    stop = min(until + 1, chain.cut[cell + 1]) - chain.cut[cell]
    low = _part(cell, start, max(stop - start, 0), chain.degree[cell])
    ticks = until + 1 - chain.cut[top] if top > cell else 0
    high = _part(top, 0, ticks, chain.degree[top])
    # The tick itself, as a part whose only node it is.
    from_first = Part(cell, start - 1, np.array([start - 1]), np.ones(1))
    in_low, in_high = np.empty((len(low.node), 1)), np.empty((len(high.node), 1))
    middle = np.zeros(first[-1])
    _fill_block(chain, 0, from_first, low, in_low)
    _fill_block(chain, 0, from_first, high, in_high)
    for c in range(cell + 1, top):
        if chain.density[1, c] > 0.0:
            block = np.empty((first[c + 1] - first[c], 1))
            _fill_block(chain, 0, from_first, parts[c], block)
            middle[first[c] : first[c + 1]] = block[:, 0] * chain.density[1, c]
    of_low, of_high = in_low[:, 0] * chain.density[1, cell], in_high[:, 0] * chain.density[1, top]
    for g in range(1, len(steps)):
        density = chain.density[g + 1]
        carried = _carry(density, first, steps[g], middle, cell + 1, top)
        for c in range(cell + 1, top):
            if density[c] > 0.0:
                _add(chain, g, low, parts[c], of_low, density[c], carried[first[c] : first[c + 1]])
        next_high = np.zeros(len(high.node))
        if density[top] > 0.0:
            _add(chain, g, low, high, of_low, density[top], next_high)
            for c in range(cell + 1, top):
                values = middle[first[c] : first[c + 1]]
                _add(chain, g, parts[c], high, values, density[top], next_high)
        of_high = next_high + _inside(chain, g, high, of_high) * density[top]
        of_low, middle = _inside(chain, g, low, of_low) * density[cell], carried
    total = _weighted(low, of_low) + _weighted(high, of_high)
    for c in range(cell + 1, top):
        total += _weighted(parts[c], middle[first[c] : first[c + 1]])
    return total


@inner
def _add(chain, gap, source, target, values, density, found):
    """Add what comes from an earlier part."""
    if len(source.node) and len(target.node) and (values != 0.0).any():
        block = np.empty((len(target.node), len(source.node)))
        _fill_block(chain, gap, source, target, block)
        for t in range(len(found)):
            for s in range(len(values)):
                found[t] += density * block[t, s] * values[s]


@inner
def _inside(chain, gap, part, values):
    """What comes from the part itself."""
    found = np.zeros(len(values))
    if len(values) and (values != 0.0).any():
        block = np.zeros((len(values), len(values)))
        _fill_own(chain, gap, part, block)
        for t in range(len(values)):
            for s in range(len(values)):
                found[t] += block[t, s] * values[s]
    return found
