"""What measuring gives: confidence, its error and the time range of matches, as columns; and sums of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Measured:
    """Confidence, its error, first and last tick of n matches, shape (n,).

    `error` is 0 where the confidence is exact.  A match that no world returns starts after its end.
    """

    confidence: Reals
    error: Reals
    start: Ticks
    end: Ticks

    def __post_init__(self) -> None:
        """Take back what rounding adds to sums of nearly 1: no probability is greater."""
        object.__setattr__(self, "confidence", np.minimum(self.confidence, 1.0))

    @classmethod
    def exact(cls, confidence: Reals, start: Ticks, end: Ticks, possible: Flags) -> Measured:
        """Matches with exact confidences; those that are not possible have no range."""
        error = np.zeros(len(confidence))
        return cls(confidence, error, np.where(possible, start, 1), np.where(possible, end, 0))

    @property
    def possible(self) -> Flags:
        """The matches that some world returns."""
        return self.start <= self.end

    def taken(self, rows: Indexes) -> Measured:
        """Of some of the matches, in the order of `rows`, which may repeat."""
        return Measured(*(getattr(self, each.name)[rows] for each in fields(Measured)))

    def shifted(self, first: Ticks, last: Ticks) -> Measured:
        """Of matches moved by `first` to `last` ticks; what cannot happen has no range to be moved."""
        first, last = np.where(self.possible, first, 0), np.where(self.possible, last, 0)
        return replace(self, start=self.start + first, end=self.end + last)

    def put(self, rows: Indexes, found: Measured) -> None:
        """Take over what was measured of some of the matches."""
        for each in fields(Measured):
            getattr(self, each.name)[rows] = getattr(found, each.name)


def impossible(count: int) -> Measured:
    """Matches that no world returns."""
    ticks = np.zeros(count, dtype=np.int64)
    return Measured(np.zeros(count), np.zeros(count), ticks + 1, ticks)


def joined(parts: Sequence[Measured]) -> Measured:
    """What was measured of some matches, and then of others."""
    return Measured(
        *(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Measured))
    )


class Total:
    """What is known of n matches so far: sums of probabilities that exclude each other, and ends of ranges.

    `certain`: while all that counts was certain.
    """

    def __init__(self, count: int) -> None:
        self.confidence: Reals = np.zeros(count)
        self.start: Ticks = np.full(count, _LAST)
        self.end: Ticks = np.full(count, -_LAST)
        self.certain: Flags = np.ones(count, dtype=bool)

    def put(self, rows: Indexes | slice, found: Measured) -> None:
        """Set what was measured of some matches at once."""
        self.confidence[rows], self.certain[rows] = found.confidence, found.confidence == 1.0
        self.start[rows], self.end[rows] = found.start, found.end

    def add(self, rows: Indexes, confidence: Reals, start: Ticks, end: Ticks) -> None:
        """Add what each of these gives to the match of its row; nothing where it cannot happen."""
        some = np.flatnonzero(start <= end)
        np.add.at(self.confidence, rows[some], confidence[some])
        self.widen(rows[some], start[some], end[some])

    def widen(self, rows: Indexes, start: Ticks, end: Ticks) -> None:
        """Make the ranges of the matches of these rows hold others, too."""
        np.minimum.at(self.start, rows, start)
        np.maximum.at(self.end, rows, end)

    @property
    def possible(self) -> Flags:
        """The matches of which something was found that some world returns."""
        return self.start <= self.end

    def measured(self) -> Measured:
        """What was measured; impossible where nothing was."""
        confidence = np.where(self.possible, self.confidence, 0.0)
        return Measured.exact(confidence, self.start, self.end, self.possible)
