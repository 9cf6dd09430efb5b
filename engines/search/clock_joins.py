"""Joins of events that share clocks: what one clock stamped is compared without its offset.

Two events of one clock are apart as their own parts are, however far the clock is off; only events of
different clocks are compared by all the ticks at which they can be.  So a step joins by clock, once for every
clock of the partial match, and then the events of other clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.joins import IntervalIndex, interval_index, overlapping
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.pattern.offset_bounds import possible_on_clocks
from cepctl.numeric.arrays import Indexes, Ticks

_SEVERAL = -2


@dataclass(frozen=True)
class ClockJoin:
    """Candidates of one step by key and clock, with their own parts.

    `together`: every pair of a key and a clock as one number, ascending; `only`: of every key the clock of
    all its candidates, _SEVERAL where they have more than one.  `by_key`: whether every key has one
    clock, which then stands at the number of the key in `together`.
    """

    clocks: EventClocks
    index: IntervalIndex
    together: Indexes
    only: Indexes
    by_key: bool

    @classmethod
    def of(cls, clocks: EventClocks, event: Indexes, codes: Indexes) -> ClockJoin:
        """Prepare the candidates `event` with keys `codes`, both of shape (m,); -1 joins nothing."""
        event, codes = event[codes >= 0], codes[codes >= 0]
        clock = clocks.clock[event]
        least = np.full(int(codes.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        most = np.full(len(least), np.iinfo(np.int64).min)
        np.minimum.at(least, codes, clock)
        np.maximum.at(most, codes, clock)
        only = np.where((least == most) & (least != NO_CLOCK), least, _SEVERAL)
        width = len(clocks.offsets.lower)
        by_key = len(only) > 0 and bool((only != _SEVERAL).all())
        if by_key:
            together, place, chosen = np.arange(len(only)) * width + only, codes, event
        else:
            stamped = np.flatnonzero(clock != NO_CLOCK)
            chosen = event[stamped]
            together, place = np.unique(codes[stamped] * width + clock[stamped], return_inverse=True)
        index = interval_index(chosen, place.reshape(-1), clocks.own.lower[chosen], clocks.own.upper[chosen])
        return cls(clocks, index, together, only, by_key)

    def together_keys(self, rows: Indexes, before: tuple[int, ...], codes: Indexes) -> Indexes | None:
        """The keys in `index` of rows that are on one clock with all candidates; None where one is not."""
        if not self.by_key:
            return None
        clock = self.clocks.clock
        mine = clock[rows[:, before[0]]]
        alike = (self.only[codes] == mine) | (codes < 0)
        for each in before[1:]:
            alike &= clock[rows[:, each]] == mine
        return codes if alike.all() else None

    def pairs(
        self,
        envelopes: IntervalIndex,
        masses: Masses,
        system: Ticks,
        rows: Indexes,
        before: tuple[int, ...],
        column: int,
        codes: Indexes,
        reach: tuple[Ticks, Ticks],
        at_once: int,
    ) -> Iterator[tuple[Indexes, Indexes]]:
        """Pairs of a row and an event that can be new to it, as `overlapping` yields them.

        `reach` are the ticks that the event may have, `codes` the keys of the rows, `before` their columns.
        """
        clock = self.clocks.clock
        met: list[Indexes] = []
        for each in before:
            mine = clock[rows[:, each]]
            fresh = mine != NO_CLOCK
            for other in met:
                fresh &= mine != other
            met.append(mine)
            chosen = np.flatnonzero(fresh)
            if len(chosen):
                ticks = self._own_reach(masses, system, rows[chosen], before, column, mine[chosen])
                for row, event in overlapping(
                    self.index, self._keys(codes[chosen], mine[chosen]), *ticks, at_once
                ):
                    yield chosen[row], event
        only = self.only[codes] if len(self.only) else codes
        elsewhere = codes.copy()
        for mine in met:
            elsewhere[(only == mine) & (mine != NO_CLOCK)] = -1
        for row, event in overlapping(envelopes, elsewhere, *reach, at_once):
            kept = np.ones(len(row), dtype=bool)
            for mine in met:
                kept &= (clock[event] == NO_CLOCK) | (clock[event] != mine[row])
            yield row[kept], event[kept]

    def _keys(self, codes: Indexes, clock: Indexes) -> Indexes:
        wanted = codes * len(self.clocks.offsets.lower) + clock
        at = np.minimum(np.searchsorted(self.together, wanted), max(len(self.together) - 1, 0))
        found = (self.together[at] == wanted) if len(self.together) else np.zeros(len(wanted), dtype=bool)
        return np.where(found & (codes >= 0), at, -1)

    def _own_reach(
        self,
        masses: Masses,
        system: Ticks,
        rows: Indexes,
        before: tuple[int, ...],
        column: int,
        mine: Indexes,
    ) -> tuple[Ticks, Ticks]:
        """Own ticks that an event of clock `mine` may have, given what is bound."""
        own, offsets = self.clocks.own, self.clocks.offsets
        first = np.full(len(rows), -UNBOUNDED, dtype=np.int64)
        last = np.full(len(rows), UNBOUNDED, dtype=np.int64)
        for other in before:
            event = rows[:, other]
            same = self.clocks.clock[event] == mine
            if (limit := int(system[column, other])) < UNBOUNDED:
                ends = np.where(same, own.upper[event], masses.upper[event] - offsets.lower[mine])
                last = np.minimum(last, shifted(ends, limit))
            if (limit := int(system[other, column])) < UNBOUNDED:
                ends = np.where(same, own.lower[event], masses.lower[event] - offsets.upper[mine])
                first = np.maximum(first, shifted(ends, -limit))
        return first, last


def possible_rows(clocks: EventClocks, system: Ticks, rows: Indexes, columns: tuple[int, ...]) -> Indexes:
    """The partial matches that own parts and offsets allow; `columns` are bound."""
    bound = np.array(columns)
    first, several = clocks.clock[rows[:, columns[0]]], np.zeros(len(rows), dtype=bool)
    for column in columns[1:]:
        several |= clocks.clock[rows[:, column]] != first
    mixed = np.flatnonzero(several)
    if not len(mixed):
        return rows
    kept = np.ones(len(rows), dtype=bool)
    chosen, constraints = rows[np.ix_(mixed, bound)], system[np.ix_(bound, bound)]
    kept[mixed] = possible_on_clocks(clocks, constraints, chosen)
    return rows[kept]
