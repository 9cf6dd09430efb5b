"""Which rows are kept by what is known of each, and what a summary counts of them.

All filters of rows are here.  Rows are counted as they come, so that none must be looked at twice.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.bindings import MatchBatch
from cepctl.numeric.arrays import Flags, Ticks
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.open_rows import OPEN
from cepctl.plan.plan import CONFIDENCE_ERROR, FOUND_AT_RAW_TIMES, OCCURRENCE_ERROR

_Table = TypeVar("_Table", pa.RecordBatch, pa.Table)
UNLIKELY = 0.5
MISSED, UNJUDGED, FOUND = range(3)
"""What FOUND_AT_RAW_TIMES says of a row: the largest of what it says of several is true of them together."""
WHY_UNJUDGED = b"why not judged by raw times"
"""Why some rows of a batch are not: metadata, which not all ways of rows hand on."""


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


@dataclass(frozen=True)
class RowCounts:
    """Counts of some rows.

    `unlikely` have a confidence below UNLIKELY; `sampled` are estimates, off by at most `error`.  Of those
    `judged` by their raw times, these `missed` some; `untimed` have events without.  Judging failed for the
    `unjudged`, and `why_unjudged` says why, if that is known.  Of groups `refused` are
    those whose occurrence costs too much, and `why_refused` says what costs of one of them, if that is
    known; of those `uncounted` nobody knows what is expected.  Those that are `open` wait for what comes
    after the last event.  All rows lie between the ticks `start` and `end`, which are None where there is
    no row.
    """

    rows: int = 0
    unlikely: int = 0
    sampled: int = 0
    error: float = 0.0
    judged: int = 0
    missed: int = 0
    untimed: int = 0
    unjudged: int = 0
    refused: int = 0
    uncounted: int = 0
    open: int = 0
    start: int | None = None
    end: int | None = None
    why_refused: str = ""
    why_unjudged: str = ""

    @classmethod
    def of(cls, rows: pa.RecordBatch | pa.Table) -> RowCounts:
        """Count rows of `cepctl.engines.event.match.match_schema`, or groups by their occurrence."""
        if not rows.num_rows:
            return cls()
        names = rows.schema.names
        probability = rows.column("occurrence" if "occurrence" in names else "confidence")
        unlikely = pc.sum(pc.less(probability, UNLIKELY - CONFIDENCE_SLACK)).as_py() or 0
        sampled, error = 0, 0.0
        error_column = next((each for each in (CONFIDENCE_ERROR, OCCURRENCE_ERROR) if each in names), None)
        if error_column is not None:
            errors = rows.column(error_column)
            sampled, error = pc.sum(pc.greater(errors, 0)).as_py() or 0, pc.max(errors).as_py() or 0.0
        judged = missed = untimed = unjudged = 0
        if FOUND_AT_RAW_TIMES in names:
            found = rows.column(FOUND_AT_RAW_TIMES)
            missed, unjudged = (pc.sum(pc.equal(found, each)).as_py() or 0 for each in (MISSED, UNJUDGED))
            judged, untimed = len(found) - found.null_count - unjudged, found.null_count
        start, end = pc.min(rows.column("start")).as_py(), pc.max(rows.column("end")).as_py()
        refused = probability.null_count
        uncounted = rows.column("expected").null_count if "expected" in names else 0
        open_rows = pc.sum(rows.column(OPEN)).as_py() or 0 if OPEN in names else 0
        why = (rows.schema.metadata or {}).get(WHY_UNJUDGED, b"").decode()
        return cls(
            *(rows.num_rows, unlikely, sampled, error, judged, missed, untimed, unjudged, refused, uncounted),
            *(open_rows, start, end),
            why_unjudged=why,
        )

    def __add__(self, other: RowCounts) -> RowCounts:
        starts = [each.start for each in (self, other) if each.start is not None]
        ends = [each.end for each in (self, other) if each.end is not None]
        added = {name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        return RowCounts(
            **added,
            error=max(self.error, other.error),
            start=min(starts, default=None),
            end=max(ends, default=None),
            why_refused=self.why_refused or other.why_refused,
            why_unjudged=self.why_unjudged or other.why_unjudged,
        )


_ADDED = tuple(each.name for each in fields(RowCounts) if each.type == "int")
"""Counts that add up; all else is the largest, the first or the last."""
