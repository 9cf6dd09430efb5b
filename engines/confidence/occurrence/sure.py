"""Which matches hold in every world that satisfies what is given: no sum says so, its last digit may err.

A match fails where each of its problems does: some present clause of a problem fails, or all differences of
an absent one hold.  Whether such a world is left is searched for as the ends of time ranges are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.clauses import (
    NO_EVENT,
    Clauses,
    Part,
    Tied,
    clauses_of,
    gathered,
    present,
)
from cepctl.engines.confidence.coupled.problem import CoupledMatches, Problems, owned
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.occurrence.ends import NEVER, ends_of
from cepctl.engines.confidence.occurrence.rows import own_limits
from cepctl.numeric.arrays import Flags, Indexes

NEARLY = 1e-9
"""What misses 1 by less may be sure."""


def with_sure_ones(
    found: Measured,
    matches: CoupledMatches,
    clocks: EventClocks,
    tied: Callable[[Problems], Tied] | None = None,
) -> Measured:
    """Confidences that miss 1 by what sums are rounded, of matches that are sure, are 1.

    `tied` tells what is given of the events of problems, each of which is its own `match`.
    """
    near = np.flatnonzero((found.confidence != 1.0) & (np.abs(found.confidence - 1.0) < NEARLY))
    if not len(near):
        return found
    some, count = matches.taken(near), 0
    numbered, limits, match = [], [], []
    given: list[Tied] = []
    for problems in coupled_problems(some):
        alone = replace(problems, match=np.arange(len(problems.match)))
        numbered.append(replace(problems, match=count + alone.match))
        limits.append(own_limits(some.masses, problems))
        if tied is not None:
            of, left, right, bound = tied(alone)
            given.append((problems.match[of], left, right, bound))
        match.append(problems.match)
        count += len(problems.match)
    clauses = clauses_of(numbered, count, limited=False, tied=limits)
    sure = surely_hold(clocks, clauses, np.concatenate(match), len(near), given)
    confidence = found.confidence.copy()
    confidence[near[sure]] = 1.0
    return replace(found, confidence=confidence)


def surely_hold(
    clocks: EventClocks, clauses: Clauses, match: Indexes, count: int, given: Sequence[Tied] = ()
) -> Flags:
    """Which of `count` matches hold in every world that is left, as far as single absences tell.

    Parameters
    ----------
    clocks
        Of all events.
    clauses
        Of the problems of matches, a group for each.
    match, count
        The match of each problem, and how many matches there are.
    given
        Differences that all worlds satisfy, by match.
    """
    differences = np.diff(clauses.difference_offsets)
    of_clause = match[clauses.problem_of_clauses]
    absent = np.flatnonzero(clauses.absent)
    # Each row below asks for a world in which a match fails: first by its present clauses, then by a rival.
    owner = np.concatenate([np.arange(count), of_clause[absent]])
    held, _ = owned(clauses.difference_offsets, absent)
    row = count + np.repeat(np.arange(len(absent)), differences[absent])
    parts = [
        _none_of(clauses, match),
        present(row, clauses.left[held], clauses.right[held], clauses.bound[held]),
    ]
    if given:
        of, *rest = (np.concatenate(each) for each in zip(*given, strict=True))
        sizes = np.bincount(of, minlength=count)
        at, offsets = owned(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), owner)
        by_match = np.argsort(of, kind="stable")[at]
        left, right, bound = (each[by_match] for each in rest)
        parts.append(present(np.repeat(np.arange(len(owner)), np.diff(offsets)), left, right, bound))
    rows = gathered(parts, np.arange(len(owner)), len(owner))
    nothing = np.full(len(owner), NO_EVENT)
    fails = ends_of(clocks, rows, nothing, nothing)[0] != NEVER
    found = np.ones(count, dtype=bool)
    found[owner[fails]] = False
    return found


def _none_of(clauses: Clauses, match: Indexes) -> Part:
    """That of each problem not all present clauses hold."""
    kept = np.flatnonzero(~clauses.absent)
    at, _ = owned(clauses.difference_offsets, kept)
    sizes = np.bincount(clauses.problem_of_clauses[kept], minlength=len(match))
    flags = np.ones(len(match), dtype=bool)
    return Part(match, flags, sizes, clauses.left[at], clauses.right[at], clauses.bound[at])
