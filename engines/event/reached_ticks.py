"""`reached(c)`: by which tick the worlds that return a row and have decided it are as probable as c.

A world decides a row with the last tick that it binds, or as the window after its first one ends.  How
probable the worlds are that have decided it by a tick is the confidence of the same row with its own events
cut there (from the other side for a first tick) and its rivals as they are; it rises with the tick, so the
smallest one is found by halving.

Runs inside Spark workers: imports NumPy, Polars and Numba only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, single_events
from cepctl.engines.columns.cut_masses import cut_masses, joined_masses
from cepctl.engines.columns.endpoints import Endpoints, agreeing
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST, shifted
from cepctl.errors import UnsupportedQueryError
from cepctl.precision import CONFIDENCE_SLACK
from cepctl.schema import LATEST_TICK

if TYPE_CHECKING:
    from cepctl.engines.event.alternative import PreparedAlternative
    from cepctl.engines.intervals.rivals import FoundRivals
    from cepctl.engines.pattern.rivals import Rivals

ROWS_AT_ONCE = 4096


def reached_ticks(source: PreparedAlternative, matches: MatchBatch, share: float) -> pl.Series:
    """The tick for each match, null where no tick is enough.

    Raises
    ------
    QueryTooLargeError
        If a match needs more work than is allowed.
    UnsupportedQueryError
        If a match is estimated, or several parts of an OR bind it.
    """
    if len(matches) and not source.alone:
        raise UnsupportedQueryError(
            "not supported yet: reached(...) of a match that several parts of an OR bind; "
            "ask for them one by one"
        )
    if (matches.errors > 0).any():
        raise UnsupportedQueryError("not supported yet: reached(...) of what --approximate estimates")
    ticks = np.zeros(len(matches), dtype=np.int64)
    known = matches.confidence >= share - CONFIDENCE_SLACK
    rows = np.flatnonzero(known)
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        chosen = rows[begin : begin + ROWS_AT_ONCE]
        ticks[chosen] = _Decisions(source, matches.take(chosen)).reaching(share - CONFIDENCE_SLACK)
    return pl.DataFrame({"tick": ticks, "known": known}).select(
        pl.when("known").then("tick").otherwise(None)
    )["tick"]


def _within_time(first: Ticks, window: int) -> Ticks:
    return np.minimum(shifted(first, window - 1), LATEST_TICK)


@dataclass(frozen=True)
class _Decisions:
    """When the worlds that return some matches decide them."""

    source: PreparedAlternative
    matches: MatchBatch

    def reaching(self, least: float) -> Ticks:
        """The smallest tick of each match by which it is decided with the probability `least`."""
        by_window = self.source.alternative.decided_by_window(self.source.plan.strategy)
        first, last = self.matches.start.copy(), self.matches.end.copy()
        open_rows = np.flatnonzero(first < last)
        while len(open_rows):
            low, high = first[open_rows], last[open_rows]
            middle = (low & high) + ((low ^ high) >> 1)
            enough = self._begun_by(open_rows, middle) if by_window else self._ended_by(open_rows, middle)
            last[open_rows] = np.where(enough >= least, middle, high)
            first[open_rows] = np.where(enough >= least, low, middle + 1)
            open_rows = np.flatnonzero(first < last)
        if not by_window:
            return first
        window = self.source.plan.window
        # A window that goes on beyond the end of time ends with it.
        return np.full_like(first, LATEST_TICK) if window is None else _within_time(first, window)

    def _ended_by(self, rows: Indexes, tick: Ticks) -> Reals:
        return self._within(rows, np.full(len(rows), FIRST), tick)

    def _begun_by(self, rows: Indexes, tick: Ticks) -> Reals:
        later = self._within(rows, shifted(tick, 1), np.full(len(rows), LAST))
        return self.matches.confidence[rows] - later

    def _within(self, rows: Indexes, first: Ticks, last: Ticks) -> Reals:
        """P(a world returns the row, and all that it binds lies between two ticks)."""
        owner, member = self._flat
        at = np.searchsorted(rows, owner)
        chosen = np.flatnonzero((at < len(rows)) & (rows[np.minimum(at, len(rows) - 1)] == owner))
        row, event = at[chosen], member[chosen]
        cut = _CutEvents.of(self._endpoints, self._others, event, first[row], last[row])
        inside = np.ones(len(rows))
        np.multiply.at(inside, row, cut.inside)
        possible = np.flatnonzero(inside > 0)
        found = np.zeros(len(rows))
        if len(possible):
            number = np.full(len(owner), -1)
            number[chosen] = len(self._others) + np.arange(len(chosen))
            found[possible] = inside[possible] * self._measured(rows[possible], number, cut.endpoints)
        return found

    def _measured(self, rows: Indexes, number: Indexes, endpoints: Endpoints) -> Reals:
        """Confidences of the matches whose members have these numbers, and whose rivals are `_others`."""
        source = self.source
        bound = self._numbered(rows, number)
        if source.intervals is not None:
            measure = source.intervals.measure
            others: Callable[[Indexes], list[FoundRivals]] | None = None
            if measure.rivals is not None:
                renumbered = [
                    (each, *_pairs_of(rows, row, np.searchsorted(self._others, event)))
                    for each, row, event in self._interval_rivals
                ]
                others = lambda block: renumbered  # noqa: E731
            events = single_events([bound[i] for i in source.search.singles])
            return replace(measure, endpoints=endpoints, rivals=others).measured(events).confidence
        rivals = [each.taken(rows) for each in self._rivals]
        moved = [replace(each, event=np.searchsorted(self._others, each.event)) for each in rivals]
        return source.if_possible(endpoints.masses, bound, moved).confidence

    @cached_property
    def _bound(self) -> dict[int, Bindings]:
        return dict(zip(self.source.search.singles, self.matches.bound, strict=True))

    @cached_property
    def _rivals(self) -> list[Rivals]:
        return [] if self.source.shape.plain_chain else self.source.rivals(self._bound)

    @cached_property
    def _interval_rivals(self) -> list[FoundRivals]:
        search = self.source.intervals
        if search is None or search.measure.rivals is None:
            return []
        return search.measure.rivals(single_events(self.matches.bound))

    @cached_property
    def _others(self) -> Indexes:
        """All events that may break some match, in order."""
        if self.source.intervals is not None:
            found = [event for _, _, event in self._interval_rivals]
        else:
            found = [each.event for each in self._rivals]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))

    @property
    def _endpoints(self) -> Endpoints:
        if self.source.intervals is not None:
            return self.source.intervals.measure.endpoints
        return self.source.events.points

    @cached_property
    def _flat(self) -> tuple[Indexes, Indexes]:
        """Every event that a match binds, component by component within it, with the row of the match."""
        pairs = [
            (each.owner, each.members) if isinstance(each, Group) else (np.arange(len(each)), each)
            for each in self.matches.bound
        ]
        return np.concatenate([row for row, _ in pairs]), np.concatenate([event for _, event in pairs])

    def _numbered(self, rows: Indexes, number: Indexes) -> dict[int, Bindings]:
        """What some matches bind, by new numbers of the members in `_flat`."""
        found: dict[int, Bindings] = {}
        begin = 0
        for component, each in self._bound.items():
            size = len(each.members) if isinstance(each, Group) else len(each)
            own = number[begin : begin + size]
            found[component] = Group(each.offsets, own).take(rows) if isinstance(each, Group) else own[rows]
            begin += size
        return found


def _pairs_of(rows: Indexes, row: Indexes, event: Indexes) -> tuple[Indexes, Indexes]:
    """The pairs of some rows (ascending), which are numbered anew."""
    at = np.minimum(np.searchsorted(rows, row), len(rows) - 1)
    kept: Flags = rows[at] == row
    return at[kept], event[kept]


@dataclass(frozen=True)
class _CutEvents:
    """Some events as they are, and then copies of events that are cut: their endpoints.

    `inside`: how probable it is that an event lies where its copy is cut, shape (copies,).
    """

    endpoints: Endpoints
    inside: Reals

    @classmethod
    def of(
        cls, endpoints: Endpoints, others: Indexes, event: Indexes, first: Ticks, last: Ticks
    ) -> _CutEvents:
        """Copies of `event`, cut to `first` and `last`, after the `others`."""
        every = np.concatenate([others, event])
        no_cut = np.zeros(len(others), dtype=np.int64)
        first, last = np.concatenate([no_cut + FIRST, first]), np.concatenate([no_cut + LAST, last])
        lasts = np.flatnonzero(endpoints.end[every] != every)
        starts, inside = cut_masses(endpoints.masses, every, first, last)
        ends, ended = cut_masses(endpoints.masses, endpoints.end[every[lasts]], first[lasts], last[lasts])
        masses: Masses = joined_masses(starts, ends) if len(lasts) else starts
        end = np.arange(len(every))
        end[lasts] = len(every) + np.arange(len(lasts))
        shortest, longest, whole = (
            each[every].copy() for each in (endpoints.shortest, endpoints.longest, endpoints.whole)
        )
        moved = lasts[lasts >= len(others)]
        whole[moved] = agreeing(masses, moved, end[moved], shortest[moved], longest[moved])
        inside[lasts] *= ended
        inside[moved] *= whole[moved] / endpoints.whole[every[moved]]
        return cls(Endpoints(masses, end, shortest, longest, whole), inside[len(others) :])
