"""What is asked of matches that bind interval events, what that leaves to their endpoints, what is certain.

A value that says nothing of how a match is measured: `independent` does where the events are independent,
`on_clocks` where clocks move them, and `tied_matches`, which decides between these, where something is given.

A confidence that is a quotient of two sums may miss 1 by its last digit where no world violates a condition
of each case of a match; to know that it is certain takes much less than the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeAlias, TypeVar

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.columns.ties import EndpointTies
from cepctl.engines.confidence.coupled.clauses import Part, present
from cepctl.engines.confidence.intervals.conditions import Case
from cepctl.engines.confidence.intervals.edges import Lasting, Skeleton, reached, skeleton_of
from cepctl.engines.confidence.intervals.rivals import FoundRivals, FoundWholes, Negation, Whole
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.method import Heard, nobody
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.engines.pattern.offset_bounds import valid_on_clocks


@dataclass(frozen=True)
class IntervalMeasure:
    """What is asked of matches of one alternative: its cases, over the endpoints of all events.

    `rivals` finds the events that may break matches, where there is a negation, `wholes` those that may do so
    together.  `ties` are what is given of events.  `counted`: how many events are a match's, where others
    that are measured with it follow them.  `heard` hears the name of each method that measures some.
    """

    cases: tuple[Case, ...]
    endpoints: Endpoints
    rivals: Callable[[Indexes], list[FoundRivals]] | None = None
    wholes: Callable[[Indexes], list[FoundWholes]] | None = None
    ties: EndpointTies | None = None
    counted: int | None = None
    heard: Heard = nobody

    @property
    def given(self) -> bool:
        """Whether something is given of its events."""
        return self.ties is not None

    @staticmethod
    def of(events: Events, cases: tuple[Case, ...] = ()) -> IntervalMeasure:
        """What is asked of the starts and ends of these events, which may share clocks."""
        clocks = events.endpoint_clocks
        if clocks is None:
            return IntervalMeasure(cases, events.endpoints)
        return MeasureOnClocks(cases, events.endpoints, clocks=clocks)

    def clock_of(self, endpoint: Indexes) -> Indexes:
        """The clock of each of some endpoints, NO_CLOCK for none."""
        return np.full(len(endpoint), NO_CLOCK)

    def have_holes(self, events: Indexes) -> bool:
        """Whether `left` misses that some tick between those which it leaves is not possible."""
        return False

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

    def range_of(self, lower: Ticks, upper: Ticks) -> tuple[Ticks, Ticks]:
        """First and last ticks of matches by those left to endpoints, without what is tied to them."""
        places = None if self.counted is None else 2 * self.counted
        return reduce(np.minimum, lower[:, :places].T), reduce(np.maximum, upper[:, :places].T)


@dataclass(frozen=True)
class MeasureOnClocks(IntervalMeasure):
    """The same of events that share clocks: `clocks` are those of the endpoints, which are the own parts."""

    clocks: EventClocks = field(kw_only=True)

    def clock_of(self, endpoint: Indexes) -> Indexes:
        """The clock of each of some endpoints, NO_CLOCK for none."""
        return self.clocks.clock[endpoint]

    def have_holes(self, events: Indexes) -> bool:
        """Whether some tick between the ends of an own part, or of an offset, is not possible."""
        endpoints = np.unique(np.concatenate([events, self.endpoints.end[events]]))
        clock = np.unique(self.clocks.clock[endpoints])
        stamped = clock[clock != NO_CLOCK]
        return bool(self.clocks.own.has_hole[endpoints].any() or self.clocks.offsets.has_hole[stamped].any())

    def left(self, skeleton: Skeleton, matches: Indexes) -> Iterator[tuple[Indexes, Ticks, Ticks]]:
        """The same, as far as the ends of masses tell."""
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

    def at_offsets(
        self, copies: Endpoints, rivals: Callable[[Indexes], list[FoundRivals]] | None
    ) -> IntervalMeasure:
        """What is asked of copies, which offsets have put somewhere: they are independent of each other."""
        return IntervalMeasure(self.cases, copies, rivals, counted=self.counted, heard=self.heard)


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


MOST_CHOICES = 256
"""Of matches whose cases can be violated in more ways, all that are left count as uncertain."""
_NEARLY = 1e-9


Measuring: TypeAlias = Callable[[IntervalMeasure, Indexes], Measured]
"""From what is asked of matches, shape (n, l), to how probable each is."""


def certain_ones(
    measure: IntervalMeasure,
    cases: Sequence[Case],
    given: Case,
    matches: Indexes,
    measuring: Measuring | None = None,
) -> Flags:
    """Which matches, shape (n, l), satisfy one of the cases in every world that satisfies what is `given`.

    Rivals are not looked at.  Of masses with holes only `measuring` tells whether they leave a tick between
    those where a case is violated.
    """
    certain = np.ones(len(matches), dtype=bool)
    waiting, ways = [(np.arange(len(matches)), given, 0)], 0
    while waiting:
        rows, asked, number = waiting.pop()
        rows = rows[certain[rows]]
        if number == len(cases):
            certain[rows] = False
            continue
        for i, j, bound in cases[number] if len(rows) else ():
            if bound >= UNBOUNDED:
                continue
            ways += 1
            if ways > MOST_CHOICES:
                return np.zeros(len(matches), dtype=bool)
            violated = (*asked, (j, i, -bound - 1))
            lower, upper = ticks_left(replace(measure, cases=(violated,)), matches[rows])
            some = rows[(lower <= upper).all(axis=1)]
            if len(some) and measuring is not None and number == len(cases) - 1:
                alone = replace(measure, cases=(violated,), rivals=None)
                some = some[measuring(alone, matches[some]).confidence > 0.0]
            if len(some):
                waiting.append((some, violated, number + 1))
    return certain


def with_certain_ones(
    confidence: Reals,
    measure: IntervalMeasure,
    cases: Sequence[Case],
    given: Case,
    matches: Indexes,
    measuring: Measuring | None = None,
) -> Reals:
    """Confidences that miss 1 by what sums are rounded, of matches that are certain, are 1; none is more.

    `measure` has what is `given` in its own cases, as well, and the rivals that some world may have.
    """
    found = np.minimum(confidence, 1.0)
    near = np.flatnonzero((confidence != 1.0) & (np.abs(confidence - 1.0) < _NEARLY))
    if len(near):
        some = matches[near]
        certain = certain_ones(measure, cases, given, some, measuring)
        for each in measure.rivals(some) if measure.rivals is not None else ():
            certain[can_break(measure, some, each)[1]] = False
        found[near[certain]] = 1.0
    return found


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
