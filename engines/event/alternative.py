"""One OR-free alternative on one partition of events: from candidates to measured matches.

A pattern of single events in order needs but a part of the engine; the rest is imported where a pattern first
asks for it, which saves a small query about 6 % of its run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cepctl.engines.columns.bindings import Bindings, MatchBatch, least_of, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.measured import Measured, joined
from cepctl.engines.confidence.points.measure import Measure, joined_blocks
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.pattern.blocks import AbsenceRule, Shape
from cepctl.engines.pattern.shapes import absences_of
from cepctl.engines.search.search import FEWEST_COSTLY_STARTS, FEWEST_STARTS, Search, enumeration_parts
from cepctl.engines.search.threshold import PushDown, Threshold
from cepctl.engines.solve.batch import Batch, Form
from cepctl.engines.solve.methods import measure
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.numeric.precision import SMALLEST
from cepctl.plan.evaluation_order import evaluation_order
from cepctl.plan.grouping import follows_in_any
from cepctl.plan.plan import Alternative, Plan

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.confidence.coupled.problem import Problems
    from cepctl.engines.confidence.intervals.search import IntervalSearch
    from cepctl.engines.confidence.occurrence.occurrence import Occurrences
    from cepctl.engines.event.raw_times import CertainTimes
    from cepctl.engines.pattern.blocks import Rivals
    from cepctl.engines.pattern.rivals import RivalJoin, RuleIndexes
    from cepctl.engines.search.one_writer import InOrder
    from cepctl.engines.search.threshold import RangesOfPairs


class MembersCounted(Protocol):
    """What is asked of a Kleene group whose uncertain members are counted (`counted_members.py`)."""

    def occurrences(self, matches: MatchBatch, key: Indexes, count: int) -> Occurrences:
        """The probability that one of the matches of each key holds."""

    def found_at_raw_times(self, times: CertainTimes, matches: MatchBatch) -> pa.Array:
        """Whether raw times alone find some match of each row; null where they judge none."""


@dataclass(frozen=True)
class PreparedAlternative:
    """An alternative with everything that is fixed before the first event is bound.

    `others`: the alternatives that bind the same events, in the rows that it is the source of.
    `counted`, if any, gives the matches of neighbours of a Kleene group whose sets are counted, not listed;
    `members`, where its uncertain members are counted, too.  `sifted`: whether it is asked to measure no
    matches but those that may happen as far as order, window and what is given say.
    """

    plan: Plan
    events: Events
    shape: Shape
    search: Search
    options: MatchOptions
    others: tuple[PreparedAlternative, ...] = ()
    counted: Callable[[Indexes], Iterator[MatchBatch]] | None = None
    members: MembersCounted | None = None
    sifted: bool = True

    def above(self, threshold: Threshold) -> PreparedAlternative:
        """An alternative that leaves out early what cannot reach the threshold.

        Estimates may exceed any bound, and so may events that are tied, or whose orders a law weighs.
        """
        if not threshold.decides or self.options.approximate is not None or self.events.depends.weighs:
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
        if all(len(block) == 1 for block in self.alternative.positive_blocks):
            return ()
        from cepctl.engines.search.threshold import ranges_of_pairs

        search = self.search
        candidates = search.alternative, search.singles, search.system, search.candidates
        return ranges_of_pairs(*candidates, self.events.masses, confidence)

    @property
    def lasting(self) -> tuple[IntervalSearch, ...]:
        """What is asked of starts and ends, where its events last."""
        return ()

    @property
    def searched(self) -> Events:
        """The events as bindings are searched among them."""
        return self.events

    @property
    def plain(self) -> bool:
        """Whether it holds in whatever world its events are in order: nothing else can break it."""
        return self.shape.plain_chain

    def beside(self, others: Sequence[PreparedAlternative]) -> PreparedAlternative:
        """The alternative as the source of rows that others give, too."""
        return replace(self, others=tuple(others))

    @property
    def alternative(self) -> Alternative:
        """The alternative itself."""
        return self.search.alternative

    @property
    def shown(self) -> Alternative:
        """The alternative as rows show it."""
        return self.alternative

    def folded(self, matches: MatchBatch) -> MatchBatch:
        """Its matches as `shown` binds them."""
        return matches

    def may_take(self, bound: dict[int, Bindings]) -> bool:
        """Whether the events of one match are taken by these components, as far as conditions say."""
        return any(True for _ in self._as_taken(iter([bound])))

    def found_at_certain_times(self, events: Events, known: Flags, matches: MatchBatch) -> Flags | None:
        """Which matches hold at certain ticks, `known` of some events; None where the plan alone says it."""
        return None

    @property
    def decided_by_window(self) -> bool:
        """Whether a match is decided only as its window ends."""
        return self.shown.decided_by_window(self.plan.strategy)

    @cached_property
    def measure(self) -> Measure:
        """How its matches are measured."""
        sampling = None
        if self.options.approximate is not None:
            from cepctl.engines.confidence.coupled.sampling import Sampling

            sampling = Sampling(self.options.approximate, self.events)
        events, system = self.events, self.search.system
        return Measure(
            *(self.shape, events.masses, system, self.plan.window, sampling, self.options.block_memory),
            events.depends,
            sifted=self.sifted,
        )

    @property
    def form(self) -> Form:
        """What all its matches have in common."""
        own = Batch(self.measure, {}, [], self.lasting).form
        return replace(own, rivals=bool(absences_of(self.shape)), counted=self.members is not None)

    def matches(self, owned: tuple[int, int] | None) -> Iterator[MatchBatch]:
        """Measured matches, batch by batch; `owned` as in `cepctl.engines.event.match.match_batches`."""
        return chain.from_iterable(part() for part in self.parts(owned))

    def parts(self, owned: tuple[int, int] | None) -> list[Callable[[], Iterator[MatchBatch]]]:
        """Independent parts of `matches`, each from starting events of its own."""
        order = evaluation_order(self.alternative, self.options.type_counts, self.options.order).components
        columns = tuple(self.search.singles.index(i) for i in order)
        fewest = FEWEST_STARTS if self.shape.plain_chain else FEWEST_COSTLY_STARTS
        parts: Sequence[Callable[[], Iterator[Indexes]]]
        known = self.in_known_order
        search, events = (
            (self.search_within_gaps(), self.searched) if known is None else (known.search, known.events)
        )
        parts = enumeration_parts(search, events, columns, owned, fewest=fewest)
        if any(len(block) > 2 for block in self.alternative.positive_blocks):
            from cepctl.engines.event.and_groups import few_matches

            most = None if self.options.top is not None else self.options.max_matches
            parts = few_matches(self.search, parts, most, in_one_sum=self.measure.in_one_sum)
        return [partial(self._matches, part, owned) for part in parts]

    def search_within_gaps(self) -> Search:
        """The search, with the gaps that some rival may break in every world."""
        return self.within_gaps_of(self.shape)

    @cached_property
    def in_known_order(self) -> InOrder | None:
        """The search among events whose order is known; None where times matter, too."""
        if not self.plan.given or self.lasting:
            return None
        from cepctl.engines.search.one_writer import in_known_order

        return in_known_order(self.plan, self.shape, self.search, self.searched)

    def within_gaps_of(self, shape: Shape) -> Search:
        """The search, with the gaps of a shape, whose alternative has all conditions on its rivals."""
        if shape.plain_chain or self.events.depends.on_clocks:
            return self.search
        from cepctl.engines.search.narrowed_joins import certain_gaps

        gaps = certain_gaps(shape, self.events, self.search.candidates, self.plan.partition_by)
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
        known = self.in_known_order
        if known is None or not known.has_groups:
            return self._as_taken(self.with_any_groups(rows))
        from cepctl.engines.search.kleene.growth import with_groups_in_order

        limits = self.options.max_matches, self.options.block_memory
        return self._as_taken(with_groups_in_order(known, rows, *limits))

    def with_any_groups(self, rows: Indexes) -> Iterator[dict[int, Bindings]]:
        """Also those that leave an event to what may be absent which another would have taken."""
        if not any(self.alternative.components[i].kleene for i in self.search.singles):
            return iter([dict(zip(self.search.singles, rows.T, strict=True))] if len(rows) else [])
        from cepctl.engines.search.kleene.growth import with_groups

        return with_groups(
            *(self.search, self.shape, self.searched, rows, self.plan),
            *(self.options.max_matches, self.options.block_memory),
            foresee=not self.lasting,
        )

    def _as_taken(self, found: Iterator[dict[int, Bindings]]) -> Iterator[dict[int, Bindings]]:
        """The matches that leave no event to what may be absent which another component would have taken."""
        if self.plan.strategy.absent is not Absent.NEARER:
            yield from found
            return
        from cepctl.engines.pattern.rivals import take_further_on

        for bound in found:
            broken = take_further_on(self.shape, self.events, self.search.candidates, bound)
            if not broken.any():
                yield bound
            elif not broken.all():
                yield take_matches(bound, np.flatnonzero(~broken))

    def rivals(self, bound: dict[int, Bindings], joins: Sequence[RivalJoin] | None = None) -> list[Rivals]:
        """Who could break these matches; `joins` are those of `_rival_joins`, where they are known."""
        from cepctl.engines.pattern.rivals import rivals_of, spans_of

        spans = spans_of(self.events.masses, self.measure.groups(bound))
        keys = self.search.candidates, self.plan.partition_by
        return rivals_of(self.shape, self.events, *keys, bound, spans, joins=joins)

    def fitting(self, rule: AbsenceRule, bound: dict[int, Bindings]) -> Rivals:
        """Events that fit a negated component beside what is bound, where a rule has it absent."""
        from cepctl.engines.pattern.rivals import rivals_of, spans_of

        shape = replace(self.shape, rules=(rule,), together=())
        spans = spans_of(self.events.masses, self.measure.groups(bound))
        keys = self.search.candidates, self.plan.partition_by
        (found,) = rivals_of(shape, self.events, *keys, bound, spans)
        return found

    def ties(self, components: Sequence[int]) -> bool:
        """Whether a condition reads several of these components."""
        return any(len({*components} & {*each.components}) > 1 for each in self.alternative.links)

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
        if not self.shape.rules:
            return self.decided(bound, [])
        count = len(self.measure.groups(bound)[0].sizes)
        joins = self._rival_joins(bound)
        blocks = list(joined_blocks(joins, count, self.options.block_memory))
        if len(blocks) <= 1:
            return self.decided(bound, self.rivals(bound, joins))
        parts = []
        for begin, end in blocks:
            part = take_matches(bound, np.arange(begin, end))
            own = [join.taken(slice(begin, end)) for join in joins]
            parts.append(self.decided(part, self.rivals(part, own)))
        return joined(parts)

    def decided(
        self,
        bound: dict[int, Bindings],
        rivals: list[Rivals],
        heard: Callable[[str], None] | None = None,
    ) -> Measured:
        """What is known of matches that these rivals can break; `heard` hears the name of each method."""
        asked = self.measure if heard is None else replace(self.measure, heard=heard)
        return self.measured_as(asked, bound, rivals)

    def measured_as(self, asked: Measure, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """Matches that these rivals can break, by a measure that may be another than that of all."""
        if self.shape.together:
            from cepctl.engines.event.absent_parts import AbsentTogether

            return AbsentTogether(self, asked).measured(bound, rivals)
        return measure(Batch(asked, bound, rivals, self.lasting))

    def problems(self, bound: dict[int, Bindings]) -> Iterator[Problems]:
        """The coupled problems of matches, `match` being their row; rivals are found as in `judged`."""
        from cepctl.engines.confidence.coupled.assembly import coupled_problems
        from cepctl.engines.confidence.coupled.problem import CoupledMatches

        if self.shape.together:
            from cepctl.engines.event.absent_parts import AbsentTogether

            rivals = self.rivals(bound) if self.shape.rules else []
            yield from AbsentTogether(self, self.measure).problems(bound, rivals)
            return
        count = len(self.measure.groups(bound)[0].sizes)
        joins = [] if self.shape.plain_chain else self._rival_joins(bound)
        for begin, end in joined_blocks(joins, count, self.options.block_memory) if joins else [(0, count)]:
            part = take_matches(bound, np.arange(begin, end))
            own = [join.taken(slice(begin, end)) for join in joins]
            rivals = self.rivals(part, own) if joins else []
            matches = CoupledMatches(self.shape, self.events.masses, self.measure.groups(part), rivals)
            for problems in coupled_problems(matches):
                yield replace(problems, match=problems.match + begin)

    def union_problems(self, bound: dict[int, Bindings], *, whole: bool = False) -> Iterator[Problems]:
        """Problems of matches for a union of them: those of one match need not exclude each other.

        `whole`: of all matches of a key, for which may stand what holds where one of them does.
        """
        from cepctl.engines.confidence.coupled.assembly import is_pairwise, pairwise_problems
        from cepctl.engines.confidence.coupled.problem import CoupledMatches

        if is_pairwise(self.shape):
            groups = self.measure.groups(bound)
            yield pairwise_problems(CoupledMatches(self.shape, self.events.masses, groups, []))
        elif whole and follows_in_any(self.plan, self.alternative):
            yield from replace(self, shape=replace(self.shape, rules=())).problems(bound)
        else:
            yield from self.problems(bound)

    def owning(self, values: Sequence[Bindings]) -> Bindings:
        """What the first component binds, which says to which slice of time a match belongs."""
        return values[0]

    def measured(self, bound: dict[int, Bindings], owned: tuple[int, int] | None) -> MatchBatch:
        """Time range and confidence of a batch; without what no world returns or another slice owns."""
        values = tuple(bound[i] for i in self.search.singles)
        found = self.judged(bound)
        kept = found.possible
        if owned is not None:
            lower = least_of(self.owning(values), self.events.stated_lower)
            kept &= (lower >= owned[0]) & (lower <= owned[1])
        exact = np.maximum(found.confidence, SMALLEST)
        # Of an estimate nothing is made up: no sampled world may have returned what is possible.
        confidence = np.where(found.error > 0.0, found.confidence, exact)
        matches = MatchBatch(values, found.start, found.end, confidence, found.error)
        return matches if kept.all() else matches.filter(kept)
