"""Confidence of coupled problems: nested sums over whole ticks, exact whatever the widths.

The variables of a problem (see `problem`) are summed one inside the other.  Between two
breakpoints the sum inside is a polynomial of known degree, so that few ticks stand for all of a cell
(see `quadrature`; the compiled sums are in `nested_sums`).  Every value is that of a true assignment
of ticks: nothing cancels, and a problem has probability 0 exactly when all values are 0.

The work is that of (cells times nodes) to the power of the number of variables; it is counted, for the
search of the smallest possible tick and for the sum, and what exceeds the bound is given up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.laws import Laws, even_laws
from cepctl.engines.columns.masses import Buckets, Masses
from cepctl.engines.confidence.coupled.nested_cells import (
    COUNTERS,
    CURSOR_COLUMNS,
    SUM_COLUMNS,
    Batch,
    Space,
    Special,
)
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE, Limits, list_first_nodes, solve
from cepctl.engines.confidence.coupled.problem import (
    NO_VARIABLE,
    Problems,
    RegionBound,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.confidence.work import ALLOW, NARROW, NESTED, most_products, too_costly
from cepctl.errors import QueryTooLargeError

WORK_BOUND = most_products(NESTED)
"""Products of masses that a single problem may take."""

SEARCH_BOUND = most_products(NESTED)
"""The same for the search of the smallest possible tick, which no sampling can replace."""


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
    return _solved(masses, problems, Limits(True, True, give_up, WORK_BOUND, SEARCH_BOUND))


def first_ticks(masses: Masses, problems: Problems) -> Ticks:
    """The smallest possible ticks alone."""
    return _solved(masses, problems, Limits(True, False, False, WORK_BOUND, SEARCH_BOUND))[1]


def tick_range(masses: Masses, first: Problems, last: Problems) -> tuple[Ticks, Ticks]:
    """The smallest possible ticks of the first variables of some problems, the largest of others' last."""
    return first_ticks(masses, first), -first_ticks(*mirrored(masses, last))


def summed(laws: Laws, problems: Problems, work_bound: int) -> Reals:
    """The probability of each problem, NaN where it needs more products than the bound; shape (n,)."""
    found = np.zeros(len(problems.match))
    if len(found):
        limits = Limits(False, True, True, work_bound, 0)
        none = np.zeros(0, dtype=np.int64)
        solve(
            _batch_of(laws, problems),
            Special(laws, problems.pairs),
            _working_space(laws, problems),
            limits,
            found,
            none,
        )
    return found


class FirstNodes(NamedTuple):
    """Ticks of the first variable, by problem: `row`, `tick`, and `weight`, which has its mass in it."""

    row: Indexes
    tick: Ticks
    weight: Reals


def first_nodes(laws: Laws, problems: Problems) -> FirstNodes:
    """The sum over these ticks, of weight times what the others add, is the sum over all."""
    batch, special = _batch_of(laws, problems), Special(laws, problems.pairs)
    space = _working_space(laws, problems)
    none = np.zeros(0, dtype=np.int64)
    count = list_first_nodes(batch, special, space, none, none, np.zeros(0))
    found = FirstNodes(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))
    list_first_nodes(batch, special, space, *found)
    return found


def _solved(masses: Masses, problems: Problems, limits: Limits) -> tuple[Reals, Ticks]:
    count = len(problems.match)
    confidence = np.zeros(count)
    first = np.full(count, IMPOSSIBLE, dtype=np.int64)
    if not count:
        return confidence, first
    # What is possible, and when, is the same whatever bends the masses.
    laws = even_laws(masses.buckets)
    failed = solve(
        _batch_of(laws, problems),
        Special(laws, problems.pairs),
        _working_space(laws, problems),
        limits,
        confidence,
        first,
    )
    if failed >= 0:
        raise _too_costly(problems, failed, searched=first[failed] == IMPOSSIBLE)
    return confidence, first


def _too_costly(problems: Problems, row: int, *, searched: bool) -> QueryTooLargeError:
    what, bound = ("time range", SEARCH_BOUND) if searched else ("confidence", WORK_BOUND)
    variables = problems.variables.event.shape[1]
    factors = problems.factors.offsets[row : row + 2]
    others = int(factors[1] - factors[0])
    why, remedies = f"it couples {variables} events with {others} others", [NARROW, ALLOW]
    if len(problems.pairs.size):
        rivals = int((problems.pairs.size[factors[0] : factors[1]] >= 0).sum())
        why, searched = f"it has {rivals:,} events that may have to be absent", True
    return too_costly(
        f"the exact {what} of a match", NESTED, f"{bound:,} products", why, *remedies[: 2 - searched]
    )


def mirrored(masses: Masses, problems: Problems) -> tuple[Masses, Problems]:
    """The same problems with time reversed: variable 0 becomes the last, ticks change sign."""
    structure, variables, factors = problems.structure, problems.variables, problems.factors
    last = variables.event.shape[1] - 1
    edges = tuple((last - j, last - i, c) for i, j, c in structure.edges)
    system = np.ascontiguousarray(structure.system.T[::-1, ::-1])
    regions = tuple(tuple(_mirrored(bound, last) for bound in region) for region in structure.regions)
    flipped = Problems(
        Structure(system, edges, regions, breakpoints(last + 1, edges, system, regions)),
        problems.match,
        Variables(
            np.ascontiguousarray(variables.event[:, ::-1]),
            np.ascontiguousarray(-variables.upper[:, ::-1]),
            np.ascontiguousarray(-variables.lower[:, ::-1]),
        ),
        factors._replace(
            is_lower=~factors.is_lower,
            variable=np.where(factors.variable == NO_VARIABLE, NO_VARIABLE, last - factors.variable),
            constant=-factors.constant,
        ),
        problems.pairs._replace(
            law=np.ascontiguousarray(-problems.pairs.law[:, ::-1]),
            asked=np.ascontiguousarray(-problems.pairs.asked[:, ::-1]),
        ),
    )
    return masses.mirrored, flipped


def _mirrored(bound: RegionBound, last: int) -> RegionBound:
    variable = bound.variable if bound.variable == NO_VARIABLE else last - bound.variable
    return RegionBound(variable, -bound.constant, not bound.is_lower)


def _batch_of(laws: Laws, problems: Problems) -> Batch:
    points = problems.structure.breakpoints
    shifts = [(level, shift) for level, each in enumerate(points.shifts) for shift in each]
    relatives = [(level, *pair) for level, each in enumerate(points.relatives) for pair in each]
    return Batch(
        problems.structure.system,
        np.array(shifts, dtype=np.int64).reshape(-1, 2),
        np.array(relatives, dtype=np.int64).reshape(-1, 3),
        problems.variables,
        problems.factors,
        Buckets(*laws[:6]),
    )


def _working_space(laws: Laws, problems: Problems) -> Space:
    """As much of it as the largest problem needs."""
    event, factors = problems.variables.event, problems.factors
    levels = event.shape[1]
    buckets = np.diff(laws.starts)
    up_to = np.concatenate([[0], np.cumsum(buckets[factors.event])])[factors.offsets]
    bound_count = np.diff(factors.bound_offsets[factors.region_offsets[factors.offsets]])
    cuts = int((2 * (buckets[event].sum(axis=1) + np.diff(up_to)) + bound_count).max()) + 2 + 3 * levels
    most_factors = int(np.diff(factors.offsets).max())
    most_regions = int(np.diff(factors.region_offsets).max(initial=0))
    points = problems.structure.breakpoints
    cells = max(len(s) * cuts + len(r) for s, r in zip(points.shifts, points.relatives, strict=True)) + 4
    nodes = most_factors + levels + 2
    if len(laws.degree):
        more = np.concatenate([[0], np.cumsum(laws.degree[factors.event])])[factors.offsets]
        nodes += int((laws.degree[event].sum(axis=1) + np.diff(more)).max())
    rectangles = 2 * int(problems.pairs.size.max(initial=0)) + 4
    return Space(
        tick=np.zeros(levels, dtype=np.int64),
        stop=np.empty(levels, dtype=np.int64),
        cells=np.empty((levels, cells), dtype=np.int64),
        nodes=np.empty((levels, nodes), dtype=np.int64),
        weights=np.empty((levels, nodes)),
        cursor=np.zeros((levels, CURSOR_COLUMNS), dtype=np.int64),
        sums=np.empty((levels, SUM_COLUMNS)),
        cuts=np.empty(cuts, dtype=np.int64),
        decided_at=np.empty(most_factors + 1, dtype=np.int64),
        degree=np.zeros(levels + 1, dtype=np.int64),
        raises=np.zeros(most_factors + 1, dtype=np.int64),
        outside=np.empty((most_regions + 1, 2), dtype=np.int64),
        rectangles=np.empty((rectangles, 6), dtype=np.int64),
        sides=np.empty((2, 2 * rectangles), dtype=np.int64),
        counters=np.zeros(COUNTERS, dtype=np.int64),
    )
