"""Few ticks of the first variable of problems that stand for all of them, each with its weight.

They are those at which nested sums look: the first level of the same walk.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled import nested_sums, solve
from cepctl.engines.confidence.coupled.problem import Problems

_prepare, _enter, _next_tick = nested_sums._prepare, nested_sums._enter, nested_sums._next_tick
_CELL, _CELLS = nested_sums._CELL, nested_sums._CELLS


class FirstNodes(NamedTuple):
    """Ticks of the first variable, by problem: `row`, `tick`, and `weight`, which has its mass in it."""

    row: Indexes
    tick: Ticks
    weight: Reals


def first_nodes(masses: Masses, problems: Problems) -> FirstNodes:
    """The sum over these ticks, of weight times what the others add, is the sum over all."""
    batch, space = solve._batch(masses, problems), solve._working_space(masses, problems)
    none = np.zeros(0, dtype=np.int64)
    count = _listed(batch, space, none, none, np.zeros(0))
    found = FirstNodes(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))
    _listed(batch, space, *found)
    return found


@njit(nogil=True, cache=True)
def _listed(batch, space, row_of, tick_of, weight_of):
    """List the nodes as far as there is room; returns their number."""
    found = 0
    for row in range(len(batch.variables.event)):
        _prepare(batch, row, space)
        event = batch.variables.event[row]
        factors = batch.factors.offsets[row + 1] - batch.factors.offsets[row]
        _enter(batch, row, 0, space)
        while True:
            tick, weight = _next_tick(
                batch.buckets, event, 0, space.cells, space.nodes, space.weights, space.cursor, space.sums,
                space.stop, space.decided_at[:factors], False,
            )  # fmt: skip
            if space.cursor[0, _CELL] >= space.cursor[0, _CELLS]:
                break
            if found < len(row_of):
                row_of[found], tick_of[found], weight_of[found] = row, tick, weight
            found += 1
    return found
