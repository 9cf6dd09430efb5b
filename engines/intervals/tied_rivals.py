"""Rivals of matches that are measured with the events tied to them.

A tied rival is one of these events: it must not satisfy all conditions of an absence.  The first of them that
fails says which case it is, so that no two cases hold at once.  Other rivals are independent of all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.intervals.conditions import CONSTANT, Case, Edge, Place, own_edges
from cepctl.engines.intervals.measure import IntervalMeasure, ticks_left
from cepctl.engines.intervals.rivals import FoundRivals, Negation
from cepctl.engines.pattern.difference_constraints import closure
from cepctl.errors import QueryTooLargeError

MOST_WAYS = 1024
"""Cases of a match with the ways in which tied rivals can be absent."""


def can_break(measure: IntervalMeasure, matches: Indexes, found: FoundRivals) -> FoundRivals:
    """The pairs that some world has where the match holds, as far as intervals tell."""
    negation, row, event = found
    cases = tuple((*case, *more) for case in measure.cases for more in negation.cases)
    lower, upper = ticks_left(replace(measure, cases=cases), np.column_stack([matches[row], event]))
    can = (lower <= upper).all(axis=1)
    return negation, row[can], event[can]


def cases_without(
    cases: Sequence[Case], rivals: Sequence[tuple[Negation, int]], own: int, width: int
) -> tuple[Case, ...]:
    """Cases of matches of `width` events, the first `own` of which are the match's, none broken by rivals.

    `rivals` are negated components with the number of the event that must not be such a one.

    Raises
    ------
    QueryTooLargeError
        If there are more than MOST_WAYS.
    """
    found = list(cases)
    for negation, event in rivals:
        for each in negation.cases:
            broken = _moved(each, 2 * own, 2 * event)
            found = [
                way
                for case in found
                for more in _first_failing(broken)
                if _has_solution(way := (*case, *more), width)
            ]
            if len(found) > MOST_WAYS:
                raise QueryTooLargeError(
                    "GIVEN ties so many rivals of a match that they can be absent in more than "
                    f"{MOST_WAYS:,} ways; say more in IF so that it ties fewer events, or leave it out"
                )
    return tuple(found)


def free_rivals(
    finder: Callable[[Indexes], list[FoundRivals]], own: int
) -> Callable[[Indexes], list[FoundRivals]]:
    """The rivals of the first `own` events of matches that are not among the others."""

    def free(matches: Indexes) -> list[FoundRivals]:
        found = []
        for negation, row, event in finder(matches[:, :own]):
            alone = (matches[row] != event[:, None]).all(axis=1)
            cases = tuple(_moved(each, 2 * own, 2 * matches.shape[1]) for each in negation.cases)
            found.append((replace(negation, cases=cases), row[alone], event[alone]))
        return found

    return free


def _moved(case: Case, before: Place, after: Place) -> Case:
    """The same where the places of the rival, which stood last, are others."""

    def moved(place: Place) -> Place:
        return place if place < before else place - before + after

    return tuple((moved(i), moved(j), bound) for i, j, bound in case)


def _first_failing(case: Case) -> Iterator[tuple[Edge, ...]]:
    for number, (i, j, bound) in enumerate(case):
        yield (*case[:number], (j, i, -bound - 1))


def _has_solution(case: Case, width: int) -> bool:
    between = [each for each in case if CONSTANT not in each[:2]]
    return bool((np.diag(closure(2 * width, [*own_edges(width), *between])) >= 0).all())
