"""What becomes of complete runs: bindings that take one event after the other, each by what was taken before.

Runs are listed loosely: a component that binds one event may bind each that fits, a group takes what comes
next.  What keeps events from a group is counted as the runs grow; whole ones are checked as other complete
bindings are.  So an event that is passed over, though some component would have taken it, is named.

    reading   Q with B? b, next match     shown                   runs of sizes
    1         SEQ(A a, B? b, C c)         SEQ(A a, B b, C c)      b 1
    2         SEQ(A a, B? b, C c)         SEQ(A a, !B b, C c)     b 0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.diagnosis.binding_checks import PointChecks, nearest_condition, negation_condition
from cepctl.engines.diagnosis.complete_bindings import (
    BINDINGS,
    CompletionReport,
    Tally,
    completed,
    in_worlds,
    losses_of_groups,
    without_groups,
)
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.diagnosis.worlds_left import WorldsLeft
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import passing_by, read_sets_listed, runs_asked
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_search import LooseRuns
from cepctl.engines.event.runs_prepared import RunsAsked, read_sets_of_each_size
from cepctl.errors import QueryTooLargeError
from cepctl.language.printer import expression_to_text
from cepctl.language.strategies import Absent
from cepctl.plan.plan import Alternative, Link, Plan, Scope
from cepctl.plan.support import require_engine

Runs = tuple[RunAlternative, dict[int, Bindings]]
"""Runs of one form, and what they bind."""


@dataclass(frozen=True)
class RunReading:
    """An alternative of a plan, and which of its components are absent."""

    of: Alternative
    absent: tuple[int, ...] = ()

    @property
    def shown(self) -> Alternative:
        """The alternative in which what is absent is negated; no condition on it applies."""
        gone = set(self.absent)
        if not gone:
            return self.of
        components = enumerate(self.of.components)
        return replace(
            self.of,
            components=tuple(
                replace(each, negated=True, kleene=False, ordered=False) if i in gone else each
                for i, each in components
            ),
            links=tuple(each for each in self.of.links if not gone & {*each.components}),
            equalities=tuple(each for each in self.of.equalities if not gone & {each.left, each.right}),
            timings=tuple(each for each in self.of.timings if not gone & {each.left, each.right}),
            member_timings=tuple(
                each for each in self.of.member_timings if not gone & {each.left, each.right}
            ),
        )


def run_readings(alternative: Alternative) -> Iterator[RunReading]:
    """One for each choice of what may be absent; the alternative itself where no match passes it over."""
    optional = [i for i in alternative.positive if not alternative.components[i].least]
    if not alternative.passes_over:
        optional = []
    for count in range(len(optional) + 1):
        for absent in combinations(optional, count):
            if count < len(alternative.positive):
                yield RunReading(alternative, absent)


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
    options = MatchOptions(approximate=PointChecks.approximate, max_matches=BINDINGS)
    told, every = LooseRuns(BINDINGS), list(in_worlds(plan, worlds))
    # What is given leaves some of them no world, which it is then charged with.
    events = worlds.stamped if plan.given else worlds.known
    asked = runs_asked(plan, reading.of, events, options, told)
    chosen = told.few(without_groups(reading.shown, rows))
    rules = list(_rules(plan, reading.of))
    tally = Tally(plan, PointChecks.untimely, dict(enumerate(rules)))
    if reading.of.takes_in_order:
        found = _listed(asked, reading.absent, told)
        losses = tuple(_losses(reading.of, told))
    else:
        listing = read_sets_listed(asked)
        batches, cut = completed(listing, chosen)
        told.sampled |= cut
        found = [each for bound in batches for each in read_sets_of_each_size(asked, listing, bound)]
        losses = losses_of_groups(listing, chosen)
    for run, bound in found:
        tally.add(PointChecks.of_runs([_in_world(run, *each) for each in every], bound, rules))
    return tally.report(len(chosen), losses, sampled=told.sampled)


def _listed(asked: RunsAsked, absent: tuple[int, ...], told: LooseRuns) -> list[Runs]:
    """Whole runs; of more than twice BINDINGS evenly spaced ones of each form."""
    found, step = list[tuple[RunAlternative, Indexes]](), 1
    try:
        for run in asked.without(absent):
            found.append((run, asked.whole(run)[::step]))
            while sum(len(rows) for _, rows in found) > 2 * BINDINGS:
                told.sampled, step = True, 2 * step
                found = [(each, rows[::2]) for each, rows in found]
    except QueryTooLargeError:
        told.sampled = True
    return [(run, dict(zip(run.search.singles, rows.T, strict=True))) for run, rows in found if len(rows)]


def _in_world(run: RunAlternative, plan: Plan, events: Events) -> RunAlternative:
    events = passing_by(events) if plan.strategy.asks_all else events
    return replace(run, plan=plan, events=events, sifted=False)


def _rules(plan: Plan, reading: Alternative) -> Iterator[Condition]:
    """All that must be absent, in the words of the query."""
    for i, component in enumerate(reading.components):
        if component.negated:
            yield negation_condition(reading, i)
        elif plan.strategy.absent is Absent.NEARER:
            yield nearest_condition(plan, reading, i)
    if plan.strategy.asks_all:
        yield Condition("absence", plan.strategy.word)


def _losses(reading: Alternative, told: LooseRuns) -> Iterator[Loss]:
    """What kept events from groups, beside what a single member tells of."""
    for link in reading.links:
        if _reads_several(reading, link):
            condition = Condition("group", expression_to_text(link.expression))
            yield Loss(condition, told.rejected.get(link, 0))
    for text, count in told.rejected.items():
        if isinstance(text, str):
            yield Loss(Condition("group", text), count)


def _reads_several(reading: Alternative, link: Link) -> bool:
    """Whether a predicate is judged by the members of a group together."""
    if reading.components[link.decides].negated:
        return False
    others = (i for i in link.components if i != link.decides)
    return link.scope is not Scope.EVENT or any(reading.components[i].kleene for i in others)
