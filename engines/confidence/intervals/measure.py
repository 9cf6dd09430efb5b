"""What is asked of matches that bind interval events, what that leaves to endpoints, who may break them.

A value that says nothing of how a match is measured: `rows` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.columns.ties import EndpointTies, endpoint_ties
from cepctl.engines.confidence.clocks.unions import occurrences_of_rows
from cepctl.engines.confidence.coupled.clauses import Clauses, Part, present
from cepctl.engines.confidence.intervals.conditions import Case
from cepctl.engines.confidence.intervals.edges import Lasting, Skeleton, reached, skeleton_of
from cepctl.engines.confidence.intervals.rivals import FoundRivals, FoundWholes, Negation, Whole
from cepctl.engines.confidence.occurrence import rows as row_sums
from cepctl.engines.confidence.occurrence.occurrence import (
    Occurrences,
    Weighted,
    occurrences_by_rank,
)
from cepctl.engines.confidence.work import NARROW, NESTED_ENDS, Heard, nobody, too_costly
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.engines.pattern.offset_bounds import valid_on_clocks
from cepctl.numeric.arrays import Indexes, Reals, Ticks


@dataclass(frozen=True)
class IntervalMeasure:
    """What is asked of matches of one alternative: its cases, over the endpoints of all events.

    `rivals` finds the events that may break matches, where there is a negation, `wholes` those that may do so
    together.  `ties` are what is given of events.  `heard` hears the name of each method that measures some.
    """

    cases: tuple[Case, ...]
    endpoints: Endpoints
    rivals: Callable[[Indexes], list[FoundRivals]] | None = None
    wholes: Callable[[Indexes], list[FoundWholes]] | None = None
    ties: EndpointTies | None = None
    heard: Heard = nobody

    @property
    def given(self) -> bool:
        """Whether something is given of its events."""
        return self.ties is not None

    @staticmethod
    def of(events: Events, cases: tuple[Case, ...] = ()) -> IntervalMeasure:
        """What is asked of the starts and ends of these events, which may share clocks or be tied."""
        clocks, ties = events.endpoint_clocks, events.endpoint_ties
        if clocks is None:
            return IntervalMeasure(cases, events.endpoints, ties=ties)
        return MeasureOnClocks(cases, events.endpoints, ties=ties, clocks=clocks)

    @cached_property
    def stamps(self) -> EventClocks:
        """The clocks of all endpoints."""
        return EventClocks.none(self.endpoints.masses)

    @cached_property
    def tied(self) -> EndpointTies:
        """What is given of endpoints; no ties where it is nothing."""
        none = np.zeros(0, dtype=np.int64)
        return self.ties or endpoint_ties(self.endpoints, none, none, none, self.stamps)

    def occurrences(self, clauses: Clauses) -> Occurrences:
        """Measure groups of clauses between endpoints."""
        masses = self.endpoints.masses
        weighted = Weighted.none(masses.laws, clauses.groups)
        return occurrences_by_rank(np.arange(len(masses.lower)), clauses, weighted, row_sums.WORK_BOUND)

    def broken_by(self, matches: Indexes) -> list[FoundWholes]:
        """What can break matches, shape (n, l), as far as intervals tell: rivals, and events of wholes."""
        found: list[FoundWholes] = [] if self.rivals is None else [*self.rivals(matches)]
        found += [] if self.wholes is None else self.wholes(matches)
        return [can_break(self, matches, each) for each in found]

    def left(self, skeleton: Skeleton, matches: Indexes) -> Iterator[tuple[Indexes, Ticks, Ticks]]:
        """Rows of matches, which bind points where the skeleton does, that can hold; and the ticks left."""
        lasting = np.array(skeleton.lasting)
        left = reached(self.endpoints, matches, lasting, skeleton.allowed, skeleton.edges)
        holds = np.flatnonzero(left.open_edges >= 0)
        yield holds, left.lower[holds], left.upper[holds]

    def by_points(self, matches: Indexes) -> Iterator[tuple[Lasting, Indexes]]:
        """Matches, shape (n, l), that bind points at the same places, and their rows."""
        lasts = self.endpoints.end[matches] != matches
        if lasts.all():
            yield (True,) * matches.shape[1], np.arange(len(matches))
            return
        code = lasts @ (1 << np.arange(matches.shape[1]))
        for each in np.unique(code):
            rows = np.flatnonzero(code == each)
            yield tuple(map(bool, lasts[rows[0]])), rows


@dataclass(frozen=True)
class MeasureOnClocks(IntervalMeasure):
    """Interval events that share clocks: `clocks` are those of the endpoints, which are the own parts."""

    clocks: EventClocks = field(kw_only=True)

    @cached_property
    def stamps(self) -> EventClocks:
        """The clocks of all endpoints."""
        return self.clocks

    def occurrences(self, clauses: Clauses) -> Occurrences:
        """Measure groups of clauses between endpoints; raises QueryTooLargeError for too many offsets."""
        return occurrences_of_rows(self.clocks, self.endpoints.masses, clauses)

    def left(self, skeleton: Skeleton, matches: Indexes) -> Iterator[tuple[Indexes, Ticks, Ticks]]:
        """What is left of matches, as far as the ends of masses tell."""
        endpoints, lasting = self.endpoints, np.array(skeleton.lasting)
        for own, some in rows_alike(endpoints.lengths(matches[:, lasting])):
            edges = skeleton.edges.copy()
            edges[skeleton.shared :, 2] = own
            system = closure(2 * len(lasting), [(i, j, c) for i, j, c in edges.tolist() if c < UNBOUNDED])
            first, last = valid_on_clocks(self.clocks, system, endpoints.places(matches[some]))
            lower = np.maximum(first, skeleton.allowed[:, 0])
            upper = np.minimum(last, skeleton.allowed[:, 1])
            for point in np.flatnonzero(~lasting):
                lower[:, 2 * point + 1], upper[:, 2 * point + 1] = lower[:, 2 * point], upper[:, 2 * point]
            holds = np.flatnonzero((lower <= upper).all(axis=1))
            yield some[holds], lower[holds], upper[holds]


def ticks_left(measure: IntervalMeasure, matches: Indexes) -> tuple[Ticks, Ticks]:
    """What the conditions leave to starts and ends, shape (n, 2 l); none where nothing holds.

    Absences narrow nothing, and what is given is not looked at.  On clocks only the ends of masses tell.
    """
    size = len(matches), 2 * matches.shape[1]
    lower, upper = np.full(size, LAST), np.full(size, FIRST)
    for lasting, rows in measure.by_points(matches):
        for case in measure.cases:
            skeleton = skeleton_of(case, lasting)
            for some, first, last in measure.left(skeleton, matches[rows]):
                here = rows[some]
                lower[here] = np.minimum(lower[here], first)
                upper[here] = np.maximum(upper[here], last)
    return lower, upper


_Breaking = TypeVar("_Breaking", bound=Whole | Negation)


def can_break(
    measure: IntervalMeasure, matches: Indexes, found: tuple[_Breaking, Indexes, Indexes]
) -> tuple[_Breaking, Indexes, Indexes]:
    """The pairs that some world has where the match holds, as far as intervals tell."""
    negation, row, event = found
    cases = tuple((*case, *more) for case in measure.cases for more in negation.cases)
    lower, upper = ticks_left(replace(measure, cases=cases), np.column_stack([matches[row], event]))
    can = (lower <= upper).all(axis=1)
    return negation, row[can], event[can]


def laws_of(endpoints: Endpoints, row: Indexes, events: Indexes) -> Iterator[Part]:
    """What interval events, shape (n, k), ask of their own two endpoints."""
    for event in events.T:
        end, longest = endpoints.end[event], endpoints.longest[event]
        yield present(row, event, end, -endpoints.shortest[event])
        some = np.flatnonzero(longest < UNBOUNDED_LENGTH)
        yield present(row[some], end[some], event[some], longest[some])


def require_known(found: Reals, what: str, many: int) -> None:
    """Raise QueryTooLargeError where a probability is NaN: it takes more than a row may."""
    if np.isnan(found).any():
        why = f"it compares {many:,} starts and ends"
        raise too_costly(f"the exact confidence of {what}", NESTED_ENDS, row_sums.most_allowed(), why, NARROW)
