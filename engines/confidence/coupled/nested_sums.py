"""The compiled part of coupled confidences: sums over ticks, one variable inside the other.

A level is a variable's place in the nesting.  A cursor per level walks over the cells of the variable's
range and the nodes of each cell; on the way down every factor is multiplied in at the level that
decides it.  `coupled_confidence` says what is summed and prepares the arrays.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Buckets
from cepctl.engines.columns.tick_sums import apart, plus, tick_count
from cepctl.engines.confidence.chain.cells import WIDEST_CELL
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, Factors, Variables
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

IMPOSSIBLE = np.iinfo(np.int64).max
"""The smallest possible tick of what cannot happen."""


class Batch(NamedTuple):
    """Problems of one structure (see `problem`), with the masses of all events.

    `system`: closed, shape (m, m).  `shifts`: shape (s, 2), each a level and a shift; `relatives`: shape
    (q, 3), each a level, a variable and a constant.
    """

    system: Ticks
    shifts: Ticks
    relatives: Ticks
    variables: Variables
    factors: Factors
    buckets: Buckets


class Space(NamedTuple):
    """Working space that one problem after the other uses, mostly a row for each of its m levels.

    `tick`: that of each level; `stop`: the tick after its range.  `cells`: begins of its cells, `nodes` and
    `weights` those of the cell where it is; `cursor` and `sums` have the columns named below.  `cuts`: of all
    masses and constants of a problem, sorted.  `decided_at`: the level that decides each factor.
    `outside`: first and last ticks of what one factor must not be in.  `counters`: how many cuts there are,
    and the products so far.
    """

    tick: Ticks
    stop: Ticks
    cells: Ticks
    nodes: Ticks
    weights: Reals
    cursor: Indexes
    sums: Reals
    cuts: Ticks
    decided_at: Indexes
    outside: Ticks
    counters: Indexes


class Limits(NamedTuple):
    """Products that a problem may take, for its sum and for the search of its smallest possible tick.

    `summing`: whether the sum is wanted at all.  `give_up`: what takes more is NaN, the others are summed.
    """

    summing: bool
    give_up: bool
    work: int
    search: int


# Columns of the cursor that walks over the cells and nodes of a level.
CURSOR_COLUMNS = 5
_CELLS, _CELL, _NODE, _NODES_OF_CELL, _EVERY = range(CURSOR_COLUMNS)
# Entries of the counters, and columns of the sums kept per level.
COUNTERS, SUM_COLUMNS = 2, 3
_CUTS, _WORK = range(COUNTERS)
_MASS, _COEFFICIENT, _TOTAL = range(SUM_COLUMNS)


@njit(nogil=True, cache=True)
def solve(batch, space, limits, confidence, first):
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    for row in range(len(batch.variables.event)):
        _prepare(batch, row, space)
        first[row] = IMPOSSIBLE
        for step in range(2 if limits.summing else 1):
            searching = step == 0
            if not searching and first[row] == IMPOSSIBLE:
                break
            space.counters[_WORK] = 0
            bound = limits.search if searching else limits.work
            found, total = _nested_sum(batch, row, space, searching, bound)
            if space.counters[_WORK] > bound:
                if searching or not limits.give_up:
                    return row
                total = np.nan
            if searching:
                first[row] = found
            else:
                confidence[row] = total
    return -1


@njit(nogil=True, cache=True)
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
    level = 0
    _enter(batch, row, level, space)
    while True:
        at, weight = _next_tick(
            buckets, event, level, cells, nodes, weights, cursor, sums, stop, decided_at[: end - begin],
            searching and level == 0,
        )  # fmt: skip
        if cursor[level, _CELL] >= cursor[level, _CELLS]:
            total = sums[level, _TOTAL]
            level -= 1
            if level < 0:
                return IMPOSSIBLE, total
            sums[level, _TOTAL] += sums[level, _COEFFICIENT] * total
            continue
        tick[level] = at
        counters[_WORK] += 1 + end - begin
        if counters[_WORK] > work_bound:
            return IMPOSSIBLE, 0.0
        product = 1.0
        for i in range(end - begin):
            if decided_at[i] == level and product != 0.0:
                product *= _factor(factors, begin + i, buckets, tick, outside)
        if product == 0.0:
            continue
        if level == deepest:
            if searching:
                return tick[0], product
            sums[level, _TOTAL] += weight * product
        else:
            sums[level, _COEFFICIENT] = weight * product
            level += 1
            _enter(batch, row, level, space)


@njit(nogil=True, cache=True, inline="always")
def _enter(batch, row, level, space):
    """Begin the sum over one variable: its range, its cells, and a cursor before the first."""
    system, tick, cursor = batch.system, space.tick, space.cursor
    lower, upper = batch.variables.lower[row, level], batch.variables.upper[row, level]
    for k in range(level):
        if system[k, level] < UNBOUNDED:
            lower = max(lower, plus(tick[k], -system[k, level]))
        if system[level, k] < UNBOUNDED:
            upper = min(upper, plus(tick[k], system[level, k]))
    space.stop[level] = upper + 1
    space.sums[level, _TOTAL] = 0.0
    cursor[level, _CELLS] = 0
    if lower <= upper:
        cuts = space.cuts[: space.counters[_CUTS]]
        cursor[level, _CELLS] = _cut_range(
            batch.shifts, batch.relatives, level, tick, cuts, space.cells[level], lower, upper
        )
    cursor[level, _CELL] = -1
    cursor[level, _NODE] = 0
    cursor[level, _NODES_OF_CELL] = 0


@njit(nogil=True, cache=True)
def _cut_range(shifts, relatives, level, tick, cuts, starts_of_cells, lower, upper):
    """Starts of the cells of [lower, upper]; returns their number.

    A sum that wraps around is not a breakpoint there; one more cell changes nothing.
    """
    starts_of_cells[0] = lower
    count = 1
    for i in range(len(shifts)):
        if shifts[i, 0] == level:
            for c in range(len(cuts)):
                at = cuts[c] + shifts[i, 1]
                if lower < at <= upper:
                    starts_of_cells[count] = at
                    count += 1
    for i in range(len(relatives)):
        if relatives[i, 0] == level:
            at = tick[relatives[i, 1]] + relatives[i, 2]
            if lower < at <= upper:
                starts_of_cells[count] = at
                count += 1
    return _sorted_unique(starts_of_cells, count)


@njit(nogil=True, cache=True, inline="always")
def _next_tick(
    buckets, event, level, cells, nodes, weights, cursor, sums, stop, decided_at, searching
):  # fmt: skip
    """Next tick of a level and its weight: mass per tick times summation weight.

    At the end the cursor is after the last cell.  When searching, the first degree + 1 ticks of
    each cell: a polynomial that is not zero has at most `degree` zeros, so that they tell whether any
    tick of the cell is possible, and the smallest one is among them.
    """
    at = cursor[level]
    while at[_NODE] >= at[_NODES_OF_CELL]:
        at[_CELL] += 1
        if at[_CELL] >= at[_CELLS]:
            return np.int64(0), 0.0
        start = cells[level, at[_CELL]]
        end = cells[level, at[_CELL] + 1] if at[_CELL] + 1 < at[_CELLS] else stop[level]
        sums[level, _MASS] = _density_at(buckets, event[level], start)
        at[_NODE] = 0
        at[_NODES_OF_CELL] = 0
        if sums[level, _MASS] > 0.0:
            degree = len(event) - 1 - level
            for i in range(len(decided_at)):
                degree += decided_at[i] >= level
            at[_EVERY] = searching or takes_every_tick(end - start, degree)
            if searching:
                at[_NODES_OF_CELL] = min(end - start, degree + 1)
            elif at[_EVERY]:
                at[_NODES_OF_CELL] = end - start
            else:
                at[_NODES_OF_CELL] = summation_rule(end - start, degree, nodes[level], weights[level])
    node = at[_NODE]
    at[_NODE] += 1
    if at[_EVERY]:
        return cells[level, at[_CELL]] + node, sums[level, _MASS]
    return cells[level, at[_CELL]] + nodes[level, node], sums[level, _MASS] * weights[level, node]


@njit(nogil=True, cache=True, inline="always")
def _factor(factors, number, buckets, tick, outside):
    """Mass of a factor's event inside all its inner regions and outside the union of the others."""
    event = factors.event[number]
    earliest, latest = _ends(buckets, event)
    lower, upper = earliest, latest
    count = 0
    for r in range(factors.region_offsets[number], factors.region_offsets[number + 1]):
        first, last = earliest, latest
        for b in range(factors.bound_offsets[r], factors.bound_offsets[r + 1]):
            at = factors.constant[b]
            if factors.variable[b] != NO_VARIABLE:
                at = plus(at, tick[factors.variable[b]])
            if factors.is_lower[b]:
                first = max(first, at)
            else:
                last = min(last, at)
        if factors.inside[r]:
            lower, upper = max(lower, first), min(upper, last)
        elif first <= last:
            i = count
            while i > 0 and outside[i - 1, 0] > first:
                outside[i] = outside[i - 1]
                i -= 1
            outside[i, 0], outside[i, 1] = first, last
            count += 1
    total = 0.0
    for g in range(count):
        if outside[g, 0] > lower:
            total += _mass_on(buckets, event, lower, min(upper, outside[g, 0] - 1))
        lower = max(lower, outside[g, 1] + 1)
    return total + _mass_on(buckets, event, lower, upper)


@njit(nogil=True, cache=True, inline="always")
def _ends(buckets, event):
    """First and last tick that has mass."""
    return buckets.lo[buckets.starts[event]], buckets.hi[buckets.starts[event + 1] - 1]


@njit(nogil=True, cache=True, inline="always")
def _mass_on(buckets, event, lower, upper):
    total = 0.0
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        first, last = max(buckets.lo[b], lower), min(buckets.hi[b], upper)
        if first <= last:
            total += buckets.density[b] * tick_count(first, last)
    return total


@njit(nogil=True, cache=True, inline="always")
def _density_at(buckets, event, tick):
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.lo[b] <= tick <= buckets.hi[b]:
            return buckets.density[b]
    return 0.0


@njit(nogil=True, cache=True)
def _prepare(batch, row, space):
    """Collect the cuts of all masses and constants, and the level at which each factor is decided."""
    variables, factors, cuts = batch.variables, batch.factors, space.cuts
    begin, end = factors.offsets[row], factors.offsets[row + 1]
    count = 0
    for event in variables.event[row]:
        count = _add_cuts(batch.buckets, event, cuts, count)
    for event in factors.event[begin:end]:
        count = _add_cuts(batch.buckets, event, cuts, count)
    for i in range(variables.event.shape[1]):
        # A timing constraint with a constant ends an interval where no mass does.
        lower, upper = variables.lower[row, i], variables.upper[row, i]
        cuts[count] = lower
        cuts[count + 1] = upper + 1
        count += 2
        if apart(lower, upper) > WIDEST_CELL:
            # int64 may not hold the ticks of such a cell.
            cuts[count] = 0
            count += 1
    for i in range(end - begin):
        space.decided_at[i] = 0
        regions = factors.region_offsets[begin + i : begin + i + 2]
        for b in range(factors.bound_offsets[regions[0]], factors.bound_offsets[regions[1]]):
            if factors.variable[b] == NO_VARIABLE:
                cuts[count] = factors.constant[b] + (0 if factors.is_lower[b] else 1)
                count += 1
            space.decided_at[i] = max(space.decided_at[i], factors.variable[b])
    space.counters[_CUTS] = _sorted_unique(cuts, count)


@njit(nogil=True, cache=True)
def _add_cuts(buckets, event, cuts, count):
    """Add the begin and the tick after the end of every bucket; returns how many cuts there are."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        cuts[count] = buckets.lo[b]
        cuts[count + 1] = buckets.hi[b] + 1
        count += 2
    return count


@njit(nogil=True, cache=True)
def _sorted_unique(values, count):
    """Sort the first `count` values in place and drop repetitions; returns how many remain."""
    kept = 0
    for i in range(count):
        value = values[i]
        j = kept - 1
        while j >= 0 and values[j] > value:
            j -= 1
        if j >= 0 and values[j] == value:
            continue
        for k in range(kept, j + 1, -1):
            values[k] = values[k - 1]
        values[j + 1] = value
        kept += 1
    return kept
