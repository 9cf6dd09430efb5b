"""Matches beside which no event of some kind may be: summed over the endpoints that its conditions name.

Those endpoints, and what open edges tie to them, become one problem of nested sums.  Ties apart from these
multiply as without rivals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE, Limits
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.solve import (
    SEARCH_BOUND,
    WORK_BOUND,
    batch_of,
    mirrored,
    working_space,
)
from cepctl.engines.intervals.absence_problems import Absent, absence_problems
from cepctl.engines.intervals.reach import Reached
from cepctl.engines.intervals.rival_sums import Absences, solve_with_absences
from cepctl.errors import QueryTooLargeError


def absent_confidence(
    endpoints: Endpoints, absent: Absent, endpoint: Indexes, left: Reached
) -> tuple[Reals, Ticks, Ticks]:
    """P(open edges, no rival) of n rows of endpoints; first and last tick of each place, both (n, m).

    What no world allows has the probability 0 and ranges that mean nothing.

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products.
    """
    masses = endpoints.masses
    problems, absences = absence_problems(endpoints, absent, endpoint, left, None)
    confidence, found = _solved(masses, problems, absences, summing=True)
    lower, upper = left.lower.copy(), left.upper.copy()
    never = found == IMPOSSIBLE
    lower[never], upper[never] = 1, 0
    possible = np.flatnonzero(~never)
    for place in absent.places:
        some = replace(absent, lists=tuple(each.taken(possible) for each in absent.lists))
        rows = Reached(*(each[possible] for each in left))
        for ends, late in ((lower, False), (upper, True)):
            problems, absences = absence_problems(endpoints, some, endpoint[possible], rows, (place, late))
            if not len(possible):
                continue
            if late:
                turned = mirrored(masses, problems)
                found = -_solved(*turned, _mirrored(absences), summing=False)[1]
            else:
                found = _solved(masses, problems, absences, summing=False)[1]
            ends[possible, place] = found
    return confidence, lower, upper


def _mirrored(absences: Absences) -> Absences:
    return absences._replace(
        law=np.ascontiguousarray(-absences.law[:, ::-1]), asked=np.ascontiguousarray(-absences.asked[:, ::-1])
    )


def _solved(masses: Masses, problems: Problems, absences: Absences, *, summing: bool) -> tuple[Reals, Ticks]:
    count = len(problems.match)
    confidence, first = np.zeros(count), np.full(count, IMPOSSIBLE, dtype=np.int64)
    if not count:
        return confidence, first
    limits = Limits(summing, False, WORK_BOUND, SEARCH_BOUND)
    batch, space = batch_of(masses, problems), working_space(masses, problems)
    failed = solve_with_absences(batch, absences, space, limits, confidence, first)
    if failed >= 0:
        rivals = int((absences.pairs >= 0)[problems.factors.offsets[failed] :].sum())
        raise QueryTooLargeError(
            f"the exact confidence of a match beside which {rivals:,} events may be absent needs more than "
            f"{WORK_BOUND:,} products; narrow the pattern (WITHIN, [attr], tighter predicates)"
        )
    return confidence, first
