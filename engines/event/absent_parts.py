"""What must not happen as a whole, `!SEQ(X x, Y y)` and `!AND(X x, Y y)`, as matches that can be measured.

Each leaves parts that exclude each other, with events that the match does not show.  Several of them leave
each part of one beside each part of the others, every one with its hidden events in a gap of its own.
Matches are the sum over their parts; where that is too much work and an error is allowed, worlds are sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

import numpy as np

from cepctl.engines.columns.bindings import Bindings, count_of, take, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.awaited_rests import FirstParts, Rests
from cepctl.engines.event.hidden_events import (
    OF_GAP,
    ROWS_AT_ONCE,
    HiddenBlocks,
    HiddenEvents,
    entries_of,
    require_few,
)
from cepctl.engines.event.scanned_parts import ScannedParts
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    RegionEnd,
    Rivals,
    Shape,
    Together,
    decided_alike,
    gap_of,
)
from cepctl.engines.pattern.shapes import ends_of_gap
from cepctl.engines.search.search import Search
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Plan


class MatchSource(Protocol):
    """The alternative that matches are of."""

    @property
    def plan(self) -> Plan:
        """The plan that it is a reading of."""
        ...

    @property
    def events(self) -> Events:
        """The events, which it is one partition of."""
        ...

    @property
    def shape(self) -> Shape:
        """What is bound, and what must be absent, as a whole, too."""
        ...

    @property
    def search(self) -> Search:
        """Which events fit its components."""
        ...

    @property
    def measure(self) -> Measure:
        """How its matches are measured."""
        ...

    def fitting(self, rule: AbsenceRule, bound: dict[int, Bindings]) -> Rivals:
        """Events that fit a negated component beside what is bound, where a rule has it absent."""
        ...

    def ties(self, components: Sequence[int]) -> bool:
        """Whether a condition reads several of these components."""
        ...


@dataclass(frozen=True)
class Hiding:
    """Matches, each with events that it does not show; the match of each."""

    batch: Batch
    row: Indexes


@dataclass(frozen=True)
class AbsentParts:
    """The parts of matches of an alternative, in whose shape something is absent as a whole.

    `asked` is how its matches are measured.
    """

    source: MatchSource
    asked: Measure

    def parts(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Iterator[Hiding]:
        """All parts, some matches after the other."""
        count = count_of(bound.values())
        for begin in range(0, count, ROWS_AT_ONCE):
            rows = np.arange(begin, min(begin + ROWS_AT_ONCE, count))
            yield from self._parts_of(rows, bound, rivals)

    def _parts_of(self, rows: Indexes, bound: dict[int, Bindings], rivals: list[Rivals]) -> Iterator[Hiding]:
        """The parts of some matches together, or of half of them each where they are too many."""
        own = take_matches(bound, rows)
        block = _Block(self, own, [each.taken(rows) for each in rivals], len(rows))
        try:
            hidden = block.hidden()
        except QueryTooLargeError:
            if len(rows) == 1:
                raise
            for half in np.array_split(rows, 2):
                yield from self._parts_of(half, bound, rivals)
            return
        for each_hides in hidden:
            for part in block.measurable(each_hides):
                yield replace(part, row=rows[part.row])

    def fitting(
        self, together: Together, bound: dict[int, Bindings], component: int
    ) -> tuple[Indexes, Indexes]:
        """Pairs (match, event): events that fit a part beside what is bound, and can lie in the gap."""
        source = self.source
        found = source.fitting(AbsenceRule(component, (ends_of_gap(source.shape, together.gap),)), bound)
        order = np.lexsort((source.events.id_rank[found.event], found.row))
        return found.row[order], found.event[order]

    def measure(self, hidden: HiddenBlocks) -> Measure:
        """How parts with hidden events are measured."""
        return replace(self.asked.shaped(hidden.shape), sampling=None)


@dataclass(frozen=True)
class _Block:
    """Some matches, the parts of which are found together."""

    of: AbsentParts
    bound: dict[int, Bindings]
    rivals: list[Rivals]
    count: int

    def hidden(self) -> list[list[HiddenEvents]]:
        """What the parts of all that must not happen hide in each gap: those together that are ordered alike.

        Raises
        ------
        QueryTooLargeError
            If they are too many.
        """
        found: list[list[HiddenEvents]] = []
        for togethers in self._by_gap.values():
            found.append([])
            for part in self._of(togethers):
                found[-1].append(part)
                require_few(sum(len(each.part) for part in found[-1] for each in part.absent))
        beside = (_beside(chosen, self.count) for chosen in product(*found))
        return [each_hides for each_hides in beside if len(each_hides[0].row)]

    @property
    def _by_gap(self) -> dict[int, list[Together]]:
        """What must not happen as a whole, by the gaps in their order."""
        found: dict[int, list[Together]] = {}
        for each in self.of.source.shape.together:
            found.setdefault(each.gap, []).append(each)
        return found

    def _of(self, togethers: Sequence[Together]) -> Iterator[HiddenEvents]:
        """The parts of all that must not happen in one gap."""
        asked = self.of.source.events, self.of.fitting, self.bound, self.count
        # A condition that reads several parts leaves no first one of them.
        if len(togethers) == 1 and not self.of.source.ties(togethers[0].parts):
            first = FirstParts.of(togethers[0], *asked)
            if first is not None:
                return first.parts()
        return ScannedParts(self.of.source.events, Rests.of(togethers, *asked)).parts()

    def measurable(self, each_hides: Sequence[HiddenEvents]) -> Iterator[Hiding]:
        """The parts that hide so."""
        shape = replace(self.of.source.shape, together=())
        hidden = HiddenBlocks.of(
            shape,
            [(gap, part.count, part.tied) for gap, part in zip(self._by_gap, each_hides, strict=True)],
        )
        for outside, rows in self._beside_rules(each_hides, hidden):
            chosen = [each.taken(rows) for each in each_hides]
            yield from self._measurable(chosen, replace(hidden, outside=outside))

    def _measurable(self, each_hides: Sequence[HiddenEvents], hidden: HiddenBlocks) -> Iterator[Hiding]:
        """The parts whose hidden events are beside rules alike."""
        row = each_hides[0].row
        bound = {hidden.number(i): take(each, row) for i, each in self.bound.items()}
        for block, part in zip(hidden.blocks, each_hides, strict=True):
            bound |= {block.component + i: events for i, events in enumerate(part.events.T)}
        rivals = [*self._of_rules(each_hides, hidden), *self._absent(each_hides, hidden)]
        batch = Batch(self.of.measure(hidden), bound, rivals)
        for alike, rows in _by_rules(batch):
            yield Hiding(alike, row[rows])

    def _of_rules(self, each_hides: Sequence[HiddenEvents], hidden: HiddenBlocks) -> Iterator[Rivals]:
        for each in self.rivals:
            part, found = entries_of(each.row, each_hides[0].row, self.count)
            # Those that are hidden are in no region of the rule, or the part was left out.
            other = ~_hidden_by_any(each_hides, part, each.event[found])
            yield Rivals(hidden.rule(each.rule), part[other], each.event[found][other])

    def _beside_rules(
        self, each_hides: Sequence[HiddenEvents], hidden: HiddenBlocks
    ) -> Iterator[tuple[tuple[tuple[int, AbsenceRule], ...], Indexes]]:
        """Parts none of whose hidden events is one that may not lie in its gap anyway.

        Those together of which the same events must be outside of the same rules.
        """
        free = np.ones(len(each_hides[0].row), dtype=bool)
        outside: dict[tuple[int, AbsenceRule], Flags] = {}
        for each, (block, hides) in product(self.rivals, zip(hidden.blocks, each_hides, strict=True)):
            part, found = entries_of(each.row, hides.row, self.count)
            rule = hidden.unsettled(block, each.rule)
            for place, events in enumerate(hides.events.T if rule is None or rule.regions else ()):
                hit = part[events[part] == each.event[found]]
                if rule is None:
                    free[hit] = False
                elif len(hit):
                    beside = outside.setdefault((block.component + place, rule), np.zeros_like(free))
                    beside[hit] = True
        rows = np.flatnonzero(free)
        if not outside:
            if len(rows):
                yield (), rows
            return
        for is_beside, some in rows_alike(np.column_stack([flags[rows] for flags in outside.values()])):
            yield tuple(each for each, asked in zip(outside, is_beside, strict=True) if asked), rows[some]

    def _absent(self, each_hides: Sequence[HiddenEvents], hidden: HiddenBlocks) -> Iterator[Rivals]:
        """What is absent beside the hidden events of each."""
        for block, part in zip(hidden.blocks, each_hides, strict=True):
            gap = hidden.region(ends_of_gap(self.of.source.shape, block.gap))
            for each in part.absent:
                lower = [end for end in gap if end.is_lower]
                upper = [end for end in gap if not end.is_lower]
                for at_first, at_last, row, event in each.alike():
                    if each.after != OF_GAP:
                        lower = [RegionEnd(hidden.point(block, each.after), 0 if at_first else 1, True)]
                    if each.before != OF_GAP:
                        upper = [RegionEnd(hidden.point(block, each.before), 0 if at_last else -1, False)]
                    other = ~_hidden_by_any(each_hides, row, event)
                    yield Rivals(AbsenceRule(None, ((*lower, *upper),)), row[other], event[other])


def _beside(chosen: Sequence[HiddenEvents], count: int) -> list[HiddenEvents]:
    """Each part of one beside each part of the others, of the same match."""
    found = [chosen[0]]
    for each in chosen[1:]:
        first, second = entries_of(each.row, found[0].row, count)
        require_few(len(first))
        found = [*(part.taken(first) for part in found), each.taken(second)]
        apart = np.ones(len(first), dtype=bool)
        rows = np.arange(len(first))
        for events in each.taken(second).events.T:
            apart &= ~_hidden_by_any(found[:-1], rows, events)
        # No event lies in two gaps.
        found = found if apart.all() else [part.taken(np.flatnonzero(apart)) for part in found]
    return found


def _hidden_by_any(each_hides: Sequence[HiddenEvents], part: Indexes, event: Indexes) -> Flags:
    return np.asarray(np.any([each.hides(part, event) for each in each_hides], axis=0))


def _by_rules(batch: Batch) -> Iterator[tuple[Batch, Indexes]]:
    """Those apart that other regions than gaps between two events can decide.

    So a match is measured alike in any company, and as other absences are where there is no such region.
    """
    others = [each for each in batch.rivals if any(gap_of(region) is None for region in each.rule.regions)]
    for decided, rows in decided_alike(others, len(batch)):
        part = batch.taken(rows)
        left = [each.rule for each, decides in zip(others, decided, strict=True) if not decides]
        kept = [each for each in part.rivals if len(each.row) or each.rule not in left]
        shape = replace(part.measure.shape, rules=tuple(dict.fromkeys(each.rule for each in kept)))
        yield replace(part, measure=replace(part.measure, shape=shape), rivals=kept), rows


@dataclass(frozen=True)
class AbsentTogether:
    """Matches of an alternative, in whose shape something is absent as a whole."""

    source: MatchSource
    asked: Measure

    @property
    def of(self) -> AbsentParts:
        """Their parts."""
        return AbsentParts(self.source, self.asked)

    def measured(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """Time range and confidence of matches that these rivals can break, too: the sum over their parts.

        Raises
        ------
        QueryTooLargeError
            If a match falls into too many parts, or one needs more work than is allowed.
        """
        if self.asked.sampling is None:
            return self._exactly(bound, rivals)
        from cepctl.engines.confidence.clocks.estimates import measured_or_estimated

        def some(rows: Indexes) -> tuple[dict[int, Bindings], list[Rivals]]:
            return take_matches(bound, rows), [each.taken(rows) for each in rivals]

        return measured_or_estimated(
            lambda rows: self._exactly(*some(rows)),
            lambda row: self._estimated(*some(row)),
            count_of(bound.values()),
        )

    def _exactly(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        total = Total(count_of(bound.values()))
        for part in self.of.parts(bound, rivals):
            found = measure(part.batch)
            total.add(part.row, found.confidence, found.start, found.end)
        return total.measured()

    def _estimated(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """One match, in sampled worlds; its time range is exact."""
        from cepctl.engines.confidence.clocks.estimates import estimated_match

        none, groups = Batch(self.asked, {}, []), self.source.measure.groups(bound)
        assert self.asked.sampling is not None
        problems = list(self.problems(bound, rivals))
        return estimated_match(none.clocks, self.asked.sampling, groups, problems, none.tied)

    def problems(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Iterator[Problems]:
        """The coupled problems of all parts, `match` being the row of the match."""
        for part in self.of.parts(bound, rivals):
            for each in coupled_problems(part.batch.coupled):
                yield replace(each, match=part.row[each.match])
