"""Why a query matches so little: how far partial matches got, what stopped them, and what came nearest.

    part        module                 answers
    fitting     partial_matches        which events fit each component, and what its predicates left out
    steps       partial_matches        how many partial matches each join makes, and what stops the others
    excluded    leave_one_out          what each condition alone rules out, with the nearest miss
    completion  complete_bindings      what groups, GIVEN, absences and CONFIDENCE do to complete bindings,
                complete_runs          the same where they take one event after the other

Conditions are dropped over the whole pattern; where that lets nothing through either, over the components
up to the first step that leaves nothing.

Runs in the process that prints the answer: imports NumPy, Numba, Polars and PyArrow only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.diagnosis.binding_checks import Checks, IntervalChecks, PointChecks, Signature
from cepctl.engines.diagnosis.complete_bindings import CompletionReport, complete_bindings
from cepctl.engines.diagnosis.complete_runs import RunReading, complete_runs, run_readings
from cepctl.engines.diagnosis.conditions import Conditions
from cepctl.engines.diagnosis.interval_conditions import IntervalConditions
from cepctl.engines.diagnosis.leave_one_out import Excluded, excluded_only_by
from cepctl.engines.diagnosis.partial_matches import (
    PAIRS,
    Fitting,
    JoinIndexes,
    JoinReport,
    fitting_counts,
    follow,
)
from cepctl.engines.diagnosis.worlds_left import WorldsLeft
from cepctl.engines.event.own_laws import with_own_laws
from cepctl.engines.rows.order import match_text
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Alternative, Plan


@dataclass(frozen=True)
class AlternativeExplained:
    """One alternative: its fitting events, its steps, what single conditions rule out, the end.

    What may be absent is negated where it is absent.  `length`: how many components the excluded partial
    matches bind.  `completion` is None where no binding was completed.
    """

    alternative: Alternative
    fitting: tuple[Fitting, ...]
    steps: tuple[JoinReport, ...]
    length: int
    excluded: tuple[Excluded, ...]
    completion: CompletionReport | None

    @property
    def sampled(self) -> bool:
        """Whether some partial matches were left unfollowed."""
        followed = any(step.followed < step.partial for step in self.steps)
        return followed or (self.completion is not None and self.completion.sampled)


@dataclass(frozen=True)
class WhyNot:
    """The answer for every alternative; events are row numbers of `events`."""

    plan: Plan
    events: Events
    alternatives: tuple[AlternativeExplained, ...]

    def text(self, signature: Signature) -> str:
        """Events of a partial or complete match as the column `match` has them."""
        ids = [[self.events.ids[row] for row in component] for component in signature]
        shown: str = match_text(pa.array([ids], pa.list_(pa.list_(pa.string()))))[0].as_py()
        return shown


def why_not(plan: Plan, table: pa.Table, *, limit: int = PAIRS) -> WhyNot:
    """Explain what becomes of the partial matches of a plan.

    `table`: the events it runs on, with event_id, event_type, lower, upper, pmf and the plan's attributes.
    `limit`: how many pairs a join lists at most.  Beyond it evenly spaced partial matches are followed, and
    counts after that are of these.

    Raises
    ------
    EventSchemaError
        If an interval or pmf is wrong.
    QueryTooLargeError
        If the range of a complete binding is too much work to find.
    ContradictionError
        If no world satisfies what is given.
    UnsupportedQueryError
        If the event engine does not run what takes one event after the other.
    """
    events = with_own_laws(events_of(table, plan.clocks))
    worlds = WorldsLeft(plan, events)
    every = [reading for each in readings_apart(plan) for reading in run_readings(each)]
    return WhyNot(plan, events, tuple(_explained(plan, each, worlds, limit) for each in every))


def _explained(plan: Plan, reading: RunReading, worlds: WorldsLeft, limit: int) -> AlternativeExplained:
    events, alternative = worlds.stamped, reading.shown
    fitting = [fitting_events(events, each) for each in alternative.components]
    lasting = alternative.reads_ends or events.last(fitting) or worlds.ends_tied
    if lasting:
        conditions: Conditions = IntervalConditions.of_endpoints(plan, alternative, events)
        indexes = JoinIndexes(replace(events, masses=events.hulls))
        kind: type[Checks] = IntervalChecks
    else:
        conditions, indexes = Conditions.of(plan, alternative, events), JoinIndexes(events)
        kind = PointChecks
    followed = follow(conditions, indexes, limit=limit)
    complete = len(followed.steps) == len(conditions.columns) and len(followed.rows) > 0
    completion = None
    if complete and reading.of.in_runs(plan.strategy):
        completion = complete_runs(plan, reading, worlds, followed.rows)
    elif complete:
        completion = complete_bindings(plan, alternative, worlds, followed.rows, kind)
    length = len(conditions.columns)
    excluded = excluded_only_by(conditions, indexes, length, limit)
    if not excluded and not complete:
        length = len(followed.steps)
        excluded = excluded_only_by(conditions, indexes, length, limit)
    return AlternativeExplained(
        alternative, fitting_counts(conditions, events), followed.steps, length, tuple(excluded), completion
    )
