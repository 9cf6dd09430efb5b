"""How far the residual of a segment can be from that of the one before, which ties their worlds.

It can move by the drift over both lengths, and by all that their estimates move.  A jump that is not less
than both ranges together says nothing, and so does the first segment of an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cepctl.clocks.logs.values import NONE, Pieces, growth
from cepctl.numeric.arrays import Numbers

_LEAST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass
class Totals:
    """What the pieces of each segment sum up to, as they come in parts; segment i starts at `starts[i]`.

    `length` is that of its readings, `moved` how far its estimates move, `low` and `high` are its range.
    """

    starts: Numbers
    length: Numbers = field(init=False)
    moved: Numbers = field(init=False)
    low: Numbers = field(init=False)
    high: Numbers = field(init=False)
    _count: int = 0

    def __post_init__(self) -> None:
        count = len(self.starts)
        self.length, self.moved = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.low, self.high = np.full(count, _LARGEST), np.full(count, _LEAST)

    def take(self, pieces: Pieces) -> None:
        """Take the next pieces in."""
        segment = np.searchsorted(self.starts, self._count + np.arange(len(pieces)), side="right") - 1
        edges = np.flatnonzero(np.diff(segment, prepend=-1))
        own = segment[edges]
        self.length[own] += np.add.reduceat(pieces.stop - pieces.start, edges)
        self.moved[own] += np.add.reduceat(np.abs(pieces.ahead_to - pieces.ahead), edges)
        self.low[own] = np.minimum(self.low[own], np.minimum.reduceat(pieces.low, edges))
        self.high[own] = np.maximum(self.high[own], np.maximum.reduceat(pieces.high, edges))
        self._count += len(pieces)

    def jumps(self, begins: Numbers, drift: int) -> Numbers:
        """Of each segment its jump, NONE where nothing ties it; epochs begin at the pieces `begins`."""
        found = np.full(len(self.starts), NONE, np.int64)
        tied = np.flatnonzero(~np.isin(self.starts, begins))
        before = tied - 1
        jump = growth(self.length[before] + self.length[tied], drift) + self.moved[before] + self.moved[tied]
        both = np.maximum(self.high[before], self.high[tied]) - np.minimum(self.low[before], self.low[tied])
        found[tied] = np.where(jump < both, jump, NONE)
        return found
