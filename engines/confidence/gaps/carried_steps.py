"""Chains on cells of time, and steps of a density over single gaps: what each tick counts for later ones.

A step from one event of a chain to the next is a matrix: for each node t of the later one, and each node s of
the earlier one, the probability that no rival lies between, times the weight of s in a sum.  From cell to
cell it is so for the nodes themselves; within a cell they stand for the ticks between them.

    name here      meaning
    part           consecutive ticks of one cell, all of them or those that a window leaves
    own            what the ticks of a part count for its later ones
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.quadrature import cuts_within, fill_masses, most_nodes, node_count, place_nodes
from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


class Kept(NamedTuple):
    """R rivals of a chain of l events, each kept out of the gaps from first[r] to last[r], shape (R,).

    By the gaps of one alone, in order: those of gap g are offsets[g] to offsets[g + 1] - 1; then the tied
    ones: those of step k are ties[k] to ties[k + 1] - 1.  Step k leads from event ends[k] to ends[k + 1].
    `never_at`: bit i where a rival must not be at the tick of event i, either; `closed`: 1 where that is so
    of the last event, else 0.
    """

    event: Indexes
    first: Indexes
    last: Indexes
    closed: Reals
    never_at: Indexes
    offsets: Indexes
    ties: Indexes
    ends: Indexes


class Carried(NamedTuple):
    """What one chain of l events is on n cells of time.

    `cut`: shape (n + 1,).  `density`: of a tick, shape (l, n).  `before`, `slope`, shape (R, n): the mass of
    a rival before a cell, and that of each tick in it; `nothing`: zeros, shape (R,).  `begun`, `left`, shape
    (l, n): degree of what is carried to an event in a cell, and of what a chain is worth from a tick of it
    on.  `degree`: the highest of what is summed over a cell.
    """

    kept: Kept
    cut: Ticks
    density: Reals
    before: Reals
    slope: Reals
    nothing: Reals
    begun: Indexes
    left: Indexes
    degree: Indexes


class Parts(NamedTuple):
    """P parts one after the other: ticks of cell[p] from its begin[p]-th on, all of them where whole[p].

    Nodes places[p] to places[p + 1] - 1 stand for its ticks: `node` is their offset in the cell, `weight`
    what they count in a sum.
    """

    cell: Indexes
    begin: Indexes
    whole: Flags
    places: Indexes
    node: Indexes
    weight: Reals


class Singles(NamedTuple):
    """The steps over single gaps between the nodes of all cells, shape (l - 1, n, n): those of cell c are
    first[c] to first[c + 1] - 1.
    """

    first: Indexes
    matrix: Reals


@inner
def carried_over(buckets, kept, event, low, high, free):
    """The chain on cells from one tick to another; `free`: a tick at which a cell has to begin."""
    events = np.unique(np.concatenate((kept.event, event)))
    cut = cuts_within(buckets, events, low, high)
    if low < free <= high:
        cut = np.unique(np.append(cut, free))
    cells, rivals = len(cut) - 1, len(kept.event)
    before, slope = np.empty((rivals, cells)), np.empty((rivals, cells))
    for r in range(rivals):
        fill_masses(buckets, kept.event[r], cut, before[r], slope[r])
    density = np.empty((len(event), cells))
    for i in range(len(event)):
        for c in range(cells):
            density[i, c] = density_at(buckets, event[i], cut[c])
    begun, left, degree = _degrees(density, kept, slope)
    return Carried(kept, cut, density, before, slope, np.zeros(rivals), begun, left, degree)


@inner
def _degrees(density, kept, slope):
    """Degrees in each cell: of what is carried to an event, of what is worth a tick of it, of all sums."""
    length, cells = density.shape
    begun, left = np.zeros((length, cells), dtype=np.int64), np.zeros((length, cells), dtype=np.int64)
    degree = np.zeros(cells, dtype=np.int64)
    for c in range(cells):
        open_after = np.zeros(length, dtype=np.int64)
        for r in range(len(slope)):
            if slope[r, c] > 0.0:
                begun[kept.last[r], c] += 1
                left[kept.first[r], c] += 1
                for i in range(kept.first[r], kept.last[r]):
                    open_after[i] += 1
        for i in range(1, length):
            begun[i, c] += begun[i - 1, c] + (density[i - 1, c] > 0.0)
        for i in range(length - 2, -1, -1):
            left[i, c] += left[i + 1, c] + (density[i + 1, c] > 0.0)
        for i in range(length):
            if density[i, c] > 0.0:
                degree[c] = max(degree[c], begun[i, c] + open_after[i])
    return begun, left, degree


@inner
def whole_cells(chain):
    """A part for each cell, without nodes where no event has mass."""
    cells = len(chain.degree)
    ticks, places = np.zeros(cells, dtype=np.int64), np.zeros(cells + 1, dtype=np.int64)
    for c in range(cells):
        for i in range(len(chain.density)):
            if chain.density[i, c] > 0.0:
                ticks[c] = chain.cut[c + 1] - chain.cut[c]
        places[c + 1] = places[c] + node_count(ticks[c], chain.degree[c])
    node, weight = np.empty(places[-1], dtype=np.int64), np.empty(places[-1])
    for c in range(cells):
        own = slice(places[c], places[c + 1])
        place_nodes(ticks[c], chain.degree[c], node[own], weight[own])
    begin, whole = np.zeros(cells, dtype=np.int64), np.ones(cells, dtype=np.bool_)
    return Parts(np.arange(cells), begin, whole, places, node, weight)


@inner
def singles_of(chain, parts):
    """The steps over single gaps between whole cells."""
    first, gaps = parts.places, len(chain.density) - 1
    singles = Singles(first, np.zeros((gaps, first[-1], first[-1])))
    for g in range(gaps):
        matrix = singles.matrix[g]
        for q in range(len(parts.cell)):
            if chain.density[g + 1, q] > 0.0:
                for p in range(q + 1):
                    if chain.density[g, p] > 0.0:
                        rows, columns = slice(first[q], first[q + 1]), slice(first[p], first[p + 1])
                        fill_single(chain, g, parts, p, q, matrix[rows, columns])
    return singles


@inlined
def fill_single(chain, gap, parts, p, q, block):
    """What the nodes of part p count for those of part q over a single gap; the block is zero before."""
    if p == q:
        _fill_own(chain, gap, parts, p, block)
        return
    weight = parts.weight[parts.places[p] : parts.places[p + 1]]
    for t in range(len(block)):
        for s in range(len(weight)):
            block[t, s] = weight[s]
    begin, end = chain.kept.offsets[gap], chain.kept.offsets[gap + 1]
    keep_out(chain, begin, end, gap + 1, chain.nothing, parts, p, q, block)


@inlined
def keep_out(chain, begin, end, last, between, parts, p, q, block):
    """Multiply by what some rivals leave that are kept out until the last event of a step.

    `between`: the mass that each rival of the chain has at the ticks of the events between.
    """
    source = parts.node[parts.places[p] : parts.places[p + 1]]
    target = parts.node[parts.places[q] : parts.places[q + 1]]
    for r in range(begin, end):
        start, mass = chain.before[r, parts.cell[p]], chain.before[r, parts.cell[q]]
        each, slope = chain.slope[r, parts.cell[p]], chain.slope[r, parts.cell[q]]
        if chain.kept.last[r] == last and start < 1.0 and (mass > 0.0 or slope > 0.0):
            closed, inside = chain.kept.closed[r], between[r]
            for t in range(len(target)):
                until = min(mass + slope * (target[t] + closed), 1.0)
                for s in range(len(source)):
                    here = min(start + each * (source[s] + 1.0), 1.0)
                    block[t, s] *= 1.0 - abs(until - here) + inside


@inner
def _fill_own(chain, gap, parts, p, block):
    """What the nodes of a part count for its later ones, and for those between that they stand for."""
    cell, begin = parts.cell[p], parts.begin[p]
    node = parts.node[parts.places[p] : parts.places[p + 1]]
    room = most_nodes(node[-1] + 1 - begin, chain.degree[cell]) + 1
    place, weight = np.empty(room, dtype=np.int64), np.empty(room)
    shares = lagrange(node)
    for t in range(len(node)):
        some = place_nodes(node[t] - begin, chain.degree[cell], place, weight)
        for k in range(some):
            at, each = begin + place[k], weight[k]
            for r in range(chain.kept.offsets[gap], chain.kept.offsets[gap + 1]):
                each *= 1.0 - chain.slope[r, cell] * (node[t] - 1.0 - at + chain.kept.closed[r])
            share(node, shares, at, each, block[t])


@inner
def lagrange(node):
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
def share(node, weights, at, each, row):
    """Add to a row `each` times what its nodes count for the value at a tick."""
    total = 0.0
    for j in range(len(node)):
        if node[j] == at:
            row[j] += each
            return
        total += weights[j] / (at - node[j])
    for j in range(len(node)):
        row[j] += each * weights[j] / (at - node[j]) / total
