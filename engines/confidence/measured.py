"""What measuring gives: confidence, its error and the time range of matches, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks


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

    def taken(self, rows: Indexes) -> Measured:
        """Of some of the matches, in the order of `rows`, which may repeat."""
        return Measured(*(getattr(self, each.name)[rows] for each in fields(Measured)))

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
