"""Confidence of coupled problems: nested sums over whole ticks, exact whatever the widths.

The variables of a problem (see `coupled_problem`) are summed one inside the other.  Between two
breakpoints the sum inside is a polynomial of known degree, so that few ticks stand for all of a cell
(see `tick_rules`).  Every value is that of a true assignment of ticks: nothing cancels, and a problem
has probability 0 exactly when all values are 0.

The work is that of (cells times nodes) to the power of the number of variables; it is counted, for the
search of the smallest possible tick and for the sum, and what exceeds the bound is given up.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cepctl.engines.coupled_problem import NO_VARIABLE, Bound, Problems, Structure, breakpoints
from cepctl.engines.masses import Masses
from cepctl.engines.tick_rules import summation_rule, takes_every_tick
from cepctl.engines.types import Reals, Ticks
from cepctl.errors import QueryTooLargeError

WORK_BOUND = 20_000_000
"""Products of masses that a single problem may take: some seconds of one core."""

SEARCH_BOUND = 20_000_000
"""The same for the search of the smallest possible tick, which no sampling can replace."""

_IMPOSSIBLE = np.iinfo(np.int64).max

# Columns of the cursor that walks over the cells and nodes of a level.
_CELLS, _CELL, _NODE, _NODES_OF_CELL, _EVERY = range(5)
# Entries of the counters, and columns of the sums kept per level.
_CUTS, _WORK = range(2)
_MASS, _COEFFICIENT, _TOTAL = range(3)


def coupled_confidence(masses: Masses, problems: Problems, *, give_up: bool = False) -> tuple[Reals, Ticks]:
    """Probability and smallest possible tick of variable 0, per problem.

    Parameters
    ----------
    masses, problems
        n problems, and the masses of their events.
    give_up
        Answer NaN for a probability that needs more than WORK_BOUND products, rather than raise.

    Returns
    -------
    Probabilities and ticks, shape (n,); the tick of a problem of probability 0 is the largest int64.

    Raises
    ------
    QueryTooLargeError
        If a problem needs more than WORK_BOUND products, or SEARCH_BOUND to find whether and when it is
        possible; names the number and the remedies.
    """
    return _solved(masses, problems, summing=True, give_up=give_up)


def first_ticks(masses: Masses, problems: Problems) -> Ticks:
    """The smallest possible ticks alone."""
    return _solved(masses, problems, summing=False, give_up=False)[1]


def _solved(masses: Masses, problems: Problems, *, summing: bool, give_up: bool) -> tuple[Reals, Ticks]:
    count = len(problems.match)
    confidence = np.zeros(count)
    first = np.full(count, _IMPOSSIBLE, dtype=np.int64)
    if not count:
        return confidence, first
    arguments: tuple[Any, ...] = (
        *_problem_arrays(problems), masses.starts, np.stack([masses.lo, masses.hi], axis=1), masses.density,
        *_working_space(masses, problems), confidence, first, 2 if summing else 1, give_up,
        WORK_BOUND, SEARCH_BOUND,
    )  # fmt: skip
    failed = _solve(*arguments)
    if failed >= 0:
        factors = int(problems.factor_offsets[failed + 1] - problems.factor_offsets[failed])
        searched = first[failed] == _IMPOSSIBLE
        what, bound = ("time range", SEARCH_BOUND) if searched else ("confidence", WORK_BOUND)
        raise QueryTooLargeError(
            f"the exact {what} of a match couples "
            f"{problems.event.shape[1]} events with {factors} others and needs more than {bound:,} "
            "products; narrow the pattern (WITHIN, [attr], tighter predicates)"
            + ("" if searched else ", or allow an error with --approximate")
        )
    return confidence, first


def mirrored(masses: Masses, problems: Problems) -> tuple[Masses, Problems]:
    """The same problems with time reversed: variable 0 becomes the last, ticks change sign."""
    order = np.arange(problems.event.shape[1])[::-1]
    last = len(order) - 1
    structure = problems.structure
    edges = tuple((last - j, last - i, c) for i, j, c in structure.edges)
    system = np.ascontiguousarray(structure.system.T[np.ix_(order, order)])
    flipped_variable = np.where(
        problems.bound_variable == NO_VARIABLE, NO_VARIABLE, last - problems.bound_variable
    )
    kinds = _region_kinds(problems)
    regions = [
        [
            Bound(b.variable if b.variable == NO_VARIABLE else last - b.variable, -b.constant, not b.is_lower)
            for b in region
        ]
        for region in kinds
    ]
    mirrored_problems = Problems(
        Structure(system, edges, breakpoints(len(order), edges, system, regions)),
        problems.match, np.ascontiguousarray(problems.event[:, order]),
        np.ascontiguousarray(-problems.upper[:, order]), np.ascontiguousarray(-problems.lower[:, order]),
        problems.factor_offsets, problems.factor_event, problems.region_offsets, problems.region_inside,
        problems.bound_offsets, ~problems.bound_lower, flipped_variable, -problems.bound_constant,
    )  # fmt: skip
    return masses.mirrored(), mirrored_problems


def _region_kinds(problems: Problems) -> list[list[Bound]]:
    """Distinct bounds in use, as one region: all of them may meet."""
    kinds = np.unique(
        np.stack(
            [problems.bound_variable, problems.bound_constant, problems.bound_lower.astype(np.int64)], axis=1
        ),
        axis=0,
    )
    return [[Bound(int(v), int(c), bool(is_lower)) for v, c, is_lower in kinds if v != NO_VARIABLE]]


def _problem_arrays(problems: Problems) -> tuple[Any, ...]:
    """The batch as few arrays: compiled calls cost by the number of their arguments.

    variables (n, m, 3): event, lower, upper; factors (f, 3): event, first region, end of regions;
    regions (r, 3): inside, first bound, end of bounds; bounds (b, 3): is lower, variable, constant;
    shifts (s, 2): level, shift; relatives (q, 3): level, variable, constant.
    """
    points = problems.structure.breakpoints
    shifts = [(level, shift) for level, each in enumerate(points.shifts) for shift in each]
    relatives = [(level, *pair) for level, each in enumerate(points.relatives) for pair in each]
    return (
        problems.structure.system,
        np.array(shifts, dtype=np.int64).reshape(-1, 2),
        np.array(relatives, dtype=np.int64).reshape(-1, 3),
        np.stack([problems.event, problems.lower, problems.upper], axis=2),
        problems.factor_offsets,
        np.stack([problems.factor_event, problems.region_offsets[:-1], problems.region_offsets[1:]], axis=1),
        np.stack([problems.region_inside, problems.bound_offsets[:-1], problems.bound_offsets[1:]], axis=1),
        np.stack([problems.bound_lower, problems.bound_variable, problems.bound_constant], axis=1),
    )


def _working_space(masses: Masses, problems: Problems) -> tuple[Any, ...]:
    """Arrays that one problem after the other uses, mostly a row per level."""
    levels = problems.event.shape[1]
    buckets = np.diff(masses.starts)
    up_to = np.concatenate([[0], np.cumsum(buckets[problems.factor_event])])[problems.factor_offsets]
    bound_count = np.diff(problems.bound_offsets[problems.region_offsets[problems.factor_offsets]])
    cuts = (
        int((2 * (buckets[problems.event].sum(axis=1) + np.diff(up_to)) + bound_count).max()) + 2 + 2 * levels
    )
    factors = int(np.diff(problems.factor_offsets).max())
    gaps = int(np.diff(problems.region_offsets).max(initial=0)) + 1
    points = problems.structure.breakpoints
    cells = max(len(s) * cuts + len(r) for s, r in zip(points.shifts, points.relatives, strict=True)) + 4
    nodes = factors + levels + 2
    return (
        np.zeros(levels, dtype=np.int64),  # tick
        np.empty(cuts, dtype=np.int64),
        np.empty((levels, cells), dtype=np.int64),
        np.empty((levels, nodes), dtype=np.int64),
        np.empty((levels, nodes)),  # weights
        np.zeros((levels, 5), dtype=np.int64),  # cursor
        np.empty((levels, 3)),  # sums
        np.empty(levels, dtype=np.int64),  # end of each level's range
        np.empty(factors + 1, dtype=np.int64),  # level that decides each factor
        np.empty((gaps, 2), dtype=np.int64),
        np.array([0, 0], dtype=np.int64),  # counters
    )


@njit(nogil=True, cache=True)
def _solve(  # type: ignore[no-untyped-def]
    system, shifts, relatives, variables, factor_offsets, factors, regions, bounds, starts, ends, density,
    tick, cuts, cells, nodes, weights, cursor, sums, stop, decided_at, gaps, counters,
    confidence, first, steps, give_up, work_bound, search_bound,
):  # fmt: skip
    """Solve all problems; returns the row that exceeded the work bound, or -1."""
    for row in range(variables.shape[0]):
        own, others = variables[row], factors[factor_offsets[row] : factor_offsets[row + 1]]
        _prepare(own, others, regions, bounds, starts, ends, cuts, decided_at, counters)
        first[row] = _IMPOSSIBLE
        for step in range(steps):
            searching = step == 0
            if not searching and first[row] == _IMPOSSIBLE:
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
def _nested_sum(  # type: ignore[no-untyped-def]
    system, shifts, relatives, own, others, regions, bounds, starts, ends, density,
    tick, cuts, cells, nodes, weights, cursor, sums, stop, decided_at, gaps, counters, searching,
    work_bound,
):  # fmt: skip
    """Sum over all variables, one inside the other; or search the smallest possible tick of the first.

    Returns that tick (_IMPOSSIBLE if there is none) and the sum.
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
                return _IMPOSSIBLE, total
            sums[level, _TOTAL] += sums[level, _COEFFICIENT] * total
            continue
        tick[level] = at
        counters[_WORK] += 1 + len(others)
        if counters[_WORK] > work_bound:
            return _IMPOSSIBLE, 0.0
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
def _enter(  # type: ignore[no-untyped-def]
    own, system, shifts, relatives, level, tick, cuts, counters, cells, cursor, sums, stop
):
    """Begin the sum over one variable: its range, its cells, and a cursor before the first."""
    lower, upper = own[level, 1], own[level, 2]
    for k in range(level):
        lower = max(lower, tick[k] - system[k, level])
        upper = min(upper, tick[k] + system[level, k])
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
def _cut_range(shifts, relatives, level, tick, cuts, starts_of_cells, lower, upper):  # type: ignore[no-untyped-def]
    """Starts of the cells of [lower, upper]; returns their number."""
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
def _next_tick(  # type: ignore[no-untyped-def]
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

    At the end the cursor stands behind the last cell.  When searching, the first degree + 1 ticks of
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
def _factor(factor, regions, bounds, starts, ends, density, tick, gaps):  # type: ignore[no-untyped-def]
    """Mass of a factor's event inside all its inner regions and outside the union of the others."""
    event = factor[0]
    lower, upper = ends[starts[event], 0], ends[starts[event + 1] - 1, 1]
    count = 0
    for r in range(factor[1], factor[2]):
        first, last = ends[starts[event], 0], ends[starts[event + 1] - 1, 1]
        for b in range(regions[r, 1], regions[r, 2]):
            at = bounds[b, 2]
            if bounds[b, 1] != NO_VARIABLE:
                at += tick[bounds[b, 1]]
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
def _mass_on(event, lower, upper, starts, ends, density):  # type: ignore[no-untyped-def]
    total = 0.0
    for b in range(starts[event], starts[event + 1]):
        first, last = max(ends[b, 0], lower), min(ends[b, 1], upper)
        if first <= last:
            total += density[b] * float(last - first + 1)
    return total


@njit(nogil=True, cache=True)
def _density_at(event, tick, starts, ends, density):  # type: ignore[no-untyped-def]
    for b in range(starts[event], starts[event + 1]):
        if ends[b, 0] <= tick <= ends[b, 1]:
            return density[b]
    return 0.0


@njit(nogil=True, cache=True)
def _prepare(own, others, regions, bounds, starts, ends, cuts, decided_at, counters):  # type: ignore[no-untyped-def]
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
def _sorted_unique(values, count):  # type: ignore[no-untyped-def]
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
