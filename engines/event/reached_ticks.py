"""`reached(c)`: by which tick the worlds that return a row and have decided it are as probable as c.

A world decides a row with the last tick that it binds, or as the window after its first one ends.  How
probable the worlds are that have decided it by a tick is the confidence of the same row with its own events
cut there (from the other side for a first tick) and its rivals as they are; it rises with the tick, so the
smallest one is found by halving.  Where several parts of an OR bind the same events, a world decides the row
as the first of them does: inclusion and exclusion, or a union of problems, as for its confidence.

When the sampled worlds that return a row have decided it, where its confidence is an estimate.

The worlds are those that the confidence comes from: a match draws the same ones each time it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import Bindings, MatchBatch, TickSpans
from cepctl.engines.columns.tick_sums import FIRST, shifted
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.event.group_occurrences import GroupedRows, WantedGroups
from cepctl.engines.event.joint_matches import JointMatches, bound_by
from cepctl.engines.event.run_alternative import one_by_one
from cepctl.engines.event.union import falls_into_parts, union_of_rows
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.schema import LATEST_TICK

if TYPE_CHECKING:
    from cepctl.engines.event.alternative import PreparedAlternative


ROWS_AT_ONCE = 4096


def reached_ticks(source: PreparedAlternative, matches: MatchBatch, share: float) -> pl.Series:
    """The tick for each match, null where no tick is enough.

    Raises
    ------
    QueryTooLargeError
        If a match needs more work than is allowed.
    """
    ticks = np.zeros(len(matches), dtype=np.int64)
    known = matches.confidence >= share - CONFIDENCE_SLACK
    for sampled in (False, True):
        rows = np.flatnonzero(known & ((matches.errors > 0) == sampled))
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            chosen = rows[begin : begin + ROWS_AT_ONCE]
            decisions = _Decisions(source, matches.take(chosen), sampled)
            ticks[chosen] = decisions.reaching(share - CONFIDENCE_SLACK)
    return pl.DataFrame({"tick": ticks, "known": known}).select(
        pl.when("known").then("tick").otherwise(None)
    )["tick"]


@dataclass(frozen=True)
class _Decisions:
    """When the worlds that return some matches decide them; `sampled`: all worlds, or those of estimates."""

    source: PreparedAlternative
    matches: MatchBatch
    sampled: bool

    def reaching(self, least: float) -> Ticks:
        """The smallest tick of each match by which it is decided with the probability `least`."""
        first, last = self._ends()
        open_rows = np.flatnonzero(first < last)
        while len(open_rows):
            low, high = first[open_rows], last[open_rows]
            middle = (low & high) + ((low ^ high) >> 1)
            enough = self._decided(open_rows, middle) >= least
            last[open_rows] = np.where(enough, middle, high)
            first[open_rows] = np.where(enough, low, middle + 1)
            open_rows = np.flatnonzero(first < last)
        return first

    def _ends(self) -> tuple[Ticks, Ticks]:
        """The first and the last tick at which a world can decide each match."""
        by_window = [each.decided_by_window for each in self._sources]
        first = _window_ends(self.source, self.matches.start) if all(by_window) else self.matches.start
        last = _window_ends(self.source, self.matches.end) if any(by_window) else self.matches.end
        return first.copy(), last.copy()

    def _decided(self, rows: Indexes, tick: Ticks) -> Reals:
        """P(a world returns the row, and has decided it by a tick)."""
        if self.sampled:
            return self._problems.sampled(rows, tick)
        if self.source.others and falls_into_parts(self._sources):
            return self._problems.united(rows, tick)
        found = np.zeros(len(rows))
        for sign, each in self._parts:
            found += sign * each.decided(rows, tick)
        return found

    @cached_property
    def _problems(self) -> DecidedProblems:
        return DecidedProblems(self._sources, self.matches)

    @cached_property
    def _parts(self) -> list[tuple[int, _Together]]:
        return list(self._each_part())

    def _each_part(self) -> Iterator[tuple[int, _Together]]:
        for size in range(1, len(self._sources) + 1):
            for chosen in combinations(self._sources, size):
                joint = JointMatches.of(chosen, self.matches)
                yield -((-1) ** size), _Together(chosen, joint, len(self.matches))

    @property
    def _sources(self) -> tuple[PreparedAlternative, ...]:
        return (self.source, *self.source.others)


@dataclass(frozen=True)
class _Together:
    """Alternatives that all hold for the same matches."""

    sources: tuple[PreparedAlternative, ...]
    joint: JointMatches
    count: int

    def decided(self, rows: Indexes, tick: Ticks) -> Reals:
        """P(all hold, and have decided it by a tick)."""
        if not any(each.decided_by_window for each in self.sources):
            return self.joint.within(rows, TickSpans.up_to(tick))
        window = self.sources[0].plan.window
        # A window that goes on beyond the end of time ends with it.
        over = tick >= LATEST_TICK
        found = np.where(over, self._whole[rows], 0.0)
        some = np.flatnonzero(~over)
        if window is not None and len(some):
            later = self.joint.within(rows[some], TickSpans.starting_at(shifted(tick[some], 2 - window)))
            found[some] = self._whole[rows[some]] - later
        return found

    @cached_property
    def _whole(self) -> Reals:
        return self.joint.within(np.arange(self.count), TickSpans.starting_at(np.full(self.count, FIRST)))


def _window_ends(source: PreparedAlternative, first: Ticks) -> Ticks:
    window = source.plan.window
    if window is None:
        return np.full_like(first, LATEST_TICK)
    return np.minimum(shifted(first, window - 1), LATEST_TICK)


@dataclass(frozen=True)
class DecidedProblems:
    """The problems of matches of the first of some alternatives, of which one has to hold."""

    sources: Sequence[PreparedAlternative]
    matches: MatchBatch

    def united(self, rows: Indexes, tick: Ticks) -> Reals:
        """The probability of the worlds that return these rows, ascending, and have decided them by a tick.

        Raises
        ------
        QueryTooLargeError
            If it is too costly for a row.
        """
        return union_of_rows(_RowsByTick.of(self, rows, tick))

    def sampled(self, rows: Indexes, tick: Ticks) -> Reals:
        """The share of sampled worlds that do."""
        sampling = self.sources[0].measure.sampling
        assert sampling is not None
        groups = self.sources[0].measure.groups(bound_by(self.sources[0], self.matches))
        match, share = sampling.probabilities(groups, list(self.by(rows, tick)))
        found = np.zeros(len(rows))
        found[np.searchsorted(rows, match)] = share
        return found

    def by(self, rows: Indexes, tick: Ticks) -> Iterator[Problems]:
        """The problems of some rows; what a world has not decided by the tick does not hold in it."""
        for source, problems in self._problems:
            at = np.minimum(np.searchsorted(rows, problems.match), len(rows) - 1)
            chosen = np.flatnonzero(rows[at] == problems.match)
            if not len(chosen):
                continue
            some, by = problems.taken(chosen), tick[at[chosen]]
            upper, (first, last) = some.variables.upper.copy(), some.structure.ends
            if source.decided_by_window:
                assert source.plan.window is not None
                by = np.where(by >= LATEST_TICK, by, shifted(by, 1 - source.plan.window))
                last = first
            upper[:, last] = np.minimum(upper[:, last], by)
            yield replace(some, variables=some.variables._replace(upper=upper))

    @cached_property
    def _problems(self) -> list[tuple[PreparedAlternative, Problems]]:
        return [
            (source, problems)
            for source in self.sources
            for problems in source.problems(self._bound_by(source))
        ]

    def _bound_by(self, source: PreparedAlternative) -> dict[int, Bindings]:
        """The matches as a source binds them: groups, or one event after the other."""
        bound, count = self.matches.bound, len(source.search.singles)
        if len(bound) > count:
            bound = self.sources[0].folded(self.matches).bound
        elif len(bound) < count:
            bound = one_by_one(bound)
        return bound_by(source, replace(self.matches, bound=bound))


@dataclass(frozen=True)
class _RowsByTick(WantedGroups):
    """Each of some rows as a group of its problems, `decided` by a tick."""

    decided: list[Problems] = field(kw_only=True)

    @classmethod
    def of(cls, problems: DecidedProblems, rows: Indexes, tick: Ticks) -> _RowsByTick:
        """Those of these rows."""
        row, ones = np.arange(len(rows)), np.ones(len(rows), dtype=np.int64)
        grouped = GroupedRows(row, row, problems.matches.confidence[rows], row, ones)
        found = [replace(each, match=np.searchsorted(rows, each.match)) for each in problems.by(rows, tick)]
        return cls(problems.sources, [], [], grouped, pl.DataFrame({"fewest": ones > 0}), decided=found)

    def problems(self, of_row: Indexes, *, whole: bool = False) -> tuple[list[Problems], bool]:
        """All of them, since all are asked for; some variables are limited."""
        return self.decided, True
