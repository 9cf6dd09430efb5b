"""Matches of interval events in the worlds that satisfy what is given of these or of their rivals.

    confidence = P(match and its components hold) / P(its components hold)

A component is what ties connect; those that touch no event, rival or clock of a match cancel.  With the
events of its components, and their ties beside its own conditions, a match is one of more events, measured
as any other.  A tied rival is one of these events: it must not satisfy all conditions of an absence.  The
first of them that fails says which case it is, so that no two cases hold at once.  Other rivals are
independent of all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import places_in_runs, rows_alike
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.columns.ties import EndpointTies
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.confidence.given.edges import contradicted
from cepctl.engines.confidence.intervals.conditions import Case, Edge
from cepctl.engines.confidence.intervals.measure import (
    IntervalMeasure,
    can_break,
    certain_ones,
    ticks_left,
    with_certain_ones,
)
from cepctl.engines.confidence.intervals.on_clocks import measured_without_ties
from cepctl.engines.confidence.intervals.rivals import FoundRivals, Negation
from cepctl.engines.confidence.intervals.ways_to_be_absent import cases_without, free_rivals
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.work import BESIDE_GIVEN, LEAVE_OUT, SAY_MORE, too_costly
from cepctl.plan.plan import Given

MOST_TIED = 64
"""Events that are tied to a match, and measured with it."""


def measured(measure: IntervalMeasure, matches: Indexes, spans: TickSpans | None = None) -> Measured:
    """Measure matches, shape (n, l), in the worlds that satisfy what is given.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many products, offsets of clocks, or tied events.
    """
    found, (free, touched) = impossible(len(matches)), _apart(measure, matches)
    if len(free):
        within = None if spans is None else spans.take(free)
        found.put(free, measured_without_ties(measure, matches[free], within))
    for alike in touched:
        found.put(alike.rows, alike.measured(None if spans is None else spans.take(alike.rows)))
    return found


def valid(measure: IntervalMeasure, matches: Indexes) -> tuple[Ticks, Ticks]:
    """What the conditions, and what is given, leave to starts and ends: shape (n, 2 l).

    None where nothing holds; absences narrow nothing.
    """
    size = len(matches), 2 * matches.shape[1]
    lower, upper = np.full(size, LAST), np.full(size, FIRST)
    free, touched = _apart(replace(measure, rivals=None), matches)
    lower[free], upper[free] = ticks_left(measure, matches[free])
    for alike in touched:
        own, events = alike.extended()
        first, last = ticks_left(own, events)
        lower[alike.rows], upper[alike.rows] = first[:, : size[1]], last[:, : size[1]]
    return lower, upper


def _apart(measure: IntervalMeasure, matches: Indexes) -> tuple[Indexes, Iterator[_Alike]]:
    """The matches that nothing given says anything of, and the others, those together that it ties alike."""
    if measure.ties is None:
        return np.arange(len(matches)), iter(())
    touched = _Touched.of(measure, measure.ties, matches)
    return np.setdiff1d(np.arange(len(matches)), touched.row), touched.alike()


def _always(own: IntervalMeasure, events: Indexes) -> Measured:
    """Matches of these events, and of what is tied to theirs, that every world returns."""
    if own.have_holes(events):
        # Where masses have holes, only what they add up to tells the ticks between their ends.
        found = measured_without_ties(own, events)
        return replace(found, confidence=np.ones(len(events)), error=np.zeros(len(events)))
    return Measured(np.ones(len(events)), np.zeros(len(events)), *own.range_of(*ticks_left(own, events)))


@dataclass(frozen=True)
class _Touched:
    """Pairs of a match and a component that it touches, by match; and the rivals that are tied.

    `broken`: the matches that some rival may break, tied or not.
    """

    measure: IntervalMeasure
    ties: EndpointTies
    matches: Indexes
    row: Indexes
    component: Indexes
    rivals: Sequence[FoundRivals]
    broken: Sequence[Indexes]

    @classmethod
    def of(cls, measure: IntervalMeasure, ties: EndpointTies, matches: Indexes) -> _Touched:
        """Raises QueryTooLargeError if a match needs more than MOST_TIED tied events."""
        count, width = matches.shape
        found = [] if measure.rivals is None else measure.rivals(matches)
        rivals = [can_break(measure, matches, each) for each in found]
        rows = np.concatenate([np.repeat(np.arange(count), width), *(row for _, row, _ in rivals)])
        events = np.concatenate([matches.reshape(-1), *(event for _, _, event in rivals)])
        component = ties.component[events]
        clock = measure.clock_of(events)
        if len(stamped := np.flatnonzero(clock != NO_CLOCK)):
            rows = np.concatenate([rows, rows[stamped]])
            component = np.concatenate([component, ties.of_clock[clock[stamped]]])
        tied, many = np.flatnonzero(component >= 0), max(len(ties.sizes), 1)
        named = np.unique(rows[tied] * many + component[tied])
        row, component = named // many, named % many
        needed = int(np.bincount(row, ties.sizes[component]).max(initial=0))
        if needed > MOST_TIED:
            why = f"GIVEN ties {needed:,} events to each other, some of which it needs"
            what, narrow = "the exact confidence of a match", "narrow their intervals"
            raise too_costly(what, BESIDE_GIVEN, f"{MOST_TIED} events", why, SAY_MORE, narrow, LEAVE_OUT)
        is_tied = [np.flatnonzero(ties.component[event] >= 0) for _, _, event in rivals]
        some = [(each[0], each[1][at], each[2][at]) for each, at in zip(rivals, is_tied, strict=True)]
        return cls(measure, ties, matches, row, component, some, [each[1] for each in rivals])

    def alike(self) -> Iterator[_Alike]:
        """The matches, those together whose components are alike, and are touched alike."""
        if not len(self.row):
            return
        rows, begin, sizes = np.unique(self.row, return_index=True, return_counts=True)
        number, slot = places_in_runs(sizes)
        distinct, which = np.unique(self.component, return_inverse=True)
        structure = np.full((len(rows), int(sizes.max())), -1)
        structure[number, slot] = structures(self.ties, self.measure.endpoints, distinct)[which.reshape(-1)]
        places = self._code(slot, np.repeat(rows, self.matches.shape[1]), self.matches[rows].reshape(-1))
        key = [structure, places.reshape(len(rows), -1)]
        for _, row, event in self.rivals:
            number = np.searchsorted(rows, row)
            code = self._code(slot, row, event)
            order = np.lexsort((code, number))
            number, code = number[order], code[order]
            at = np.arange(len(number)) - np.searchsorted(number, number)
            padded = np.full((len(rows), int(at.max(initial=-1)) + 1), -1)
            padded[number, at] = code
            key.append(padded)
        for _, some in rows_alike(np.concatenate(key, axis=1)):
            pairs = begin[some][:, None] + np.arange(sizes[some[0]])
            yield _Alike(self, rows[some], self.component[pairs])

    def _code(self, slot: Indexes, row: Indexes, event: Indexes) -> Indexes:
        """Where events stand among the components of their match: slot and rank as one, else -1."""
        many = len(self.ties.sizes)
        component = self.ties.component[event]
        pairs = self.row * many + self.component
        at = np.minimum(np.searchsorted(pairs, row * many + component), len(pairs) - 1)
        return np.where(component >= 0, slot[at] * MOST_TIED + self.ties.rank[event], -1)


@dataclass(frozen=True)
class _Alike:
    """Matches, `rows` of all, that touch components alike: the first says how all are made.

    `components`: shape (n, c).
    """

    touched: _Touched
    rows: Indexes
    components: Indexes

    def measured(self, spans: TickSpans | None) -> Measured:
        """All of them, given that the ties of their components hold."""
        own, events = self.extended()
        if spans is not None:
            both = measured_without_ties(own, events, spans)
            return replace(both, confidence=both.confidence / self._probability(np.arange(len(events))))
        found, certain = impossible(len(events)), self.certain(events)
        sure, left = np.flatnonzero(certain), np.flatnonzero(~certain)
        if len(sure):
            found.put(sure, _always(own, events[sure]))
        if len(left):
            both, given = measured_without_ties(own, events[left]), self._probability(left)
            happens = both.possible
            confidence = np.where(happens, both.confidence, 0.0) / np.where(happens, given, 1.0)
            alone, asked = replace(own, counted=None), self.asked_and_given(events)
            measuring = measured_without_ties if own.have_holes(events[left]) else None
            confidence = with_certain_ones(confidence, alone, *asked, events[left], measuring)
            found.put(left, replace(both, confidence=confidence))
        return found

    def _probability(self, rows: Indexes) -> Reals:
        """The probability that the ties of all components of some of them hold."""
        found, touched = np.ones(len(rows)), self.touched
        for column in self.components[rows].T:
            found *= component_probability(touched.measure, touched.ties, column)
        return found

    def extended(self) -> tuple[IntervalMeasure, Indexes]:
        """Matches with the events that are tied to theirs, and how these are measured.

        Raises
        ------
        QueryTooLargeError
            If tied rivals can be absent in too many ways.
        """
        touched, measure, ties = self.touched, self.touched.measure, self.touched.ties
        matches = touched.matches[self.rows]
        columns = [matches]
        place = {event: at for at, event in enumerate(matches[0].tolist())}
        for slot, component in enumerate(self.components[0].tolist()):
            begin = ties.member_offsets[self.components[:, slot]]
            for rank in range(int(ties.sizes[component])):
                event = int(ties.members[begin[0] + rank])
                if event not in place:
                    place[event] = len(place)
                    columns.append(ties.members[begin + rank][:, None])
        events, width = np.concatenate(columns, axis=1), len(place)
        given = self._given(place)
        cases = tuple((*case, *given) for case in measure.cases)
        own = matches.shape[1]
        absent = [(negation.cases, (place[each],)) for negation, each in self._absent()]
        cases = cases_without(cases, absent, own, width)
        finder = None if measure.rivals is None else free_rivals(measure.rivals, own)
        return replace(measure, cases=cases, rivals=finder, ties=None, counted=measure.counted or own), events

    def certain(self, events: Indexes) -> Flags:
        """Which of the extended matches are certain; none that rivals may break."""
        touched, measure = self.touched, self.touched.measure
        alone = ~np.isin(self.rows, np.concatenate([*touched.broken, np.zeros(0, np.int64)]))
        place = {event: at for at, event in enumerate(events[0].tolist())}
        rows = np.flatnonzero(alone)
        found = np.zeros(len(events), dtype=bool)
        if len(rows):
            own = replace(measure, counted=None)
            found[rows] = certain_ones(own, measure.cases, self._given(place), events[rows])
        return found

    def asked_and_given(self, events: Indexes) -> tuple[tuple[Case, ...], Case]:
        """The cases of extended matches that no tied rival breaks, without what is given, and that."""
        place = {event: at for at, event in enumerate(events[0].tolist())}
        absent = [(negation.cases, (place[each],)) for negation, each in self._absent()]
        own, width = self.touched.matches.shape[1], events.shape[1]
        return cases_without(self.touched.measure.cases, absent, own, width), self._given(place)

    def _given(self, place: dict[int, int]) -> Case:
        """The ties of all components, between places of the extended match."""
        ties, endpoints = self.touched.ties, self.touched.measure.endpoints
        given: list[Edge] = []
        for component in self.components[0].tolist():
            members = ties.members[slice(*ties.member_offsets[component : component + 2])].tolist()
            given += (
                (2 * place[members[i // 2]] + i % 2, 2 * place[members[j // 2]] + j % 2, bound)
                for i, j, bound in case_of(ties, endpoints, component)
            )
        return tuple(given)

    def _absent(self) -> Iterator[tuple[Negation, int]]:
        """The tied rivals of the first match."""
        for negation, row, event in self.touched.rivals:
            for each in event[row == self.rows[0]].tolist():
                yield negation, each


def component_probability(measure: IntervalMeasure, ties: EndpointTies, components: Indexes) -> Reals:
    """The probability that all ties of components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs too much work.
    """
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    structure = structures(ties, measure.endpoints, unknown)
    for number in np.unique(structure):
        alike = unknown[structure == number]
        events = ties.members[ties.member_offsets[alike][:, None] + np.arange(int(ties.sizes[alike[0]]))]
        case = case_of(ties, measure.endpoints, int(alike[0]))
        own = replace(measure, cases=(case,), rivals=None, counted=None)
        ties.probability[alike] = measured_without_ties(own, events).confidence
    return np.asarray(ties.probability[components])


def require_worlds(given: Sequence[Given], events: Events) -> None:
    """Raise ContradictionError where masses with holes leave a component on clocks no world."""
    ties, stamps, owner = events.tied_endpoints, events.endpoint_stamps, events.endpoints.owner
    holed = np.unique(owner[np.flatnonzero(stamps.own.has_hole)])
    found = ties.component[holed]
    components = np.unique(found[found >= 0])
    measure = IntervalMeasure.of(events)
    for each in components[component_probability(measure, ties, components) == 0.0].tolist():
        members = ties.members[slice(*ties.member_offsets[each : each + 2])]
        raise contradicted(given, members.tolist(), events)


def structures(ties: EndpointTies, endpoints: Endpoints, components: Indexes) -> Indexes:
    """A number for each of some components, equal where their ties are between alike places."""
    at, offsets = owned(ties.tie_offsets, components)
    told = np.stack([*_places_of_ties(ties, endpoints, at), ties.bound[at]], axis=1)
    numbers: dict[bytes, int] = {}
    each = (told[begin:end].tobytes() for begin, end in pairwise(offsets.tolist()))
    return np.array([numbers.setdefault(text, len(numbers)) for text in each], dtype=np.int64)


def case_of(ties: EndpointTies, endpoints: Endpoints, component: int) -> Case:
    """The ties of a component between the places of its events, in the order of their ranks."""
    at = np.arange(*ties.tie_offsets[component : component + 2])
    columns = (*_places_of_ties(ties, endpoints, at), ties.bound[at])
    return tuple(zip(*(each.tolist() for each in columns), strict=True))


def _places_of_ties(ties: EndpointTies, endpoints: Endpoints, at: Indexes) -> tuple[Indexes, Indexes]:
    owner, count = endpoints.owner, len(endpoints)
    left, right = (2 * ties.rank[owner[each[at]]] + (each[at] >= count) for each in (ties.left, ties.right))
    return left, right
