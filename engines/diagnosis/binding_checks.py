"""Complete bindings as they are checked: what has a world, with whom, and which rule of absence takes it.

Points are checked with their rivals; interval events by the cases of their starts and ends.  Both answer the
same questions of a batch of bindings, in the worlds that remain, in all, and in those of each clause of
GIVEN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Bindings, events_in, take
from cepctl.engines.confidence.intervals.measure import FoundRivals, IntervalMeasure, Negation
from cepctl.engines.confidence.intervals.rows import BLOCK, holds_somewhere, measured
from cepctl.engines.confidence.intervals.search import alike_in_size, of_sizes
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_conditions import folded
from cepctl.engines.pattern.blocks import AbsenceRule, Rivals
from cepctl.engines.pattern.rivals import BlockSpans, certainly_broken, spans_of
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Alternative, Plan

Signature = tuple[tuple[int, ...], ...]
"""Row numbers of the events bound to each positive component."""
TOGETHER = -1
"""The number of what must not happen as a whole, which no rule of absence says."""


def absence_condition(prepared: PreparedAlternative, rule: AbsenceRule) -> Condition:
    """A rule of absence in the words of the query."""
    if rule.component is None:
        return Condition("absence", prepared.plan.strategy.word)
    alternative, component = prepared.alternative, rule.component
    if isinstance(prepared, RunAlternative):
        taken = next((i for i, place in prepared.form_of.rivals.items() if place == component), None)
        if taken is not None:
            return nearest_condition(prepared.plan, prepared.form_of.reading, taken)
    if alternative.components[component].negated:
        return negation_condition(alternative, component)
    return nearest_condition(prepared.plan, alternative, component)


def together_condition(alternative: Alternative) -> Condition:
    """What must not happen as a whole, in the words of the query."""
    found = []
    for parts in alternative.absent_together:
        names = ", ".join(alternative.components[part].variable for part in parts)
        found.append(f"no {'SEQ' if parts in alternative.sequences else 'AND'}({names})")
    return Condition("absence", ", ".join(found))


def negation_condition(alternative: Alternative, component: int) -> Condition:
    """A negated component in the words of the query."""
    return Condition("absence", f"no {alternative.components[component].variable}")


def nearest_condition(plan: Plan, alternative: Alternative, component: int) -> Condition:
    """That a component takes the nearest event that fits it, in the words of the strategy."""
    rival = plan.strategy.rival.format(alternative.components[component].variable)
    return Condition("absence", f"{plan.strategy.word}, {rival}")


def _signature_of(bound: Iterable[Bindings], row: int) -> Signature:
    """The events of one match, of which what is `bound` is in pattern order."""
    return tuple(tuple(int(e) for e in events_in(take(each, np.array([row])))) for each in bound)


def happening(found: Measured) -> Flags:
    """Which matches have a world."""
    return np.asarray(found.start <= found.end)


def without_together(prepared: PreparedAlternative) -> PreparedAlternative:
    """The alternative without what must not happen as a whole."""
    return replace(prepared, shape=replace(prepared.shape, together=()))


@dataclass(frozen=True)
class PointChecks:
    """Bindings of points, with their rivals, and the number of the rule of absence of each of these.

    Confidences are `approximate` to within so much, where they are beyond the bound on work.
    """

    alternatives: tuple[PreparedAlternative, ...]
    bound: dict[int, Bindings]
    rivals: list[Rivals]
    numbers: Sequence[int]
    of_intervals: ClassVar[bool] = False
    approximate: ClassVar[float | None] = 0.05
    untimely: ClassVar[Condition] = Condition(
        "timing", "timing constraints in WHERE, including <> and gaps in histograms"
    )

    @staticmethod
    def rules(prepared: PreparedAlternative) -> dict[int, Condition]:
        """The rules of absence, by their number."""
        shape = prepared.shape
        found = {at: absence_condition(prepared, rule) for at, rule in enumerate(shape.rules)}
        together = [(TOGETHER, together_condition(shape.alternative))] if shape.together else []
        return found | dict(together)

    @classmethod
    def of(
        cls, prepared: PreparedAlternative, others: Sequence[PreparedAlternative], bound: dict[int, Bindings]
    ) -> Iterator[PointChecks]:
        """A batch of bindings."""
        rivals = prepared.rivals(bound) if prepared.shape.rules else []
        yield cls((prepared, *others), bound, rivals, range(len(rivals)))

    @classmethod
    def of_runs(
        cls, alternatives: Sequence[RunAlternative], bound: dict[int, Bindings], rules: Sequence[Condition]
    ) -> PointChecks:
        """Runs of one form; `rules` are all rules of absence, in the words of the query."""
        rivals = alternatives[0].rivals(bound) if alternatives[0].shape.rules else []
        numbers = [rules.index(absence_condition(alternatives[0], each.rule)) for each in rivals]
        return cls(tuple(alternatives), bound, rivals, numbers)

    def possible(self, worlds: int, rows: Indexes | None = None) -> Flags:
        """Which bindings (None: all) have a world, whoever may break them, by the number of `_in_worlds`."""
        found = happening(without_together(self.alternatives[worlds]).decided(self.bound, self._only()))
        return found if rows is None else found[rows]

    def measured(self) -> Measured:
        """What all of them come to."""
        return self.alternatives[0].decided(self.bound, self.rivals)

    def lost_to(self, rule: int, free: Flags) -> Flags:
        """Those, `free` without rivals, to which one rule of absence alone leaves no world."""
        asked = self.alternatives[0]
        asked = asked if rule == TOGETHER else without_together(asked)
        return free & ~happening(asked.decided(self.bound, self._only(rule)))

    def certain(self, rule: int, lost: Flags) -> Iterator[tuple[Indexes, Indexes]]:
        """Rows that are lost, each with an event that alone breaks it in every world."""
        prepared = self.alternatives[0]
        masses = prepared.events.masses
        for own, number in zip(self.rivals, self.numbers, strict=True):
            rivals = _pairs(own, lost[own.row] & (number == rule))
            if len(rivals.row):
                spans = spans_of(masses, prepared.measure.groups(self.bound))
                each = BlockSpans(*(getattr(spans, name)[rivals.row] for name in spans.__dataclass_fields__))
                alone = replace(rivals, row=np.arange(len(rivals.row)))
                certain = certainly_broken([alone], masses, each)
                yield rivals.row[certain], rivals.event[certain]

    def signature(self, row: int) -> Signature:
        prepared, bound = self.alternatives[0], [self.bound[i] for i in sorted(self.bound)]
        if isinstance(prepared, RunAlternative):
            return _signature_of(folded(prepared.form_of.reading, prepared.form_of.taken, bound), row)
        return _signature_of(bound, row)

    def _only(self, rule: int | None = None) -> list[Rivals]:
        """The rivals of one rule, or of none."""
        return [
            each if number == rule else _pairs(each, np.zeros(len(each.row), dtype=bool))
            for each, number in zip(self.rivals, self.numbers, strict=True)
        ]


def _pairs(rivals: Rivals, kept: Flags) -> Rivals:
    return replace(rivals, row=rivals.row[kept], event=rivals.event[kept])


@dataclass(frozen=True)
class IntervalChecks:
    """Bindings of interval events whose groups are of the same sizes; a rule is that of a negated component.

    They are checked as points are, points among them as interval events; nothing is estimated.  `rows`: their
    single events and members, shape (n, l); they are the rows `at` of `bound`.
    """

    measures: tuple[IntervalMeasure, ...]
    bound: dict[int, Bindings]
    at: Indexes
    rows: Indexes
    of_intervals: ClassVar[bool] = True
    approximate: ClassVar[float | None] = None
    untimely: ClassVar[Condition] = Condition("timing", "the starts and ends of all events together")

    @staticmethod
    def rules(prepared: PreparedAlternative) -> dict[int, Condition]:
        alternative = prepared.alternative
        whole = {i for block in alternative.absent_together for i in block}
        alone = (i for i, each in enumerate(alternative.components) if each.negated and i not in whole)
        together = {TOGETHER: together_condition(alternative)} if whole else {}
        return {i: negation_condition(alternative, i) for i in alone} | together

    @classmethod
    def of(
        cls, prepared: PreparedAlternative, others: Sequence[PreparedAlternative], bound: dict[int, Bindings]
    ) -> Iterator[IntervalChecks]:
        """Those of a batch, by size."""
        searches = [search for each in (prepared, *others) for search in each.lasting]
        for sizes, matches, at in alike_in_size([bound[i] for i in prepared.search.singles]):
            yield cls(tuple(of_sizes(each, sizes).measure for each in searches), bound, at, matches)

    def possible(self, worlds: int, rows: Indexes | None = None) -> Flags:
        return holds_somewhere(self.measures[worlds], self.rows if rows is None else self.rows[rows])

    def measured(self) -> Measured:
        return measured(self.measures[0], self.rows)

    def lost_to(self, rule: int, free: Flags) -> Flags:
        if rule == TOGETHER:
            alone = replace(self.measures[0], rivals=None)
            return free & ~happening(measured(alone, self.rows))
        finder = self.measures[0].rivals
        if finder is None:
            return np.zeros(len(self.rows), dtype=bool)

        def own(matches: Indexes) -> list[FoundRivals]:
            return [each for each in finder(matches) if each[0].component == rule]

        return free & ~happening(measured(replace(self.measures[0], rivals=own, wholes=None), self.rows))

    def certain(self, rule: int, lost: Flags) -> Iterator[tuple[Indexes, Indexes]]:
        for negation, row, event in self.measures[0].rivals(self.rows) if self.measures[0].rivals else ():
            if negation.component == rule:
                pairs = np.flatnonzero(lost[row])[:BLOCK]
                chosen = pairs[self._broken(negation, self.rows[row[pairs]], event[pairs])]
                yield row[chosen], event[chosen]

    def _broken(self, negation: Negation, matches: Indexes, event: Indexes) -> Flags:
        """Which matches an event each breaks in every world."""
        alone = [(negation, np.arange(len(event)), event)]
        return ~happening(measured(replace(self.measures[0], rivals=lambda _: alone, wholes=None), matches))

    def signature(self, row: int) -> Signature:
        return _signature_of([self.bound[i] for i in sorted(self.bound)], int(self.at[row]))


Checks: TypeAlias = PointChecks | IntervalChecks
