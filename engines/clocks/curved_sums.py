"""Nested sums over events some of which have curves for masses.

They are those of `cepctl.engines.confidence.coupled.nested_sums`: a curve raises the degree of the sum at its
level and at those before it, and is multiplied in at each tick; of an event that is no variable its sum over
the region that is left to it.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Reals
from cepctl.engines.clocks.curved_masses import CurvedMasses
from cepctl.engines.clocks.curves import curve_at
from cepctl.engines.columns.tick_masses import ends_of
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.coupled.factor_masses import left_ticks
from cepctl.engines.confidence.coupled.nested_cells import (
    CELL,
    CELLS,
    COEFFICIENT,
    EVERY,
    NODE,
    NODES_OF_CELL,
    TOTAL,
    enter,
    prepare,
)
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.solve import batch_of, working_space
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inner, kernel


def curved_sums(masses: CurvedMasses, problems: Problems, work_bound: int) -> Reals:
    """The probability of each problem, NaN where it needs more products than the bound; shape (n,)."""
    found = np.zeros(len(problems.match))
    if len(found):
        space = working_space(masses, problems)
        event, factors = problems.variables.event, problems.factors
        more = np.concatenate([[0], np.cumsum(masses.degree[factors.event])])[factors.offsets]
        nodes = space.nodes.shape[1] + int((masses.degree[event].sum(axis=1) + np.diff(more)).max())
        shape = (event.shape[1], nodes)
        space = space._replace(nodes=np.empty(shape, dtype=np.int64), weights=np.empty(shape))
        _solve(batch_of(masses, problems), masses.curves, masses.degree, space, work_bound, found)
    return found


@kernel
def _solve(batch, curves, degree, space, work_bound, found):
    for row in range(len(found)):
        prepare(batch, row, space)
        found[row] = _nested_sum(batch, curves, degree, row, space, work_bound)


@inner
def _nested_sum(batch, curves, degree, row, space, work_bound):
    """Sum over all variables, one inside the other; NaN beyond the bound."""
    factors, event = batch.factors, batch.variables.event[row]
    cursor, sums, tick = space.cursor, space.sums, space.tick
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    decided_at = space.decided_at[: end - begin]
    raises = degree[factors.event[begin:end]] + 1
    deepest = len(event) - 1
    level = work = 0
    enter(batch, row, level, space)
    while True:
        at, product = _next_tick(batch.buckets, curves, degree, event, level, space, decided_at, raises)
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
        for i in range(end - begin):
            if decided_at[i] == level and product != 0.0:
                product *= _factor(factors, begin + i, batch.buckets, curves, tick, space.outside)
        if product == 0.0:
            continue
        if level == deepest:
            sums[level, TOTAL] += product
        else:
            sums[level, COEFFICIENT] = product
            level += 1
            enter(batch, row, level, space)


@inner
def _next_tick(buckets, curves, degree, event, level, space, decided_at, raises):
    """Next tick of a level and its weight: its mass times summation weight; then the cursor is at the end."""
    at, own = space.cursor[level], event[level]
    while at[NODE] >= at[NODES_OF_CELL]:
        at[CELL] += 1
        if at[CELL] >= at[CELLS]:
            return np.int64(0), 0.0
        cells = space.cells[level]
        start = cells[at[CELL]]
        end = cells[at[CELL] + 1] if at[CELL] + 1 < at[CELLS] else space.stop[level]
        at[NODE] = at[NODES_OF_CELL] = 0
        if _mass_at(buckets, curves, own, start) > 0.0 or _mass_at(buckets, curves, own, end - 1) > 0.0:
            most = len(event) - 1 - level
            for k in range(level, len(event)):
                most += degree[event[k]]
            for i in range(len(decided_at)):
                most += raises[i] if decided_at[i] >= level else 0
            at[EVERY] = takes_every_tick(end - start, most)
            at[NODES_OF_CELL] = end - start
            if not at[EVERY]:
                at[NODES_OF_CELL] = summation_rule(
                    end - start, most, space.nodes[level], space.weights[level]
                )
    node = at[NODE]
    at[NODE] += 1
    if at[EVERY]:
        tick = space.cells[level, at[CELL]] + node
        return tick, _mass_at(buckets, curves, own, tick)
    tick = space.cells[level, at[CELL]] + space.nodes[level, node]
    return tick, space.weights[level, node] * _mass_at(buckets, curves, own, tick)


@inner
def _mass_at(buckets, curves, event, tick):
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.lo[b] <= tick <= buckets.hi[b]:
            return curve_at(curves, b, float(tick - buckets.lo[b]), float(buckets.hi[b] - buckets.lo[b]))
    return 0.0


@inner
def _mass_on(buckets, curves, event, lower, upper):
    """The mass from one tick to another; curves are straight where an event is told from no other clock."""
    total = 0.0
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        first, last = max(buckets.lo[b], lower), min(buckets.hi[b], upper)
        if first <= last:
            across = float(buckets.hi[b] - buckets.lo[b])
            ends = curve_at(curves, b, float(first - buckets.lo[b]), across)
            ends += curve_at(curves, b, float(last - buckets.lo[b]), across)
            total += 0.5 * ends * tick_count(first, last)
    return total


@inner
def _factor(factors, number, buckets, curves, tick, outside):
    """Mass of a factor's event inside all its inner regions and outside the union of the others."""
    event = factors.event[number]
    earliest, latest = ends_of(buckets, event)
    lower, upper, count = left_ticks(factors, number, earliest, latest, tick, outside)
    total = 0.0
    for g in range(count):
        if outside[g, 0] > lower:
            total += _mass_on(buckets, curves, event, lower, min(upper, outside[g, 0] - 1))
        lower = max(lower, outside[g, 1] + 1)
    return total + _mass_on(buckets, curves, event, lower, upper)
