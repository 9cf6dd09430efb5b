"""The compiled part of coupled confidences: sums over ticks, one variable inside the other.

On the way down every factor is multiplied in at the level that decides it.  `solve` says what is summed and
prepares the arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import bend_at
from cepctl.engines.confidence.coupled.factor_masses import bent_factor_mass, factor_mass
from cepctl.engines.confidence.coupled.nested_cells import (
    CELL,
    CELLS,
    COEFFICIENT,
    TOTAL,
    WORK,
    enter,
    next_tick,
    prepare,
)
from cepctl.engines.confidence.coupled.pair_masses import pair_mass
from cepctl.engines.kernels.kernel import inner, kernel

IMPOSSIBLE = np.iinfo(np.int64).max
"""The smallest possible tick of what cannot happen."""


class Limits(NamedTuple):
    """Products that a problem may take, for its sum and for the search of its smallest possible tick.

    `searching`, `summing`: what is wanted; what was found to be impossible is not summed.  `give_up`: a sum
    that takes more is NaN, the others are summed.
    """

    searching: bool
    summing: bool
    give_up: bool
    work: int
    search: int


@kernel
def solve(batch, special, space, limits, confidence, first):
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    for row in range(len(batch.variables.event)):
        prepare(batch, special, row, space)
        if limits.searching:
            first[row] = IMPOSSIBLE
            space.counters[WORK] = 0
            found, _ = _nested_sum(batch, special, row, space, True, limits.search)
            if space.counters[WORK] > limits.search:
                return row
            first[row] = found
            if found == IMPOSSIBLE:
                continue
        if limits.summing:
            space.counters[WORK] = 0
            _, confidence[row] = _nested_sum(batch, special, row, space, False, limits.work)
            if space.counters[WORK] > limits.work:
                if not limits.give_up:
                    return row
                confidence[row] = np.nan
    return -1


@kernel
def list_first_nodes(batch, special, space, row_of, tick_of, weight_of):
    """List ticks of the first variables and their weights, as far as there is room; returns their number."""
    found = 0
    for row in range(len(batch.variables.event)):
        prepare(batch, special, row, space)
        event = batch.variables.event[row]
        factors = batch.factors.offsets[row + 1] - batch.factors.offsets[row]
        enter(batch, row, 0, space)
        while True:
            tick, weight = next_tick(
                batch.buckets, event, 0, space.cells, space.nodes, space.weights, space.cursor, space.sums,
                space.stop, space.decided_at[:factors], space.raises, space.degree, False,
            )  # fmt: skip
            if space.cursor[0, CELL] >= space.cursor[0, CELLS]:
                break
            if found < len(row_of):
                bend = bend_at(special.laws, event[0], tick)
                row_of[found], tick_of[found], weight_of[found] = row, tick, weight * bend
            found += 1
    return found


@inner
def _paired_product(batch, special, row, level, space):
    """The product of the factors that a level decides, some of which come in pairs."""
    factors, buckets, pairs, decided_at = batch.factors, batch.buckets, special.pairs, space.decided_at
    tick, outside, rectangles, sides = space.tick, space.outside, space.rectangles, space.sides
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    product = 1.0
    for i in range(begin, end):
        if decided_at[i - begin] == level and product != 0.0:
            if pairs.size[i] == 0:
                product *= factor_mass(factors, i, buckets, tick, outside)
            elif pairs.size[i] > 0:
                # All pairs of an event are decided with the first of them.
                product *= pair_mass(factors, pairs, i, buckets, tick, rectangles, sides)
    return product


@inner
def _bent_product(batch, special, row, level, space):
    """The same of factors whose laws may be bent, and what bends the mass of the level's own tick."""
    factors, laws, decided_at = batch.factors, special.laws, space.decided_at
    tick, outside = space.tick, space.outside
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    product = bend_at(laws, batch.variables.event[row, level], tick[level])
    for i in range(begin, end):
        if decided_at[i - begin] == level and product != 0.0:
            product *= bent_factor_mass(factors, i, laws, tick, outside)
    return product


@inner
def _special_product(batch, special, row, level, space):
    """What multiplies the weight of a tick where laws are bent or factors come in pairs."""
    if len(special.laws.degree) > 0:
        return _bent_product(batch, special, row, level, space)
    return _paired_product(batch, special, row, level, space)


@inner
def _nested_sum(batch, special, row, space, searching, work_bound):
    """Sum over all variables, one inside the other; or search the smallest possible tick of the first.

    Returns that tick (IMPOSSIBLE if there is none) and the sum.
    """
    # Taken apart before the loop: each look into a value of arrays counts references.
    factors, buckets, event = batch.factors, batch.buckets, batch.variables.event[row]
    cursor, sums, tick, decided_at = space.cursor, space.sums, space.tick, space.decided_at
    cells, nodes, weights, stop = space.cells, space.nodes, space.weights, space.stop
    outside, counters, raises, degree = space.outside, space.counters, space.raises, space.degree
    is_special = len(special.laws.degree) > 0 or len(special.pairs.size) > 0
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    deepest = len(event) - 1
    level, entered = 0, False
    while True:
        if not entered:
            enter(batch, row, level, space)
            entered = True
        at, weight = next_tick(
            buckets, event, level, cells, nodes, weights, cursor, sums, stop, decided_at[: end - begin],
            raises, degree, searching and level == 0,
        )  # fmt: skip
        if cursor[level, CELL] >= cursor[level, CELLS]:
            total = sums[level, TOTAL]
            level -= 1
            if level < 0:
                return IMPOSSIBLE, total
            sums[level, TOTAL] += sums[level, COEFFICIENT] * total
            continue
        tick[level] = at
        counters[WORK] += 1 + end - begin
        if counters[WORK] > work_bound:
            return IMPOSSIBLE, 0.0
        product = _special_product(batch, special, row, level, space) if is_special else 1.0
        for i in range(0 if is_special else end - begin):
            if decided_at[i] == level and product != 0.0:
                product *= factor_mass(factors, begin + i, buckets, tick, outside)
        if product == 0.0:
            continue
        if level == deepest:
            if searching:
                return tick[0], product
            sums[level, TOTAL] += weight * product
        else:
            sums[level, COEFFICIENT] = weight * product
            level += 1
            entered = False
