"""The compiled part of coupled confidences: sums over ticks, one variable inside the other.

On the way down every factor is multiplied in at the level that decides it.  `coupled_confidence` says what
is summed and prepares the arrays.
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
from cepctl.engines.kernels.kernel import inner, kernel

IMPOSSIBLE = np.iinfo(np.int64).max
"""The smallest possible tick of what cannot happen."""


class Limits(NamedTuple):
    """Products that a problem may take, for its sum and for the search of its smallest possible tick.

    `summing`: whether the sum is wanted at all.  `give_up`: what takes more is NaN, the others are summed.
    """

    summing: bool
    give_up: bool
    work: int
    search: int


@kernel
def solve(batch, space, limits, confidence, first):
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    for row in range(len(batch.variables.event)):
        prepare(batch, row, space)
        first[row] = IMPOSSIBLE
        for step in range(2 if limits.summing else 1):
            searching = step == 0
            if not searching and first[row] == IMPOSSIBLE:
                break
            space.counters[WORK] = 0
            bound = limits.search if searching else limits.work
            found, total = _nested_sum(batch, row, space, searching, bound)
            if space.counters[WORK] > bound:
                if searching or not limits.give_up:
                    return row
                total = np.nan
            if searching:
                first[row] = found
            else:
                confidence[row] = total
    return -1


@inner
def _nested_sum(batch, row, space, searching, work_bound):
    """Sum over all variables, one inside the other; or search the smallest possible tick of the first.

    Returns that tick (IMPOSSIBLE if there is none) and the sum.
    """
    # Taken apart before the loop: each look into a value of arrays counts references.
    factors, buckets, event = batch.factors, batch.buckets, batch.variables.event[row]
    cursor, sums, tick, decided_at = space.cursor, space.sums, space.tick, space.decided_at
    cells, nodes, weights, stop = space.cells, space.nodes, space.weights, space.stop
    outside, counters = space.outside, space.counters
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    deepest = len(event) - 1
    level, entered = 0, False
    while True:
        if not entered:
            enter(batch, row, level, space)
            entered = True
        at, weight = next_tick(
            buckets, event, level, cells, nodes, weights, cursor, sums, stop, decided_at[: end - begin],
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
