"""Plain any-match evaluation over the stream of point events: every combination of points.

Components are bound in the order of the pattern.  A step joins each partial match with the points
that fit the next component, come late enough, and stay inside the window.  What comes out is one row
for every choice of events *and ticks*; rows of one signature are collapsed later.

    name here          in ZDI10, section 4
    Combinations       matches over point events, before they are collapsed
    latest_next        NELT: the next event, wherever it is, is not later than this tick

Under skip_till_next_match a point after that tick is left out at once: some rival certainly
precedes it.  All other absences are judged on finished rows (cepctl.engines.point.absences).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import JoinKey, join_key
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.predicates import fitting_events, links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.point.stream import (
    ROWS_AT_ONCE,
    Budget,
    PointIndex,
    PointStream,
    point_index,
)
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Alternative, Link, Plan, Scope, Timing

EVER = np.iinfo(np.int64)
"""The first and the last tick there are."""


@dataclass(frozen=True)
class Combinations:
    """n rows of l points: `event` and `tick` of shape (n, l), columns as the positive components.

    `mass`, shape (n,): the probability that these events happen at these ticks.
    """

    event: Indexes
    tick: Ticks
    mass: Reals

    def __len__(self) -> int:
        return len(self.mass)

    def take(self, rows: Indexes | Flags) -> Combinations:
        """Some of the rows."""
        return Combinations(self.event[rows], self.tick[rows], self.mass[rows])


@dataclass(frozen=True)
class PointJoin:
    """What binding one more component needs to know."""

    component: int
    index: PointIndex
    key: JoinKey
    links: tuple[Link, ...]
    timings: tuple[Timing, ...]


@dataclass(frozen=True)
class PointSearch:
    """One alternative, prepared; `block_of` numbers the block of every positive component."""

    plan: Plan
    alternative: Alternative
    events: Events
    stream: PointStream
    candidates: tuple[Indexes, ...]
    steps: tuple[PointJoin, ...]
    block_of: tuple[int, ...]
    budget: Budget

    @property
    def starts(self) -> Indexes:
        """Points that a match can begin to be bound with, event by event."""
        return np.sort(self.steps[0].index.point)

    def combinations(self, starts: Indexes) -> Combinations | None:
        """All rows whose first component is bound to one of these points.

        None when they are too many to be held together; then there is more than one start.
        """
        rows = Combinations(
            self.stream.event[starts][:, None], self.stream.tick[starts][:, None], self.stream.mass[starts]
        )
        rows = self._kept(rows, self.steps[0])
        for step in self.steps[1:]:
            first, last = self._reach(rows)
            code = step.key.codes_of(rows.event, self.alternative.positive)
            begin, end = step.index.between(code, first, last)
            pairs = int((end - begin).sum())
            if pairs > ROWS_AT_ONCE and len(starts) > 1:
                return None
            self.budget.spend(pairs)
            row, within = places_in_runs(end - begin)
            rows = self._joined(rows, row, step.index.point[begin[row] + within], step)
        return rows

    def _reach(self, rows: Combinations) -> tuple[Ticks, Ticks]:
        """Ticks that the next component may have: after all earlier blocks, inside the window."""
        column = rows.tick.shape[1]
        earlier = [i for i in range(column) if self.block_of[i] < self.block_of[column]]
        first, last = np.full(len(rows), EVER.min), np.full(len(rows), EVER.max)
        if earlier:
            first = shifted(rows.tick[:, earlier].max(axis=1), 1)
        if self.plan.window is not None:
            first = np.maximum(first, shifted(rows.tick.max(axis=1), 1 - self.plan.window))
            last = shifted(rows.tick.min(axis=1), self.plan.window - 1)
        return first, last

    def _joined(self, rows: Combinations, row: Indexes, point: Indexes, step: PointJoin) -> Combinations:
        """Rows with one more point each: `row` and `point` are the pairs to try."""
        event = self.stream.event[point]
        fresh = (rows.event[row] != event[:, None]).all(axis=1)
        row, point, event = row[fresh], point[fresh], event[fresh]
        longer = Combinations(
            np.concatenate([rows.event[row], event[:, None]], axis=1),
            np.concatenate([rows.tick[row], self.stream.tick[point][:, None]], axis=1),
            rows.mass[row] * self.stream.mass[point],
        )
        held = self._links(longer, step)
        if self.plan.strategy.absent is Absent.NEARER:
            longer, row = longer.take(held), row[held]
            held = longer.tick[:, -1] <= self._latest_next(longer, row, len(rows))[row]
        return self._timed(longer.take(held), step)

    def _kept(self, rows: Combinations, step: PointJoin) -> Combinations:
        return self._timed(rows.take(self._links(rows, step)), step)

    def _links(self, rows: Combinations, step: PointJoin) -> Flags:
        bound = {i: rows.event[:, c] for c, i in enumerate(self.alternative.positive[: rows.event.shape[1]])}
        held = links_hold(self.events, self.alternative, step.links, bound)
        return np.ones(len(rows), dtype=bool) if held is None else held

    def _latest_next(self, longer: Combinations, row: Indexes, count: int) -> Ticks:
        """Per partial match the smallest upper bound of the events that certainly come after it."""
        masses, event = self.events.masses, longer.event[:, -1]
        certain = masses.lower[event] > longer.tick[:, -2]
        latest = np.full(count, EVER.max)
        np.minimum.at(latest, row[certain], masses.upper[event[certain]])
        return latest

    def _timed(self, rows: Combinations, step: PointJoin) -> Combinations:
        """Timing constraints whose sides are all bound by now."""
        held = np.ones(len(rows), dtype=bool)
        ticks = {i: rows.tick[:, c] for c, i in enumerate(self.alternative.positive[: rows.tick.shape[1]])}
        for timing in step.timings:
            held &= timing_holds(timing, ticks)
        return rows.take(held)


def timing_holds(timing: Timing, ticks: dict[int, Ticks]) -> Flags:
    """`t(left) - t(right) <= bound`, or `!=`, per row; `ticks` by component, None is the tick 0."""
    count = len(next(iter(ticks.values())))
    zero = np.zeros(count, dtype=np.int64)
    left = zero if timing.left is None else ticks[timing.left]
    right = shifted(zero if timing.right is None else ticks[timing.right], timing.bound)
    return np.asarray(left != right if timing.not_equal else left <= right)


def candidates_of(events: Events, alternative: Alternative) -> tuple[Indexes, ...]:
    """The events that fit each component alone."""
    return tuple(fitting_events(events, each) for each in alternative.components)


def point_search(
    plan: Plan,
    alternative: Alternative,
    events: Events,
    stream: PointStream,
    candidates: tuple[Indexes, ...],
    budget: Budget,
) -> PointSearch:
    """Prepare an alternative: an index of points, links and timings for each positive component."""
    positive = alternative.positive
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    steps = tuple(
        _step(plan, alternative, events, stream, candidates[component], positive[: place + 1])
        for place, component in enumerate(positive)
    )
    blocks = tuple(block_of[i] for i in positive)
    return PointSearch(plan, alternative, events, stream, candidates, steps, blocks, budget)


def _step(
    plan: Plan,
    alternative: Alternative,
    events: Events,
    stream: PointStream,
    candidates: Indexes,
    bound: Sequence[int],
) -> PointJoin:
    component = bound[-1]
    key = join_key(alternative, plan.partition_by, events, component, set(bound[:-1]), candidates)
    links = tuple(
        link for link in alternative.links if link.decides == component and link.scope is Scope.EVENT
    )
    timings = tuple(
        timing
        for timing in alternative.timings
        if component in (timing.left, timing.right) and {timing.left, timing.right} <= {*bound, None}
    )
    return PointJoin(component, point_index(stream, candidates, key.candidate_codes), key, links, timings)
