"""Tightest time range of a chain: smallest first and largest last tick over its worlds.

Where masses have no holes these are the ends of the valid intervals.  A histogram can have holes, in
which no world puts the event; then the earliest chain from each possible start is followed until
one fits the window.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import apart
from cepctl.engines.kernels.kernel import inner, kernel

_NONE = np.iinfo(np.int64).max


def chain_range(
    masses: Masses, matches: Indexes, valid_lower: Ticks, valid_upper: Ticks, window: int | None
) -> tuple[Ticks, Ticks, Flags]:
    """First and last ticks, each of shape (n,), and whether the match can happen at all.

    Parameters are those of `chain_confidence`.
    """
    first, last, happens = valid_lower[:, 0], valid_upper[:, -1], np.ones(len(matches), dtype=bool)
    if masses.uniform or not masses.has_hole.any():
        return first, last, happens
    rows = np.flatnonzero(masses.has_hole[matches].any(axis=1))
    if len(rows):
        width, chains = np.int64(0 if window is None else window), matches[rows]
        first, last = first.copy(), last.copy()
        first[rows] = _first_ticks(masses.buckets, chains, width)
        last[rows] = -_first_ticks(masses.mirrored.buckets, chains[:, ::-1].copy(), width)
        happens[rows] = first[rows] != _NONE
    return first, last, happens


@inner
def _next_possible(buckets, event, tick):
    """First tick of positive mass at or after `tick`."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if buckets.hi[b] >= tick:
            return max(buckets.lo[b], tick)
    return _NONE


@kernel
def _first_ticks(buckets, matches, window):
    result = np.empty(matches.shape[0], dtype=np.int64)
    for row in range(matches.shape[0]):
        tick = buckets.lo[buckets.starts[matches[row, 0]]]
        while tick != _NONE:
            tick = _next_possible(buckets, matches[row, 0], tick)
            last = tick
            for position in range(1, matches.shape[1]):
                if last != _NONE:
                    last = _next_possible(buckets, matches[row, position], last + 1)
            if _NONE in (tick, last):
                tick = _NONE
            elif window > 0 and apart(tick, last) >= window:
                tick = last - window + 1
                continue
            break
        result[row] = tick
    return result
