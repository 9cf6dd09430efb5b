"""What becomes of complete bindings: groups, absences, worlds, and the threshold of confidence.

They have passed order, keys and predicates.  What remains to be checked: predicates over whole groups, the
events that must be absent (negation, next match, contiguity), constraints on times that only measuring
checks, what is given, and CONFIDENCE.  Each clause of GIVEN is checked alone, and so is each rule of absence,
to tell which breaks a binding; a rival that invalidates it in every world is named.

Work is bounded: of more than `limit` bindings evenly spaced ones are measured, and confidences beyond
the bound on work are estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.group_predicates import group_link_holds
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.diagnosis.worlds_left import ChargedClauses, WorldsLeft
from cepctl.engines.enumeration.search import NOT_BOUND
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.pattern.blocks import AbsenceRule, Shape
from cepctl.engines.pattern.rival_joins import Spans, spans_of
from cepctl.engines.pattern.rivals import Rivals, certainly_broken
from cepctl.errors import QueryTooLargeError
from cepctl.language.printer import expression_to_text
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.precision import CONFIDENCE_SLACK

BINDINGS = 1 << 14
"""How many bindings are measured at most."""
_ERROR = 0.05
MOST_BREAKERS = 3
_FIXED_TIMES = Condition("timing", "timing constraints in WHERE, including <> and gaps in histograms")

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
    plan: Plan, alternative: Alternative, worlds: WorldsLeft, rows: Indexes, limit: int = BINDINGS
) -> CompletionReport:
    """Check complete bindings, shape (n, positive components), against what remains.

    One member of a Kleene group stands for it in `rows`.
    """
    # Of events that share clocks nothing is estimated.
    approximate = _ERROR if worlds.stamped.clocks is None else None
    options = MatchOptions(approximate=approximate, max_matches=limit)
    prepared = PreparedAlternative.of(plan, alternative, worlds.known, options)
    rows = without_groups(prepared, rows)
    chosen = rows[:: max(1, -(-len(rows) // limit))]
    batches, cut = completed(prepared, chosen)
    group_losses = losses_of_groups(prepared, chosen)
    tally = _PointTally(prepared, _Clauses.of(prepared, worlds) if plan.given else None)
    for bound in batches:
        tally.add(bound)
    return tally.report(len(chosen), group_losses, sampled=cut or len(chosen) < len(rows))


def absence_condition(plan: Plan, shape: Shape, rule: AbsenceRule) -> Condition:
    """A rule of absence in the words of the query."""
    if rule.component is None:
        return Condition("absence", plan.strategy.word)
    component = shape.alternative.components[rule.component]
    if component.negated:
        return absence_of(shape.alternative, rule.component)
    return Condition("absence", f"{plan.strategy.word}, {plan.strategy.rival.format(component.variable)}")


def absence_of(alternative: Alternative, component: int) -> Condition:
    """A negated component in the words of the query."""
    return Condition("absence", f"no {alternative.components[component].variable}")


def signature_of(bound: dict[int, Bindings], row: int) -> Signature:
    """The events of one match."""
    found = []
    for i in sorted(bound):
        each = take(bound[i], np.array([row]))
        found.append(tuple(int(e) for e in (each.members if isinstance(each, Group) else each)))
    return tuple(found)


def without_groups(prepared: PreparedAlternative, rows: Indexes) -> Indexes:
    """Bindings of the single components alone, each once."""
    components = prepared.alternative.components
    kleene = [at for at, i in enumerate(prepared.search.singles) if components[i].kleene]
    if not kleene:
        return rows
    rows = rows.copy()
    rows[:, kleene] = NOT_BOUND
    return np.unique(rows, axis=0)


def completed(prepared: PreparedAlternative, rows: Indexes) -> tuple[list[dict[int, Bindings]], bool]:
    """Bindings with every group, and whether there were too many to list."""
    found: list[dict[int, Bindings]] = []
    try:
        for bound in prepared.with_groups(rows):
            found.append(bound)
    except QueryTooLargeError:
        return found, True
    return found, False


def losses_of_groups(prepared: PreparedAlternative, rows: Indexes) -> tuple[Loss, ...]:
    """What each predicate over groups takes away; nothing where the groups are too many to list."""
    alternative = prepared.alternative
    judged = [link for link in alternative.links if link.scope is not Scope.EVENT]
    judged = [link for link in judged if not alternative.components[link.decides].negated]
    if not judged:
        return ()
    bare = replace(alternative, links=tuple(link for link in alternative.links if link not in judged))
    loose = PreparedAlternative.of(prepared.plan, bare, prepared.events, prepared.options)
    batches, _ = completed(loose, rows)
    counts = np.zeros(len(judged), dtype=np.int64)
    for batch in batches:
        left = batch
        for at, link in enumerate(judged):
            held = group_link_holds(prepared.events, alternative, link, left)
            counts[at] += int((~held).sum())
            left = {i: take(each, np.flatnonzero(held)) for i, each in left.items()}
    texts = [Condition("group", expression_to_text(link.expression)) for link in judged]
    return tuple(Loss(text, int(count)) for text, count in zip(texts, counts, strict=True))


@dataclass(frozen=True)
class _Clauses:
    """The alternative without what is given, and with each clause of it alone."""

    freely: PreparedAlternative
    alone: tuple[PreparedAlternative, ...]

    @classmethod
    def of(cls, prepared: PreparedAlternative, worlds: WorldsLeft) -> _Clauses:
        plan = replace(prepared.plan, given=())
        freely, *alone = (
            PreparedAlternative.of(plan, prepared.alternative, each, prepared.options)
            for each in (worlds.stamped, *worlds.alone)
        )
        return cls(freely, tuple(alone))


def happening(found: Measured) -> Flags:
    """Which matches have a world."""
    return np.asarray(found.start <= found.end)


class Tally:
    """Counts over batches of complete bindings.

    `untimely` are those that have no world for their times alone, `broken` those that one rule of absence
    alone leaves none, by the number of the rule; `breakers` are found for each rule and event.
    """

    def __init__(
        self, prepared: PreparedAlternative, untimely: Condition, rules: Mapping[int, Condition]
    ) -> None:
        self.prepared, self.rules = prepared, rules
        self.charged = ChargedClauses(prepared.plan.given)
        self.complete = self.possible = self.below = 0
        self.untimely = Loss(untimely, 0)
        self.broken = dict.fromkeys(rules, 0)
        self.best: Signature | None = None
        self.best_confidence: float | None = None
        self.breakers: dict[tuple[int, int], Breaker] = {}

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

    def count(self, timely: Flags, happens: Flags) -> None:
        """Count a batch: which bindings have a world if nothing is given or absent, and which have one."""
        self.complete += len(timely)
        self.untimely = replace(self.untimely, count=self.untimely.count + int((~timely).sum()))
        self.possible += int(happens.sum())

    def blame(self, rule: int, row: Indexes, event: Indexes, example: Callable[[int], Signature]) -> None:
        """Rows of a batch, each with an event that certainly breaks it."""
        events, first, counts = np.unique(event, return_index=True, return_counts=True)
        for each, at, count in zip(events.tolist(), first.tolist(), counts.tolist(), strict=True):
            known = self.breakers.get((rule, each))
            if known is None:
                known = Breaker(self.rules[rule], each, 0, example(int(row[at])))
            self.breakers[rule, each] = replace(known, count=known.count + count)

    def judge(self, found: Measured, happens: Flags, example: Callable[[int], Signature]) -> None:
        """Count the possible ones of a batch that do not reach CONFIDENCE."""
        wanted = self.prepared.plan.minimum_confidence
        if wanted is None:
            return
        below = np.flatnonzero(happens & (found.confidence < wanted - CONFIDENCE_SLACK))
        self.below += len(below)
        if len(below):
            at = int(below[np.argmax(found.confidence[below])])
            if self.best_confidence is None or found.confidence[at] > self.best_confidence:
                self.best, self.best_confidence = example(at), float(found.confidence[at])


class _PointTally(Tally):
    """Of bindings of points."""

    def __init__(self, prepared: PreparedAlternative, clauses: _Clauses | None) -> None:
        plan, shape = prepared.plan, prepared.shape
        rules = {at: absence_condition(plan, shape, rule) for at, rule in enumerate(shape.rules)}
        super().__init__(prepared, _FIXED_TIMES, rules)
        self.clauses = clauses

    def add(self, bound: dict[int, Bindings]) -> None:
        rivals = self.prepared.rivals(bound) if self.rules else []
        without_rivals = [_pairs(each, np.zeros(len(each.row), dtype=bool)) for each in rivals]
        free = happening(self.prepared.decided(bound, without_rivals))
        timely = self._held_to_given(bound, free, without_rivals)
        for at, each in enumerate(rivals):
            others = [*without_rivals[:at], each, *without_rivals[at + 1 :]]
            lost = free & ~happening(self.prepared.decided(bound, others))
            self.broken[at] += int(lost.sum())
            self._name(at, bound, each, lost)
        found = self.prepared.decided(bound, rivals)
        happens = free & happening(found)
        self.count(timely, happens)
        self.judge(found, happens, lambda row: signature_of(bound, row))

    def _held_to_given(self, bound: dict[int, Bindings], free: Flags, without_rivals: list[Rivals]) -> Flags:
        """Count what each clause leaves no world; returns which bindings have one if nothing is given."""
        clauses = self.clauses
        if clauses is None:
            return free
        freely = happening(clauses.freely.decided(bound, without_rivals))
        lost = freely & ~free
        self.charged.charge(
            int(lost.sum()), lambda at: happening(clauses.alone[at].decided(bound, without_rivals))[lost]
        )
        return freely

    def _name(self, rule: int, bound: dict[int, Bindings], rivals: Rivals, lost: Flags) -> None:
        rivals = _pairs(rivals, lost[rivals.row])
        if not len(rivals.row):
            return
        masses = self.prepared.events.masses
        spans = spans_of(masses, self.prepared.measure.groups(bound))
        each = Spans(*(getattr(spans, name)[rivals.row] for name in spans.__dataclass_fields__))
        alone = replace(rivals, row=np.arange(len(rivals.row)))
        certain = certainly_broken([alone], masses, each)
        self.blame(rule, rivals.row[certain], rivals.event[certain], lambda row: signature_of(bound, row))


def _pairs(rivals: Rivals, kept: Flags) -> Rivals:
    return replace(rivals, row=rivals.row[kept], event=rivals.event[kept])
