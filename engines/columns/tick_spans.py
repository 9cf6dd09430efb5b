"""Spans of ticks, one for each match: all that it binds lies between two ticks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_sums import FIRST, LAST


@dataclass(frozen=True)
class TickSpans:
    """From `first` to `last`, both included, shape (n,); FIRST and LAST stand for no end."""

    first: Ticks
    last: Ticks

    @classmethod
    def up_to(cls, last: Ticks) -> TickSpans:
        """Spans that begin nowhere."""
        return cls(np.full(len(last), FIRST), last)

    @classmethod
    def starting_at(cls, first: Ticks) -> TickSpans:
        """Spans that end nowhere."""
        return cls(first, np.full(len(first), LAST))

    def take(self, rows: Indexes) -> TickSpans:
        """Those of some rows."""
        return TickSpans(self.first[rows], self.last[rows])

    def of_each(self, size: int, counted: int) -> TickSpans:
        """Those of `size` events of each row, one after the other: beyond the first `counted`, everywhere."""
        first, last = np.repeat(self.first, size), np.repeat(self.last, size)
        free = np.tile(np.arange(size) >= counted, len(self.first))
        return TickSpans(np.where(free, FIRST, first), np.where(free, LAST, last))

    def followed_by_everywhere(self, count: int) -> TickSpans:
        """And then so many spans without ends."""
        first, last = np.full(count, FIRST), np.full(count, LAST)
        return TickSpans(np.concatenate([self.first, first]), np.concatenate([self.last, last]))

    @property
    def cuts(self) -> tuple[Indexes, Ticks]:
        """Where masses are cut: rows, and the first tick inside of a span or after it.

        Examples
        --------
        >>> TickSpans.up_to(np.array([7, 9])).cuts
        (array([0, 1]), array([ 8, 10]))
        """
        begins, ends = np.flatnonzero(self.first > FIRST), np.flatnonzero(self.last < LAST)
        return np.concatenate([begins, ends]), np.concatenate([self.first[begins], self.last[ends] + 1])
