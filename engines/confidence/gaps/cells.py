"""Cells of time for the chains of one group: their nodes, and every rival's mass as a line on each cell.

For a window W the cells of the last event u are finer: on each of them u - W stays in one cell, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.gaps.distinct_gaps import event_of, rivals_of_gaps
from cepctl.engines.confidence.gaps.product_trees import GapKinds, kinds_of
from cepctl.engines.confidence.gauss_nodes import (
    expand,
    holds_polynomials,
    lies_inside,
    real_count,
    zeros_of_gram,
)
from cepctl.engines.confidence.quadrature import cuts_within, fill_masses, node_count
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


class Cells(NamedTuple):
    """n cells, and the nodes of those where a sum is needed.

    `cut`: shape (n + 1,), cell i being the ticks from cut[i] to cut[i + 1] - 1.  `degree`: that of the sums
    over a cell.  `first`: shape (n + 1,), the nodes of cell i being first[i] to first[i + 1] - 1.  `every`:
    whether all ticks of a cell are nodes; else they lie between ticks.  Of each node: its offset, cell, and
    weight in a sum.  `across`, `basis`: what `gauss_nodes` needs of cells whose nodes lie between ticks.
    """

    cut: Ticks
    degree: Indexes
    first: Indexes
    every: Flags
    offset: Reals
    cell: Indexes
    weight: Reals
    across: Reals
    basis: Reals


class RivalFree(NamedTuple):
    """Rivals of some gaps, those of gap g being listed[offsets[g]] to listed[offsets[g + 1] - 1].

    `before`: shape (rivals, cells), the mass before a cell; `slope`: that of each tick in it.  `begin`: per
    rival, the first cell in which it has mass, 0 if it has some before.  `closed`: 1 where the gap holds the
    tick of its right end for it, else 0.  `most`: per cell, the largest number
    of rivals of one gap that have mass there.  `kinds`: gaps with the same rivals.
    """

    offsets: Indexes
    listed: Indexes
    before: Reals
    slope: Reals
    begin: Indexes
    closed: Reals
    most: Indexes
    kinds: GapKinds


@inner
def cuts_of(buckets, gaps, before, after):
    """Begins of all buckets of events and rivals, and the ticks after their ends, in the chains' range."""
    pivot = gaps.left[after[0]]
    low, high = buckets.lower[pivot], buckets.upper[pivot]
    events = [pivot]
    for side in (before, after):
        for gap in side:
            low = min(low, buckets.lower[gaps.left[gap]])
            high = max(high, buckets.upper[gaps.right[gap]])
            events.append(gaps.left[gap])
            events.append(gaps.right[gap])
            for r in range(gaps.rival_offsets[gap], gaps.rival_offsets[gap + 1]):
                events.append(event_of(gaps.rivals[r]))
    return cuts_within(buckets, np.unique(np.array(events)), low, high)


@inner
def cells_of(cut, degree, left_degree, buckets, events):
    """Cells with nodes where one of the events has mass; `left_degree`: of what is interpolated there."""
    count = len(cut) - 1
    first = np.zeros(count + 1, dtype=np.int64)
    every = np.zeros(count, dtype=np.bool_)
    for c in range(count):
        needed = False
        for event in events:
            needed = needed or density_at(buckets, event, cut[c]) > 0.0
        ticks = cut[c + 1] - cut[c]
        nodes = max(left_degree[c] + 1, real_count(degree[c]))
        every[c] = not holds_polynomials(ticks, nodes)
        first[c + 1] = first[c] + (0 if not needed else ticks if every[c] else nodes)
    offset, cell = np.empty(first[count]), np.empty(first[count], dtype=np.int64)
    weight, most = np.empty(first[count]), 1
    for c in range(count):
        most = max(most, 1 if every[c] else first[c + 1] - first[c])
    across, basis = np.zeros(first[count]), np.empty((first[count], most))
    for c in range(count):
        own = slice(first[c], first[c + 1])
        if first[c] < first[c + 1]:
            if every[c]:
                for k in range(first[c + 1] - first[c]):
                    offset[first[c] + k] = k
                weight[own] = 1.0
            else:
                nodes = first[c + 1] - first[c]
                ticks = float(cut[c + 1] - cut[c])
                zeros_of_gram(ticks, nodes, offset[own], weight[own])
                expand(ticks, offset[own], weight[own], across[own], basis[own])
        cell[own] = c
    return Cells(cut, degree, first, every, offset, cell, weight, across, basis)


@inner
def rival_free(buckets, gaps, chosen, cut):
    """Rivals of the chosen gaps, on cells that their buckets do not cross."""
    offsets, listed = rivals_of_gaps(gaps, chosen)
    rivals = np.unique(listed)
    listed = np.searchsorted(rivals, listed)
    kinds = kinds_of(buckets, gaps, chosen, rivals, offsets, listed)
    cells = len(cut) - 1
    before, slope = np.empty((len(rivals), cells)), np.empty((len(rivals), cells))
    begin = np.zeros(len(rivals), dtype=np.int64)
    for r in range(len(rivals)):
        fill_masses(buckets, event_of(rivals[r]), cut, before[r], slope[r])
        while begin[r] < cells - 1 and before[r, begin[r]] == 0.0 and slope[r, begin[r]] == 0.0:
            begin[r] += 1
    most = np.zeros(cells, dtype=np.int64)
    for g in range(len(chosen)):
        alive = np.zeros(cells, dtype=np.int64)
        for r in listed[offsets[g] : offsets[g + 1]]:
            for c in range(cells):
                alive[c] += slope[r, c] > 0.0
        most = np.maximum(most, alive)
    closed = np.where(rivals < 0, 1.0, 0.0)
    return RivalFree(offsets, listed, before, slope, begin, closed, most, kinds)


@inner
def alive_together(free, cell, other):
    """Largest number of rivals of one gap that have mass in one of two cells (-1 for none)."""
    most = 0
    for g in range(len(free.offsets) - 1):
        alive = 0
        for r in free.listed[free.offsets[g] : free.offsets[g + 1]]:
            alive += free.slope[r, cell] > 0.0 or (other >= 0 and free.slope[r, other] > 0.0)
        most = max(most, alive)
    return most


class LastCells(NamedTuple):
    """n cells of the last event.

    `cut`: shape (n + 1,), as in `Cells`.  `nodes`: how many are needed, 0 where no last event has mass;
    `degree`: of the sum over all other events, as a function of u.  `cell`: that of u; `oldest`: that of the
    first tick u - W + 1 that the window allows, -1 before all cells.  `real`: whether the nodes lie between
    ticks.
    """

    cut: Ticks
    nodes: Indexes
    degree: Indexes
    cell: Indexes
    oldest: Indexes
    real: Flags


@inner
def ends_of(buckets, cells, window, pivot, first, last, first_gaps, last_gaps, left_degree, linked):
    """Cells of the last events that follow a pivot; `left_degree`: of F as a function of t, per cell."""
    cut = cells.cut
    low, high = buckets.lower[last].min(), buckets.upper[last].max()
    low = max(low, buckets.lower[pivot] + 1)
    binding = 0 < window <= high - cut[0]
    shifted = cut + (window - 1) if binding else cut
    begin = np.unique(np.concatenate((cut, shifted, np.array([low, high + 1]))))
    begin = begin[(begin >= low) & (begin <= high + 1)]
    count = max(len(begin) - 1, 0)
    nodes, degree = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    real = np.zeros(count, dtype=np.bool_)
    cell = np.searchsorted(cut, begin[:count], side="right") - 1
    oldest = np.full(count, -1)
    if binding:
        oldest = np.searchsorted(cut, begin[:count] - (window - 1), side="right") - 1
    for e in range(count):
        own, old = cell[e], oldest[e]
        # Of t in the cell of u, in that of u - W, and between, where the window's end is in F alone.
        begun = linked and old >= 0 and _any_mass(buckets, first, cut[old])
        degree[e] = last_gaps.most[own] + (left_degree[old] if begun else 0)
        if density_at(buckets, pivot, cut[own]) > 0.0:
            tied = alive_together(first_gaps, own, old if begun else -1) + 1 if linked else 0
            degree[e] = max(degree[e], tied + last_gaps.most[own] + 1)
        if old >= 0 and (begun or not linked) and density_at(buckets, pivot, cut[old]) > 0.0:
            degree[e] = max(degree[e], left_degree[old] + alive_together(last_gaps, own, old) + 1)
        ticks, few = begin[e + 1] - begin[e], real_count(degree[e])
        real[e] = lies_inside(ticks, few) and _between_ticks(cells, own)
        real[e] = real[e] and (old < 0 or _between_ticks(cells, old))
        if _any_mass(buckets, last, begin[e]):
            nodes[e] = few if real[e] else node_count(ticks, degree[e])
    return LastCells(begin, nodes, degree, cell, oldest, real)


@inner
def _any_mass(buckets, events, tick):
    """Whether some event can have this tick."""
    found = False
    for event in events:
        found = found or density_at(buckets, event, tick) > 0.0
    return found


@inner
def _between_ticks(cells, cell):
    """Whether sums over part of a cell may end between ticks."""
    return not cells.every[cell] or cells.first[cell] == cells.first[cell + 1]
