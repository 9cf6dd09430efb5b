"""Pieces -> epochs and segments: a segment shares one residual, and a jump ties it to the one before.

From the left, pieces of an epoch join while the widest range is at most twice the narrowest, and so for the
standard deviations; one without never joins one with.  If that makes more than eight segments, four times are
allowed, and so on.  Between neighbours the residual can move by the drift over both lengths and by all that
their estimates move: a jump that is not less than both ranges together says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Numbers
from cepctl.clock_logs.values import NONE, Pieces, growth

_MOST_SEGMENTS = 8
_LARGEST_FACTOR = 1 << 62
_FIRST_LOOK = 64


@dataclass(frozen=True)
class Shared:
    """Of each piece its epoch and segment, from 1, and on the first piece of a segment its jump, else NONE."""

    epoch: Numbers
    segment: Numbers
    jump: Numbers


def shared_residuals(pieces: Pieces, drift: int) -> Shared:
    """The epochs, segments and jumps of the pieces of a host."""
    begins = ~pieces.joins
    starts = begins.copy()
    edges = np.append(np.flatnonzero(begins), len(pieces))
    width = pieces.high - pieces.low
    for at in np.flatnonzero(np.diff(edges) > 1).tolist():
        first, last = int(edges[at]), int(edges[at + 1])
        starts[_segments(width[first:last], pieces.sd[first:last]) + first] = True
    return Shared(np.cumsum(begins), np.cumsum(starts), _jumps(pieces, starts, begins, drift))


def _segments(width: Numbers, deviation: Numbers) -> Numbers:
    """Where the segments of an epoch begin."""
    factor = 2
    while True:
        found = _greedy(width, deviation, factor)
        if len(found) <= _MOST_SEGMENTS or factor >= _LARGEST_FACTOR:
            return np.array(found, np.int64)
        factor *= 2


def _greedy(width: Numbers, deviation: Numbers, factor: int) -> list[int]:
    """The same for one factor; those behind the ninth are not looked for where a larger factor may do."""
    found, at = [0], 0
    while (at := _end_of(width, deviation, at, factor)) < len(width):
        found.append(at)
        if len(found) > _MOST_SEGMENTS and factor < _LARGEST_FACTOR:
            break
    return found


def _end_of(width: Numbers, deviation: Numbers, first: int, factor: int) -> int:
    """The first piece behind `first` that cannot share its residual."""
    at, look = first, _FIRST_LOOK
    widths, deviations = (width[first], width[first]), (deviation[first], deviation[first])
    while at < len(width):
        there = slice(at, at + look)
        own = deviation[there]
        bad = (own == NONE) != (deviation[first] == NONE)
        widths, wide = _spread(width[there], widths, factor)
        deviations, far = _spread(own, deviations, factor)
        bad |= wide | (far & (own != NONE))
        if bad.any():
            return at + int(bad.argmax())
        at, look = at + look, 2 * look
    return len(width)


def _spread(values: Numbers, seen: tuple[int, int], factor: int) -> tuple[tuple[int, int], Flags]:
    """The least and largest value so far, and where the largest is more than `factor` times the least."""
    least = np.minimum(np.minimum.accumulate(values), seen[0])
    largest = np.maximum(np.maximum.accumulate(values), seen[1])
    return (least[-1], largest[-1]), (largest - 1) // factor >= least


def _jumps(pieces: Pieces, starts: Flags, begins: Flags, drift: int) -> Numbers:
    """How far the residual of a segment can be from that of the one before; NONE where nothing ties it."""
    found = np.full(len(pieces), NONE, np.int64)
    at = np.flatnonzero(starts)
    if len(at) < 2:
        return found
    ends = np.append(at[1:], len(pieces)) - 1
    length = pieces.stop[ends] - pieces.start[at]
    moved = np.add.reduceat(np.abs(pieces.ahead_to - pieces.ahead), at)
    low, high = np.minimum.reduceat(pieces.low, at), np.maximum.reduceat(pieces.high, at)
    tied = np.flatnonzero(~begins[at[1:]]) + 1
    jump = growth(length[tied - 1] + length[tied], drift) + moved[tied - 1] + moved[tied]
    both = np.maximum(high[tied - 1], high[tied]) - np.minimum(low[tied - 1], low[tied])
    found[at[tied]] = np.where(jump < both, jump, NONE)
    return found
