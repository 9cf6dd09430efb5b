"""The alternatives of a plan on a partition of events: candidates, constraints, and the matches of all.

An alternative may bind events that last.

One signature may stand in several alternatives, so that all matches are held until all are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cepctl.engines.columns.bindings import MatchBatch, members_of
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.concurrency import OnProgress, Part, concurrently, telling
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions, pairs_at_once
from cepctl.engines.pattern.difference_constraints import system_of
from cepctl.engines.pattern.shapes import shape_of
from cepctl.engines.search.search import Search
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.plan.support import refuse_intervals, refuse_lasting_groups, require_engine
from cepctl.process.memory import size_text

if TYPE_CHECKING:
    from cepctl.engines.event.run_growth import RunTally
    from cepctl.engines.event.runs_prepared import RunsAsked

_LOOKED_AT_FROM = 1_024
_ROW_BYTES, _EVENT_BYTES = 200, 80
"""What a match takes, and each of its events: numbers, and ids as text."""


def prepared_alternatives(
    plan: Plan,
    events: Events,
    options: MatchOptions,
    heard: Callable[[PreparedAlternative], None] | None = None,
) -> list[PreparedAlternative]:
    """Every alternative; where one binds interval events all do, so that rows can be compared.

    `heard` gets each that binds none as soon as it is prepared, of groups before longer ones are, and may
    raise.
    """
    readings, prepared = list(readings_apart(plan)), list[list[PreparedAlternative]]()
    for reading in readings:
        prepared.append([])
        for each in _prepared(plan, reading, events, options):
            prepared[-1].append(each)
            if heard is not None and not (each.lasting or options.of_intervals):
                heard(each)
    if options.of_intervals or any(each.lasting for of_one in prepared for each in of_one):
        if len(readings) > 1 and any(each.in_runs(plan.strategy) for each in readings):
            refuse_intervals("an OR of groups in order")
        prepared = [
            of_one
            if any(each.lasting for each in of_one)
            else list(_prepared(plan, reading, events, options, of_intervals=True))
            for reading, of_one in zip(readings, prepared, strict=True)
        ]
    return [each for of_one in prepared for each in of_one]


def _prepared(
    plan: Plan, reading: Alternative, events: Events, options: MatchOptions, *, of_intervals: bool = False
) -> Iterator[PreparedAlternative]:
    if not reading.in_runs(plan.strategy):
        yield prepared_alternative(plan, reading, events, options, of_intervals=of_intervals)
        return
    from cepctl.engines.event.runs_prepared import prepared_read_sets, prepared_runs

    asked = runs_asked(plan, reading, events, options)
    if of_intervals:
        asked = replace(asked, of_intervals=True)
    if asked.lists_sets:
        yield from prepared_read_sets(asked, read_sets_listed(asked))
    else:
        yield from prepared_runs(asked)


def runs_asked(
    plan: Plan, reading: Alternative, events: Events, options: MatchOptions, tally: RunTally | None = None
) -> RunsAsked:
    """The runs of a reading; `tally` hears what becomes of them.

    Raises
    ------
    UnsupportedQueryError
        If events last that a group takes, or that are bound where other events decide.
    """
    from cepctl.engines.event.runs_prepared import RunsAsked

    if plan.strategy.asks_all:
        events = passing_by(events)
    candidates, last = _candidates(reading, events)
    tied = events.endpoint_ties is not None
    of_intervals = tied or reading.reads_ends or last
    if of_intervals:
        require_engine(plan, "event", lasting=True)
        for component, fitting in zip(reading.components, candidates, strict=True):
            if events.last([fitting]):
                refuse_lasting_groups(component)
    return RunsAsked(plan, reading, events, candidates, options, tally, of_intervals)


def _candidates(reading: Alternative, events: Events) -> tuple[tuple[Indexes, ...], bool]:
    """The events that fit each component in some world; and whether one that fits lasts.

    That may be one which no world has: a slice knows of those of other slices only that some last.
    """
    fitting = tuple(fitting_events(events, each) for each in reading.components)
    last = events.last(fitting)
    if events.ends is None:
        return fitting, last
    return tuple(each[events.ends.whole[each] > 0.0] for each in fitting), last


def read_sets_listed(asked: RunsAsked) -> PreparedAlternative:
    """What lists the groups without order that a reading reads."""
    return prepared_alternative(asked.plan, _filtering(asked.reading), asked.events, asked.options)


def passing_by(events: Events) -> Events:
    """The events where nothing that lasts is bound: it passes by with its start."""
    found = events.by_start
    if found is events or found.ties is None:
        return found
    from cepctl.engines.confidence.given.series import with_series

    return replace(found, ties=with_series(found.ties, found.masses))


def _filtering(reading: Alternative) -> Alternative:
    """The reading where conditions on a group that a later component decides filter what has been found."""
    links = tuple(
        replace(link, scope=Scope.GROUP)
        if any(reading.components[i].kleene and i < link.decides for i in link.components)
        else link
        for link in reading.links
    )
    return replace(reading, links=links)


def prepared_alternative(
    plan: Plan,
    alternative: Alternative,
    events: Events,
    options: MatchOptions,
    *,
    of_intervals: bool = False,
) -> PreparedAlternative:
    """Find the candidates of every component and close the constraints.

    `of_intervals` takes even points for interval events; so does what is given of such events.
    """
    if plan.strategy.asks_all:
        events = passing_by(events)
    candidates, last = _candidates(alternative, events)
    tied = events.endpoint_ties is not None

    def search_of(system: Ticks) -> Search:
        return Search(
            *(alternative, alternative.positive, system, candidates, plan.partition_by),
            pairs_at_once=pairs_at_once(plan, alternative, options),
        )

    if not (of_intervals or tied or alternative.reads_ends or last):
        search = search_of(system_of(alternative, plan.window))
        return PreparedAlternative(plan, events, shape_of(plan, alternative), search, options)
    require_engine(plan, "event", lasting=True)
    for component, fitting in zip(alternative.components, candidates, strict=True):
        if events.last([fitting]):
            refuse_lasting_groups(component)
    if alternative.member_timings:
        refuse_intervals("a condition on the time of the first or last member of a group")
    from cepctl.engines.confidence.intervals.search import IntervalSearch
    from cepctl.engines.event.interval_alternative import IntervalAlternative

    intervals = IntervalSearch.of(plan, alternative, events, candidates)
    # The order of the blocks alone: what is asked of ends is known to `intervals`.
    bare = replace(alternative, blocks=alternative.positive_blocks, timings=(), choices=())
    search = search_of(intervals.system)
    return IntervalAlternative(plan, events, shape_of(plan, bare), search, options, intervals=intervals)


@dataclass
class HeldMatches:
    """What was found of alternatives, one after the other.

    `owned` is as `PreparedAlternative.parts` has it.  `looked_at` sees what is found so far whenever that has
    doubled, and may raise.
    """

    plan: Plan
    options: MatchOptions
    owned: tuple[int, int] | None = None
    looked_at: Callable[[HeldMatches], None] | None = None
    sources: list[PreparedAlternative] = field(default_factory=list)
    found: list[list[MatchBatch]] = field(default_factory=list)
    _count: int = 0
    _size: int = 0
    _look: int = _LOOKED_AT_FROM

    def add(self, source: PreparedAlternative) -> None:
        """Find the matches of one more alternative; raises QueryTooLargeError as `take` does."""
        self.take(source, source.parts(self.owned))

    def take(self, source: PreparedAlternative, parts: Sequence[Part[MatchBatch]]) -> None:
        """Hold the matches that parts of an alternative give.

        Raises
        ------
        QueryTooLargeError
            If they do not fit in memory, or are too many.
        """
        self.sources.append(source)
        self.found.append([])
        for batch in concurrently(list(parts), self.options.threads):
            self.found[-1].append(batch)
            self._count += len(batch)
            self.options.check_count(self._count)
            if self.looked_at is not None and self._count > self._look:
                self.looked_at(self)
                self._look = 2 * self._count
            self._size += len(batch) * _ROW_BYTES + sum(map(members_of, batch.bound)) * _EVENT_BYTES
            self._require_memory()

    def _require_memory(self) -> None:
        most = self.options.memory.block(1)
        if self._size > most:
            raise QueryTooLargeError(
                f"the matches of {_what_holds_all(self.plan, self.options)} are held until all are found: "
                f"{self._count:,} by now, which take {size_text(self._size)} of memory where "
                f"{size_text(most)} are allowed; narrow it (WITHIN, [attr], tighter predicates, CONFIDENCE), "
                "or raise --max-memory"
            )


def matches_of_each(
    prepared: Sequence[PreparedAlternative],
    owned: tuple[int, int] | None,
    options: MatchOptions,
    on_progress: OnProgress | None = None,
) -> list[list[MatchBatch]]:
    """The matches of each alternative; `on_progress` hears how many parts of the work are done.

    Raises
    ------
    QueryTooLargeError
        If they do not fit in memory.
    """
    held = HeldMatches(prepared[0].plan, options, owned)
    parts_of = [each.parts(owned) for each in prepared]
    every = iter(telling([part for parts in parts_of for part in parts], on_progress))
    for source, parts in zip(prepared, parts_of, strict=True):
        held.take(source, [next(every) for _ in parts])
    return held.found


def _what_holds_all(plan: Plan, options: MatchOptions) -> str:
    """Why all rows are held before the first, for a message."""
    if options.kleene == "summary":
        return "a summary"
    if plan.group_by is not None:
        return "GROUP BY"
    return "components that may be absent" if len(plan.alternatives) == 1 else "an OR"
