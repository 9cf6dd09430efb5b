"""Cells of time for sums over ticks: cut where masses change, so that all ticks of one have the same mass."""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.tick_sums import distance, tick_count
from cepctl.engines.kernels.kernel import inner


@inner
def cuts_within(buckets, events, low, high):
    """Where some event's mass changes between two ticks, and both ends of the time between them."""
    room = 2
    for event in events:
        room += 2 * (buckets.starts[event + 1] - buckets.starts[event])
    points = np.empty(room, dtype=np.int64)
    points[0], points[1] = low, high + 1
    count = 2
    for event in events:
        for b in range(buckets.starts[event], buckets.starts[event + 1]):
            for point in (buckets.lo[b], buckets.hi[b] + 1):
                if low < point <= high:
                    points[count] = point
                    count += 1
    return np.unique(points[:count])


@inner
def pieces_of(cut, first, last, window):
    """Begins of pieces from one tick to another, and the tick after them.

    A piece is in one cell, and so is the end of the window that begins there; `window` is 0 for none.
    """
    points = np.empty(2 * len(cut) + 2, dtype=np.int64)
    points[0], points[1] = first, last + 1
    count = 2
    for point in cut:
        if first < point <= last:
            points[count] = point
            count += 1
        if window > 0 and first < point - window + 1 <= last:
            points[count] = point - window + 1
            count += 1
    return np.unique(points[:count])


@inner
def fill_masses(buckets, event, cut, before, each):
    """Fill the mass before each cell, exactly 0 and 1 outside the interval, and that of a tick in it."""
    bucket, end = buckets.starts[event], buckets.starts[event + 1]
    total = 0.0
    for c in range(len(cut) - 1):
        while bucket < end and buckets.hi[bucket] < cut[c]:
            total += buckets.density[bucket] * tick_count(buckets.lo[bucket], buckets.hi[bucket])
            bucket += 1
        if bucket == end:
            before[c], each[c] = 1.0, 0.0
        elif buckets.lo[bucket] > cut[c]:
            before[c], each[c] = min(total, 1.0), 0.0
        else:
            inside = distance(buckets.lo[bucket], cut[c])
            before[c] = min(total + inside * buckets.density[bucket], 1.0)
            each[c] = buckets.density[bucket]
