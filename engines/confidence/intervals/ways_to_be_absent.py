"""Matches with other events beside their own that must not break them: their cases, none of which is broken.

The first condition of an absence that fails says which case it is, so that no two cases hold at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from cepctl.arrays import Indexes
from cepctl.engines.confidence.intervals.conditions import Case, Edge, Place, can_hold, own_edges
from cepctl.engines.confidence.intervals.rivals import FoundRivals
from cepctl.engines.confidence.work import (
    BESIDE_GIVEN,
    BESIDE_WHOLES,
    LEAVE_OUT,
    NARROW,
    SAY_MORE,
    too_costly,
)

MOST_WAYS = 1024
"""Cases of a match with the ways in which tied rivals, or what must not happen as a whole, can be absent."""

_WHY = {
    BESIDE_GIVEN: ("GIVEN ties many of its rivals", SAY_MORE, LEAVE_OUT),
    BESIDE_WHOLES: ("many events could make it happen", NARROW),
}
Absent: TypeAlias = tuple[Sequence[Case], Sequence[int]]
"""Cases of an absence, and the numbers of the events that must not satisfy one of them."""


def cases_without(
    cases: Sequence[Case], absent: Sequence[Absent], own: int, width: int, method: str = BESIDE_GIVEN
) -> tuple[Case, ...]:
    """Cases of matches of `width` events, the first `own` of which are the match's, with none of `absent`.

    `method` says what makes them many, for a message.

    Raises
    ------
    QueryTooLargeError
        If there are more than MOST_WAYS.
    """
    found, laws = list(cases), own_edges(width)
    for broken_by, events in absent:
        for each in broken_by:
            broken = _moved(each, own, events)
            found = [
                way
                for case in found
                for more in _first_failing(broken)
                if can_hold((*laws, *(way := (*case, *more))))
            ]
            if len(found) > MOST_WAYS:
                most, what = f"{MOST_WAYS:,} ways to be absent", "the exact confidence of a match"
                raise too_costly(what, method, most, *_WHY[method])
    return tuple(found)


def free_rivals(
    finder: Callable[[Indexes], list[FoundRivals]], own: int
) -> Callable[[Indexes], list[FoundRivals]]:
    """The rivals of the first `own` events of matches that are not among the others."""

    def free(matches: Indexes) -> list[FoundRivals]:
        found = []
        for negation, row, event in finder(matches[:, :own]):
            alone = (matches[row] != event[:, None]).all(axis=1)
            cases = tuple(_moved(each, own, [matches.shape[1]]) for each in negation.cases)
            found.append((replace(negation, cases=cases), row[alone], event[alone]))
        return found

    return free


def _moved(case: Case, own: int, events: Sequence[int]) -> Case:
    """The same where the places behind those of `own` events are those of other ones."""

    def moved(place: Place) -> Place:
        return place if place < 2 * own else 2 * events[place // 2 - own] + place % 2

    return tuple((moved(i), moved(j), bound) for i, j, bound in case)


def _first_failing(case: Case) -> Iterator[tuple[Edge, ...]]:
    for number, (i, j, bound) in enumerate(case):
        yield (*case[:number], (j, i, -bound - 1))
