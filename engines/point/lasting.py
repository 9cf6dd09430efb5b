"""Interval events in the point engine: every choice of events, each with every start and end it may have.

An event is one point for each pair of a start and an end that its law allows; widths multiply, so that a
bound says when there are too many.  Components are bound in the order of the pattern; what order, window,
relations and absences ask is looked at pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import JoinKey, join_key
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.predicates import links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.point.absences import Forbidden, probability_of_absence
from cepctl.engines.point.stream import Budget, PointStream, batches, point_stream
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Alternative, Plan, Timing

MAX_PAIRS = 5_000_000
"""Pairs of a start and an end that the events may expand into."""


@dataclass(frozen=True)
class LastingPoints:
    """The points of a stream, whose ticks are starts; `end`, shape (p,), is where each ends."""

    points: PointStream
    end: Ticks

    @classmethod
    def of(cls, endpoints: Endpoints, wanted: Indexes) -> LastingPoints:
        """Expand some events (row numbers, ascending).

        Raises
        ------
        QueryTooLargeError
            If there would be more than MAX_PAIRS; names their number.
        """
        needed = np.unique(np.concatenate([wanted, endpoints.end[wanted]]))
        ticks = point_stream(endpoints.masses, needed)
        sizes = np.diff(ticks.starts)
        lasts = endpoints.end[wanted] != wanted
        counts = sizes[wanted] * np.where(lasts, sizes[endpoints.end[wanted]], 1)
        if counts.sum() > MAX_PAIRS:
            raise QueryTooLargeError(
                f"the events that can matter have {counts.sum():,} pairs of a start and an end, the point "
                f"engine takes at most {MAX_PAIRS:,}; use --engine event, fewer events or a coarser time unit"
            )
        row, within = places_in_runs(counts)
        event = wanted[row]
        ends = np.where(lasts, sizes[endpoints.end[wanted]], 1)[row]
        first = ticks.starts[event] + within // ends
        last = np.where(lasts[row], ticks.starts[endpoints.end[event]] + within % ends, first)
        start, end = ticks.tick[first], ticks.tick[last]
        length = end - start
        allowed = (length >= endpoints.shortest[event]) & (length <= endpoints.longest[event])
        mass = ticks.mass[first] * np.where(lasts[row], ticks.mass[last], 1.0)
        kept = np.flatnonzero(allowed)
        # An event that ends before its start has no pair.
        whole = np.bincount(event[kept], weights=mass[kept], minlength=len(endpoints))
        mass = mass[kept] / whole[event[kept]]
        starts = np.searchsorted(event[kept], np.arange(len(endpoints) + 1))
        return cls(PointStream(starts, start[kept], event[kept], mass), end[kept])


@dataclass(frozen=True)
class Bound:
    """n choices of the first c components: events, starts and ends, shape (n, c), and their probability."""

    event: Indexes
    start: Ticks
    end: Ticks
    mass: Reals

    def __len__(self) -> int:
        return len(self.mass)

    def take(self, rows: Flags | slice) -> Bound:
        return Bound(self.event[rows], self.start[rows], self.end[rows], self.mass[rows])

    def longer(self, pairs: LastingPoints, row: Indexes, point: Indexes) -> Bound:
        """Rows with one more component each, bound to a point."""
        found = pairs.points
        return Bound(
            np.column_stack([self.event[row], found.event[point]]),
            np.column_stack([self.start[row], found.tick[point]]),
            np.column_stack([self.end[row], pairs.end[point]]),
            self.mass[row] * found.mass[point],
        )


@dataclass(frozen=True)
class _PointJoin:
    """The points of a component by key: those of code c from offsets[c] to offsets[c + 1]."""

    key: JoinKey
    point: Indexes
    offsets: Indexes

    def of(self, codes: Indexes) -> tuple[Indexes, Indexes]:
        """Where the points of each row begin, and how many they are."""
        known = (codes >= 0) & (codes < len(self.offsets) - 1)
        at = np.where(known, codes, 0)
        begin, end = self.offsets[at], self.offsets[np.minimum(at + 1, len(self.offsets) - 1)]
        return begin, np.where(known, end - begin, 0)


@dataclass(frozen=True)
class LastingSearch:
    """One alternative over pairs: a join for each component, with the events that fit it."""

    plan: Plan
    alternative: Alternative
    events: Events
    pairs: LastingPoints
    candidates: tuple[Indexes, ...]
    budget: Budget

    def rows(self) -> Iterator[pl.DataFrame]:
        """Rows of matches: event_0 ..., `first`, `start`, `end`, `confidence`; several of one signature."""
        none = np.zeros((1, 0), dtype=np.int64)
        yield from self._extended(Bound(none, none, none, np.ones(1)))

    def _extended(self, bound: Bound) -> Iterator[pl.DataFrame]:
        positive, column = self.alternative.positive, bound.event.shape[1]
        if column == len(positive):
            yield self._finished(bound)
            return
        join = self._join(positive[column], set(positive[:column]))
        begin, counts = join.of(join.key.codes_of(bound.event, positive))
        for chosen in batches(counts):
            self.budget.spend(int(counts[chosen].sum()))
            row, within = places_in_runs(counts[chosen])
            longer = bound.take(chosen).longer(self.pairs, row, join.point[begin[chosen][row] + within])
            longer = self._held(longer)
            if len(longer):
                yield from self._extended(longer)

    def _join(self, component: int, bound: set[int]) -> _PointJoin:
        candidates = self.candidates[component]
        key = join_key(self.alternative, self.plan.partition_by, self.events, component, bound, candidates)
        usable = key.candidate_codes >= 0
        point, owner = self.pairs.points.points_of(candidates[usable])
        codes = key.candidate_codes[usable][owner]
        order = np.argsort(codes, kind="stable")
        most = int(codes.max(initial=-1)) + 1
        return _PointJoin(key, point[order], np.searchsorted(codes[order], np.arange(most + 1)))

    def _held(self, bound: Bound) -> Bound:
        """Those that hold what is asked of the last component and those before it."""
        new = bound.event.shape[1] - 1
        positive = self.alternative.positive[: new + 1]
        held = (bound.event[:, :new] != bound.event[:, new, None]).all(axis=1)
        for column, component in enumerate(positive[:new]):
            if self._block(component) < self._block(positive[new]):
                held &= bound.end[:, column] < bound.start[:, new]
        if self.plan.window is not None:
            held &= bound.end.max(axis=1) - bound.start.min(axis=1) < self.plan.window
        known = self._places(bound)
        bound, known = bound.take(held), {i: (s[held], e[held]) for i, (s, e) in known.items()}
        held = np.ones(len(bound), dtype=bool)
        for each in self.alternative.timings:
            if _speaks_of([each], positive[new], positive):
                held &= _timed(each, known, len(bound))
        for cases in self.alternative.choices:
            if _speaks_of([each for case in cases for each in case], positive[new], positive):
                held &= _some_case(cases, known, len(bound))
        links = [each for each in self.alternative.links if each.decides == positive[new]]
        fits = links_hold(
            self.events, self.alternative, links, dict(zip(positive, bound.event.T, strict=True))
        )
        return bound.take(held if fits is None else held & fits)

    def _block(self, component: int) -> int:
        return next(n for n, block in enumerate(self.alternative.blocks) if component in block)

    def _places(self, bound: Bound) -> dict[int, tuple[Ticks, Ticks]]:
        positive = self.alternative.positive[: bound.event.shape[1]]
        return {i: (bound.start[:, c], bound.end[:, c]) for c, i in enumerate(positive)}

    def _finished(self, bound: Bound) -> pl.DataFrame:
        pairs = [
            self._forbidden(bound, i) for i, each in enumerate(self.alternative.components) if each.negated
        ]
        nothing = np.zeros(0, dtype=np.int64)
        together = Forbidden(
            np.concatenate([nothing, *(each.row for each in pairs)]),
            np.concatenate([nothing, *(each.point for each in pairs)]),
        )
        absent = probability_of_absence(self.pairs.points, together, len(bound))
        frame = pl.DataFrame(
            {
                **{f"event_{column}": bound.event[:, column] for column in range(bound.event.shape[1])},
                "first": bound.start[:, 0],
                "start": bound.start.min(axis=1),
                "end": bound.end.max(axis=1),
                "confidence": bound.mass * absent,
            }
        )
        return frame.filter(pl.Series(absent > 0))

    def _forbidden(self, bound: Bound, absent: int) -> Forbidden:
        """The pairs that break rows by one negated component."""
        positive = self.alternative.positive
        join = self._join(absent, set(positive))
        begin, counts = join.of(join.key.codes_of(bound.event, positive))
        self.budget.spend(int(counts.sum()))
        row, within = places_in_runs(counts)
        point = join.point[begin[row] + within]
        event, start, end = (
            self.pairs.points.event[point],
            self.pairs.points.tick[point],
            self.pairs.end[point],
        )
        breaks = (bound.event[row] != event[:, None]).all(axis=1)
        if absent not in self.alternative.absent_anywhere:
            breaks &= self._in_gap(bound, absent, row, start, end)
        known = {i: (s[row], e[row]) for i, (s, e) in self._places(bound).items()} | {absent: (start, end)}
        for each in self.alternative.timings:
            if absent in (each.left, each.right):
                breaks &= _timed(each, known, len(row))
        for cases in self.alternative.choices:
            if any(absent in (each.left, each.right) for case in cases for each in case):
                breaks &= _some_case(cases, known, len(row))
        links = [each for each in self.alternative.links if each.decides == absent]
        chosen = {i: bound.event[row, c] for c, i in enumerate(positive)} | {absent: event}
        fits = links_hold(self.events, self.alternative, links, chosen)
        breaks = breaks if fits is None else breaks & fits
        return Forbidden(row[breaks], point[breaks])

    def _in_gap(self, bound: Bound, absent: int, row: Indexes, start: Ticks, end: Ticks) -> Flags:
        """Whether it lies strictly between its neighbours, or as far from the match as the window reaches."""
        place, window = self._block(absent), self.plan.window
        columns = list(enumerate(self.alternative.positive))
        before = [c for c, i in columns if self._block(i) < place]
        after = [c for c, i in columns if self._block(i) > place]
        inside = np.ones(len(row), dtype=bool)
        if before:
            inside &= start > bound.end[row][:, before].max(axis=1)
        elif window is not None:
            inside &= start > bound.end[row].max(axis=1) - window
        if after:
            inside &= end < bound.start[row][:, after].min(axis=1)
        elif window is not None:
            inside &= end < bound.start[row].min(axis=1) + window
        return inside


def _speaks_of(timings: Sequence[Timing], new: int, known: Sequence[int]) -> bool:
    """Whether a condition names the last component, and none that is not bound."""
    sides = {side for each in timings for side in (each.left, each.right) if side is not None}
    return sides <= set(known) and (new in sides or not sides)


def _timed(timing: Timing, known: dict[int, tuple[Ticks, Ticks]], count: int) -> Flags:
    left = _tick(timing.left, known, count, end=timing.left_end)
    right = shifted(_tick(timing.right, known, count, end=timing.right_end), timing.bound)
    return np.asarray(left != right if timing.not_equal else left <= right)


def _tick(component: int | None, known: dict[int, tuple[Ticks, Ticks]], count: int, *, end: bool) -> Ticks:
    return np.zeros(count, dtype=np.int64) if component is None else known[component][end]


def _some_case(cases: Iterable[Sequence[Timing]], known: dict[int, tuple[Ticks, Ticks]], count: int) -> Flags:
    found = np.zeros(count, dtype=bool)
    for case in cases:
        held = np.ones(count, dtype=bool)
        for each in case:
            held &= _timed(each, known, count)
        found |= held
    return found
