"""What is asked of matches that bind interval events, what that leaves to endpoints, who may break them.

A value that says nothing of how a match is measured: `rows` does.  Events that may break a match are those
that fit a negated component, where its conditions can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import IntervalIndex, JoinKey, indexed_events, join_key, overlapping
from cepctl.engines.columns.numbering import renumbered, rows_alike
from cepctl.engines.columns.tick_sums import FIRST, LAST, shifted
from cepctl.engines.columns.ties import EndpointTies, endpoint_ties
from cepctl.engines.confidence.clocks.unions import occurrences_of_rows
from cepctl.engines.confidence.coupled.problem import Clauses, Part, present
from cepctl.engines.confidence.intervals.conditions import (
    Case,
    absence_cases,
    hull_system,
    part_case,
    whole_case,
)
from cepctl.engines.confidence.intervals.edges import Lasting, Skeleton, reached, skeleton_of
from cepctl.engines.confidence.occurrence import rows as row_sums
from cepctl.engines.confidence.occurrence.occurrence import Occurrences, Weighted, occurrences_by_rank
from cepctl.engines.confidence.work import NARROW, NESTED_ENDS, Heard, nobody, too_costly
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.engines.pattern.offset_bounds import valid_on_clocks
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Alternative

Fits: TypeAlias = Callable[[int, dict[int, Bindings], Indexes, Indexes], Flags]
"""Whether events fit an absent component beside what matches bind: from it, that, and pairs of both."""
_Breaking = TypeVar("_Breaking", bound="Whole | Negation")


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


@dataclass(frozen=True)
class Negation:
    """A negated component: the cases in which an event breaks a match, and who can be such an event.

    `system` bounds differences between the hulls of the positive components and, last, of the event.
    """

    component: int
    cases: tuple[Case, ...]
    system: Ticks
    index: IntervalIndex
    key: JoinKey

    def pairs(
        self, events: Events, alternative: Alternative, matches: Indexes, sizes: Sequence[int], fits: Fits
    ) -> tuple[Indexes, Indexes]:
        """Rows of matches, shape (n, l), each with an event that may break it.

        `sizes`: how many of the l events each positive component binds.
        """
        row, event = self.near(events, alternative, matches, sizes)
        bound = bound_of(alternative, matches, sizes)
        holds = fits(self.component, bound, row, event)
        return row[holds], event[holds]

    def near(
        self, events: Events, alternative: Alternative, matches: Indexes, sizes: Sequence[int]
    ) -> tuple[Indexes, Indexes]:
        """Those among which they are, as far as time and the key of the match say."""
        first, last = np.full(len(matches), FIRST + 1), np.full(len(matches), LAST)
        for column in range(matches.shape[1]):
            event = matches[:, column]
            if (limit := int(self.system[-1, column])) < UNBOUNDED:
                last = np.minimum(last, shifted(events.masses.upper[event], limit))
            if (limit := int(self.system[column, -1])) < UNBOUNDED:
                first = np.maximum(first, shifted(events.masses.lower[event], -limit))
        # All members of a group have the key, if any has.
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        codes = self.key.codes_of(matches[:, begins], alternative.positive)
        found = list(overlapping(self.index, codes, first, last))
        row, event = (
            np.concatenate([each[side] for each in found]) if found else np.zeros(0, dtype=np.int64)
            for side in (0, 1)
        )
        free = (matches[row] != event[:, None]).all(axis=1)
        return row[free], event[free]

    def of_members(
        self, apart: Alternative, component: int, window: int | None, cases: Sequence[Case]
    ) -> Negation:
        """What is sought beside matches whose groups are taken `apart`; it is a `component` there."""
        own = absence_cases(apart, window, component)
        return replace(self, cases=own, system=_system_beside(apart, cases, own))


@dataclass(frozen=True)
class Whole:
    """The parts of one `!SEQ` or `!AND`; `case`: when an event for each breaks a match."""

    parts: tuple[Negation, ...]
    case: Case

    @property
    def cases(self) -> tuple[Case, ...]:
        """The only one."""
        return (self.case,)

    def found(
        self, events: Events, alternative: Alternative, matches: Indexes, sizes: Sequence[int], fits: Fits
    ) -> tuple[Indexes, Indexes]:
        """Rows of matches, shape (n, l), and distinct events for the parts: shapes (w,), (w, parts)."""
        row, chosen = np.arange(len(matches)), np.zeros((len(matches), 0), dtype=np.int64)
        named = [each.component for each in self.parts]
        for place, part in enumerate(self.parts):
            at, event = part.near(events, alternative, matches[row], sizes)
            bound = bound_of(alternative, matches[row], sizes)
            beside = bound | dict(zip(named[:place], chosen.T, strict=True))
            holds = fits(part.component, beside, at, event) & (chosen[at] != event[:, None]).all(axis=1)
            row, chosen = row[at[holds]], np.column_stack([chosen[at[holds]], event[holds]])
        return row, chosen

    def of_members(
        self, apart: Alternative, places: Mapping[int, tuple[int, ...]], window: int | None,
        cases: Sequence[Case],
    ) -> Whole:  # fmt: skip
        """What is sought beside matches whose groups are taken `apart` into members."""
        parts = [(each, places[each.component][0]) for each in self.parts]
        case = whole_case(apart, window, [component for _, component in parts])
        return Whole(tuple(_of_part(each, apart, i, window, cases) for each, i in parts), case)


def bound_of(alternative: Alternative, matches: Indexes, sizes: Sequence[int]) -> dict[int, Bindings]:
    """What the positive components bind in matches, shape (n, l), of which each binds so many events."""
    found: dict[int, Bindings] = {}
    begin = 0
    for component, size in zip(alternative.positive, sizes, strict=True):
        columns = matches[:, begin : begin + size]
        if alternative.components[component].kleene:
            found[component] = Group(np.arange(len(matches) + 1) * size, columns.reshape(-1))
        else:
            found[component] = columns[:, 0]
        begin += size
    return found


def negations_of(
    alternative: Alternative,
    window: int | None,
    partition_by: tuple[str, ...],
    hulls: Events,
    candidates: tuple[Indexes, ...],
    cases: tuple[Case, ...],
) -> tuple[Negation, ...]:
    """The negated components that some event can fit at all; `cases` are those of the positive ones.

    Raises
    ------
    QueryTooLargeError
        If the conditions of one make too many cases.
    """
    together = {i for block in alternative.absent_together for i in block}
    found = []
    for component, wanted in enumerate(alternative.components):
        if not wanted.negated or component in together:
            continue
        own = absence_cases(alternative, window, component)
        if (system := _hulls_beside(alternative, cases, own)) is not None:
            found.append(_negation(alternative, partition_by, hulls, candidates, component, own, system))
    return tuple(found)


def wholes_of(
    alternative: Alternative, window: int | None, partition_by: tuple[str, ...], hulls: Events,
    candidates: tuple[Indexes, ...], cases: tuple[Case, ...],
) -> tuple[Whole, ...]:  # fmt: skip
    """What must not happen as a whole; `cases` are those of the positive components."""
    found = []
    for block in alternative.absent_together:
        parts = []
        for component in block:
            own = (part_case(alternative, window, component),)
            system = _system_beside(alternative, cases, own)
            parts.append(_negation(alternative, partition_by, hulls, candidates, component, own, system))
        found.append(Whole(tuple(parts), whole_case(alternative, window, block)))
    return tuple(found)


def _negation(
    alternative: Alternative, partition_by: tuple[str, ...], hulls: Events, candidates: tuple[Indexes, ...],
    component: int, cases: tuple[Case, ...], system: Ticks,
) -> Negation:  # fmt: skip
    bound = set(alternative.positive)
    key = join_key(alternative, partition_by, hulls, component, bound, candidates[component])
    index = indexed_events(hulls.masses, candidates[component], key.candidate_codes)
    return Negation(component, cases, system, index, key)


def _of_part(
    part: Negation, apart: Alternative, component: int, window: int | None, cases: Sequence[Case]
) -> Negation:
    own = (part_case(apart, window, component),)
    return replace(part, cases=own, system=_system_beside(apart, cases, own))


def _hulls_beside(alternative: Alternative, cases: Sequence[Case], own: Sequence[Case]) -> Ticks | None:
    """What bounds the hulls of the positive components and of one event; None where nothing can hold."""
    return hull_system((each + more for each in cases for more in own), len(alternative.positive) + 1)


def _system_beside(alternative: Alternative, cases: Sequence[Case], own: Sequence[Case]) -> Ticks:
    """What bounds these hulls, or what none satisfies where nothing can hold."""
    system = _hulls_beside(alternative, cases, own)
    never = np.full((len(alternative.positive) + 1,) * 2, -1, dtype=np.int64)
    return never if system is None else system


FoundRivals: TypeAlias = tuple[Negation, Indexes, Indexes]
"""A negated component, and rows of matches each with an event that may break it."""
FoundWholes: TypeAlias = tuple[Whole | Negation, Indexes, Indexes]
"""What must not happen, and rows of matches with events that may make it, shape (w,) or (w, parts)."""


def broken_in_rows(found: Sequence[FoundWholes], rows: Indexes) -> list[FoundWholes]:
    """What can break some rows, ascending, which are numbered anew."""
    parts = [(breaking, event, *renumbered(row, rows)) for breaking, row, event in found]
    return [(breaking, row, event[kept]) for breaking, event, kept, row in parts]
