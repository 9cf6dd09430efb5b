"""Which rows are kept by what is known of each: all filters of rows, for whoever holds some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.bindings import MatchBatch
from cepctl.numeric.arrays import Flags, Ticks

_Table = TypeVar("_Table", pa.RecordBatch, pa.Table)


class RowStarts(Protocol):
    """What is known of rows, by which they are kept."""

    @property
    def start(self) -> Ticks:
        """The first tick of each."""


@dataclass(frozen=True)
class ColumnStarts:
    """What is known of rows that stand in columns."""

    start: Ticks


@dataclass(frozen=True)
class KeptRows:
    """Those that start in `first`..`last`, both included; None for any.

    Rows that are left out take the place of no others: not among the best, and not in the sum of a key.
    """

    first: int | None = None
    last: int | None = None

    @property
    def all_are(self) -> bool:
        """Whether none is left out."""
        return self == ALL_ROWS

    def among(self, rows: RowStarts) -> Flags:
        """Which of some rows are kept."""
        kept = np.ones(len(rows.start), dtype=bool)
        if self.first is not None:
            kept &= rows.start >= self.first
        if self.last is not None:
            kept &= rows.start <= self.last
        return kept

    def matches(self, found: MatchBatch) -> MatchBatch:
        """Those of some matches that are kept."""
        return found if self.all_are else found.filter(self.among(found))

    def rows(self, found: _Table) -> _Table:
        """Those of some rows of the output that are kept."""
        if self.all_are:
            return found
        return found.filter(pa.array(self.among(ColumnStarts(found.column("start").to_numpy()))))


ALL_ROWS = KeptRows()
