"""What is known of matches whose measure is summed over nodes of offsets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.clocks.nodes import Nodes
from cepctl.engines.confidence.measured import Measured

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Total:
    """What is known of n matches so far; `sure` while every measure that counts was exactly 1."""

    confidence: Reals
    start: Ticks
    end: Ticks
    sure: Indexes

    @classmethod
    def of(cls, count: int) -> Total:
        return cls(np.zeros(count), np.full(count, _LAST), np.full(count, -_LAST), np.ones(count, np.int64))

    def put(self, rows: Indexes, found: Measured) -> None:
        """Set what was measured of some matches at once."""
        self.confidence[rows] = found.confidence
        self.start[rows], self.end[rows] = found.start, found.end
        self.sure[rows] = found.confidence == 1.0

    def add(self, nodes: Nodes, found: Measured, first: Ticks, last: Ticks) -> None:
        """Add what was measured at some nodes, whose ticks are moved by `first` to `last`."""
        happens = found.start <= found.end
        np.add.at(self.confidence, nodes.match, nodes.weight * found.confidence)
        np.minimum.at(self.start, nodes.match[happens], (found.start + first)[happens])
        np.maximum.at(self.end, nodes.match[happens], (found.end + last)[happens])
        self.sure[nodes.match[(nodes.weight != 0.0) & (found.confidence != 1.0)]] = 0

    def measured(self) -> Measured:
        """What was measured; impossible where nothing was."""
        possible = self.start <= self.end
        confidence = np.where(self.sure.astype(bool) & possible, 1.0, self.confidence)
        return Measured(
            np.where(possible, confidence, 0.0),
            np.zeros(len(possible)),
            np.where(possible, self.start, 1),
            np.where(possible, self.end, 0),
        )
