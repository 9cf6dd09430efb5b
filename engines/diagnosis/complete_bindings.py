"""What becomes of complete bindings: groups, absences, worlds, and the threshold of confidence.

They have passed order, keys and predicates.  What remains to be checked: predicates over whole groups, the
events that must be absent (negation, next match, contiguity), constraints on times that only measuring
checks, what is given, and CONFIDENCE.  Each clause of GIVEN is checked alone, and so is each rule of absence,
to tell which breaks a binding; a rival that invalidates it in every world is named.

Work is bounded: of more than BINDINGS evenly spaced ones are measured, and confidences beyond
the bound on work are estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, events_in, take
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.engines.confidence.intervals.independent import BLOCK
from cepctl.engines.confidence.intervals.measure import IntervalMeasure
from cepctl.engines.confidence.intervals.rivals import FoundRivals, Negation, cases_without
from cepctl.engines.confidence.intervals.search import alike_in_size, of_sizes
from cepctl.engines.confidence.intervals.tied_matches import measured, valid
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.diagnosis.worlds_left import ChargedClauses, WorldsLeft
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.pattern.blocks import AbsenceRule, Shape
from cepctl.engines.pattern.rivals import Rivals, Spans, certainly_broken, spans_of
from cepctl.engines.search.search import NOT_BOUND
from cepctl.errors import QueryTooLargeError
from cepctl.language.printer import expression_to_text
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.precision import CONFIDENCE_SLACK

BINDINGS = 1 << 14
"""How many bindings are measured at most."""
_ERROR = 0.05
MOST_BREAKERS = 3

Signature = tuple[tuple[int, ...], ...]
"""Row numbers of the events bound to each positive component."""


@dataclass(frozen=True)
class Breaker:
    """A rival that certainly breaks `count` of the bindings lost, and one of them."""

    condition: Condition
    event: int
    count: int
    example: Signature


@dataclass(frozen=True)
class CompletionReport:
    """`bindings` of single events, then `complete` ones with their groups, of which `possible` happen.

    `group_losses` tell of groups, `losses` of complete bindings: what each condition makes impossible by
    itself.  `below` of the possible ones do not reach CONFIDENCE; `best` is the likeliest of them and
    `best_confidence` its confidence.  `sampled`: not all were looked at.
    """

    bindings: int
    complete: int
    group_losses: tuple[Loss, ...]
    losses: tuple[Loss, ...]
    breakers: tuple[Breaker, ...]
    possible: int
    below: int
    best: Signature | None
    best_confidence: float | None
    sampled: bool


def complete_bindings(
    plan: Plan,
    alternative: Alternative,
    worlds: WorldsLeft,
    rows: Indexes,
    *,
    lasting: bool,
) -> CompletionReport:
    """Check complete bindings, shape (n, positive components), against what remains.

    One member of a Kleene group stands for it in `rows`.  `lasting`: even points are taken for interval
    events.

    Raises
    ------
    QueryTooLargeError
        If a binding of interval events is too much work to measure.
    """
    # Of interval events nothing is estimated.
    approximate = None if lasting else _ERROR
    options = MatchOptions(approximate=approximate, max_matches=BINDINGS)
    prepared, *others = _in_worlds(plan, alternative, worlds, options, lasting=lasting)
    rows = _without_groups(prepared, rows)
    chosen = rows[:: max(1, -(-len(rows) // BINDINGS))]
    batches, cut = _completed(prepared, chosen)
    kind = _IntervalChecks if lasting else _PointChecks
    tally = _Tally(plan, kind.untimely, kind.rules(prepared))
    for bound in batches:
        for checks in kind.of(prepared, others, bound):
            tally.add(checks)
    group_losses = _losses_of_groups(prepared, chosen)
    return tally.report(len(chosen), group_losses, sampled=cut or len(chosen) < len(rows))


def _in_worlds(
    plan: Plan, alternative: Alternative, worlds: WorldsLeft, options: MatchOptions, *, lasting: bool
) -> Iterator[PreparedAlternative]:
    """The alternative in the worlds that remain, then, if something is given, in all and in each clause's."""
    freely = replace(plan, given=())
    every = [(plan, worlds.known)]
    if plan.given:
        every += [(freely, each) for each in (worlds.stamped, *worlds.alone)]
    for asked, events in every:
        yield prepared_alternative(asked, alternative, events, options, of_intervals=lasting)


def absence_condition(plan: Plan, shape: Shape, rule: AbsenceRule) -> Condition:
    """A rule of absence in the words of the query."""
    if rule.component is None:
        return Condition("absence", plan.strategy.word)
    component = shape.alternative.components[rule.component]
    if component.negated:
        return _absence_of(shape.alternative, rule.component)
    return Condition("absence", f"{plan.strategy.word}, {plan.strategy.rival.format(component.variable)}")


def _absence_of(alternative: Alternative, component: int) -> Condition:
    """A negated component in the words of the query."""
    return Condition("absence", f"no {alternative.components[component].variable}")


def _signature_of(bound: dict[int, Bindings], row: int) -> Signature:
    """The events of one match."""
    found = []
    for i in sorted(bound):
        each = take(bound[i], np.array([row]))
        found.append(tuple(int(e) for e in events_in(each)))
    return tuple(found)


def _without_groups(prepared: PreparedAlternative, rows: Indexes) -> Indexes:
    """Bindings of the single components alone, each once."""
    components = prepared.alternative.components
    kleene = [at for at, i in enumerate(prepared.search.singles) if components[i].kleene]
    if not kleene:
        return rows
    rows = rows.copy()
    rows[:, kleene] = NOT_BOUND
    return np.unique(rows, axis=0)


def _completed(prepared: PreparedAlternative, rows: Indexes) -> tuple[list[dict[int, Bindings]], bool]:
    """Bindings with every group, and whether there were too many to list."""
    found: list[dict[int, Bindings]] = []
    try:
        for bound in prepared.with_groups(rows):
            found.append(bound)
    except QueryTooLargeError:
        return found, True
    return found, False


def _losses_of_groups(prepared: PreparedAlternative, rows: Indexes) -> tuple[Loss, ...]:
    """What each predicate over groups takes away; nothing where the groups are too many to list."""
    alternative = prepared.alternative
    judged = [link for link in alternative.links if link.scope is not Scope.EVENT]
    judged = [link for link in judged if not alternative.components[link.decides].negated]
    if not judged:
        return ()
    bare = replace(alternative, links=tuple(link for link in alternative.links if link not in judged))
    loose = prepared_alternative(prepared.plan, bare, prepared.events, prepared.options)
    batches, _ = _completed(loose, rows)
    counts = np.zeros(len(judged), dtype=np.int64)
    for batch in batches:
        left = batch
        for at, link in enumerate(judged):
            held = group_link_holds(prepared.events, alternative, link, left)
            counts[at] += int((~held).sum())
            left = {i: take(each, np.flatnonzero(held)) for i, each in left.items()}
    texts = [Condition("group", expression_to_text(link.expression)) for link in judged]
    return tuple(Loss(text, int(count)) for text, count in zip(texts, counts, strict=True))


def happening(found: Measured) -> Flags:
    """Which matches have a world."""
    return np.asarray(found.start <= found.end)


class _Tally:
    """Counts over batches of complete bindings.

    `untimely` are those that have no world for their times alone, `broken` those that one rule of absence
    alone leaves none, by the number of the rule; `breakers` are found for each rule and event.
    """

    def __init__(self, plan: Plan, untimely: Condition, rules: Mapping[int, Condition]) -> None:
        self.plan, self.rules = plan, rules
        self.charged = ChargedClauses(plan.given)
        self.complete = self.possible = self.below = 0
        self.untimely = Loss(untimely, 0)
        self.broken = dict.fromkeys(rules, 0)
        self.best: Signature | None = None
        self.best_confidence: float | None = None
        self.breakers: dict[tuple[int, int], Breaker] = {}

    def add(self, checks: _PointChecks | _IntervalChecks) -> None:
        """Count a batch."""
        free = checks.possible(0)
        freely = checks.possible(1) if self.plan.given else free
        left_none = np.flatnonzero(freely & ~free)
        self.charged.charge(len(left_none), lambda at: checks.possible(2 + at, left_none))
        found = checks.measured()
        happens = free & happening(found)
        for rule in self.rules:
            lost = checks.lost_to(rule, free)
            self.broken[rule] += int(lost.sum())
            for row, event in checks.certain(rule, lost):
                self._blame(rule, row, event, checks.signature)
        self.complete += len(freely)
        self.untimely = replace(self.untimely, count=self.untimely.count + int((~freely).sum()))
        self.possible += int(happens.sum())
        self._judge(found, happens, checks.signature)

    def report(self, bindings: int, group_losses: tuple[Loss, ...], *, sampled: bool) -> CompletionReport:
        """All that was counted, of so many bindings of single events."""
        losses = [self.untimely] if self.untimely.count else []
        losses += self.charged.losses()
        losses += [Loss(condition, self.broken[rule]) for rule, condition in self.rules.items()]
        most = sorted(self.breakers.items(), key=lambda item: (-item[1].count, item[0]))[:MOST_BREAKERS]
        return CompletionReport(
            bindings, self.complete, group_losses, tuple(losses), tuple(each for _, each in most),
            self.possible, self.below, self.best, self.best_confidence, sampled,
        )  # fmt: skip

    def _blame(self, rule: int, row: Indexes, event: Indexes, example: Callable[[int], Signature]) -> None:
        """Rows of a batch, each with an event that certainly breaks it."""
        events, first, counts = np.unique(event, return_index=True, return_counts=True)
        for each, at, count in zip(events.tolist(), first.tolist(), counts.tolist(), strict=True):
            known = self.breakers.get((rule, each))
            if known is None:
                known = Breaker(self.rules[rule], each, 0, example(int(row[at])))
            self.breakers[rule, each] = replace(known, count=known.count + count)

    def _judge(self, found: Measured, happens: Flags, example: Callable[[int], Signature]) -> None:
        """Count the possible ones of a batch that do not reach CONFIDENCE."""
        wanted = self.plan.minimum_confidence
        if wanted is None:
            return
        below = np.flatnonzero(happens & (found.confidence < wanted - CONFIDENCE_SLACK))
        self.below += len(below)
        if len(below):
            at = int(below[np.argmax(found.confidence[below])])
            if self.best_confidence is None or found.confidence[at] > self.best_confidence:
                self.best, self.best_confidence = example(at), float(found.confidence[at])


@dataclass(frozen=True)
class _PointChecks:
    """Bindings of points; a rule of absence is that of the shape."""

    alternatives: tuple[PreparedAlternative, ...]
    bound: dict[int, Bindings]
    rivals: list[Rivals]
    untimely: ClassVar[Condition] = Condition(
        "timing", "timing constraints in WHERE, including <> and gaps in histograms"
    )

    @staticmethod
    def rules(prepared: PreparedAlternative) -> dict[int, Condition]:
        """The rules of absence, by their number."""
        plan, shape = prepared.plan, prepared.shape
        return {at: absence_condition(plan, shape, rule) for at, rule in enumerate(shape.rules)}

    @classmethod
    def of(
        cls, prepared: PreparedAlternative, others: Sequence[PreparedAlternative], bound: dict[int, Bindings]
    ) -> Iterator[_PointChecks]:
        """A batch of bindings."""
        rivals = prepared.rivals(bound) if prepared.shape.rules else []
        yield cls((prepared, *others), bound, rivals)

    def possible(self, worlds: int, rows: Indexes | None = None) -> Flags:
        """Which bindings (None: all) have a world, whoever may break them, by the number of `_in_worlds`."""
        found = happening(self.alternatives[worlds].decided(self.bound, self._only()))
        return found if rows is None else found[rows]

    def measured(self) -> Measured:
        """What all of them come to."""
        return self.alternatives[0].decided(self.bound, self.rivals)

    def lost_to(self, rule: int, free: Flags) -> Flags:
        """Those, `free` without rivals, to which one rule of absence alone leaves no world."""
        return free & ~happening(self.alternatives[0].decided(self.bound, self._only(rule)))

    def certain(self, rule: int, lost: Flags) -> Iterator[tuple[Indexes, Indexes]]:
        """Rows that are lost, each with an event that alone breaks it in every world."""
        rivals = _pairs(self.rivals[rule], lost[self.rivals[rule].row])
        if len(rivals.row):
            prepared = self.alternatives[0]
            masses = prepared.events.masses
            spans = spans_of(masses, prepared.measure.groups(self.bound))
            each = Spans(*(getattr(spans, name)[rivals.row] for name in spans.__dataclass_fields__))
            alone = replace(rivals, row=np.arange(len(rivals.row)))
            certain = certainly_broken([alone], masses, each)
            yield rivals.row[certain], rivals.event[certain]

    def signature(self, row: int) -> Signature:
        return _signature_of(self.bound, row)

    def _only(self, rule: int | None = None) -> list[Rivals]:
        """The rivals of one rule, or of none."""
        return [
            each if at == rule else _pairs(each, np.zeros(len(each.row), dtype=bool))
            for at, each in enumerate(self.rivals)
        ]


def _pairs(rivals: Rivals, kept: Flags) -> Rivals:
    return replace(rivals, row=rivals.row[kept], event=rivals.event[kept])


@dataclass(frozen=True)
class _IntervalChecks:
    """Bindings of interval events whose groups are of the same sizes; a rule is that of a negated component.

    They are checked as points are.  `rows`: their single events and members, shape (n, l); they are the rows
    `at` of `bound`.
    """

    measures: tuple[IntervalMeasure, ...]
    bound: dict[int, Bindings]
    at: Indexes
    rows: Indexes
    untimely: ClassVar[Condition] = Condition("timing", "the starts and ends of all events together")

    @staticmethod
    def rules(prepared: PreparedAlternative) -> dict[int, Condition]:
        components = enumerate(prepared.alternative.components)
        return {i: _absence_of(prepared.alternative, i) for i, each in components if each.negated}

    @classmethod
    def of(
        cls, prepared: PreparedAlternative, others: Sequence[PreparedAlternative], bound: dict[int, Bindings]
    ) -> Iterator[_IntervalChecks]:
        """Those of a batch, by size."""
        searches = [search for each in (prepared, *others) for search in each.lasting]
        for sizes, matches, at in alike_in_size([bound[i] for i in prepared.search.singles]):
            yield cls(tuple(of_sizes(each, sizes).measure for each in searches), bound, at, matches)

    def possible(self, worlds: int, rows: Indexes | None = None) -> Flags:
        return _possible(self.measures[worlds], self.rows if rows is None else self.rows[rows])

    def measured(self) -> Measured:
        return measured(self.measures[0], self.rows)

    def lost_to(self, rule: int, free: Flags) -> Flags:
        finder = self.measures[0].rivals
        if finder is None:
            return np.zeros(len(self.rows), dtype=bool)

        def own(matches: Indexes) -> list[FoundRivals]:
            return [each for each in finder(matches) if each[0].component == rule]

        return free & ~happening(measured(replace(self.measures[0], rivals=own), self.rows))

    def certain(self, rule: int, lost: Flags) -> Iterator[tuple[Indexes, Indexes]]:
        for negation, row, event in self.measures[0].rivals(self.rows) if self.measures[0].rivals else ():
            if negation.component == rule:
                pairs = np.flatnonzero(lost[row])[:BLOCK]
                chosen = pairs[self._broken(negation, self.rows[row[pairs]], event[pairs])]
                yield row[chosen], event[chosen]

    def _broken(self, negation: Negation, matches: Indexes, event: Indexes) -> Flags:
        """Which matches an event each breaks in every world."""
        if self.measures[0].ties is None:
            alone = [(negation, np.arange(len(event)), event)]
            return ~happening(measured(replace(self.measures[0], rivals=lambda _: alone), matches))
        # Ties take matches apart, with all that is tied to them: the event has to be one of theirs.
        own = matches.shape[1]
        # Where that is too much to tell, nobody is named.
        with suppress(QueryTooLargeError):
            cases = cases_without(self.measures[0].cases, [(negation, own)], own, own + 1)
            together = replace(self.measures[0], cases=cases, rivals=None)
            return ~_possible(together, np.column_stack([matches, event]))
        return np.zeros(len(event), dtype=bool)

    def signature(self, row: int) -> Signature:
        return _signature_of(self.bound, int(self.at[row]))


def _possible(measure: IntervalMeasure, matches: Indexes) -> Flags:
    """Which matches, shape (n, l), hold in some world, whoever may break them."""
    alone = replace(measure, rivals=None)
    if measure.clocks is not None:
        # What ends of masses leave tells little of offsets with holes.
        return happening(measured(alone, matches))
    lower, upper = valid(alone, matches)
    return np.asarray((lower <= upper).all(axis=1))
