"""One OR-free alternative on one partition of events: from candidates to measured matches.

A pattern of single events in order needs but a part of the engine; the rest is imported where a pattern first
asks for it, which saves a small query about 6 % of its run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, take
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.confidence.measured import Measured, joined
from cepctl.engines.enumeration.search import FEWEST_COSTLY_STARTS, FEWEST_STARTS, Search, enumeration_parts
from cepctl.engines.enumeration.threshold import PushDown, Threshold
from cepctl.engines.event.options import MatchOptions, pairs_at_once
from cepctl.engines.measure.measure import Measure
from cepctl.engines.measure.rival_blocks import joined_blocks
from cepctl.engines.pattern.blocks import Shape, shape_of
from cepctl.engines.pattern.difference_constraints import closed_system
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.form import Form
from cepctl.engines.solve.methods import measure
from cepctl.plan.evaluation_order import evaluation_order
from cepctl.plan.plan import Alternative, Plan
from cepctl.plan.support import refuse_lasting_groups, require_engine

if TYPE_CHECKING:
    from cepctl.engines.confidence.coupled.problem import Problems
    from cepctl.engines.enumeration.shape_ranges import RangesOfPairs
    from cepctl.engines.event.counted_members import CountedMembers
    from cepctl.engines.intervals.search import IntervalSearch
    from cepctl.engines.pattern.rivals import RivalJoin, Rivals, RuleIndexes

SMALLEST = np.nextafter(0.0, 1.0)
"""Stands for an exact confidence below the smallest positive float: the match is possible."""


@dataclass(frozen=True)
class PreparedAlternative:
    """An alternative with everything that is fixed before the first event is bound.

    `others`: the alternatives that bind the same events, in the rows that it is the source of.
    `counted`, if any, gives the matches of neighbours of a Kleene group whose sets are counted, not listed;
    `members`, where its uncertain members are counted, too.
    """

    plan: Plan
    events: Events
    shape: Shape
    search: Search
    options: MatchOptions
    intervals: IntervalSearch | None = None
    others: tuple[PreparedAlternative, ...] = ()
    counted: Callable[[Indexes], Iterator[MatchBatch]] | None = None
    members: CountedMembers | None = None

    @classmethod
    def of(
        cls,
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
            # Whatever lasts is bound by nothing then, and passes by with its start.
            events = events.by_start
        candidates = tuple(fitting_events(events, each) for each in alternative.components)
        if events.ends is not None:
            candidates = tuple(each[events.ends.whole[each] > 0.0] for each in candidates)
        intervals = None
        tied = events.endpoint_ties is not None
        if of_intervals or tied or alternative.reads_ends or events.last(candidates):
            require_engine(plan, "event", lasting=True)
            from cepctl.engines.intervals.search import IntervalSearch

            for component, fitting in zip(alternative.components, candidates, strict=True):
                if component.kleene and events.last([fitting]):
                    refuse_lasting_groups(component)
            intervals = IntervalSearch.of(plan, alternative, events, candidates)
        system = _system(plan, alternative) if intervals is None else intervals.system
        search = Search(
            *(alternative, alternative.positive, system, candidates, plan.partition_by),
            pairs_at_once=pairs_at_once(plan, alternative, options),
        )
        # The order of the blocks alone: what is asked of ends is known to `intervals`.
        bare = replace(alternative, blocks=alternative.positive_blocks, timings=(), choices=())
        shape = shape_of(plan, alternative if intervals is None else bare)
        return cls(plan, events, shape, search, options, intervals)

    @classmethod
    def of_each(cls, plan: Plan, events: Events, options: MatchOptions) -> list[PreparedAlternative]:
        """Every alternative; where one binds interval events all do, so that rows can be compared."""
        prepared = [cls.of(plan, each, events, options) for each in plan.alternatives]
        if not (options.of_intervals or any(each.intervals for each in prepared)):
            return prepared
        return [
            each if each.intervals else cls.of(plan, each.alternative, events, options, of_intervals=True)
            for each in prepared
        ]

    def above(self, threshold: Threshold) -> PreparedAlternative:
        """The same, leaving out early what cannot reach the threshold.

        Estimates may exceed any bound, and so may events that are tied or last.
        """
        apart = self.events.ties is None and self.intervals is None
        if not threshold.decides or self.options.approximate is not None or not apart:
            return self
        clocks, costly = self.events.clocks, not self.shape.plain_chain
        if clocks is None:
            ranges = self.ranges(threshold.least) if threshold.least > 0.0 else ()
            push_down = PushDown(threshold, self.events.masses, costly, ranges)
        elif any(component.kleene for component in self.alternative.components):
            # Members of a group are bounded as if they were independent.
            return self
        else:
            push_down = PushDown(threshold, clocks.own, costly, clock=clocks.clock)
        return replace(self, search=replace(self.search, push_down=push_down))

    def ranges(self, confidence: float) -> tuple[RangesOfPairs, ...]:
        """How far apart the events of AND may be in matches that reach a confidence."""
        if all(len(block) == 1 for block in self.alternative.blocks):
            return ()
        from cepctl.engines.enumeration.shape_ranges import ranges_of_pairs

        search = self.search
        candidates = search.alternative, search.singles, search.system, search.candidates
        return ranges_of_pairs(*candidates, self.events.masses, confidence)

    @property
    def lasting(self) -> tuple[IntervalSearch, ...]:
        """What is asked of starts and ends, where its events last."""
        return () if self.intervals is None else (self.intervals,)

    @property
    def alternative(self) -> Alternative:
        """The alternative itself."""
        return self.search.alternative

    @cached_property
    def measure(self) -> Measure:
        """How its matches are measured."""
        sampling = None
        if self.options.approximate is not None:
            from cepctl.engines.event.samplings import sampling_of

            sampling = sampling_of(self.options.approximate, self.events)
        events, system = self.events, self.search.system
        return Measure(
            *(self.shape, events.masses, system, self.plan.window, sampling, self.options.block_memory),
            *(events.clocks, events.ties),
        )

    @property
    def form(self) -> Form:
        """What all its matches have in common."""
        own = Batch(self.measure, {}, [], self.lasting).form
        return replace(own, rivals=bool(self.shape.rules), counted=self.members is not None)

    def matches(self, owned: tuple[int, int] | None) -> Iterator[MatchBatch]:
        """Measured matches, batch by batch; `owned` as in `cepctl.engines.event.match.match_batches`."""
        return chain.from_iterable(part() for part in self.parts(owned))

    def parts(self, owned: tuple[int, int] | None) -> list[Callable[[], Iterator[MatchBatch]]]:
        """Independent parts of `matches`, each from starting events of its own."""
        order = evaluation_order(self.alternative, self.options.type_counts, self.options.order).components
        columns = tuple(self.search.singles.index(i) for i in order)
        fewest = FEWEST_STARTS if self.shape.plain_chain else FEWEST_COSTLY_STARTS
        events = self.events if self.intervals is None else self.intervals.hulls
        parts: Sequence[Callable[[], Iterator[Indexes]]]
        parts = enumeration_parts(self.search_within_gaps(), events, columns, owned, fewest=fewest)
        if any(len(block) > 2 for block in self.alternative.blocks):
            from cepctl.engines.event.and_groups import few_matches

            most = None if self.options.top is not None else self.options.max_matches
            parts = few_matches(self.search, parts, most, in_one_sum=self.measure.in_one_sum)
        return [partial(self._matches, part, owned) for part in parts]

    def search_within_gaps(self) -> Search:
        """The search, with the gaps that some rival may break in every world."""
        if self.shape.plain_chain or self.events.clocks is not None or self.intervals is not None:
            return self.search
        from cepctl.engines.enumeration.certain_gaps import certain_gaps

        gaps = certain_gaps(self.shape, self.events, self.search.candidates, self.plan.partition_by)
        return replace(self.search, gaps=gaps)

    def _matches(
        self, bindings: Callable[[], Iterator[Indexes]], owned: tuple[int, int] | None
    ) -> Iterator[MatchBatch]:
        for rows in bindings():
            if self.counted is not None and owned is None:
                yield from self.counted(rows)
                continue
            for bound in self.with_groups(rows):
                yield self.measured(bound, owned)

    def with_groups(self, rows: Indexes) -> Iterator[dict[int, Bindings]]:
        """Bindings of single events, completed by every possible group of every Kleene component, in batches.

        Raises
        ------
        QueryTooLargeError
            If there are more groups than the options allow.
        """
        if not any(self.alternative.components[i].kleene for i in self.search.singles):
            return iter([dict(zip(self.search.singles, rows.T, strict=True))] if len(rows) else [])
        from cepctl.engines.kleene.growth import with_groups

        events = self.events if self.intervals is None else self.intervals.hulls
        return with_groups(
            *(self.search, self.shape, events, rows, self.plan),
            *(self.options.max_matches, self.options.block_memory),
            foresee=self.intervals is None,
        )

    def rivals(self, bound: dict[int, Bindings], joins: Sequence[RivalJoin] | None = None) -> list[Rivals]:
        """Who could break these matches; `joins` are those of `_rival_joins`, where they are known."""
        from cepctl.engines.pattern.rivals import rivals_of, spans_of

        return rivals_of(
            self.shape,
            self.events,
            self.search.candidates,
            self.plan.partition_by,
            bound,
            spans_of(self.events.masses, self.measure.groups(bound)),
            joins=joins,
        )

    @cached_property
    def _rule_indexes(self) -> RuleIndexes:
        from cepctl.engines.pattern.rivals import RuleIndexes

        return RuleIndexes(self.shape, self.events, self.search.candidates, self.plan.partition_by)

    def _rival_joins(self, bound: dict[int, Bindings]) -> list[RivalJoin]:
        from cepctl.engines.pattern.rivals import spans_of

        return self._rule_indexes.joins(bound, spans_of(self.events.masses, self.measure.groups(bound)))

    def judged(self, bound: dict[int, Bindings]) -> Measured:
        """Time range and confidence of matches, with their rivals found in blocks that fit in memory.

        Raises
        ------
        QueryTooLargeError
            If a match needs more memory or more work than is allowed.
        """
        if self.intervals is not None or self.shape.plain_chain:
            return self.decided(bound, [])
        count = len(self.measure.groups(bound)[0].sizes)
        joins = self._rival_joins(bound)
        blocks = list(joined_blocks(joins, count, self.options.block_memory))
        if len(blocks) <= 1:
            return self.decided(bound, self.rivals(bound, joins))
        parts = []
        for begin, end in blocks:
            part = {i: take(each, np.arange(begin, end)) for i, each in bound.items()}
            own = [join.taken(slice(begin, end)) for join in joins]
            parts.append(self.decided(part, self.rivals(part, own)))
        return joined(parts)

    def decided(
        self,
        bound: dict[int, Bindings],
        rivals: list[Rivals],
        heard: Callable[[str], None] | None = None,
    ) -> Measured:
        """The same of matches that these rivals can break; `heard` hears the name of each method."""
        asked = self.measure if heard is None else replace(self.measure, heard=heard)
        return measure(Batch(asked, bound, rivals, self.lasting))

    def problems(self, bound: dict[int, Bindings]) -> Iterator[Problems]:
        """The coupled problems of matches, `match` being their row; rivals are found as in `judged`."""
        from cepctl.engines.confidence.coupled.assembly import coupled_problems
        from cepctl.engines.confidence.coupled.matches import CoupledMatches

        count = len(self.measure.groups(bound)[0].sizes)
        joins = [] if self.shape.plain_chain else self._rival_joins(bound)
        for begin, end in joined_blocks(joins, count, self.options.block_memory) if joins else [(0, count)]:
            part = {i: take(each, np.arange(begin, end)) for i, each in bound.items()}
            own = [join.taken(slice(begin, end)) for join in joins]
            rivals = self.rivals(part, own) if joins else []
            matches = CoupledMatches(self.shape, self.events.masses, self.measure.groups(part), rivals)
            for problems in coupled_problems(matches):
                yield replace(problems, match=problems.match + begin)

    def measured(self, bound: dict[int, Bindings], owned: tuple[int, int] | None) -> MatchBatch:
        """Time range and confidence of a batch; without what no world returns or another slice owns."""
        values = tuple(bound[i] for i in self.search.singles)
        found = self.judged(bound)
        kept = found.start <= found.end
        if owned is not None:
            kept &= _is_owned(self.events, values[0], owned)
        exact = np.maximum(found.confidence, SMALLEST)
        # Of an estimate nothing is made up: no sampled world may have returned what is possible.
        confidence = np.where(found.error > 0.0, found.confidence, exact)
        matches = MatchBatch(values, found.start, found.end, confidence, found.error)
        return matches if kept.all() else matches.filter(kept)


def _system(plan: Plan, alternative: Alternative) -> Ticks:
    """Closed constraints over the positive components; a Kleene group stands as any of its members."""
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    positive = alternative.positive
    edges = [
        (positive.index(each.left), positive.index(each.right), each.bound)
        for each in alternative.timings
        if not each.not_equal and each.left in positive and each.right in positive
    ]
    return closed_system([block_of[i] for i in positive], plan.window, edges)


def _is_owned(events: Events, first: Bindings, owned: tuple[int, int]) -> Flags:
    """Whether the first component's event, of a group the smallest, has its `lower` in the slice."""
    if isinstance(first, Group):
        lower = np.minimum.reduceat(events.masses.lower[first.members], first.offsets[:-1])
    else:
        lower = events.masses.lower[first]
    return np.asarray((lower >= owned[0]) & (lower <= owned[1]))
