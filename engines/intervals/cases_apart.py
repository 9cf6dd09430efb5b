"""Cases of matches told apart by what absences ask of a match alone, as INTERSECTS BY does of its length.

In a case that says of each such condition whether it holds, what must be absent depends on its own start
and end and how they lie to those of the match.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from cepctl.engines.intervals.conditions import CONSTANT, MAX_CASES, Case
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.errors import QueryTooLargeError


def cases_apart(cases: Sequence[Case], absent: Sequence[Sequence[Case]], places: int) -> tuple[Case, ...]:
    """The cases of matches of so many places, parted where a condition of `absent` on these holds or not.

    Raises
    ------
    QueryTooLargeError
        If there are too many.
    """
    asked = {edge for each in absent for case in each for edge in case if max(edge[:2]) < places}
    found = tuple(cases)
    for i, j, bound in sorted(asked):
        if bound < UNBOUNDED:
            sides = ((i, j, bound), (j, i, -bound - 1))
            found = tuple((*case, *_unless_known(case, side)) for case in found for side in sides)
            found = tuple(dict.fromkeys(case for case in found if _holds(case)))
        if len(found) > MAX_CASES:
            raise QueryTooLargeError(
                f"what must be absent makes more than {MAX_CASES} cases of a match; ask less of it"
            )
    return found


@lru_cache(maxsize=4096)
def possible_beside(case: Case, absent: tuple[Case, ...]) -> tuple[Case, ...]:
    """The cases in which something is absent that can be where a match is as its own case says."""
    return tuple(each for each in absent if _holds((*case, *each)))


def _unless_known(case: Case, edge: tuple[int, int, int]) -> Case:
    """The edge, where a case neither has it nor contradicts it: no edge is written twice."""
    i, j, bound = edge
    return () if not _holds((*case, (j, i, -bound - 1))) else (edge,)


@lru_cache(maxsize=4096)
def _holds(case: Case) -> bool:
    """Whether some ticks satisfy all edges."""
    places = max((max(edge[:2]) for edge in case), default=0) + 1
    edges = [
        (places if i == CONSTANT else i, places if j == CONSTANT else j, bound)
        for i, j, bound in case
        if bound < UNBOUNDED
    ]
    return bool((np.diagonal(closure(places + 1, edges)) >= 0).all())
