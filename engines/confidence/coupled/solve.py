"""Confidence of coupled problems: nested sums over whole ticks, exact whatever the widths.

The variables of a problem (see `problem`) are summed one inside the other.  Between two
breakpoints the sum inside is a polynomial of known degree, so that few ticks stand for all of a cell
(see `tick_rules`; the compiled sums are in `nested_sums`).  Every value is that of a true assignment
of ticks: nothing cancels, and a problem has probability 0 exactly when all values are 0.

The work is that of (cells times nodes) to the power of the number of variables; it is counted, for the
search of the smallest possible tick and for the sum, and what exceeds the bound is given up.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepctl.arrays import Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE, solve
from cepctl.engines.confidence.coupled.problem import (
    NO_VARIABLE,
    Problems,
    RegionBound,
    Structure,
    breakpoints,
)
from cepctl.errors import QueryTooLargeError

WORK_BOUND = 20_000_000
"""Products of masses that a single problem may take: some seconds of one core."""

SEARCH_BOUND = 20_000_000
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
    return _solved(masses, problems, summing=True, give_up=give_up)


def first_ticks(masses: Masses, problems: Problems) -> Ticks:
    """The smallest possible ticks alone."""
    return _solved(masses, problems, summing=False, give_up=False)[1]


def _solved(masses: Masses, problems: Problems, *, summing: bool, give_up: bool) -> tuple[Reals, Ticks]:
    count = len(problems.match)
    confidence = np.zeros(count)
    first = np.full(count, IMPOSSIBLE, dtype=np.int64)
    if not count:
        return confidence, first
    arguments: tuple[Any, ...] = (
        *_problem_arrays(problems), masses.starts, np.stack([masses.lo, masses.hi], axis=1), masses.density,
        *_working_space(masses, problems), confidence, first, 2 if summing else 1, give_up,
        WORK_BOUND, SEARCH_BOUND,
    )  # fmt: skip
    failed = solve(*arguments)
    if failed >= 0:
        factors = int(problems.factor_offsets[failed + 1] - problems.factor_offsets[failed])
        searched = first[failed] == IMPOSSIBLE
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
    regions = tuple(
        tuple(
            RegionBound(
                b.variable if b.variable == NO_VARIABLE else last - b.variable, -b.constant, not b.is_lower
            )
            for b in region
        )
        for region in structure.regions
    )
    mirrored_problems = Problems(
        Structure(system, edges, regions, breakpoints(len(order), edges, system, regions)),
        problems.match, np.ascontiguousarray(problems.event[:, order]),
        np.ascontiguousarray(-problems.upper[:, order]), np.ascontiguousarray(-problems.lower[:, order]),
        problems.factor_offsets, problems.factor_event, problems.region_offsets, problems.region_inside,
        problems.bound_offsets, ~problems.bound_lower, flipped_variable, -problems.bound_constant,
    )  # fmt: skip
    return masses.mirrored(), mirrored_problems


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
        int((2 * (buckets[problems.event].sum(axis=1) + np.diff(up_to)) + bound_count).max()) + 2 + 3 * levels
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
