"""Tightest time range of one chain whose rivals must stay out of several gaps.

As in `time_range`, but a rival is kept out from one event to another that need not be its neighbour, as far
as it must not be at the ticks of those between.  Where its mass has no hole, the chain is certainly broken by
it if and only if it lies between two such events wherever it is; that too holds of the smaller of two chains,
tick by tick, where it holds of neither.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.confidence.gaps.time_range import Between, find_smallest, room_between
from cepctl.engines.kernels.kernel import inner


@inner
def range_of_kept(buckets, mirrored, event, kept, window):
    """First and last tick of a chain; the last before the first where it cannot happen."""
    between, count = _between(kept)
    tick, last = np.empty(len(event), dtype=np.int64), len(event) - 1
    if not find_smallest(buckets, event, between, count, window, False, tick):
        return 1, 0
    start = tick[0]
    turned = Between(between.rival, last - between.last, last - between.first, between.closed)
    if not find_smallest(mirrored, event[::-1].copy(), turned, count, window, True, tick):
        return 1, 0
    return start, -tick[0]


@inner
def _between(kept):
    """The rivals by the two events between which each must not lie, wherever the others are; how many."""
    between, found = room_between((kept.last - kept.first).sum()), 0
    for r in range(len(kept.event)):
        since = kept.first[r]
        for i in range(since + 1, kept.last[r] + 1):
            never = kept.never_at[r] >> i & 1 == 1
            if i == kept.last[r] or not never:
                between.rival[found], between.closed[found] = kept.event[r], never
                between.first[found], between.last[found] = since, i
                found, since = found + 1, i
    return between, found
