"""What becomes of complete bindings, and of complete runs: groups, absences, worlds, and the threshold.

They have passed order, keys and predicates.  What remains to be checked: predicates over whole groups, the
events that must be absent (negation, next match, contiguity), constraints on times that only measuring
checks, what is given, and CONFIDENCE.  Each clause of GIVEN is checked alone, and so is each rule of absence,
to tell which breaks a binding; a rival that invalidates it in every world is named.

Work is bounded: of more than BINDINGS evenly spaced ones are measured, and confidences beyond the bound on
work are estimated.  Runs bind one event after the other, each by what was taken before.  They grow as a match
grows them, and what keeps events from a group is counted.  Others are listed loosely: a component that binds
one event may bind each that fits, a group takes what comes next.  All are checked as other complete bindings
are, so that an event which is passed over, though some component would have taken it, is named.

    reading   Q with B? b, next match     shown                   runs of sizes
    1         SEQ(A a, B? b, C c)         SEQ(A a, B b, C c)      b 1
    2         SEQ(A a, B? b, C c)         SEQ(A a, !B b, C c)     b 0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.bindings import Bindings, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.binding_checks import (
    Checks,
    PointChecks,
    Signature,
    happening,
    nearest_condition,
    negation_condition,
)
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.diagnosis.worlds_left import ChargedClauses, WorldsLeft, in_world
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative, read_sets_listed, runs_asked
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_growth import RunTally
from cepctl.engines.event.runs_prepared import RunsAsked, read_sets_of_each_size
from cepctl.engines.pattern.rivals import taken_further_on
from cepctl.engines.search.search import NOT_BOUND
from cepctl.errors import QueryTooLargeError
from cepctl.language.printer import expression_to_text
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.passed_over import negated
from cepctl.plan.plan import Alternative, Link, Plan, Scope
from cepctl.plan.support import refuse_intervals, require_engine

BINDINGS = 1 << 14
"""How many bindings are measured at most."""
MOST_BREAKERS = 3
_TOGETHER = Condition("absence", "the absences together")
PAIRS = 1 << 17
"""Pairs of a run and an event that a step looks at to tell which runs some event breaks in every world."""
_OPTIONS = MatchOptions(approximate=PointChecks.approximate, max_matches=BINDINGS)


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
    kind: type[Checks],
) -> CompletionReport:
    """Check complete bindings, shape (n, positive components), against what remains.

    One member of a Kleene group stands for it in `rows`.  `kind`: how they are checked.

    Raises
    ------
    QueryTooLargeError
        If a binding of interval events is too much work to measure.
    """
    options = MatchOptions(approximate=kind.approximate, max_matches=BINDINGS)
    every = (
        prepared_alternative(asked, alternative, events, options, of_intervals=kind.of_intervals)
        for asked, events in _in_worlds(plan, worlds)
    )
    prepared, *others = (replace(each, sifted=False) for each in every)
    rows = _without_groups(alternative, rows)
    chosen = rows[:: max(1, -(-len(rows) // BINDINGS))]
    batches, cut = _completed(prepared, chosen)
    tally = Tally(plan, kind.untimely, kind.rules(prepared))
    for bound in batches:
        for checks in kind.of(prepared, others, bound):
            tally.add(checks)
    group_losses = (*_losses_of_groups(prepared, chosen), *_taken_further_on(prepared, chosen))
    return tally.report(len(chosen), group_losses, sampled=cut or len(chosen) < len(rows))


def _in_worlds(plan: Plan, worlds: WorldsLeft) -> Iterator[tuple[Plan, Events]]:
    """Plan and events in the worlds that remain, then, if something is given, in all and in each clause's."""
    yield plan, worlds.known
    if plan.given:
        for each in (worlds.stamped, *worlds.alone):
            yield replace(plan, given=()), each


def _without_groups(alternative: Alternative, rows: Indexes) -> Indexes:
    """Bindings of the single components alone, each once."""
    kleene = [at for at, i in enumerate(alternative.positive) if alternative.components[i].kleene]
    if not kleene:
        return rows
    rows = rows.copy()
    rows[:, kleene] = NOT_BOUND
    return rows[distinct_rows(rows).first]


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
            left = take_matches(left, np.flatnonzero(held))
    texts = [Condition("group", expression_to_text(link.expression)) for link in judged]
    return tuple(Loss(text, int(count)) for text, count in zip(texts, counts, strict=True))


def _taken_further_on(prepared: PreparedAlternative, rows: Indexes) -> Iterator[Loss]:
    """What components take away from others in front of them that may be absent."""
    components = prepared.alternative.components
    if prepared.plan.strategy.absent is not Absent.NEARER or all(each.least for each in components):
        return
    counts = Counter[int]()
    with suppress(QueryTooLargeError):
        for bound in prepared.with_any_groups(rows):
            known = prepared.shape, prepared.events, prepared.search.candidates
            for component, taken in taken_further_on(*known, bound):
                counts[component] += int(taken.sum())
    for component, count in counts.items():
        text = f"{components[component].variable}, which takes what fits it, too,"
        yield Loss(Condition("group", text), count)


class Tally:
    """Counts over batches of complete bindings.

    `untimely` are those that have no world for their times alone, `broken` those that one rule of absence
    alone leaves none, by the number of the rule, `broken_together` those that only all rules leave none;
    `breakers` are found for each rule and event.
    """

    def __init__(self, plan: Plan, untimely: Condition, rules: Mapping[int, Condition]) -> None:
        self.plan, self.rules = plan, rules
        self.charged = ChargedClauses(plan.given)
        self.complete = self.possible = self.below = 0
        self.untimely = Loss(untimely, 0)
        self.broken = dict.fromkeys(rules, 0)
        self.broken_together = 0
        self.best: Signature | None = None
        self.best_confidence: float | None = None
        self.breakers: dict[tuple[int, int], Breaker] = {}

    def add(self, checks: Checks) -> None:
        """Count a batch."""
        free = checks.possible(0)
        freely = self.charged.charge(free, checks.possible)
        found = checks.measured()
        happens = free & happening(found)
        together = free & ~happens
        for rule in self.rules:
            lost = checks.lost_to(rule, free)
            together &= ~lost
            self.broken[rule] += int(lost.sum())
            for row, event in checks.certain(rule, lost):
                self._blame(rule, row, event, checks.signature)
        self.broken_together += int(together.sum())
        self.complete += len(freely)
        self.untimely = replace(self.untimely, count=self.untimely.count + int((~freely).sum()))
        self.possible += int(happens.sum())
        self._judge(found, happens, checks.signature)

    def report(self, bindings: int, group_losses: tuple[Loss, ...], *, sampled: bool) -> CompletionReport:
        """All that was counted, of so many bindings of single events."""
        losses = [self.untimely] if self.untimely.count else []
        losses += self.charged.losses()
        losses += [Loss(condition, self.broken[rule]) for rule, condition in self.rules.items()]
        losses += [Loss(_TOGETHER, self.broken_together)] if self.broken_together else []
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
class RunReading:
    """An alternative of a plan, and which of its components are absent."""

    of: Alternative
    absent: tuple[int, ...] = ()

    @property
    def shown(self) -> Alternative:
        """The alternative in which what is absent is negated; no condition on it applies."""
        return negated(self.of, self.absent)


def run_readings(alternative: Alternative) -> Iterator[RunReading]:
    """One for each choice of what may be absent; the alternative itself where no match passes it over."""
    return (RunReading(alternative, absent) for absent in alternative.left_out)


def complete_runs(plan: Plan, reading: RunReading, worlds: WorldsLeft, rows: Indexes) -> CompletionReport:
    """Check the runs of a reading; `rows` are as in `complete_bindings`.

    Raises
    ------
    QueryTooLargeError
        If a run is too much work to measure.
    UnsupportedQueryError
        If the event engine does not run the reading.
    """
    require_engine(plan, "event")
    # What is given leaves some of them no world, which it is then charged with.
    events = worlds.stamped
    chosen = _without_groups(reading.shown, rows)
    chosen = chosen[:: max(1, -(-len(chosen) // BINDINGS))]
    asked = runs_asked(plan, reading.of, events, _OPTIONS)
    if asked.of_intervals:
        refuse_intervals("--why-not of groups in order")
    if asked.lists_sets:
        found = _listed_read_sets(asked, chosen)
    else:
        found = listed_runs(plan, reading, events, chosen)
    rules, every = list(_rules(plan, reading.of)), list(_in_worlds(plan, worlds))
    tally = Tally(plan, PointChecks.untimely, dict(enumerate(rules)))
    for run, bound in found.runs:
        tally.add(PointChecks.of_runs([in_world(run, *each) for each in every], bound, rules))
    sampled = found.sampled or len(chosen) == BINDINGS
    return tally.report(len(chosen), found.losses, sampled=sampled)


class Listed(NamedTuple):
    """Whole runs, by their forms, and what kept events out of groups; `sampled`, if some are left out."""

    runs: Sequence[tuple[RunAlternative, dict[int, Bindings]]]
    losses: tuple[Loss, ...]
    sampled: bool


def _listed_read_sets(asked: RunsAsked, rows: Indexes) -> Listed:
    listing = read_sets_listed(asked)
    batches, cut = _completed(listing, rows)
    found = [each for bound in batches for each in read_sets_of_each_size(asked, listing, bound)]
    return Listed(found, _losses_of_groups(listing, rows), cut)


def listed_runs(plan: Plan, reading: RunReading, events: Events, rows: Indexes) -> Listed:
    """The runs that a match would find, and some of those that it leaves out."""
    found: list[tuple[RunAlternative, Indexes]] = []
    strictly, loosely = RunTally(BINDINGS), RunTally(BINDINGS, PAIRS)
    breakable = plan.strategy.asks_others or any(each.negated for each in reading.of.components)
    for each in (strictly, loosely) if breakable else (strictly,):
        asked = runs_asked(plan, reading.of, events, _OPTIONS, each)
        found += _grown(asked, reading.absent, each, known=found)
    runs = [(run, dict(zip(run.search.singles, rows.T, strict=True))) for run, rows in found if len(rows)]
    return Listed(runs, tuple(_losses(reading.of, strictly)), strictly.sampled or loosely.sampled)


def _grown(
    asked: RunsAsked, absent: tuple[int, ...], tally: RunTally, known: list[tuple[RunAlternative, Indexes]]
) -> list[tuple[RunAlternative, Indexes]]:
    """Whole runs that are not known; of more than twice BINDINGS evenly spaced ones of each form."""
    before = {run.form_of.taken: rows for run, rows in known}
    found, step = list[tuple[RunAlternative, Indexes]](), 1
    try:
        for run in asked.without(absent):
            rows = asked.whole(run)
            found.append((run, _beside(rows, before.get(run.form_of.taken, rows[:0]))[::step]))
            while sum(len(each) for _, each in found) > 2 * BINDINGS:
                tally.sampled, step = True, 2 * step
                found = [(each, rows[::2]) for each, rows in found]
    except QueryTooLargeError:
        tally.sampled = True
    return found


def _beside(rows: Indexes, known: Indexes) -> Indexes:
    """The rows that are not known."""
    first = distinct_rows(np.concatenate([known, rows])).first
    return rows[np.sort(first[first >= len(known)]) - len(known)]


def _rules(plan: Plan, reading: Alternative) -> Iterator[Condition]:
    """All that must be absent, in the words of the query."""
    for i, component in enumerate(reading.components):
        if component.negated:
            yield negation_condition(reading, i)
        elif plan.strategy.absent is Absent.NEARER:
            yield nearest_condition(plan, reading, i)
    if plan.strategy.asks_all:
        yield Condition("absence", plan.strategy.word)


def _losses(reading: Alternative, tally: RunTally) -> Iterator[Loss]:
    """What kept events from groups, beside what a single member tells of."""
    for link in reading.links:
        if _reads_several(reading, link):
            condition = Condition("group", expression_to_text(link.expression))
            yield Loss(condition, tally.rejected.get(link, 0))
    for text, count in tally.rejected.items():
        if isinstance(text, str):
            yield Loss(Condition("group", text), count)


def _reads_several(reading: Alternative, link: Link) -> bool:
    """Whether a predicate is judged by the members of a group together."""
    if reading.components[link.decides].negated:
        return False
    others = (i for i in link.components if i != link.decides)
    return link.scope is not Scope.EVENT or any(reading.components[i].kleene for i in others)
