"""What becomes of complete runs: bindings that take one event after the other, each by what was taken before.

Runs grow as a match grows them, and what keeps events from a group is counted.  Others are listed loosely: a
component that binds one event may bind each that fits, a group takes what comes next.  All are checked as
other complete bindings are, so that an event which is passed over, though some component would have taken
it, is named.

    reading   Q with B? b, next match     shown                   runs of sizes
    1         SEQ(A a, B? b, C c)         SEQ(A a, B b, C c)      b 1
    2         SEQ(A a, B? b, C c)         SEQ(A a, !B b, C c)     b 0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import distinct_rows
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
from cepctl.engines.diagnosis.worlds_left import WorldsLeft, in_world
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import read_sets_listed, runs_asked
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_search import RunTally
from cepctl.engines.event.runs_prepared import RunsAsked, read_sets_of_each_size
from cepctl.errors import QueryTooLargeError
from cepctl.language.printer import expression_to_text
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Indexes
from cepctl.plan.passed_over import negated
from cepctl.plan.plan import Alternative, Link, Plan, Scope
from cepctl.plan.support import refuse_intervals, require_engine

PAIRS = 1 << 17
"""Pairs of a run and an event that a step looks at to tell which runs some event breaks in every world."""
_OPTIONS = MatchOptions(approximate=PointChecks.approximate, max_matches=BINDINGS)


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
    chosen = without_groups(reading.shown, rows)
    chosen = chosen[:: max(1, -(-len(chosen) // BINDINGS))]
    asked = runs_asked(plan, reading.of, events, _OPTIONS)
    if asked.of_intervals:
        refuse_intervals("--why-not of groups in order")
    if asked.lists_sets:
        found = _listed_read_sets(asked, chosen)
    else:
        found = listed_runs(plan, reading, events, chosen)
    rules, every = list(_rules(plan, reading.of)), list(in_worlds(plan, worlds))
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
    batches, cut = completed(listing, rows)
    found = [each for bound in batches for each in read_sets_of_each_size(asked, listing, bound)]
    return Listed(found, losses_of_groups(listing, rows), cut)


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
