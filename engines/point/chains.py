"""Chains over point events, with partial matches of one signature merged as they grow.

What a partial match may still become depends on the events it binds, its first tick (the window
counts from there) and its last.  So points are not combined one by one: a run is one choice of events
and first tick, and holds for every tick of its last event the mass of all combinations that end
there or earlier.  A step joins runs with points of the next component; the mass that a point at tick
t adds is its own times what the run holds before t.  Without a window the first tick decides nothing
but the range, and all of an event's points begin one run.

    name here      in ZDI10, section 4
    run            a partial match over point events; those of one prefix and first tick together
    held           cumulated probability of the combinations of a run, by the tick of the last event

The cost of a signature is the width of its first event times that of the others, not their product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.predicates import links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.point.combinations import EVER, PointJoin, PointSearch
from cepctl.engines.point.stream import batches
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import SMALLEST


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
