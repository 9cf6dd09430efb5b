"""The confidence of one row under laws of order: the weights of the worlds that return it over those of all.

Only the clusters of the events that decide a row matter to it (`key_orders.py`); of all other keys the weight
cancels.  Decisive events without an open order join with the factor 1.  The window needs the tick of the first
event, what must be absent before the first the tick of the last: the sum over few of their ticks holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.order_laws.key_orders import Cluster, KeyOrders
from cepctl.engines.order_laws.pieces import Pieces, held, pieces_of
from cepctl.engines.order_laws.questions import Question, states_of
from cepctl.engines.order_laws.tables import Members, Table, joined_members, scaled_sum, total
from cepctl.errors import QueryTooLargeError


@dataclass(frozen=True)
class Row:
    """What one row asks: `events` in this order, and of each rival to be absent from gaps.

    `rivals` maps an event to its gaps, a bit for each: bit 0 before the first event, bit l after the last.
    """

    events: tuple[int, ...]
    rivals: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Limits:
    """Which ends of a window decide some rows: the span of a row, what comes after it, what before."""

    span: bool
    after: bool
    before: bool


def probability(orders: KeyOrders, row: Row, window: int | None, clusters: Sequence[Cluster]) -> float:
    """P(the row holds) under the laws of these clusters, those of the events that decide it."""
    asked = _Asked(orders, row, window, tuple(clusters))
    whole, exponent = 1.0, 0
    for each in clusters:
        factor, shift = total((each,), np.sort(each.events), pieces_of(orders.masses, np.sort(each.events)))
        whole, exponent = whole * factor, exponent + shift
    found, held_at = asked.summed()
    return min(found / whole * 2.0 ** max(held_at - exponent, -2000), 1.0)


@dataclass(frozen=True)
class _Asked:
    orders: KeyOrders
    row: Row
    window: int | None
    clusters: tuple[Cluster, ...]

    @cached_property
    def events(self) -> Indexes:
        """All events that matter, ascending."""
        own = np.array([*self.row.events, *(event for event, _ in self.row.rivals)], dtype=np.int64)
        return np.unique(np.concatenate([own, *(each.events for each in self.clusters)]))

    @cached_property
    def limits(self) -> Limits:
        """Which ends of the window decide it."""
        if self.window is None:
            return Limits(span=False, after=False, before=False)
        masses, row = self.orders.masses, self.row
        lower, upper = int(masses.lower[row.events[0]]), int(masses.upper[row.events[-1]])
        waits, leads = 1 << len(row.events), 1
        return Limits(
            upper - lower >= self.window,
            any(gaps & waits and masses.upper[e] >= lower + self.window for e, gaps in row.rivals),
            any(gaps & leads and masses.lower[e] <= upper - self.window for e, gaps in row.rivals),
        )

    def summed(self) -> tuple[float, int]:
        """The weights of all orders in which it holds, as a number and an exponent of 2."""
        pieces = pieces_of(self.orders.masses, self.events)
        own = np.full(len(self.events), -1, dtype=np.int64)
        own[np.searchsorted(self.events, self.row.events)] = np.arange(len(self.row.events))
        gaps = np.zeros(len(self.events), dtype=np.int64)
        for event, each in self.row.rivals:
            gaps[np.searchsorted(self.events, event)] |= each
        members, number = joined_members(self.clusters, self.events, gaps, own, pieces.each)
        first = np.unique(number, return_index=True)[1]
        pieces = replace(pieces, each=pieces.each[first])
        pairs, gaps = members.pairs(pieces.each), gaps[first]
        found = [
            self._table(members, each, pairs, letters).summed()
            for each, letters in self._placed(members, pieces, gaps)
        ]
        return scaled_sum(np.array([each for each, _ in found]), np.array([shift for _, shift in found]))

    def _placed(self, members: Members, pieces: Pieces, gaps: Indexes) -> Iterator[tuple[Pieces, Indexes]]:
        """The ways in which what the window needs is held; and the gaps of each kind in each piece."""
        limits, window = self.limits, self.window or 0
        everywhere = np.repeat(gaps[:, None], pieces.each.shape[1], axis=1)
        if not (limits.span or limits.after or limits.before):
            yield pieces, everywhere
            return
        first, last = (int(np.flatnonzero(members.own == i)[0]) for i in (0, len(self.row.events) - 1))
        if limits.after and limits.before and first != last:
            yield from self._both_held(members, pieces, gaps, first, last)
            return
        one = last if limits.before else first
        offsets = sorted({0, *([window] if one == first else []), *([1 - window] if one == last else [])})
        for each in held(pieces, one, offsets, members.counts):
            yield self._cut(members, each, gaps, one == first, one == last, offsets)

    def _cut(
        self, members: Members, pieces: Pieces, gaps: Indexes, first: bool, last: bool, offsets: list[int]
    ) -> tuple[Pieces, Indexes]:
        """Own events stay within the window of the held one; beyond it nobody need be absent."""
        window = self.window or 0
        (own,) = np.nonzero(members.own >= 0)
        absent = np.repeat(gaps[:, None], pieces.each.shape[1], axis=1)
        if first:
            end = pieces.marks[offsets.index(window)]
            pieces = pieces.cleared(own, slice(end, None))
            absent[:, end:] &= ~(1 << len(self.row.events))
        if last:
            begin = pieces.marks[offsets.index(1 - window)]
            pieces = pieces.cleared(own, slice(None, begin))
            absent[:, :begin] &= ~1
        return pieces, absent

    def _both_held(
        self, members: Members, pieces: Pieces, gaps: Indexes, first: int, last: int
    ) -> Iterator[tuple[Pieces, Indexes]]:
        window = self.window or 0
        after, before = sorted({0, window}), sorted({0, 1 - window})
        changes = sorted({i - j for i in (0, 1, window) for j in before})
        for outer in held(pieces, first, after, members.counts, changes):
            for way in range(len(outer.weight)):
                one = replace(outer, cut=outer.cut[way : way + 1])
                one, _ = self._cut(members, one, gaps, True, False, after)
                end = int(one.cut[0, outer.marks[after.index(window)]]) if outer.marks[-1] < outer.cut.shape[1] else None
                for inner in held(_without_empty(one), last, before, members.counts):
                    cut, absent = self._cut(members, inner, gaps, False, True, before)
                    if end is not None:
                        absent[:, cut.cut[0, :-1] >= end] &= ~(1 << len(self.row.events))
                    yield replace(cut, weight=cut.weight * outer.weight[way]), absent

    def _table(self, members: Members, pieces: Pieces, pairs: np.ndarray, absent: Indexes) -> Table:
        """The table of the question, whose letters are those of own events and of gaps."""
        length = len(self.row.events)
        gaps = sorted({int(each) for each in np.unique(absent[members.own < 0])} - {0})
        question = Question(
            (tuple(range(length)),), (*([(0,)] * length), *((each,) for each in gaps)), length
        )
        states = states_of(question)
        if states is None:
            raise QueryTooLargeError("a row")
        number = np.searchsorted(np.array(gaps, dtype=np.int64), absent) + length
        letter = np.where(absent > 0, number, -1)
        letter = np.where((members.own >= 0)[:, None], members.own[:, None], letter)
        return Table(members, pieces, pairs, letter, question, states)


def _without_empty(pieces: Pieces) -> Pieces:
    """Pieces of one way, without those of no ticks."""
    kept = np.flatnonzero(np.diff(pieces.cut[0]) > 0)
    return Pieces(
        np.append(pieces.cut[0, kept], pieces.cut[0, -1])[None, :], pieces.each[:, kept], np.ones(1)
    )
