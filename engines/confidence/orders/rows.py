"""How probable it is that some of a few rows hold: the weights of the worlds that return one, over all.

Only the clusters of the events that decide a row matter to it (`key_orders.py`); of all other keys the weight
cancels.  Decisive events without an open order join with the factor 1.  A window needs the tick of the first
event of a row, what must be absent before the first that of the last: sums over few of their ticks hold them.

    name here      meaning
    anchor         an event whose tick is held, and how far from it time is cut besides
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.orders.key_orders import Cluster
from cepctl.engines.confidence.orders.pieces import Pieces, held, pieces_of
from cepctl.engines.confidence.orders.questions import OUTSIDE, Question, states_of
from cepctl.engines.confidence.orders.row_tables import Budget, Members, Table, joined_members, scaled_sum

_MOST_ANCHORS = 3
_Marks: TypeAlias = dict[tuple[int, int], int]
"""By event held and distance from its tick: the piece that begins there."""


@dataclass(frozen=True)
class Row:
    """What one row asks: `events` in this order, and of each rival to be absent from gaps.

    `rivals`: events with their gaps, a bit for each: bit 0 before the first event, bit l after the last.
    """

    events: tuple[int, ...]
    rivals: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class _Limits:
    """Which ends of its window decide a row: that of its span, of what comes after it, of what before."""

    span: bool
    after: bool
    before: bool


@dataclass(frozen=True)
class AskedRows:
    """Some rows, whose events are in these clusters or in none; `window` in ticks, 0 for none."""

    masses: Masses
    rows: tuple[Row, ...]
    window: int
    clusters: tuple[Cluster, ...]
    budget: Budget

    def summed(self) -> tuple[float, int]:
        """The weights of all orders in which some row holds, as a number and an exponent of 2.

        Raises
        ------
        QueryTooLargeError
            If they take too much work.
        """
        pieces = pieces_of(self.masses, self.events)
        own = np.full(len(self.events), -1, dtype=np.int64)
        own[np.searchsorted(self.events, self.own)] = np.arange(len(self.own))
        gaps = np.zeros((len(self.events), len(self.rows)), dtype=np.int64)
        for number, row in enumerate(self.rows):
            for event, each in row.rivals:
                gaps[np.searchsorted(self.events, event), number] |= each
        members, first = joined_members(self.clusters, self.events, gaps, own, pieces.each)
        pieces = replace(pieces, each=pieces.each[first])
        pairs, gaps = members.pairs(pieces.each), gaps[first]
        found = [
            self._table(members, way, pairs, self._meaning(members, way, gaps, marks)).summed(self.budget)
            for way, marks in self._ways(members, pieces)
        ]
        return scaled_sum(np.array([each for each, _ in found]), np.array([shift for _, shift in found]))

    @cached_property
    def own(self) -> Indexes:
        """The events of rows, ascending."""
        return np.unique([event for row in self.rows for event in row.events]).astype(np.int64)

    @cached_property
    def events(self) -> Indexes:
        """All events that matter, ascending."""
        rivals = np.array([event for row in self.rows for event, _ in row.rivals], dtype=np.int64)
        return np.unique(np.concatenate([self.own, rivals, *(each.events for each in self.clusters)]))

    @property
    def text(self) -> bytes:
        """Equal bytes for what is the same question, at whatever time and in whatever key."""
        masses = self.masses.take(self.events)
        parts = [masses.starts, masses.lo - masses.lo[0], masses.hi - masses.lo[0], masses.density]
        for each in self.clusters:
            order = np.argsort(each.events)
            parts += [np.searchsorted(self.events, each.events[order]), each.codes[order]]
            parts.append(np.array([each.begin, each.end, id(each.factors), len(each.events)]))
        for row in self.rows:
            rivals = np.array(row.rivals, dtype=np.int64).reshape(-1, 2)
            parts += [np.searchsorted(self.events, row.events), np.searchsorted(self.events, rivals[:, 0])]
            parts += [rivals[:, 1], np.array([len(row.events), len(rivals), self.window])]
        return b"".join(each.tobytes() for each in parts)

    @cached_property
    def limits(self) -> tuple[_Limits, ...]:
        """Which ends of the window decide each row."""
        return tuple(map(self._limits_of, self.rows))

    def _limits_of(self, row: Row) -> _Limits:
        if not self.window:
            return _Limits(span=False, after=False, before=False)
        lower, upper = int(self.masses.lower[row.events[0]]), int(self.masses.upper[row.events[-1]])
        waits, first, last = 1 << len(row.events), self.masses.lower, self.masses.upper
        return _Limits(
            upper - lower >= self.window,
            any(gaps & waits and last[e] >= lower + self.window for e, gaps in row.rivals),
            any(gaps & 1 and first[e] <= upper - self.window for e, gaps in row.rivals),
        )

    @cached_property
    def anchors(self) -> Mapping[int, tuple[int, ...]]:
        """The events whose ticks are held, and where time is cut from there."""
        found: dict[int, set[int]] = {}
        spans = []
        for row, limits in zip(self.rows, self.limits, strict=True):
            if limits.after:
                found.setdefault(row.events[0], {0}).add(self.window)
            if limits.before:
                found.setdefault(row.events[-1], {0}).add(1 - self.window)
            if limits.span and not (limits.after or limits.before):
                spans.append((row.events[0], row.events[-1]))
        common = Counter(event for ends in spans for event in set(ends))
        for first, last in spans:
            if self.window in found.get(first, ()) or 1 - self.window in found.get(last, ()):
                continue
            at_last = common[last] > common[first]
            found.setdefault(last if at_last else first, {0}).add(1 - self.window if at_last else self.window)
        return {event: tuple(sorted(offsets)) for event, offsets in found.items()}

    def _ways(self, members: Members, pieces: Pieces) -> Iterator[tuple[Pieces, _Marks]]:
        """The ways in which the ticks of all anchors are held, and the pieces that begin so far from each."""
        places = [
            (int(np.flatnonzero(members.own == np.searchsorted(self.own, event))[0]), event, offsets)
            for event, offsets in self.anchors.items()
        ]
        if len(places) > _MOST_ANCHORS:
            raise self.budget.exceeded()
        yield from self._held(members, pieces, places, {})

    def _held(
        self, members: Members, pieces: Pieces, places: list[tuple[int, int, tuple[int, ...]]],
        ticks: dict[int, int],
    ) -> Iterator[tuple[Pieces, _Marks]]:  # fmt: skip
        if not places:
            yield pieces, {}
            return
        (place, event, offsets), *others = places
        steps = {0}
        for _ in others:
            between = {0, 1, *(each for _, _, every in places for each in every)}
            steps = {step + i - j for step in steps for i in between for j in between}
        changes = sorted({offset + step for offset in (*offsets, 1) for step in steps}) if others else []
        for found in held(pieces, place, offsets, members.counts, changes):
            if not others:
                marks = {(event, offset): mark for offset, mark in zip(offsets, found.marks, strict=True)}
                for other, tick in ticks.items():
                    for offset in self.anchors[other]:
                        marks[other, offset] = int(np.searchsorted(found.cut[0, :-1], tick + offset))
                yield found, marks
                continue
            for way, weight in enumerate(found.weight.tolist()):
                tick = int(found.cut[way, found.marks[offsets.index(0)]])
                one = _without_empty(found, way)
                for inner, marks in self._held(members, one, others, {**ticks, event: tick}):
                    yield replace(inner, weight=inner.weight * weight), marks

    def _meaning(self, members: Members, pieces: Pieces, gaps: Indexes, marks: _Marks) -> Indexes:
        """What each kind means to each row in each piece, shape (E, P, rows)."""
        meaning = np.repeat(gaps[:, None, :], pieces.each.shape[1], axis=1)
        for number, row in enumerate(self.rows):
            own = np.flatnonzero(np.isin(members.own, np.searchsorted(self.own, row.events)))
            end = marks.get((row.events[0], self.window))
            if end is not None:
                meaning[own, end:, number] |= OUTSIDE
                meaning[:, end:, number] &= ~(1 << len(row.events))
            begin = marks.get((row.events[-1], 1 - self.window))
            if begin is not None:
                meaning[own, :begin, number] |= OUTSIDE
                meaning[:, :begin, number] &= ~1
        return meaning

    def _table(self, members: Members, pieces: Pieces, pairs: Reals, meaning: Indexes) -> Table:
        own = np.repeat(members.own[:, None], meaning.shape[1], axis=1)
        read = (own >= 0) | (meaning != 0).any(axis=2)
        said = np.column_stack([own[read], meaning[read]])
        letters, number = np.unique(said, axis=0, return_inverse=True)
        letter = np.full(own.shape, -1, dtype=np.int64)
        letter[read] = number.reshape(-1)
        question = Question(
            tuple(tuple(np.searchsorted(self.own, row.events).tolist()) for row in self.rows),
            tuple((each[0], tuple(each[1:])) for each in letters.tolist()),
            len(self.own),
        )
        states = states_of(question)
        if states is None:
            raise self.budget.exceeded()
        return Table(members, pieces, pairs, letter, states)


def _without_empty(pieces: Pieces, way: int) -> Pieces:
    """One way, without pieces of no ticks."""
    cut = pieces.cut[way]
    kept = np.flatnonzero(np.diff(cut) > 0)
    return Pieces(np.append(cut[kept], cut[-1])[None, :], pieces.each[:, kept], np.ones(1))
