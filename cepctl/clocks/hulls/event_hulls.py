"""How far clocks are ahead of the reference -> pieces of their readings, as those of logs of clocks.

    estimate     the middle of the extremes, and where two windows meet, the mean of both middles
    residual     the most that an extreme at either end is off the estimate, to both sides
    epoch        windows that follow each other, as long as their extremes meet

The clock of the reference is right by what it is, all the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.clocks.hulls.windows import Grid, Windows
from cepctl.clocks.logs.values import HULL, NONE, Pieces
from cepctl.numeric.arrays import Flags, Ticks


@dataclass(frozen=True)
class HullSummary:
    """What was found of one host, nanoseconds: its estimate at the first and the last reading that has one.

    `off` is its largest residual: half the width of its widest hull.
    """

    host: str
    first: int
    last: int
    ahead: int
    ahead_to: int
    off: int
    pieces: int
    epochs: int


def hull_summary(host: str, pieces: Pieces) -> HullSummary:
    """The figures of a host, which has a piece at least."""
    return HullSummary(
        host=host,
        first=int(pieces.start[0]),
        last=int(pieces.stop[-1]),
        ahead=int(pieces.ahead[0]),
        ahead_to=int(pieces.ahead_to[-1]),
        off=int(pieces.high.max()),
        pieces=len(pieces),
        epochs=int((~pieces.joins).sum()),
    )


def pieces_of_reference(grid: Grid) -> Pieces:
    """One piece: the clock is not ahead."""
    nothing = np.zeros(1, np.int64)
    return _pieces(np.array([grid.first]), np.array([grid.end]), nothing, nothing, nothing, nothing != 0)


def pieces_of_windows(windows: Windows) -> Pieces:
    """The pieces of one host, whose windows are in order."""
    low, high = np.stack([windows.low, windows.low_to]), np.stack([windows.high, windows.high_to])
    middles = low + high
    joins = np.zeros(len(windows.begin), dtype=bool)
    joins[1:] = (
        (windows.begin[1:] == windows.end[:-1]) & (low[0, 1:] <= high[1, :-1]) & (low[1, :-1] <= high[0, 1:])
    )
    # Middles are counted in halves, means in quarters of a nanosecond.
    ahead, ahead_to = middles // 2
    met = np.flatnonzero(joins)
    ahead[met] = ahead_to[met - 1] = (middles[0, met] + middles[1, met - 1]) // 4
    off = np.maximum.reduce([high[0] - ahead, ahead - low[0], high[1] - ahead_to, ahead_to - low[1]])
    return _pieces(windows.begin, windows.end, ahead, ahead_to, off, joins)


def _pieces(start: Ticks, stop: Ticks, ahead: Ticks, ahead_to: Ticks, off: Ticks, joins: Flags) -> Pieces:
    none = np.full(len(start), NONE)
    note = np.full(len(start), HULL)
    return Pieces(start, stop, ahead, ahead_to, -off, off, none, joins, note, none, none)
