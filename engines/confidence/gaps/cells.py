"""Cells of time for the chains of one group: their nodes, and every rival's mass as a line on each cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.tick_sums import distance, tick_count
from cepctl.engines.confidence.gaps.product_trees import Kinds, kinds_of
from cepctl.engines.confidence.gauss_nodes import holds_polynomials, real_count, zeros_of_gram
from cepctl.engines.confidence.gram_shares import expand
from cepctl.engines.kernels.kernel import inner


class Cells(NamedTuple):
    """n cells, and the nodes of those where a sum is needed.

    `cut`: shape (n + 1,), cell i being the ticks from cut[i] to cut[i + 1] - 1.  `degree`: that of the sums
    over a cell.  `first`: shape (n + 1,), the nodes of cell i being first[i] to first[i + 1] - 1.  `every`:
    whether all ticks of a cell are nodes; else they lie between ticks.  Of each node: its offset, cell, and
    weight in a sum.  `across`, `basis`: what `gram_shares` needs of cells whose nodes lie between ticks.
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

    `before`: shape (rivals, cells), the mass before a cell; `slope`: that of each tick in it.  `most`: per
    cell, the largest number of rivals of one gap that have mass there.  `kinds`: gaps with the same rivals.
    """

    offsets: Indexes
    listed: Indexes
    before: Reals
    slope: Reals
    most: Indexes
    kinds: Kinds


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
                events.append(gaps.rivals[r])
    points = [low, high + 1]
    for event in np.unique(np.array(events)):
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            points.append(min(max(buckets.lo[b], low), high + 1))
            points.append(max(min(buckets.hi[b], high) + 1, low))
    return np.unique(np.array(points))


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
    offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
    for g in range(len(chosen)):
        offsets[g + 1] = offsets[g] + gaps.rival_offsets[chosen[g] + 1] - gaps.rival_offsets[chosen[g]]
    listed = np.empty(offsets[-1], dtype=np.int64)
    for g in range(len(chosen)):
        first = gaps.rival_offsets[chosen[g]]
        for k in range(offsets[g + 1] - offsets[g]):
            listed[offsets[g] + k] = gaps.rivals[first + k]
    rivals = np.unique(listed)
    listed = np.searchsorted(rivals, listed)
    kinds = kinds_of(buckets, gaps, chosen, rivals, offsets, listed)
    cells = len(cut) - 1
    before, slope = np.empty((len(rivals), cells)), np.empty((len(rivals), cells))
    for r in range(len(rivals)):
        _cumulate(buckets, rivals[r], cut, before[r], slope[r])
    most = np.zeros(cells, dtype=np.int64)
    for g in range(len(chosen)):
        alive = np.zeros(cells, dtype=np.int64)
        for r in listed[offsets[g] : offsets[g + 1]]:
            for c in range(cells):
                alive[c] += slope[r, c] > 0.0
        most = np.maximum(most, alive)
    return RivalFree(offsets, listed, before, slope, most, kinds)


@inner
def _cumulate(buckets, event, cut, before, slope):
    """Mass before each cell, exactly 0 and 1 outside the interval, and that of each tick in it."""
    bucket, end = buckets.starts[event], buckets.starts[event + 1]
    total = 0.0
    for c in range(len(cut) - 1):
        while bucket < end and buckets.hi[bucket] < cut[c]:
            total += buckets.density[bucket] * tick_count(buckets.lo[bucket], buckets.hi[bucket])
            bucket += 1
        if bucket == end:
            before[c], slope[c] = 1.0, 0.0
        elif buckets.lo[bucket] >= cut[c + 1]:
            before[c], slope[c] = min(total, 1.0), 0.0
        else:
            inside = max(distance(buckets.lo[bucket], cut[c]), 0.0)
            before[c] = min(total + inside * buckets.density[bucket], 1.0)
            slope[c] = buckets.density[bucket]


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


@inner
def density_at(buckets, event, tick):
    """Mass of one tick."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.lo[b] <= tick <= buckets.hi[b]:
            return buckets.density[b]
    return 0.0
