"""Why a query matches so little: how far partial matches got, what stopped them, and what came nearest.

    part        module                 answers
    fitting     partial_matches        which events fit each component, and what its predicates left out
    steps       partial_matches        how many partial matches each join makes, and what stops the others
    excluded    this file              what each condition alone rules out, with the nearest miss
    completion  complete_bindings      what groups, GIVEN, absences and CONFIDENCE do to complete bindings,
                                       also where they take one event after the other

Each condition is dropped in turn.  The partial matches that appear are those it alone rules out, and the
one of them that misses it by the least is the nearest miss.

    condition           by how much a partial match misses it
    window, order,      how many ticks more the demand would have to allow
    timing
    a comparison        the difference of its two sides, where they are numbers
    any other           no amount; the first one found is shown

Conditions are dropped over the whole pattern; where that lets nothing through either, over the components
up to the first step that leaves nothing.  Where there are too many partial matches to look at all,
constraints on times are widened step by step, and events are tried by their distance from the bound, so that
near misses are found before the limit is reached.

Runs in the process that prints the answer: imports NumPy, Numba, Polars and PyArrow only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.columns.joins import partition_codes
from cepctl.engines.columns.predicates import (
    LeafColumns,
    column_name,
    component_of,
    fitting_events,
    links_hold,
)
from cepctl.engines.diagnosis.binding_checks import Checks, IntervalChecks, PointChecks, Signature
from cepctl.engines.diagnosis.complete_bindings import (
    CompletionReport,
    RunReading,
    complete_bindings,
    complete_runs,
    run_readings,
)
from cepctl.engines.diagnosis.conditions import (
    Condition,
    Conditions,
    TimeDemand,
    filter_condition,
    key_condition,
    link_condition,
)
from cepctl.engines.diagnosis.interval_conditions import IntervalConditions, nearest_miss
from cepctl.engines.diagnosis.partial_matches import (
    PAIRS,
    Fitting,
    Followed,
    JoinIndexes,
    JoinReport,
    fitting_counts,
    follow,
)
from cepctl.engines.diagnosis.worlds_left import WorldsLeft
from cepctl.engines.event.own_laws import with_own_laws
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.offset_bounds import least_apart
from cepctl.engines.rows.order import match_text
from cepctl.engines.search.search import links_decided
from cepctl.language.ast import COMPARISONS, Attribute, Binary, EventTime, Expression
from cepctl.language.printer import expression_to_text
from cepctl.language.traversal import walk
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Alternative, Link, Plan
from cepctl.plan.polars_expressions import compile_expression

_FIRST_EVENTS = 1 << 12
_FASTER = 8
"""By how much each try is wider than the one before."""


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


@dataclass(frozen=True)
class Miss:
    """A partial match that one condition alone rules out.

    `events`: row numbers, one per bound component.  `excess`: by how much it misses, in ticks where
    `in_ticks`; None where that is not a number.  `values`: what the condition read.
    """

    events: tuple[int, ...]
    excess: float | None = None
    in_ticks: bool = False
    values: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Excluded:
    """What one condition alone rules out: `count` partial matches, more where `at_least`; the nearest one."""

    condition: Condition
    count: int
    at_least: bool
    nearest: Miss


def excluded_only_by(
    conditions: Conditions, indexes: JoinIndexes, length: int, limit: int = PAIRS
) -> list[Excluded]:
    """What each condition on the first `length` components alone rules out; the largest count first."""
    variants = _LeaveOneOut(conditions, indexes, length, limit)
    found = [each for each in variants.every() if each is not None]
    return sorted(found, key=lambda each: -each.count)


@dataclass(frozen=True)
class _LeaveOneOut:
    conditions: Conditions
    indexes: JoinIndexes
    length: int
    limit: int

    @property
    def events(self) -> Events:
        return self.indexes.events

    def every(self) -> Iterator[Excluded | None]:
        conditions, columns = self.conditions, self.conditions.columns[: self.length]
        for component in columns:
            for expression in conditions.alternative.components[component].filters:
                yield self._filter(component, expression)
        if self.length > 1:
            for name in conditions.partition_by:
                yield self._key(name)
        for column in range(1, self.length):
            for link in links_decided(conditions.search, column, range(column)):
                rest = conditions.without_link(link)
                broken = partial(self._breaks, link)
                yield self._relation(link_condition(link), rest, link.expression, broken)
        for each in conditions.differences:
            bound = any(max(i, j) < self.length for i, j, _ in each.edges)
            if each.loosened and bound and self.length > 1:
                yield self._times(each)

    def _follow(self, conditions: Conditions) -> Followed:
        followed = follow(conditions, self.indexes, self.length, self.limit)
        return followed if len(followed.steps) == self.length else Followed(followed.steps, followed.rows[:0])

    # --- one kind of condition each -------------------------------------------------------

    def _filter(self, component: int, expression: Expression) -> Excluded | None:
        """Events that fail this predicate alone, by their distance from its bound."""
        alternative = self.conditions.alternative
        own = alternative.components[component]
        rest = tuple(each for each in own.filters if each is not expression)
        loose = fitting_events(self.events, replace(own, filters=rest))
        failing = np.setdiff1d(loose, fitting_events(self.events, replace(own, filters=(expression,))))
        distance = distances(self.events, alternative, expression, {component: failing})
        if distance is not None:
            order = np.argsort(distance, kind="stable")
            failing, distance = failing[order], distance[order]
        column = self.conditions.columns.index(component)
        count, at_least, nearest = 0, False, None
        start, size = 0, _FIRST_EVENTS
        while start < len(failing) and count < self.limit:
            chunk = np.sort(failing[start : start + size])
            followed = self._follow(self.conditions.without_filter(component, chunk))
            count, at_least = count + len(followed.rows), at_least or followed.sampled
            if nearest is None and len(followed.rows):
                event = followed.rows[:, column]
                missed = distances(self.events, alternative, expression, {component: event})
                nearest = self._miss(followed.rows, expression, missed)
            start, size = start + size, size * _FASTER
        if nearest is None:
            return None
        return Excluded(filter_condition(expression), count, at_least or start < len(failing), nearest)

    def _key(self, name: str) -> Excluded | None:
        codes = partition_codes((name,), self.events)

        def differ(rows: Indexes) -> Flags:
            bound = codes[rows[:, : self.length]]
            return np.asarray(((bound != bound[:, :1]) | (bound < 0)).any(axis=1))

        variables = [self.conditions.alternative.components[i].variable for i in self._bound()]
        reads = [Attribute(variable, name) for variable in variables]
        return self._relation(key_condition(name), self.conditions.without_key(name), None, differ, reads)

    def _relation(
        self,
        condition: Condition,
        loose: Conditions,
        expression: Expression | None,
        broken: Callable[[Indexes], Flags],
        reads: list[Attribute] | None = None,
    ) -> Excluded | None:
        """Partial matches that break a predicate between components."""
        followed = self._follow(loose)
        rows = followed.rows[broken(followed.rows)] if len(followed.rows) else followed.rows
        if not len(rows):
            return None
        alternative, missed = self.conditions.alternative, None
        if expression is not None:
            missed = distances(self.events, alternative, expression, self._columns(rows))
        return Excluded(condition, len(rows), followed.sampled, self._miss(rows, expression, missed, reads))

    def _times(self, demand: TimeDemand) -> Excluded | None:
        """Partial matches that need more ticks than a demand on times allows."""
        loose = self.conditions.with_differences(demand, None)
        followed = self._follow(loose)
        if isinstance(self.conditions, IntervalConditions):
            bound = followed.rows[:, : self.length]
            missed = nearest_miss(self.conditions, demand, bound)
            if missed is None:
                return None
            count, row, ticks = missed
            near = Miss(tuple(map(int, bound[row])), ticks, in_ticks=True)
            return Excluded(demand.condition, count, followed.sampled, near)
        missing = self._ticks_missing(loose, demand, followed.rows)
        rows, missing = followed.rows[missing > 0], missing[missing > 0]
        count = len(rows)
        ticks = 1
        while followed.sampled and ticks < UNBOUNDED:
            nearer = self._follow(self.conditions.with_differences(demand, demand.wider(ticks))).rows
            needed = self._ticks_missing(loose, demand, nearer)
            if (needed > 0).any():
                rows, missing = nearer[needed > 0], needed[needed > 0]
                break
            ticks *= _FASTER
        if not len(rows):
            return None
        at = int(np.argmin(missing))
        nearest = Miss(tuple(int(e) for e in rows[at, : self.length]), int(missing[at]), in_ticks=True)
        return Excluded(demand.condition, max(count, len(rows)), followed.sampled, nearest)

    def _ticks_missing(self, loose: Conditions, demand: TimeDemand, rows: Indexes) -> Ticks:
        """How many ticks more the demand would have to allow, at most 0 where it holds; shape (n,)."""
        chosen = np.ix_(range(self.length), range(self.length))
        system, bound = loose.system[chosen], rows[:, : self.length]
        edges = [(i, j, limit) for i, j, limit in demand.edges if max(i, j) < self.length]
        each = [least_apart(self.events.stamps, system, bound, i, j) - limit for i, j, limit in edges]
        return np.max(each, axis=0, initial=-UNBOUNDED) if each else np.full(len(rows), -UNBOUNDED)

    def _breaks(self, link: Link, rows: Indexes) -> Flags:
        held = links_hold(self.events, self.conditions.alternative, [link], self._columns(rows))
        assert held is not None
        return ~held

    # --- the nearest ----------------------------------------------------------------------

    def _bound(self) -> tuple[int, ...]:
        return self.conditions.columns[: self.length]

    def _columns(self, rows: Indexes) -> dict[int, Indexes]:
        return {component: rows[:, at] for at, component in enumerate(self._bound())}

    def _miss(
        self,
        rows: Indexes,
        expression: Expression | None,
        missed: Reals | None,
        reads: list[Attribute] | None = None,
    ) -> Miss:
        at = 0 if missed is None else int(np.argmin(missed))
        excess = None if missed is None or not np.isfinite(missed[at]) else float(missed[at])
        leaves = [] if expression is None else [
            each for each in walk(expression) if isinstance(each, Attribute | EventTime)
        ]  # fmt: skip
        values: dict[str, object] = {}
        for leaf in [*leaves, *(reads or [])]:
            component = component_of(self.conditions.alternative, leaf.variable)
            assert component is not None
            event = int(rows[at, self.conditions.columns.index(component)])
            values[expression_to_text(leaf)] = self.events.frame.get_column(column_name(leaf))[event]
        return Miss(tuple(int(e) for e in rows[at, : self.length]), excess, values=tuple(values.items()))


def distances(
    events: Events, alternative: Alternative, expression: Expression, bound: Mapping[int, Indexes]
) -> Reals | None:
    """Difference of the two sides of a comparison per row, infinite where one is null.

    None for what is not a comparison of numbers.
    """
    if not isinstance(expression, Binary) or expression.operator not in COMPARISONS:
        return None
    columns = LeafColumns(events, alternative, bound)
    sides = [compile_expression(each, columns.column) for each in (expression.left, expression.right)]
    frame = columns.frame
    left, right = (frame.select(side.alias("side")).get_column("side") for side in sides)
    if not (left.dtype.is_numeric() and right.dtype.is_numeric()):
        return None
    apart = frame.select((sides[0].cast(pl.Float64) - sides[1].cast(pl.Float64)).abs().alias("apart"))
    found: Reals = apart.get_column("apart").fill_null(np.inf).fill_nan(np.inf).to_numpy()
    return found
