"""Problems of many variables, taken apart: given the tick of one between others, these are independent.

A series of samples in logged order is a chain of ties. Nested sums would walk all ticks of one inside those
of the other; but at a tick of the one in the middle the chain falls into two halves, and so on. Few ticks
stand for all of it, as in nested sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.laws import Laws
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.tick_sums import LAST, shifted
from cepctl.engines.confidence.coupled.problem import (
    NO_VARIABLE,
    Factors,
    Problems,
    RegionBound,
    Structure,
    Variables,
    breakpoints,
    reordered,
)
from cepctl.engines.confidence.coupled.solve import WORK_BOUND, FirstNodes, first_nodes, summed
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds

FEW_VARIABLES = 4
"""Problems of so many are summed as they are."""
NODES_BOUND = 2_000_000
"""Ticks that are looked at for one problem, at all separators together."""
_ROWS_AT_ONCE = 512


def tied_probability(laws: Laws, problems: Problems) -> Reals:
    """The probability of each problem, NaN where it needs too much work; shape (n,)."""
    return _taken_apart(laws, problems)[0]


def _taken_apart(laws: Laws, problems: Problems) -> tuple[Reals, Indexes]:
    """Probabilities, and how many ticks each problem takes, whatever is solved beside it."""
    structure = problems.structure
    count = problems.variables.event.shape[1]
    parts = _parts_without(structure, count) if count > FEW_VARIABLES else None
    if parts is None:
        return summed(laws, problems, WORK_BOUND), np.ones(len(problems.match), np.int64)
    separator, _ = parts
    ordered = reordered(problems, [separator, *(i for i in range(count) if i != separator)])
    nodes = first_nodes(laws, ordered)
    taken = np.bincount(nodes.row, minlength=len(problems.match))
    value = nodes.weight.copy()
    own = _components(_neighbours(ordered.structure, count), without=0)
    with_factors = _part_with_factors(ordered.structure, own)
    for number, part in enumerate(own):
        value *= _of_part(laws, ordered, nodes, part, taken, factors=number == with_factors)
    total = np.bincount(nodes.row, value, len(problems.match))
    return np.where(taken > NODES_BOUND, np.nan, total), taken


def _of_part(
    laws: Laws,
    problems: Problems,
    nodes: FirstNodes,
    part: list[int],
    taken: Indexes,
    *,
    factors: bool,
) -> Reals:
    """The probability of some variables, and of all factors or none, given the first one at its nodes.

    Adds to `taken`, of each problem.
    """
    new = {variable: i for i, variable in enumerate(part)}
    event, lower, upper = (each[nodes.row][:, part] for each in problems.variables)
    between = []
    for i, j, limit in problems.structure.edges:
        if limit > LAST:
            continue
        if i in new and j in new:
            between.append((new[i], new[j], limit))
        elif i in new and j == 0:
            upper[:, new[i]] = np.minimum(upper[:, new[i]], shifted(nodes.tick, limit))
        elif j in new and i == 0:
            lower[:, new[j]] = np.maximum(lower[:, new[j]], shifted(nodes.tick, -limit))
    system = closure(len(part), between)
    lower, upper = valid_bounds(lower, upper, system)
    found = np.zeros(len(nodes.row))
    rows = np.flatnonzero(possible(lower, upper))
    kinds: tuple[tuple[RegionBound, ...], ...] = ()
    owned = no_factors(len(rows))
    if factors:
        place = np.array([new.get(i, NO_VARIABLE) for i in range(problems.variables.event.shape[1])])
        kinds = tuple(tuple(_moved(bound, place) for bound in kind) for kind in problems.structure.regions)
        owned = _at_nodes(problems.factors.taken(nodes.row[rows]), nodes.tick[rows], place)
    # Most ticks of the first variable do not reach into a part, which is then the same at all of them.
    kept, alike = np.arange(len(rows)), np.arange(len(rows))
    if not len(owned.event):
        whose = nodes.row[rows][:, None]
        alone = np.concatenate([whose, *(each[rows] for each in (event, lower, upper))], axis=1)
        kept, alike = distinct_rows(alone)
    owned = owned.taken(kept)
    rows_of_kind = rows[kept]
    value = np.empty(len(rows_of_kind))
    points = breakpoints(len(part), between, system, kinds)
    structure = Structure(system, tuple(between), kinds, points)
    for begin in range(0, len(value), _ROWS_AT_ONCE):
        block = np.arange(begin, min(begin + _ROWS_AT_ONCE, len(value)))
        whose = nodes.row[rows_of_kind[block]]
        if (taken[whose] > NODES_BOUND).all():
            value[block] = np.nan
            continue
        chosen = (each[rows_of_kind[block]] for each in (event, lower, upper))
        variables = Variables(*(np.ascontiguousarray(each) for each in chosen))
        some = Problems(structure, np.arange(len(block)), variables, owned.taken(block))
        value[block], more = _taken_apart(laws, some)
        np.add.at(taken, whose, more)
    found[rows] = value[alike.reshape(-1)]
    return found


def _moved(bound: RegionBound, place: Indexes) -> RegionBound:
    variable = NO_VARIABLE if bound.variable == NO_VARIABLE else int(place[bound.variable])
    return RegionBound(variable, bound.constant, bound.is_lower)


def _at_nodes(factors: Factors, tick: Ticks, place: Indexes) -> Factors:
    """Factors whose bounds at the first variable are at its tick, which is that of their problem."""
    factor = np.repeat(np.arange(len(tick)), np.diff(factors.offsets))
    region = np.repeat(factor, np.diff(factors.region_offsets))
    problem = np.repeat(region, np.diff(factors.bound_offsets))
    fixed = factors.variable == 0
    constant = factors.constant.copy()
    constant[fixed] += tick[problem[fixed]]
    variable = np.where(factors.variable == NO_VARIABLE, NO_VARIABLE, place[factors.variable])
    return factors._replace(variable=variable, constant=constant)


def no_factors(count: int) -> Factors:
    """The factors of problems that have none."""
    none, no_flags = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
    start = np.zeros(1, dtype=np.int64)
    offsets = np.zeros(count + 1, dtype=np.int64)
    return Factors(offsets, none, start, no_flags, start.copy(), no_flags.copy(), none.copy(), none.copy())


# --- which variable to take ---------------------------------------------------------------


def _neighbours(structure: Structure, count: int) -> list[set[int]]:
    """Which variables edges or regions compare with each; all that regions name are compared together."""
    found: list[set[int]] = [set() for _ in range(count)]
    named = sorted({bound.variable for kind in structure.regions for bound in kind} - {NO_VARIABLE})
    pairs = [(i, j) for i, j, limit in structure.edges if limit <= LAST]
    for i, j in [*pairs, *((i, j) for i in named for j in named if i < j)]:
        found[i].add(j)
        found[j].add(i)
    return found


def _components(neighbours: Sequence[set[int]], without: int) -> list[list[int]]:
    """What is connected when a variable is left out."""
    left, found = set(range(len(neighbours))) - {without}, []
    while left:
        pending = [min(left)]
        part = set(pending)
        while pending:
            fresh = (neighbours[pending.pop()] & left) - part
            part |= fresh
            pending.extend(fresh)
        left -= part
        found.append(sorted(part))
    return found


def _parts_without(structure: Structure, count: int) -> tuple[int, list[list[int]]] | None:
    """The variable without which the largest part is smallest; None where no one takes them apart."""
    neighbours = _neighbours(structure, count)
    ways = [(s, _components(neighbours, s)) for s in range(count)]
    ways = [(s, parts) for s, parts in ways if len(parts) > 1]
    return min(ways, key=lambda way: max(map(len, way[1])), default=None)


def _part_with_factors(structure: Structure, parts: Sequence[list[int]]) -> int:
    """The part whose variables regions name, the first where they name none."""
    named = {bound.variable for kind in structure.regions for bound in kind} - {NO_VARIABLE, 0}
    return next((number for number, part in enumerate(parts) if named & set(part)), 0)
