"""What lies between rows that follow each other: a step, a gap, or nothing that parts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.clocks.logs.values import HostRows
from cepctl.io.clocks.contract import JUMP, UNLOCKED, UNSYNCHRONISED
from cepctl.numeric.arrays import Flags, Numbers

_FASTEST_SLEW = 12
_GAP = 4


@dataclass(frozen=True)
class RowLinks:
    """What lies between consecutive rows, one element per pair.

    Attributes
    ----------
    touched
        Both rows are synchronised, so a piece touches them.
    placed
        A message places a step between them.
    step
        The clock was set between them, and no message says when: readings go back, the estimate moves by more
        than a twelfth of the time between them, or a servo says so.
    back
        The later row has an earlier reading.
    twice
        The clock was set back between them: it showed some readings twice.
    gap
        They are further apart than four times the usual.
    """

    touched: Flags
    placed: Flags
    step: Flags
    back: Flags
    twice: Flags
    gap: Flags

    @property
    def plain(self) -> Flags:
        """Whether the piece between them can belong to an epoch with others."""
        return self.touched & ~(self.placed | self.step | self.gap)


def links_of(rows: HostRows, zones: Numbers, usual: int) -> RowLinks:
    """What lies between rows outside of `zones`; `usual` is how far they are usually apart, in ns."""
    apart, moved, states = np.diff(rows.time), np.diff(rows.ahead), rows.state
    holds = states != UNSYNCHRONISED
    touched = holds[1:] & holds[:-1]
    begins = zones[:, 0]
    placed = np.searchsorted(begins, rows.time[1:]) > np.searchsorted(begins, rows.time[:-1])
    back = (apart < 0) & ~placed
    step = back | np.isin(states[:-1], (UNLOCKED, JUMP)) | (states[1:] == UNLOCKED)
    step = (step | (np.abs(moved) > apart // _FASTEST_SLEW)) & ~placed
    twice = touched & step & (back | (moved < 0))
    return RowLinks(touched, placed, step, back, twice, (apart > _GAP * usual) & ~placed)
