"""Tightest time range of one chain whose rivals must stay out of several gaps.

As in `time_range`, but a rival is kept out from one event to another that need not be its neighbour, as far
as it must not be at the ticks of those between.  Where its mass has no hole, the chain is certainly broken by
it if and only if it lies between two such events wherever it is; that too holds of the smaller of two chains,
tick by tick, where it holds of neither.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.tick_masses import first_possible
from cepctl.engines.columns.tick_sums import LAST
from cepctl.engines.kernels.kernel import inner


class Between(NamedTuple):
    """Rivals of a chain that must not lie between two events of it, shape (n,) each.

    Nor at the tick of the later one, where it is `closed`; of the earlier one, where time is mirrored.
    """

    rival: Indexes
    first: Indexes
    last: Indexes
    closed: Flags


@inner
def range_of_kept(buckets, mirrored, event, kept, window):
    """First and last tick of a chain; the last before the first where it cannot happen."""
    between = _between(kept)
    start = _first_tick(buckets, event, between, window, False)
    last = len(event) - 1
    turned = Between(between.rival, last - between.last, last - between.first, between.closed)
    end = _first_tick(mirrored, event[::-1].copy(), turned, window, True)
    return (1, 0) if max(start, end) == LAST else (start, -end)


@inner
def _between(kept):
    """The same rivals by the two events between which each must not lie, wherever the others are."""
    count = (kept.last - kept.first).sum()
    rival, first = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    last, closed = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.bool_)
    found = 0
    for r in range(len(kept.event)):
        since = kept.first[r]
        for i in range(since + 1, kept.last[r] + 1):
            never = kept.never_at[r] >> i & 1 == 1
            if i == kept.last[r] or not never:
                rival[found], first[found], last[found], closed[found] = kept.event[r], since, i, never
                found, since = found + 1, i
    return Between(rival[:found], first[:found], last[:found], closed[:found])


@inner
def _first_tick(buckets, event, between, window, mirrored):
    """The smallest tick of the first event; LAST if the chain cannot happen."""
    tick = np.empty(len(event), dtype=np.int64)
    for i in range(len(event)):
        tick[i] = buckets.lower[event[i]]
    moving = True
    while moving:
        moving = _in_order(buckets, event, tick)
        moving = _pushed(buckets, event, between, tick, mirrored) or moving
        earliest = tick[-1] - window + 1
        if window > 0 and tick.max() != LAST and tick[0] < earliest:
            tick[0] = first_possible(buckets, event[0], earliest)
            moving = True
        if tick.max() == LAST:
            return LAST
    return tick[0]


@inner
def _in_order(buckets, event, tick):
    """Push ticks up behind those of the events before; tells whether any moved."""
    moved = False
    for i in range(1, len(event)):
        if tick[i - 1] != LAST and tick[i] <= tick[i - 1]:
            tick[i] = first_possible(buckets, event[i], tick[i - 1] + 1)
            moved = True
    return moved


@inner
def _pushed(buckets, event, between, tick, mirrored):
    """Push ticks up that some rival is always after, and before a later one; tells whether any moved."""
    moved = False
    for k in range(len(between.rival)):
        rival, i, j = between.rival[k], between.first[k], between.last[k]
        after = buckets.lower[rival] + (between.closed[k] and mirrored)
        before = buckets.upper[rival] - (between.closed[k] and not mirrored)
        if tick[i] != LAST and tick[i] < after and before < tick[j]:
            tick[i] = first_possible(buckets, event[i], after)
            moved = True
    return moved
