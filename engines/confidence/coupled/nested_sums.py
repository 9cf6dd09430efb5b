"""The compiled part of coupled confidences: sums over ticks, one variable inside the other.

On the way down every factor is multiplied in at the level that decides it.  `solve` says what is summed and
prepares the arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.coupled.factor_masses import factor_mass
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
from cepctl.engines.kernels.kernel import inlined, inner, kernel

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
def solve(batch, space, limits, confidence, first):
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    for row in range(len(batch.variables.event)):
        prepare(batch, row, space)
        if limits.searching:
            first[row] = IMPOSSIBLE
            space.counters[WORK] = 0
            found, _ = _nested_sum(batch, row, space, True, limits.search)
            if space.counters[WORK] > limits.search:
                return row
            first[row] = found
            if found == IMPOSSIBLE:
                continue
        if limits.summing:
            space.counters[WORK] = 0
            _, confidence[row] = _nested_sum(batch, row, space, False, limits.work)
            if space.counters[WORK] > limits.work:
                if not limits.give_up:
                    return row
                confidence[row] = np.nan
    return -1


@kernel
def list_first_nodes(batch, space, row_of, tick_of, weight_of):
    """List ticks of the first variables and their weights, as far as there is room; returns their number."""
    found, laws = 0, batch.laws
    for row in range(len(batch.variables.event)):
        prepare(batch, row, space)
        event = batch.variables.event[row]
        factors = batch.factors.offsets[row + 1] - batch.factors.offsets[row]
        enter(batch, row, 0, space)
        while True:
            tick, weight = next_tick(
                laws, event, 0, space.cells, space.nodes, space.weights, space.cursor, space.sums, space.stop,
                space.decided_at[:factors], space.raises, False,
            )  # fmt: skip
            if space.cursor[0, CELL] >= space.cursor[0, CELLS]:
                break
            if found < len(row_of):
                row_of[found], tick_of[found], weight_of[found] = row, tick, weight
            found += 1
    return found


@inlined
def _mass(factors, pairs, number, laws, tick, outside, rectangles, sides):
    """The mass of a factor, or of all pairs of factors of an event with the first of them."""
    if len(pairs.size) == 0 or pairs.size[number] == 0:
        return factor_mass(factors, number, laws, tick, outside)
    if pairs.size[number] > 0:
        return pair_mass(factors, pairs, number, laws, tick, rectangles, sides)
    return 1.0


@inner
def _nested_sum(batch, row, space, searching, work_bound):
    """Sum over all variables, one inside the other; or search the smallest possible tick of the first.

    Returns that tick (IMPOSSIBLE if there is none) and the sum.
    """
    # Taken apart before the loop: each look into a value of arrays counts references.
    factors, laws, event = batch.factors, batch.laws, batch.variables.event[row]
    cursor, sums, tick, decided_at = space.cursor, space.sums, space.tick, space.decided_at
    cells, nodes, weights, stop = space.cells, space.nodes, space.weights, space.stop
    outside, counters, raises = space.outside, space.counters, space.raises
    pairs, rectangles, sides = batch.pairs, space.rectangles, space.sides
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    deepest = len(event) - 1
    level, entered = 0, False
    while True:
        if not entered:
            enter(batch, row, level, space)
            entered = True
        at, weight = next_tick(
            laws, event, level, cells, nodes, weights, cursor, sums, stop, decided_at[: end - begin], raises,
            searching and level == 0,
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
        product = 1.0
        for i in range(end - begin):
            if decided_at[i] == level and product != 0.0:
                product *= _mass(factors, pairs, begin + i, laws, tick, outside, rectangles, sides)
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
