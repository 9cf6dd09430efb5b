"""The compiled part of coupled confidences: sums over ticks, one variable inside the other.

A level is a variable's place in the nesting.  A cursor per level walks over the cells of the variable's
range and the nodes of each cell; on the way down every factor is multiplied in at the level that
decides it.  `coupled_confidence` says what is summed and prepares the arrays.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cepctl.engines.columns.tick_sums import apart, plus, tick_count
from cepctl.engines.confidence.chain.closed_form import WIDEST_CELL
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

IMPOSSIBLE = np.iinfo(np.int64).max
"""The smallest possible tick of what cannot happen."""

# Columns of the cursor that walks over the cells and nodes of a level.
_CELLS, _CELL, _NODE, _NODES_OF_CELL, _EVERY = range(5)
# Entries of the counters, and columns of the sums kept per level.
_CUTS, _WORK = range(2)
_MASS, _COEFFICIENT, _TOTAL = range(3)


@njit(nogil=True, cache=True)
def solve(
    system, shifts, relatives, variables, factor_offsets, factors, regions, bounds, starts, ends, density,
    tick, cuts, cells, nodes, weights, cursor, sums, stop, decided_at, gaps, counters,
    confidence, first, steps, give_up, work_bound, search_bound,
):  # fmt: skip
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    for row in range(variables.shape[0]):
        own, others = variables[row], factors[factor_offsets[row] : factor_offsets[row + 1]]
        _prepare(own, others, regions, bounds, starts, ends, cuts, decided_at, counters)
        first[row] = IMPOSSIBLE
        for step in range(steps):
            searching = step == 0
            if not searching and first[row] == IMPOSSIBLE:
                break
            counters[_WORK] = 0
            found, total = _nested_sum(
                system, shifts, relatives, own, others, regions, bounds, starts, ends, density,
                tick, cuts, cells, nodes, weights, cursor, sums, stop, decided_at, gaps, counters, searching,
                search_bound if searching else work_bound,
            )  # fmt: skip
            if counters[_WORK] > (search_bound if searching else work_bound):
                if searching or not give_up:
                    return row
                total = np.nan
            if searching:
                first[row] = found
            else:
                confidence[row] = total
    return -1


@njit(nogil=True, cache=True)
def _nested_sum(
    system, shifts, relatives, own, others, regions, bounds, starts, ends, density,
    tick, cuts, cells, nodes, weights, cursor, sums, stop, decided_at, gaps, counters, searching,
    work_bound,
):  # fmt: skip
    """Sum over all variables, one inside the other; or search the smallest possible tick of the first.

    Returns that tick (IMPOSSIBLE if there is none) and the sum.
    """
    deepest = len(own) - 1
    level = 0
    _enter(own, system, shifts, relatives, level, tick, cuts, counters, cells, cursor, sums, stop)
    while True:
        at, weight = _next_tick(
            own, others, starts, ends, density, level, cells, nodes, weights, cursor, sums, stop,
            decided_at, searching and level == 0,
        )  # fmt: skip
        if cursor[level, _CELL] >= cursor[level, _CELLS]:
            total = sums[level, _TOTAL]
            level -= 1
            if level < 0:
                return IMPOSSIBLE, total
            sums[level, _TOTAL] += sums[level, _COEFFICIENT] * total
            continue
        tick[level] = at
        counters[_WORK] += 1 + len(others)
        if counters[_WORK] > work_bound:
            return IMPOSSIBLE, 0.0
        product = 1.0
        for i in range(len(others)):
            if decided_at[i] == level and product != 0.0:
                product *= _factor(others[i], regions, bounds, starts, ends, density, tick, gaps)
        if product == 0.0:
            continue
        if level == deepest:
            if searching:
                return tick[0], product
            sums[level, _TOTAL] += weight * product
        else:
            sums[level, _COEFFICIENT] = weight * product
            level += 1
            _enter(own, system, shifts, relatives, level, tick, cuts, counters, cells, cursor, sums, stop)


@njit(nogil=True, cache=True)
def _enter(own, system, shifts, relatives, level, tick, cuts, counters, cells, cursor, sums, stop):
    """Begin the sum over one variable: its range, its cells, and a cursor before the first."""
    lower, upper = own[level, 1], own[level, 2]
    for k in range(level):
        if system[k, level] < UNBOUNDED:
            lower = max(lower, plus(tick[k], -system[k, level]))
        if system[level, k] < UNBOUNDED:
            upper = min(upper, plus(tick[k], system[level, k]))
    stop[level] = upper + 1
    sums[level, _TOTAL] = 0.0
    cursor[level, _CELLS] = 0
    if lower <= upper:
        cursor[level, _CELLS] = _cut_range(
            shifts, relatives, level, tick, cuts[: counters[_CUTS]], cells[level], lower, upper
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


@njit(nogil=True, cache=True)
def _next_tick(
    own,
    others,
    starts,
    ends,
    density,
    level,
    cells,
    nodes,
    weights,
    cursor,
    sums,
    stop,
    decided_at,
    searching,
):
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
        sums[level, _MASS] = _density_at(own[level, 0], start, starts, ends, density)
        at[_NODE] = 0
        at[_NODES_OF_CELL] = 0
        if sums[level, _MASS] > 0.0:
            degree = len(own) - 1 - level
            for i in range(len(others)):
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


@njit(nogil=True, cache=True)
def _factor(factor, regions, bounds, starts, ends, density, tick, gaps):
    """Mass of a factor's event inside all its inner regions and outside the union of the others."""
    event = factor[0]
    lower, upper = ends[starts[event], 0], ends[starts[event + 1] - 1, 1]
    count = 0
    for r in range(factor[1], factor[2]):
        first, last = ends[starts[event], 0], ends[starts[event + 1] - 1, 1]
        for b in range(regions[r, 1], regions[r, 2]):
            at = bounds[b, 2]
            if bounds[b, 1] != NO_VARIABLE:
                at = plus(at, tick[bounds[b, 1]])
            if bounds[b, 0]:
                first = max(first, at)
            else:
                last = min(last, at)
        if regions[r, 0]:
            lower, upper = max(lower, first), min(upper, last)
        elif first <= last:
            i = count
            while i > 0 and gaps[i - 1, 0] > first:
                gaps[i] = gaps[i - 1]
                i -= 1
            gaps[i, 0], gaps[i, 1] = first, last
            count += 1
    total = 0.0
    for g in range(count):
        if gaps[g, 0] > lower:
            total += _mass_on(event, lower, min(upper, gaps[g, 0] - 1), starts, ends, density)
        lower = max(lower, gaps[g, 1] + 1)
    return total + _mass_on(event, lower, upper, starts, ends, density)


@njit(nogil=True, cache=True)
def _mass_on(event, lower, upper, starts, ends, density):
    total = 0.0
    for b in range(starts[event], starts[event + 1]):
        first, last = max(ends[b, 0], lower), min(ends[b, 1], upper)
        if first <= last:
            total += density[b] * tick_count(first, last)
    return total


@njit(nogil=True, cache=True)
def _density_at(event, tick, starts, ends, density):
    for b in range(starts[event], starts[event + 1]):
        if ends[b, 0] <= tick <= ends[b, 1]:
            return density[b]
    return 0.0


@njit(nogil=True, cache=True)
def _prepare(own, others, regions, bounds, starts, ends, cuts, decided_at, counters):
    """Collect the cuts of all masses and constants, and the level at which each factor is decided."""
    count = 0
    for i in range(len(own) + len(others)):
        event = own[i, 0] if i < len(own) else others[i - len(own), 0]
        for b in range(starts[event], starts[event + 1]):
            cuts[count] = ends[b, 0]
            cuts[count + 1] = ends[b, 1] + 1
            count += 2
    for i in range(len(own)):
        # A timing constraint with a constant ends an interval where no mass does.
        cuts[count] = own[i, 1]
        cuts[count + 1] = own[i, 2] + 1
        count += 2
        if apart(own[i, 1], own[i, 2]) > WIDEST_CELL:
            # int64 may not hold the ticks of such a cell.
            cuts[count] = 0
            count += 1
    for i in range(len(others)):
        decided_at[i] = 0
        for r in range(others[i, 1], others[i, 2]):
            for b in range(regions[r, 1], regions[r, 2]):
                if bounds[b, 1] == NO_VARIABLE:
                    cuts[count] = bounds[b, 2] + (1 - bounds[b, 0])
                    count += 1
                decided_at[i] = max(decided_at[i], bounds[b, 1])
    counters[_CUTS] = _sorted_unique(cuts, count)


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
