"""Cells of a chain's last event u: on each of them u - W stays in one cell too, for a window W."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.confidence.gaps.cells import alive_together, density_at
from cepctl.engines.confidence.gauss_nodes import lies_inside, real_count
from cepctl.engines.confidence.quadrature import node_count
from cepctl.engines.kernels.kernel import inner


class Ends(NamedTuple):
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
    return Ends(begin, nodes, degree, cell, oldest, real)


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
