"""First gaps of the chains of one pivot: what the ticks s of one cell are worth at each later node t.

See `polynomials` for the formulas and names.  One row serves all gaps of a kind: of the first event itself a
chain needs only its mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.confidence.gaps.cells import density_at
from cepctl.engines.confidence.gaps.product_trees import (
    MOST_PLACES,
    Plan,
    fill_plan,
    multiply,
    plan_room,
)
from cepctl.engines.confidence.gaps.rival_products import INDEX
from cepctl.engines.confidence.gaps.row_sums import add_rows
from cepctl.engines.confidence.gram_shares import shares_of_sums
from cepctl.engines.kernels.kernel import inner


class FirstSums(NamedTuple):
    """What the first gaps need, for one cell of s at a time.

    `until`: mass of each rival before each node.  `density`: of each first event in the cell.  `slot`: the
    row of each kind, -1 where none of its events has mass in the cell.  `rows`: Q1(s, t) for the nodes s and
    all nodes t of later cells, s after s.  `past`: the sums over s, for each kind and node t.  The rest is
    working space.
    """

    until: Reals
    density: Reals
    slot: Indexes
    rows: Reals
    past: Reals
    plan: Plan
    alive: Indexes
    relevant: Indexes
    factors: Reals
    ones: Reals


@inner
def first_sums_for(cells, first_gaps, first, middle):
    """Room for the sums of these gaps."""
    kinds, rivals = first_gaps.kinds.apart.shape
    plan, rows = plan_room(kinds, rivals)
    most = 0
    for c in range(middle.stop):
        most = max(most, cells.first[c + 1] - cells.first[c])
    width = cells.first[middle.stop] - cells.first[middle.begin]
    size, at_once = most * width, min(most * width, MOST_PLACES + width)
    return FirstSums(
        mass_up_to_nodes(cells, first_gaps, 0), np.zeros(len(first)), np.full(kinds, -1, dtype=np.int64),
        np.empty((rows, size)), np.zeros((kinds, len(cells.offset))), plan,
        np.empty(kinds, dtype=np.int64), np.empty(rivals, dtype=np.int64), np.empty((rivals, at_once)),
        np.ones(at_once),
    )  # fmt: skip


@inner
def mass_up_to_nodes(cells, free, included):
    """Mass of each rival before each node, or up to it where it is included."""
    rivals = len(free.slope)
    at = np.empty((rivals, len(cells.offset)))
    for r in range(rivals):
        for j in range(len(cells.offset)):
            cell = cells.cell[j]
            at[r, j] = min(free.before[r, cell] + free.slope[r, cell] * (cells.offset[j] + included), 1.0)
    return at


@inner
def load(cells, first_gaps, buckets, first, middle, current, sums):
    """Take the next cell of s."""
    kinds = first_gaps.kinds
    sums.slot[:] = -1
    count = 0
    for a in range(len(first)):
        sums.density[a] = density_at(buckets, first[a], cells.cut[current])
        if sums.density[a] > 0.0 and sums.slot[kinds.of[a]] < 0:
            sums.slot[kinds.of[a]] = count
            sums.alive[count] = kinds.of[a]
            count += 1
    if not count:
        return
    begin, end = cells.first[max(current + 1, middle.begin)], cells.first[middle.stop]
    if begin < end:
        _fill_rows(cells, first_gaps, current, begin, end, count, sums)
    if middle.begin <= current < middle.stop:
        for k in range(count):
            _fill_own(cells, first_gaps, current, sums.alive[k], sums.past[sums.alive[k]])


@inner
def _fill_rows(cells, first_gaps, current, begin, end, count, sums):
    """Q1(s, t) for the nodes s of a cell and t from `begin` to `end` - 1, and the sums over all s."""
    until, own, width = sums.until, cells.first[current], end - begin
    nodes = cells.first[current + 1] - own
    known = 0
    for r in range(len(until)):
        if first_gaps.before[r, current] < 1.0 and until[r, end - 1] > 0.0:
            sums.relevant[known] = r
            known += 1
    steps = fill_plan(first_gaps.kinds.apart, sums.alive, count, sums.relevant, known, sums.plan)
    at_once = max(MOST_PLACES // width, 1)
    for i in range(0, nodes, at_once):
        some = min(at_once, nodes - i)
        offset = cells.offset[own + i : own + i + some]
        for m in range(known):
            r = sums.relevant[m]
            before, slope = first_gaps.before[r, current], first_gaps.slope[r, current]
            _fill_factors(until[r, begin:end], before, slope, offset, sums.factors[m])
        multiply(sums.plan, steps, sums.factors, sums.ones, i * width, some * width, sums.rows)
    for k in range(count):
        past = sums.past[sums.alive[k], begin:end]
        past[:] = 0.0
        add_rows(past, sums.rows[k], cells.weight[own : own + nodes], width, 0)


@inner
def _fill_factors(until, before, slope, offset, factors):
    """What one rival leaves between some nodes s of a cell and each of the nodes t."""
    width = len(until)
    for i in range(len(offset)):
        here, row = min(before + slope * (offset[i] + 1.0), 1.0), factors[i * width : (i + 1) * width]
        for k in range(INDEX(width)):
            row[k] = 1.0 - abs(until[k] - here)


@inner
def _fill_own(cells, first_gaps, current, kind, past):
    """Sums over s < t within the cell of t, for the nodes t."""
    own, count = cells.first[current], cells.first[current + 1] - cells.first[current]
    offset = cells.offset[own : own + count]
    free = np.ones(count)
    for r in range(len(first_gaps.slope)):
        slope = first_gaps.slope[r, current]
        if slope > 0.0 and first_gaps.kinds.apart[kind, r]:
            for i in range(count):
                free[i] *= 1.0 - slope * offset[i]
    if cells.every[current]:
        total = 0.0
        for j in range(count):
            past[own + j] = total
            total += free[j]
        return
    polynomials, shares = np.empty((count, count)), np.empty((count, count))
    ticks = float(cells.cut[current + 1] - cells.cut[current])
    across, basis = cells.across[own : own + count], cells.basis[own : own + count]
    shares_of_sums(ticks, across, basis, offset, polynomials, shares)
    for j in range(count):
        past[own + j] = 0.0
        for i in range(count):
            past[own + j] += shares[i, j] * free[i]
