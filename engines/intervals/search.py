"""Matches that bind interval events: found by the hulls of the events, measured by their endpoints.

The hull of an event is all of time from its first possible start to its last possible end.  Whatever a
condition says of an endpoint, it says of some tick of the hull: the range join on hulls finds all pairs that
might satisfy it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, product

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.intervals.cases_apart import cases_apart
from cepctl.engines.intervals.conditions import MAX_CASES, Case, cases_of, hull_system
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.rivals import FoundRivals, Negation, negations_of
from cepctl.engines.intervals.tied_matches import measured
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Alternative, Plan
from cepctl.schema import EARLIEST_TICK, END_TIME, LATEST_TICK, TimeUnit


def possible_events(events: Events, candidates: tuple[Indexes, ...]) -> tuple[Indexes, ...]:
    """Those candidates that can happen at all: one may have to end before its start."""
    return tuple(each[events.endpoints.whole[each] > 0] for each in candidates)


@dataclass(frozen=True)
class IntervalSearch:
    """What an alternative needs to bind interval events.

    `hulls`: the events with their hulls for intervals; `system`: what the conditions say of these, shape
    (l, l), with a negative diagonal where they contradict each other.  `others`: those of alternatives that
    bind the same events, of which one has to hold.  `alternative` and `window` are what it was made of,
    `negations` what may break its matches.
    """

    hulls: Events
    system: Ticks
    measure: IntervalMeasure
    alternative: Alternative
    window: int | None = None
    negations: tuple[Negation, ...] = ()
    others: tuple[IntervalSearch, ...] = ()

    @classmethod
    def of(
        cls, plan: Plan, alternative: Alternative, events: Events, candidates: tuple[Indexes, ...]
    ) -> IntervalSearch:
        """Prepare an alternative; raises QueryTooLargeError where its conditions have too many cases."""
        components = len(alternative.positive)
        cases = cases_of(alternative, plan.window)
        system = hull_system(cases, components)
        if system is None:
            system = np.full((components, components), -1, dtype=np.int64)
        clocks = events.clocks and replace(events.clocks, own=events.endpoints.hulls)
        hulls = replace(events, masses=events.hulls, clocks=clocks)
        possible = possible_events(events, candidates)
        negations = negations_of(alternative, plan.window, plan.partition_by, hulls, possible, cases)
        measure = IntervalMeasure(cases, events.endpoints, None, events.endpoint_clocks, events.lasting_ties)
        search = cls(hulls, system, measure, alternative, plan.window)
        return search.beside(cases, negations, [1] * components)

    def beside(
        self, cases: tuple[Case, ...], negations: tuple[Negation, ...], sizes: Sequence[int]
    ) -> IntervalSearch:
        """The same for matches whose components bind so many events, and the negations beside these.

        Raises
        ------
        QueryTooLargeError
            If what must be absent makes too many cases of a match.
        """

        def rivals(matches: Indexes) -> list[FoundRivals]:
            return [(each, *each.pairs(self.hulls, self.alternative, matches, sizes)) for each in negations]

        cases = cases_apart(cases, [each.cases for each in negations], 2 * sum(sizes))
        measure = replace(self.measure, cases=cases, rivals=rivals if negations else None)
        return replace(self, measure=measure, negations=negations)

    def found_at_raw_times(self, matches: Indexes, unit: TimeUnit) -> tuple[Flags, Flags]:
        """Whether the logged starts and ends alone satisfy the conditions, and where all are known."""
        found = np.zeros(len(matches), dtype=bool)
        _, known = self._raw_places(matches, unit)
        for search in (self, *self.others):
            found |= known & search._holds_at_raw_times(matches, unit)
        return found, known

    def _holds_at_raw_times(self, matches: Indexes, unit: TimeUnit) -> Flags:
        holds = _one_holds(self.measure.cases, self._raw_places(matches, unit)[0])
        for negation, row, event in self.measure.rivals(matches) if self.measure.rivals else ():
            together, known = self._raw_places(np.column_stack([matches[row], event]), unit)
            holds[row[known & _one_holds(negation.cases, together)]] = False
        return holds

    def _raw_places(self, matches: Indexes, unit: TimeUnit) -> tuple[Ticks, Flags]:
        """The logged ticks of all places, and at last the constant 0; and where all are known."""
        frame = self.hulls.frame
        columns = [frame.get_column(name) for name in ("time", END_TIME)]
        known = np.stack([each.is_not_null().to_numpy()[matches] for each in columns], axis=2)
        resolution = pl.Datetime(unit.resolution)
        logged = [each.cast(resolution).to_physical().fill_null(0).to_numpy() for each in columns]
        ticks = [np.clip(each // unit.counts, EARLIEST_TICK, LATEST_TICK)[matches] for each in logged]
        places = np.stack(ticks, axis=2).reshape(len(matches), 2 * matches.shape[1])
        places = np.concatenate([places, np.zeros((len(matches), 1), dtype=np.int64)], axis=1)
        return places, np.asarray(known.all(axis=(1, 2)))

    def measured(self, matches: Indexes) -> Measured:
        """Measure matches, shape (n, l); raises QueryTooLargeError where one needs too many products."""
        return measured(self.measure, matches)


def all_hold(searches: Sequence[IntervalSearch], matches: Indexes) -> Reals:
    """The probability that several alternatives hold together for the same events, shape (n,)."""
    return measured(measure_of_all(searches), matches).confidence


def measure_of_all(searches: Sequence[IntervalSearch]) -> IntervalMeasure:
    """How matches of several alternatives are measured that all hold for the same events.

    Raises
    ------
    QueryTooLargeError
        If their conditions have too many cases.
    """
    chosen = product(*(each.measure.cases for each in searches))
    cases = tuple(tuple(chain.from_iterable(each)) for each in chosen)
    if len(cases) > MAX_CASES:
        raise QueryTooLargeError(
            f"alternatives of an OR that bind the same events make {len(cases):,} cases together, "
            f"{MAX_CASES} are the most; ask for them one by one"
        )
    finders = [each.measure.rivals for each in searches if each.measure.rivals is not None]

    def rivals(matches: Indexes) -> list[FoundRivals]:
        return [found for finder in finders for found in finder(matches)]

    return replace(searches[0].measure, cases=cases, rivals=rivals if finders else None)


def _one_holds(cases: Sequence[Case], places: Ticks) -> Flags:
    """Rows of ticks that satisfy one of the cases."""
    found = np.zeros(len(places), dtype=bool)
    for case in cases:
        holds = np.ones(len(places), dtype=bool)
        for i, j, bound in case:
            holds &= places[:, i] <= shifted(places[:, j], bound)
        found |= holds
    return found
