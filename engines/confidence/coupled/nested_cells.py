"""The cells that nested sums walk over: ranges of variables, cut wherever a mass or a region begins or ends.

A level is a variable's place in the nesting.  A cursor per level walks over the cells of the variable's
range and the nodes of each cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.laws import Laws, degree_of
from cepctl.engines.columns.masses import Buckets
from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.columns.tick_sums import apart, plus, sort_cuts
from cepctl.engines.confidence.chain.runs import WIDEST_CELL
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, Factors, Pairs, Variables
from cepctl.engines.confidence.quadrature import summation_rule, takes_every_tick
from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


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


class Special(NamedTuple):
    """What few batches have: laws that are bent, and factors that come in pairs.

    Apart from `Batch`, because every value of arrays that is passed on counts the references to all of them.
    """

    laws: Laws
    pairs: Pairs


class Space(NamedTuple):
    """Working space that one problem after the other uses, mostly a row for each of its m levels.

    `tick`: that of each level; `stop`: the tick after its range.  `cells`: begins of its cells, `nodes` and
    `weights` those of the cell where it is; `cursor` and `sums` have the columns named below.  `cuts`: of all
    masses and constants of a problem, sorted.  `decided_at`: the level that decides each factor, `raises`: by
    how much it raises the degree of a sum; `degree`: that of the variables from a level on.  `outside`: first
    and last ticks of what one factor must not be in; `rectangles` and `sides`: the same of a start and an
    end, and where these are cut.  `counters`: how many cuts there are, and the products so far.
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
    raises: Indexes
    degree: Indexes
    outside: Ticks
    rectangles: Ticks
    sides: Ticks
    counters: Indexes


# Columns of the cursor that walks over the cells and nodes of a level.
CURSOR_COLUMNS = 5
CELLS, CELL, NODE, NODES_OF_CELL, EVERY = range(CURSOR_COLUMNS)
# Entries of the counters, and columns of the sums kept per level.
COUNTERS, SUM_COLUMNS = 2, 3
CUTS, WORK = range(COUNTERS)
MASS, COEFFICIENT, TOTAL = range(SUM_COLUMNS)


@inner
def prepare(batch, special, row, space):
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
    space.degree[-1] = -1
    for level in range(variables.event.shape[1] - 1, -1, -1):
        space.degree[level] = (
            space.degree[level + 1] + 1 + degree_of(special.laws, variables.event[row, level])
        )
    for i in range(end - begin):
        space.decided_at[i] = 0
        space.raises[i] = 1 + degree_of(special.laws, factors.event[begin + i])
        regions = factors.region_offsets[begin + i : begin + i + 2]
        for b in range(factors.bound_offsets[regions[0]], factors.bound_offsets[regions[1]]):
            if factors.variable[b] == NO_VARIABLE:
                cuts[count] = factors.constant[b] + (0 if factors.is_lower[b] else 1)
                count += 1
            space.decided_at[i] = max(space.decided_at[i], factors.variable[b])
    space.counters[CUTS] = sort_cuts(cuts, count)
    if len(special.pairs.size) > 0:
        _decide_together(special.pairs.size[begin:end], space.decided_at)


@inner
def _decide_together(pairs, decided_at):
    """The pairs of one event are decided with the last of them."""
    for i in range(len(pairs)):
        size = 2 * pairs[i]
        if size > 0:
            decided_at[i : i + size] = decided_at[i : i + size].max()


@inner
def _add_cuts(buckets, event, cuts, count):
    """Add the begin and the tick after the end of every bucket; returns how many cuts there are."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        cuts[count] = buckets.lo[b]
        cuts[count + 1] = buckets.hi[b] + 1
        count += 2
    return count


@inlined
def enter(batch, row, level, space):
    """Begin the sum over one variable: its range, its cells, and a cursor before the first."""
    system, tick, cursor = batch.system, space.tick, space.cursor
    lower, upper = batch.variables.lower[row, level], batch.variables.upper[row, level]
    for k in range(level):
        if system[k, level] < UNBOUNDED:
            lower = max(lower, plus(tick[k], -system[k, level]))
        if system[level, k] < UNBOUNDED:
            upper = min(upper, plus(tick[k], system[level, k]))
    space.stop[level] = upper + 1
    space.sums[level, TOTAL] = 0.0
    cursor[level, CELLS] = 0
    if lower <= upper:
        cuts = space.cuts[: space.counters[CUTS]]
        cursor[level, CELLS] = _cut_range(
            batch.shifts, batch.relatives, level, tick, cuts, space.cells[level], lower, upper
        )
    cursor[level, CELL] = -1
    cursor[level, NODE] = 0
    cursor[level, NODES_OF_CELL] = 0


@inlined
def next_tick(
    buckets,
    event,
    level,
    cells,
    nodes,
    weights,
    cursor,
    sums,
    stop,
    decided_at,
    raises,
    own_degree,
    searching,
):
    """Next tick of a level and its weight: density of its bucket times summation weight.

    At the end the cursor is after the last cell.  When searching, the first degree + 1 ticks of
    each cell: a polynomial that is not zero has at most `degree` zeros, so that they tell whether any
    tick of the cell is possible, and the smallest one is among them.
    """
    at = cursor[level]
    while at[NODE] >= at[NODES_OF_CELL]:
        at[CELL] += 1
        if at[CELL] >= at[CELLS]:
            return np.int64(0), 0.0
        start = cells[level, at[CELL]]
        end = cells[level, at[CELL] + 1] if at[CELL] + 1 < at[CELLS] else stop[level]
        sums[level, MASS] = density_at(buckets, event[level], start)
        at[NODE] = 0
        at[NODES_OF_CELL] = 0
        if sums[level, MASS] > 0.0:
            degree = own_degree[level]
            for i in range(len(decided_at)):
                degree += raises[i] if decided_at[i] >= level else 0
            at[EVERY] = searching or takes_every_tick(end - start, degree)
            if searching:
                at[NODES_OF_CELL] = min(end - start, degree + 1)
            elif at[EVERY]:
                at[NODES_OF_CELL] = end - start
            else:
                at[NODES_OF_CELL] = summation_rule(end - start, degree, nodes[level], weights[level])
    node = at[NODE]
    at[NODE] += 1
    if at[EVERY]:
        return cells[level, at[CELL]] + node, sums[level, MASS]
    return cells[level, at[CELL]] + nodes[level, node], sums[level, MASS] * weights[level, node]


@inner
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
    return sort_cuts(starts_of_cells, count)
