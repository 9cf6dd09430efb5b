"""Pieces -> epochs and segments: a segment shares one residual.

From the left, pieces of an epoch join while the widest range is at most twice the narrowest, and so for the
standard deviations; one without never joins one with.  If that makes more than eight segments, four times are
allowed, and so on.

Pieces come in parts.  An epoch that lies in one part is looked at as often as it takes; one that goes on is
looked at for all factors at once, each until it has made too many segments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cepctl.clocks.logs.values import NONE, Pieces
from cepctl.numeric.arrays import Flags, Numbers

_MOST_SEGMENTS = 8
_FACTORS = tuple(2**power for power in range(1, 63))
_FIRST_LOOK = 64
_NOTHING = (1 << 62, 0)


@dataclass
class _Segment:
    """A segment that may go on: the least and largest width and deviation of its pieces."""

    widths: tuple[int, int] = _NOTHING
    deviations: tuple[int, int] = _NOTHING
    without: bool = False

    def end(self, width: Numbers, deviation: Numbers, first: int, factor: int) -> int:
        """The first piece from `first` on that cannot join; the number of pieces where all can."""
        at, look = first, _FIRST_LOOK
        if self.widths == _NOTHING:
            self.without = bool(deviation[first] == NONE)
        while at < len(width):
            there = slice(at, at + look)
            own = deviation[there]
            widths, wide = _spread(width[there], self.widths, factor)
            deviations, far = _spread(own, self.deviations, factor)
            bad = ((own == NONE) != self.without) | wide | (far & (not self.without))
            if bad.any():
                return at + int(bad.argmax())
            self.widths, self.deviations = widths, deviations
            at, look = at + look, 2 * look
        return len(width)


@dataclass
class _Attempt:
    """The segments of an epoch for one factor: where they begin, and the last of them."""

    factor: int
    starts: list[int]
    last: _Segment = field(default_factory=_Segment)

    @property
    def is_too_many(self) -> bool:
        return len(self.starts) > _MOST_SEGMENTS and self.factor < _FACTORS[-1]

    def take(self, width: Numbers, deviation: Numbers, offset: int) -> None:
        """Take the next pieces of the epoch in, which are those from `offset` on."""
        at = 0
        while (at := self.last.end(width, deviation, at, self.factor)) < len(width):
            self.starts.append(at + offset)
            self.last = _Segment()
            if self.is_too_many:
                return


def _spread(values: Numbers, seen: tuple[int, int], factor: int) -> tuple[tuple[int, int], Flags]:
    """The least and largest value so far, and where the largest is more than `factor` times the least."""
    least = np.minimum(np.minimum.accumulate(values), seen[0])
    largest = np.maximum(np.maximum.accumulate(values), seen[1])
    return (int(least[-1]), int(largest[-1])), (largest - 1) // factor >= least


@dataclass
class Segmenter:
    """Finds the epochs and segments of pieces that come in parts: `begins` and `starts` of them, from 0."""

    begins: list[Numbers] = field(default_factory=list)
    starts: list[Numbers] = field(default_factory=list)
    _count: int = 0
    _attempts: list[_Attempt] = field(default_factory=list)

    def take(self, pieces: Pieces) -> None:
        """Take the next pieces in."""
        width, edges = pieces.high - pieces.low, np.flatnonzero(~pieces.joins)
        first = int(edges[0]) if len(edges) else len(pieces)
        if first:
            self._go_on(width[:first], pieces.sd[:first], 0)
        if len(edges):
            self._end_epoch()
            self.begins.append(edges + self._count)
            # Most epochs of a log with many are single pieces.
            alone = np.diff(edges) == 1
            self.starts.append(edges[:-1][alone] + self._count)
            for at in np.flatnonzero(~alone).tolist():
                there = slice(int(edges[at]), int(edges[at + 1]))
                self.starts.append(_segments(width[there], pieces.sd[there], int(edges[at]) + self._count))
            last = int(edges[-1])
            self._attempts = [_Attempt(factor, [last + self._count]) for factor in _FACTORS]
            self._go_on(width[last:], pieces.sd[last:], last)
        self._count += len(pieces)

    def _go_on(self, width: Numbers, deviation: Numbers, offset: int) -> None:
        """The epoch that is open goes on."""
        for attempt in self._attempts:
            attempt.take(width, deviation, offset + self._count)
        self._attempts = [attempt for attempt in self._attempts if not attempt.is_too_many]

    def _end_epoch(self) -> None:
        if self._attempts:
            self.starts.append(np.array(self._attempts[0].starts, np.int64))
        self._attempts = []

    def found(self) -> tuple[Numbers, Numbers]:
        """Where epochs begin and where segments start, once all pieces are taken in."""
        self._end_epoch()
        nothing = np.empty(0, np.int64)
        return np.concatenate([nothing, *self.begins]), np.sort(np.concatenate([nothing, *self.starts]))


def _segments(width: Numbers, deviation: Numbers, offset: int) -> Numbers:
    """Where the segments of a whole epoch begin."""
    for factor in _FACTORS:
        attempt = _Attempt(factor, [offset])
        attempt.take(width, deviation, offset)
        if not attempt.is_too_many:
            break
    return np.array(attempt.starts, np.int64)
