"""Confidence and range of Kleene sets whose members are compared with their neighbours alone.

Given the ticks of the neighbours all members are independent: each is a factor that must be inside of what
they leave to it, and only the neighbours are summed over.  A set of many members costs what one does.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.problem import (
    Factors,
    Problems,
    RegionBound,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.confidence.coupled.solve import coupled_confidence
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


def sets_between(masses: Masses, system: Ticks, column: int, singles: Indexes, group: Group) -> Measured:
    """Measure sets; those that no world returns start after they end.

    Parameters
    ----------
    masses
        Of all events, without holes.
    system, column
        Closed, over the neighbours and, in `column`, any member.
    singles, group
        The neighbours of each set, shape (n, l), and its members, which may be none.

    Raises
    ------
    QueryTooLargeError
        If a set needs more products than the bound on the work.
    """
    others = np.delete(np.arange(len(system)), column)
    # A layout of its own would have the kernels compiled again.
    between = np.ascontiguousarray(system[np.ix_(others, others)])
    upper_by, lower_by = system[column, others], system[others, column]
    owner, member = group.owner, group.members
    low, high = _left_to_neighbours(masses, between, upper_by, lower_by, singles, group)
    first, last = masses.lower[member], masses.upper[member]
    for j in range(len(others)):
        if lower_by[j] < UNBOUNDED:
            first = np.maximum(first, low[owner, j] - lower_by[j])
        if upper_by[j] < UNBOUNDED:
            last = np.minimum(last, high[owner, j] + upper_by[j])
    start, end = low.min(axis=1), high.max(axis=1)
    np.minimum.at(start, owner, first)
    np.maximum.at(end, owner, last)
    happens: Flags = np.asarray((low <= high).all(axis=1))
    happens[owner[first > last]] = False
    found = Measured(np.zeros(len(start)), np.zeros(len(start)), np.where(happens, start, 1), end)
    found.end[~happens] = 0
    rows = np.flatnonzero(happens)
    if len(rows):
        problems = _problems(between, upper_by, lower_by, singles, low, high, group, rows)
        found.confidence[rows] = np.minimum(coupled_confidence(masses, problems)[0], 1.0)
        found.confidence[_certain(masses, between, singles) & (group.sizes == 0)] = 1.0
    return found


def _left_to_neighbours(
    masses: Masses, between: Ticks, upper_by: Ticks, lower_by: Ticks, singles: Indexes, group: Group
) -> tuple[Ticks, Ticks]:
    """Valid intervals of the neighbours beside all members, shapes (n, l)."""
    own_low, own_high = masses.lower[singles], masses.upper[singles]
    low, high = own_low.copy(), own_high.copy()
    first, last = masses.lower[group.members], masses.upper[group.members]
    for j in range(singles.shape[1]):
        for i in range(singles.shape[1]):
            if i != j and between[i, j] < UNBOUNDED:
                low[:, j] = np.maximum(low[:, j], own_low[:, i] - between[i, j])
            if i != j and between[j, i] < UNBOUNDED:
                high[:, j] = np.minimum(high[:, j], own_high[:, i] + between[j, i])
        if upper_by[j] < UNBOUNDED:
            np.maximum.at(low[:, j], group.owner, first - upper_by[j])
        if lower_by[j] < UNBOUNDED:
            np.minimum.at(high[:, j], group.owner, last + lower_by[j])
    return low, high


def _problems(
    between: Ticks,
    upper_by: Ticks,
    lower_by: Ticks,
    singles: Indexes,
    low: Ticks,
    high: Ticks,
    group: Group,
    rows: Indexes,
) -> Problems:
    """The neighbours of some sets as variables, the members as factors inside of one region each."""
    count = singles.shape[1]
    edges = tuple(
        (i, j, int(between[i, j]))
        for i in range(count)
        for j in range(count)
        if i != j and between[i, j] < UNBOUNDED
    )
    region = (
        *(RegionBound(j, -int(lower_by[j]), True) for j in range(count) if lower_by[j] < UNBOUNDED),
        *(RegionBound(j, int(upper_by[j]), False) for j in range(count) if upper_by[j] < UNBOUNDED),
    )
    structure = Structure(between, edges, (region,), breakpoints(count, edges, between, (region,)))
    some = group.take(rows)
    members, bounds = len(some.members), len(region)
    factors = Factors(
        some.offsets.astype(np.int64),
        some.members,
        np.arange(members + 1),
        np.ones(members, dtype=bool),
        np.arange(members + 1) * bounds,
        np.tile(np.array([each.is_lower for each in region], dtype=bool), members),
        np.tile(np.array([each.variable for each in region], dtype=np.int64), members),
        np.tile(np.array([each.constant for each in region], dtype=np.int64), members),
    )
    variables = Variables(*(np.ascontiguousarray(each[rows]) for each in (singles, low, high)))
    return Problems(structure, np.arange(len(rows)), variables, factors)


def _certain(masses: Masses, between: Ticks, singles: Indexes) -> Flags:
    """Which neighbours are as asked in every world."""
    found = np.ones(len(singles), dtype=bool)
    for i, j in np.argwhere(between < UNBOUNDED):
        if i != j:
            found &= masses.upper[singles[:, i]] - masses.lower[singles[:, j]] <= between[i, j]
    return found
