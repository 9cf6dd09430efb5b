"""Confidence of chains with rival-free gaps on intervals of any width.

The same sums as in `tables`, but over few places.  Time is cut at every bucket end of the chain's events
and of their rivals, so that every rival's mass is a line on each cell; between two cuts all sums below are
polynomials, which `quadrature` keeps by their values at some places between the ticks of a cell, its nodes.
What is possible at all is decided without them (`distinct_gaps`).
For a chain s < t < u with a window, and gaps free with Q1(s, t) and Q2(t, u),

    F(u, t) = sum over s < t, s > u - W, of mass(s) Q1(s, t)        depends on the first gap alone
    total   = sum over u of mass(u) times sum over t of mass(t) F(u, t) Q2(t, u)

The cells of the last event u are finer for a window: on each of them u - W stays in one cell, too.
For a node u the ticks t are the nodes of all cells between those of u - W and u, and some ticks in each of
these two cells, of which only a part is left; ticks t that some rival always keeps from u are left out.  All
chains of one middle event share the nodes.  What they sum depends on the first event only by its mass, which
is even on a cell, and by the kind of its gap (the rivals that it keeps out, `product_trees`): so the sum over
u and t is taken once for each kind, cell of s and last event, from the last event on, and a chain is no more
than a sum over cells.

    name here      meaning
    pivot          the event before the last (t); chains of one pivot are solved together
    rows, past     Q1 between the nodes s of one cell and all later nodes t; its sums over s
    own            sum over s < t within the cell of t: Q1 depends there on t - s alone, so that the part
                   after u - W is the same function of fewer ticks
    after          sum over u of mass(u) mass(t) Q2(t, u), of all u whose window begins before the cell of s

Chains of two events have F = 1.  Longer ones are for `carried_chains`; those that exceed the bound on the
work are left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.gaps.carried_chains import carried_confidence
from cepctl.engines.confidence.gaps.distinct_gaps import (
    GapChains,
    Gaps,
    event_of,
    rivals_of_gaps,
    window_ticks,
)
from cepctl.engines.confidence.gaps.product_trees import GapKinds, kinds_of
from cepctl.engines.confidence.gaps.sums import PairedEnds, sum_pairs
from cepctl.engines.confidence.gauss_nodes import (
    expand,
    holds_polynomials,
    lies_inside,
    real_count,
    zeros_of_gram,
)
from cepctl.engines.confidence.quadrature import cuts_within, fill_masses, node_count
from cepctl.engines.confidence.work import GAPS, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

WORK_BOUND = most_products(GAPS)
"""Products that a chain may take."""
_MOST_CHAINS = 256
"""Largest group of chains that are solved together."""
_MOST_DISTINCT = 3
"""Chains whose rivals are at most so many times those of one are summed together.

Where each chain has all rivals of the one before and more, as under next match, they are twice those of one.
"""
MOST_VALUES = 1 << 22
"""Largest number of values that a table of a group may have; a larger group is halved."""


def wide_gap_confidence(
    masses: Masses, chains: GapChains, window: int | None, *, together: bool = True
) -> Reals:
    """Confidence of every chain, shape (n,); NaN for those that are left to nested sums.

    Unless `together`, chains are summed alone, but for those of two events that have most rivals in common:
    with one gap each, what is shared outweighs cells that are cut more finely.  One that can be summed with
    others can be summed alone, too: the work it is charged with is then no more.
    """
    count, length = chains.event.shape
    confidence = np.full(count, np.nan)
    if not count or length < 2:
        return confidence
    if length > 3:
        return carried_confidence(masses, chains, window, WORK_BOUND, MOST_VALUES)
    inner, outer = chains.gap[:, 0], chains.gap[:, -1]
    pivot = chains.event[:, -2]
    order = np.lexsort((outer, inner, pivot))
    fresh = np.flatnonzero(np.diff(pivot[order], prepend=-1))
    most = np.full(len(fresh), _MOST_CHAINS if together else 1)
    if not together and length == 2:
        most[have_rivals_in_common(chains.gaps, outer[order], fresh)] = _MOST_CHAINS
    pieces = -(-np.diff(fresh, append=count) // most)
    group, within = places_in_runs(pieces)
    starts = np.append(fresh[group] + within * most[group], count)
    width = window_ticks(window)
    bounds = np.array([WORK_BOUND, MOST_VALUES], dtype=np.float64)
    inner, outer = inner[order], outer[order]
    _solve(masses.buckets, chains.gaps, inner, outer, length > 2, starts, width, bounds, confidence)
    result = np.empty(count)
    result[order] = np.clip(confidence, 0.0, 1.0)
    return result


def have_rivals_in_common(gaps: Gaps, gap: Indexes, fresh: Indexes) -> Flags:
    """Which runs of gaps, each beginning at a place of `fresh`, list much the same rivals."""
    chains = np.diff(fresh, append=len(gap))
    run, sizes = np.repeat(np.arange(len(fresh)), chains), np.diff(gaps.rival_offsets)[gap]
    listing, within = places_in_runs(sizes)
    rivals = np.where(gaps.rivals < 0, ~gaps.rivals, gaps.rivals)
    width = rivals.max(initial=0) + 1
    pairs = np.unique(run[listing] * width + rivals[gaps.rival_offsets[gap][listing] + within])
    distinct = np.bincount(pairs // width, minlength=len(fresh))
    return np.asarray(distinct * chains <= _MOST_DISTINCT * np.add.reduceat(sizes, fresh))


@kernel
def _solve(buckets, gaps, inner, outer, linked, starts, window, bounds, confidence):
    for group in range(len(starts) - 1):
        begin, size = starts[group], starts[group + 1] - starts[group]
        while begin < starts[group + 1]:
            rows = slice(begin, min(begin + size, starts[group + 1]))
            _solve_group(buckets, gaps, inner[rows], outer[rows], linked, window, bounds, confidence[rows])
            if np.isnan(confidence[begin]) and size > 1:
                size //= 2
            else:
                begin += size


@inner
def _solve_group(buckets, gaps, inner, outer, linked, window, bounds, confidence):
    """Sum the chains of one pivot: those with gaps inner[i] (where they are linked) and outer[i]."""
    bound, most_values = bounds
    after = np.unique(outer)
    before = np.unique(inner) if linked else after[:0]
    pivot, last = gaps.left[after[0]], gaps.right[after]
    first = gaps.left[before]
    cut = _cuts_of(buckets, gaps, before, after)
    listed = 0
    for side in (before, after):
        for gap in side:
            listed += gaps.rival_offsets[gap + 1] - gaps.rival_offsets[gap]
    if float(listed) * len(cut) > most_values:
        return
    first_gaps = _rival_free(buckets, gaps, before, cut)
    last_gaps = _rival_free(buckets, gaps, after, cut)
    left_degree = first_gaps.most + 1 if linked else np.zeros(len(cut) - 1, dtype=np.int64)
    degree = left_degree + last_gaps.most
    if (degree.astype(np.float64) ** 3).sum() > bound:
        return
    cells = _cells_of(cut, degree, left_degree, buckets, np.append(first, pivot))
    ends = _ends_of(buckets, cells, window, pivot, first, last, first_gaps, last_gaps, left_degree, linked)
    nodes, rivals = len(cells.offset), len(first_gaps.slope) + len(last_gaps.slope)
    in_cell = np.diff(cells.first).max()
    space = float(nodes) * (len(first_gaps.kinds.apart) * in_cell + rivals + len(last))
    if space > most_values or float(ends.nodes.sum()) * float(nodes) * (in_cell + rivals + 1) > bound:
        return
    pair_before = np.searchsorted(before, inner) if linked else np.zeros(len(outer), dtype=np.int64)
    pair_after = np.searchsorted(after, outer)
    paired = PairedEnds(first, last, pair_before, pair_after, linked, window)
    sum_pairs(buckets, cells, ends, first_gaps, last_gaps, pivot, paired, confidence)


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
def _cuts_of(buckets, gaps, before, after):
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
def _cells_of(cut, degree, left_degree, buckets, events):
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
def _rival_free(buckets, gaps, chosen, cut):
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
def _ends_of(buckets, cells, window, pivot, first, last, first_gaps, last_gaps, left_degree, linked):
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
