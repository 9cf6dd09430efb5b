"""Plain any-match evaluation over the stream of point events: every combination of points, or merged chains.

Components are bound in the order of the pattern.  A step joins each partial match with the points that fit
the next component, come late enough, and stay inside the window.  What comes out is one row for every choice
of events *and ticks*; rows of one signature are collapsed later.

Under skip_till_next_match a point after the latest next event (NELT) is left out at once: some rival
certainly precedes it.  All other absences are judged on finished rows (cepctl.engines.point.absences).

Of a plain chain partial matches of one signature are merged as they grow.  What one may still become depends
on the events it binds, its first tick (the window counts from there) and its last.  So points are not
combined one by one: a run is one choice of events and first tick, and holds for every tick of its last event
the mass of all combinations that end there or earlier.  A step joins runs with points of the next component;
the mass that a point at tick t adds is its own times what the run holds before t.  Without a window the first
tick decides nothing but the range, and all of an event's points begin one run.  The cost of a signature is
the width of its first event times that of the others, not their product.

    name here          in ZDI10, section 4
    Combinations       matches over point events, before they are collapsed
    latest_next        NELT: the next event, wherever it is, is not later than this tick
    run                a partial match over point events; those of one prefix and first tick together
    held               cumulated probability of the combinations of a run, by the tick of the last event
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import JoinKey, join_key
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.predicates import fitting_events, links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.point.stream import ROWS_AT_ONCE, Budget, PointIndex, PointStream, batches, point_index
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import SMALLEST
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


@dataclass(frozen=True)
class PointRuns:
    """r runs: the events of run i are event[i], shape (r, j), its first tick is start[i].

    It owns tick[offsets[i]:offsets[i + 1]], ascending, and what it holds up to each of them.
    """

    event: Indexes
    start: Ticks
    offsets: Indexes
    tick: Ticks
    held: Reals

    def take(self, chosen: slice) -> PointRuns:
        """Consecutive runs."""
        low, high = self.offsets[chosen.start], self.offsets[chosen.stop]
        return PointRuns(
            self.event[chosen],
            self.start[chosen],
            self.offsets[chosen.start : chosen.stop + 1] - low,
            self.tick[low:high],
            self.held[low:high],
        )


def is_plain_chain(search: PointSearch) -> bool:
    """Whether order and window are all that ties the ticks of a match."""
    alternative = search.alternative
    return not alternative.timings and all(
        len(block) == 1 and not alternative.components[block[0]].negated for block in alternative.blocks
    )


def chain_matches(search: PointSearch) -> Iterator[pl.DataFrame]:
    """Matches of a plain chain under any match: event_0 ..., `first`, `start`, `end`, `confidence`.

    A signature may stand in several rows, of different first ticks.
    """
    yield from _extended(search, _first_runs(search), 1)


def _first_runs(search: PointSearch) -> PointRuns:
    stream, point = search.stream, search.starts
    bound = _bound(search, stream.event[point][:, None])
    held = links_hold(search.events, search.alternative, search.steps[0].links, bound)
    point = point if held is None else point[held]
    event, tick = stream.event[point], stream.tick[point]
    begin = np.arange(len(point))
    if search.plan.window is None:
        begin = np.flatnonzero(np.concatenate([[True], event[1:] != event[:-1]]))[: len(point)]
    return _runs(event[begin][:, None], tick[begin], begin, tick, stream.mass[point])


def _runs(event: Indexes, start: Ticks, begin: Indexes, tick: Ticks, mass: Reals) -> PointRuns:
    """Runs from their first rows; `mass` is that of the combinations ending at each tick."""
    offsets = np.concatenate([begin, [len(tick)]]).astype(np.int64)
    frame = pl.DataFrame({"run": np.repeat(np.arange(len(begin)), np.diff(offsets)), "mass": mass})
    held = frame.select(pl.col("mass").cum_sum().over("run")).to_series().to_numpy()
    return PointRuns(event, start, offsets, tick, held)


def _extended(search: PointSearch, runs: PointRuns, column: int) -> Iterator[pl.DataFrame]:
    """Runs with all components bound, batch by batch, depth first."""
    if not len(runs.start):
        return
    if column == len(search.steps):
        yield _rows(runs)
        return
    step = search.steps[column]
    last = np.full(len(runs.start), EVER.max)
    if search.plan.window is not None:
        last = shifted(runs.start, search.plan.window - 1)
    code = step.key.codes_of(runs.event, search.alternative.positive)
    begin, end = step.index.between(code, shifted(runs.tick[runs.offsets[:-1]], 1), last)
    for chosen in batches(end - begin):
        search.budget.spend(int((end[chosen] - begin[chosen]).sum()))
        longer = _joined(search, runs.take(chosen), step, begin[chosen], end[chosen])
        yield from _extended(search, longer, column + 1)


def _joined(search: PointSearch, runs: PointRuns, step: PointJoin, begin: Indexes, end: Indexes) -> PointRuns:
    """The runs that follow when each is joined with its points of the next component."""
    run, within = places_in_runs(end - begin)
    point = step.index.point[begin[run] + within]
    event = search.stream.event[point]
    # Whether an event fits depends on events alone: asked once for all ticks of a pair.
    order = np.lexsort((search.stream.tick[point], event, run))
    run, point, event = run[order], point[order], event[order]
    first = _changes(run, event)
    pair = np.cumsum(first) - 1
    held = _fits(search, runs, step, run[first], event[first])[pair]
    run, point, event, first = run[held], point[held], event[held], first[held]
    tick = search.stream.tick[point]
    mass = search.stream.mass[point] * _held_before(runs, run, tick)
    at = np.flatnonzero(first)
    prefix = np.concatenate([runs.event[run[at]], event[at][:, None]], axis=1)
    return _runs(prefix, runs.start[run[at]], at, tick, mass)


def _changes(*columns: Indexes) -> Flags:
    """Which rows differ from the row before."""
    changed = np.ones(len(columns[0]), dtype=bool)
    if len(changed):
        changed[1:] = np.any([each[1:] != each[:-1] for each in columns], axis=0)
    return changed


def _fits(search: PointSearch, runs: PointRuns, step: PointJoin, run: Indexes, event: Indexes) -> Flags:
    """Whether an event can follow a run: not bound in it, and all links hold."""
    fresh = (runs.event[run] != event[:, None]).all(axis=1)
    longer = np.concatenate([runs.event[run], event[:, None]], axis=1)
    held = links_hold(search.events, search.alternative, step.links, _bound(search, longer))
    return fresh if held is None else np.asarray(fresh & held)


def _bound(search: PointSearch, event: Indexes) -> dict[int, Indexes]:
    return {i: event[:, c] for c, i in enumerate(search.alternative.positive[: event.shape[1]])}


def _held_before(runs: PointRuns, run: Indexes, tick: Ticks) -> Reals:
    """What a run holds before a tick; every such tick is after the run's first."""
    ticks = np.unique(runs.tick)
    owner = np.repeat(np.arange(len(runs.start)), np.diff(runs.offsets))
    rank = owner * (len(ticks) + 1) + np.searchsorted(ticks, runs.tick)
    at = np.searchsorted(rank, run * (len(ticks) + 1) + np.searchsorted(ticks, tick))
    return np.asarray(runs.held[at - 1])


def _rows(runs: PointRuns) -> pl.DataFrame:
    """The last tick that a run holds is its latest, and there it holds everything."""
    final = runs.offsets[1:] - 1
    return pl.DataFrame(
        {
            **{f"event_{column}": runs.event[:, column] for column in range(runs.event.shape[1])},
            "first": runs.start,
            "start": runs.start,
            "end": runs.tick[final],
            "confidence": np.maximum(runs.held[final], SMALLEST),
        }
    )
