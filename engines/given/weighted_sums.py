"""Nested sums over events whose masses are weighted by polynomials, and the first level of the same walk.

They are those of `cepctl.engines.confidence.coupled.nested_sums`: a weight raises the degree of the sum at
its level and at those before it, and is multiplied in at each tick.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Buckets, Masses
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.weighted_masses import WeightedBuckets, is_weighted, weight_at
from cepctl.engines.confidence.coupled.factor_masses import factor_mass
from cepctl.engines.confidence.coupled.nested_cells import (
    CELL,
    CELLS,
    COEFFICIENT,
    EVERY,
    MASS,
    NODE,
    NODES_OF_CELL,
    TOTAL,
    Batch,
    Space,
    enter,
    prepare,
)
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.solve import batch_of, working_space
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner, kernel


class FirstNodes(NamedTuple):
    """Ticks of the first variable, by problem: `row`, `tick`, and `weight`, which has its mass in it."""

    row: Indexes
    tick: Ticks
    weight: Reals


def weighted_sums(buckets: WeightedBuckets, problems: Problems, work_bound: int) -> Reals:
    """The probability of each problem, NaN where it needs more products than the bound; shape (n,)."""
    found = np.zeros(len(problems.match))
    if len(found):
        batch, space = _prepared(buckets, problems)
        _solve(batch, space, work_bound, found)
    return found


def first_nodes(buckets: WeightedBuckets, problems: Problems) -> FirstNodes:
    """The sum over these ticks, of weight times what the others add, is the sum over all."""
    batch, space = _prepared(buckets, problems)
    none = np.zeros(0, dtype=np.int64)
    count = _listed(batch, space, none, none, np.zeros(0))
    found = FirstNodes(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))
    _listed(batch, space, *found)
    return found


def _prepared(buckets: WeightedBuckets, problems: Problems) -> tuple[Batch, Space]:
    plain = Masses(*buckets[:6])
    space = working_space(plain, problems)
    event = problems.variables.event
    nodes = space.nodes.shape[1] + int(buckets.degree[event].sum(axis=1).max())
    # Kernels read them by name, and the two have the same fields but for the weights.
    batch = batch_of(plain, problems)._replace(buckets=cast("Buckets", buckets))
    levels = event.shape[1]
    return batch, space._replace(
        nodes=np.empty((levels, nodes), dtype=np.int64), weights=np.empty((levels, nodes))
    )


@kernel
def _listed(batch, space, row_of, tick_of, weight_of):
    """List the nodes as far as there is room; returns their number."""
    found = 0
    for row in range(len(batch.variables.event)):
        prepare(batch, row, space)
        event = batch.variables.event[row]
        factors = batch.factors.offsets[row + 1] - batch.factors.offsets[row]
        enter(batch, row, 0, space)
        while True:
            tick, weight = _next_tick(batch.buckets, event, 0, space, space.decided_at[:factors])
            if space.cursor[0, CELL] >= space.cursor[0, CELLS]:
                break
            if found < len(row_of):
                row_of[found], tick_of[found], weight_of[found] = row, tick, weight
            found += 1
    return found


@kernel
def _solve(batch, space, work_bound, found):
    for row in range(len(found)):
        prepare(batch, row, space)
        found[row] = _nested_sum(batch, row, space, work_bound)


@inner
def _nested_sum(batch, row, space, work_bound):
    """Sum over all variables, one inside the other; NaN beyond the bound."""
    factors, event = batch.factors, batch.variables.event[row]
    cursor, sums, tick = space.cursor, space.sums, space.tick
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    decided_at = space.decided_at[: end - begin]
    deepest = len(event) - 1
    level = work = 0
    entered = False
    while True:
        if not entered:
            enter(batch, row, level, space)
            entered = True
        at, weight = _next_tick(batch.buckets, event, level, space, decided_at)
        if cursor[level, CELL] >= cursor[level, CELLS]:
            total = sums[level, TOTAL]
            level -= 1
            if level < 0:
                return total
            sums[level, TOTAL] += sums[level, COEFFICIENT] * total
            continue
        tick[level] = at
        work += 1 + end - begin
        if work > work_bound:
            return np.nan
        product = weight
        for i in range(end - begin):
            if decided_at[i] == level and product != 0.0:
                product *= factor_mass(factors, begin + i, batch.buckets, tick, space.outside)
        if product == 0.0:
            continue
        if level == deepest:
            sums[level, TOTAL] += product
        else:
            sums[level, COEFFICIENT] = product
            level += 1
            entered = False


@inner
def _next_tick(buckets, event, level, space, decided_at):
    """Next tick of a level and its weight: its mass times summation weight; then the cursor is at the end."""
    at = space.cursor[level]
    while at[NODE] >= at[NODES_OF_CELL]:
        at[CELL] += 1
        if at[CELL] >= at[CELLS]:
            return np.int64(0), 0.0
        cells = space.cells[level]
        start = cells[at[CELL]]
        end = cells[at[CELL] + 1] if at[CELL] + 1 < at[CELLS] else space.stop[level]
        space.sums[level, MASS] = density_at(buckets, event[level], start)
        at[NODE] = at[NODES_OF_CELL] = 0
        if space.sums[level, MASS] > 0.0:
            degree = len(event) - 1 - level
            for k in range(level, len(event)):
                degree += buckets.degree[event[k]]
            for i in range(len(decided_at)):
                degree += decided_at[i] >= level
            at[EVERY] = takes_every_tick(end - start, degree)
            if at[EVERY]:
                at[NODES_OF_CELL] = end - start
            else:
                at[NODES_OF_CELL] = summation_rule(
                    end - start, degree, space.nodes[level], space.weights[level]
                )
    node = at[NODE]
    at[NODE] += 1
    tick, weight = space.cells[level, at[CELL]] + node, space.sums[level, MASS]
    if not at[EVERY]:
        tick = space.cells[level, at[CELL]] + space.nodes[level, node]
        weight *= space.weights[level, node]
    if is_weighted(buckets, event[level]):
        weight *= weight_at(buckets, event[level], tick)
    return tick, weight
