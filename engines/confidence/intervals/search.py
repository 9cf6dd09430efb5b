"""Matches that bind interval events: found by the hulls of the events, measured by their endpoints.

The hull of an event is all of time from its first possible start to its last possible end.  Whatever a
condition says of an endpoint, it says of some tick of the hull: the range join on hulls finds all pairs that
might satisfy it.  Each member of a Kleene group of points beside interval events is a component of its own:
what is asked of the group's variable is asked of each, and those of a group whose order matters follow one
another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, product

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import (
    Bindings,
    Group,
    events_in,
    single_events,
    take,
)
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.intervals.conditions import MAX_CASES, Case, cases_of, hull_system
from cepctl.engines.confidence.intervals.measure import (
    Fits,
    FoundRivals,
    FoundWholes,
    IntervalMeasure,
    Negation,
    Whole,
    negations_of,
    wholes_of,
)
from cepctl.engines.pattern.rivals import rivals_fit
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Alternative, Component, Plan, Timing
from cepctl.schema import EARLIEST_TICK, END_TIME, LATEST_TICK, TimeUnit


def possible_events(events: Events, candidates: tuple[Indexes, ...]) -> tuple[Indexes, ...]:
    """Those candidates that can happen at all: one may have to end before its start."""
    return tuple(each[events.endpoints.whole[each] > 0] for each in candidates)


@dataclass(frozen=True)
class IntervalSearch:
    """What an alternative needs to bind interval events.

    `hulls`: the events with their hulls for intervals; `system`: what the conditions say of these, shape
    (l, l), with a negative diagonal where they contradict each other.  `others`: those of alternatives that
    bind the same events, of which one has to hold.  `fits`: who fits what is absent, where the
    alternative itself does not say it.  `alternative` and `window` are what it was made of,
    `negations` and `wholes` what may break its matches.
    """

    hulls: Events
    system: Ticks
    measure: IntervalMeasure
    alternative: Alternative
    window: int | None = None
    negations: tuple[Negation, ...] = ()
    wholes: tuple[Whole, ...] = ()
    others: tuple[IntervalSearch, ...] = ()
    fits: Fits | None = None

    @classmethod
    def of(
        cls,
        plan: Plan,
        alternative: Alternative,
        events: Events,
        candidates: tuple[Indexes, ...],
        fits: Fits | None = None,
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
        found = alternative, plan.window, plan.partition_by, hulls, possible, cases
        measure = IntervalMeasure.of(events, cases)
        search = cls(hulls, system, measure, alternative, plan.window, fits=fits)
        return search.beside(cases, negations_of(*found), wholes_of(*found), [1] * components)

    def beside(
        self,
        cases: tuple[Case, ...],
        negations: tuple[Negation, ...],
        wholes: tuple[Whole, ...],
        sizes: Sequence[int],
    ) -> IntervalSearch:
        """What is asked of matches that bind so many events, and what must be absent beside these.

        Raises
        ------
        QueryTooLargeError
            If what must be absent makes too many cases of a match.
        """
        asked = self.hulls, self.alternative
        fits = self.fits or partial(rivals_fit, self.alternative, self.hulls)

        def rivals(matches: Indexes) -> list[FoundRivals]:
            return [(each, *each.pairs(*asked, matches, sizes, fits)) for each in negations]

        def together(matches: Indexes) -> list[FoundWholes]:
            return [(each, *each.found(*asked, matches, sizes, fits)) for each in wholes]

        measure = replace(
            self.measure, cases=cases,
            rivals=rivals if negations else None, wholes=together if wholes else None,
        )  # fmt: skip
        return replace(self, measure=measure, negations=negations, wholes=wholes)

    def found_at_raw_times(self, matches: Indexes, unit: TimeUnit) -> tuple[Flags, Flags]:
        """Whether the logged starts and ends alone satisfy the conditions, and where all are known."""
        found = np.zeros(len(matches), dtype=bool)
        _, known = self._raw_places(matches, unit)
        for search in (self, *self.others):
            found |= known & search._holds_at_raw_times(matches, unit)
        return found, known

    def _holds_at_raw_times(self, matches: Indexes, unit: TimeUnit) -> Flags:
        holds = _one_holds(self.measure.cases, self._raw_places(matches, unit)[0])
        rivals = self.measure.rivals(matches) if self.measure.rivals else []
        wholes = self.measure.wholes(matches) if self.measure.wholes else []
        for breaking, row, event in (*rivals, *wholes):
            together, known = self._raw_places(np.column_stack([matches[row], event]), unit)
            holds[row[known & _one_holds(breaking.cases, together)]] = False
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


def measure_of_all(searches: Sequence[IntervalSearch]) -> IntervalMeasure:
    """How matches of several alternatives are measured that all hold for the same events.

    Raises
    ------
    QueryTooLargeError
        If their conditions have too many cases.
    """
    if len(searches) == 1:
        return searches[0].measure
    chosen = product(*(each.measure.cases for each in searches))
    cases = tuple(tuple(chain.from_iterable(each)) for each in chosen)
    if len(cases) > MAX_CASES:
        raise QueryTooLargeError(
            f"alternatives of an OR that bind the same events make {len(cases):,} cases together, "
            f"{MAX_CASES} are the most; ask for them one by one"
        )
    finders = [each.measure.rivals for each in searches if each.measure.rivals is not None]
    of_wholes = [each.measure.wholes for each in searches if each.measure.wholes is not None]

    def rivals(matches: Indexes) -> list[FoundRivals]:
        return [found for finder in finders for found in finder(matches)]

    def wholes(matches: Indexes) -> list[FoundWholes]:
        return [found for finder in of_wholes for found in finder(matches)]

    return replace(
        searches[0].measure, cases=cases,
        rivals=rivals if finders else None, wholes=wholes if of_wholes else None,
    )  # fmt: skip


def _one_holds(cases: Sequence[Case], places: Ticks) -> Flags:
    """Rows of ticks that satisfy one of the cases."""
    found = np.zeros(len(places), dtype=bool)
    for case in cases:
        holds = np.ones(len(places), dtype=bool)
        for i, j, bound in case:
            holds &= places[:, i] <= shifted(places[:, j], bound)
        found |= holds
    return found


def by_size(
    search: IntervalSearch, bound: Sequence[Bindings]
) -> Iterator[tuple[IntervalSearch, Indexes, Indexes]]:
    """Matches whose groups are of the same sizes, as bindings of single events: shape (n, events), and rows.

    `bound` are the bindings of the positive components, in pattern order.

    Raises
    ------
    QueryTooLargeError
        If what is asked of all members makes too many cases.
    """
    for sizes, matches, rows in alike_in_size(bound):
        yield of_sizes(search, sizes), matches, rows


def alike_in_size(bound: Sequence[Bindings]) -> Iterator[tuple[tuple[int, ...], Indexes, Indexes]]:
    """How many events each component binds, in rows of which that is true, and these."""
    if not any(isinstance(each, Group) for each in bound):
        matches = single_events(bound)
        yield (1,) * len(bound), matches, np.arange(len(matches))
        return
    count = next(len(each.sizes) for each in bound if isinstance(each, Group))
    sizes = np.stack(
        [each.sizes if isinstance(each, Group) else np.ones(count, np.int64) for each in bound], axis=1
    )
    for size, rows in rows_alike(sizes):
        columns = [_columns(take(each, rows), len(rows)) for each in bound]
        yield tuple(size.tolist()), np.concatenate(columns, axis=1), rows


def measures_by_size(
    searches: Sequence[IntervalSearch], bound: Sequence[Bindings]
) -> Iterator[tuple[IntervalMeasure, Indexes, Indexes]]:
    """How matches for which all of some alternatives hold are measured, these by size, and their rows.

    Where something must not happen as a whole, with the events that could make it happen.
    """
    for sizes, matches, rows in alike_in_size(bound):
        yield measure_of_all([of_sizes(each, sizes) for each in searches]), matches, rows


def _columns(bound: Bindings, count: int) -> Indexes:
    return events_in(bound).reshape(count, -1)


def of_sizes(search: IntervalSearch, sizes: tuple[int, ...]) -> IntervalSearch:
    """What is asked of matches whose positive components bind so many events."""
    alternative = search.alternative
    if not any(alternative.components[i].kleene for i in alternative.positive):
        return search
    apart, places = members_apart(alternative, sizes)
    cases = _cases(apart, search.window)
    negations = tuple(
        each.of_members(apart, places[each.component][0], search.window, cases) for each in search.negations
    )
    wholes = tuple(each.of_members(apart, places, search.window, cases) for each in search.wholes)
    others = tuple(of_sizes(each, sizes) for each in search.others)
    return replace(search.beside(cases, negations, wholes, sizes), others=others)


_cases = lru_cache(maxsize=256)(cases_of)


@lru_cache(maxsize=256)
def members_apart(
    alternative: Alternative, sizes: tuple[int, ...]
) -> tuple[Alternative, Mapping[int, tuple[int, ...]]]:
    """The components on times alone, a group as so many single ones, and where each of them then is."""
    left = dict(zip(alternative.positive, sizes, strict=True))
    components: list[Component] = []
    places: dict[int, tuple[int, ...]] = {}
    for i, component in enumerate(alternative.components):
        count = left.get(i, 1)
        places[i] = tuple(range(len(components), len(components) + count))
        components += [replace(component, kleene=False, ordered=False)] * count
    blocks: list[tuple[int, ...]] = []
    for block in alternative.blocks:
        if alternative.components[block[0]].ordered:
            blocks += [(each,) for each in places[block[0]]]
        else:
            blocks.append(tuple(each for i in block for each in places[i]))
    choices = (case for each in alternative.choices for case in _spread(each, places))
    timings = (cases[0][0] for each in alternative.timings for cases in _spread(((each,),), places))
    sequences = tuple(tuple(places[i][0] for i in block) for block in alternative.sequences)
    return Alternative(
        *(tuple(components), tuple(blocks)),
        timings=tuple(timings), choices=tuple(choices), sequences=sequences,
    ), places  # fmt: skip


def _spread(
    cases: tuple[tuple[Timing, ...], ...], places: dict[int, tuple[int, ...]]
) -> Iterator[tuple[tuple[Timing, ...], ...]]:
    """What is asked of variables, of each choice of their members."""
    sides = {side for case in cases for each in case for side in (each.left, each.right)}
    named = sorted(side for side in sides if side is not None)
    for chosen in product(*(places[each] for each in named)):
        number: dict[int | None, int | None] = {None: None, **dict(zip(named, chosen, strict=True))}
        yield tuple(
            tuple(replace(each, left=number[each.left], right=number[each.right]) for each in case)
            for case in cases
        )
