"""Which chains are others moved in time: the same masses at the same distances.

Regular and coarse stamps put the same few intervals at the same few distances over and over.  The closed form
of a chain knows nothing of time but distances, so such chains have the same confidence to the last bit, and
their time ranges are as far apart as they are.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.kernel import inner, kernel

_FEWEST = 1 << 8
"""Of fewer chains none is looked for."""
_TRIED = 1 << 10
"""After so many chains it is asked whether they repeat."""
_SLOTS = 1 << 14
"""Places for chains that differ, twice as many as may be taken: they stay in the cache of a core."""


def moved_matches(masses: Masses, matches: Indexes) -> Indexes | None:
    """For each of n chains, shape (n, l), the first that it is when moved, shape (n,).

    None where so many differ, or there are so few of them, that it is quicker to measure each.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cepctl.engines.columns.masses import masses_of
    >>> ticks = list(range(0, 4000, 10))
    >>> events = pa.table({"event_id": [*map(str, ticks)], "lower": ticks, "upper": [t + 15 for t in ticks]})
    >>> pairs = np.array([[i, i + 1 + i % 2] for i in range(0, 398)])
    >>> moved_matches(masses_of(events), pairs)[:6].tolist()
    [0, 1, 0, 1, 0, 1]
    """
    if len(matches) < _FEWEST or not masses.can_be_moved:
        return None
    first = np.empty(len(matches), dtype=np.int64)
    matches = np.ascontiguousarray(matches)
    found = _first_alike(masses.buckets, matches, np.full(_SLOTS, -1, dtype=np.int64), _TRIED, first)
    return first if found else None


@kernel
def _first_alike(buckets, matches, slots, tried, first):
    """Fill `first`; False where most of the first `tried` chains differ, or half of the slots are taken."""
    different = 0
    for i in range(len(matches)):
        if i == tried and 2 * different > tried:
            return False
        slot = _hashed(buckets, matches[i]) & (len(slots) - 1)
        while slots[slot] >= 0 and not _alike(buckets, matches[slots[slot]], matches[i]):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot] = i
            different += 1
            if 2 * different >= len(slots):
                return False
        first[i] = slots[slot]
    return True


@inner
def _hashed(buckets, events):
    begin, mixed = buckets.lower[events[0]], 0
    for event in events:
        mixed = (mixed ^ (buckets.lower[event] - begin)) * 0x2545F4914F6CDD1D
        mixed ^= mixed >> 32
        mixed = (mixed ^ (buckets.upper[event] - begin)) * 0x2545F4914F6CDD1D
        mixed ^= mixed >> 29
    return mixed


@inner
def _alike(buckets, events, others):
    """Whether some events are as far apart as others, with the same masses."""
    lower, upper, starts = buckets.lower, buckets.upper, buckets.starts
    moved = lower[others[0]] - lower[events[0]]
    for j in range(len(events)):
        event, other = events[j], others[j]
        if lower[other] - lower[event] != moved or upper[other] - upper[event] != moved:
            return False
        begin, end = starts[event], starts[event + 1]
        if starts[other + 1] - starts[other] != end - begin:
            return False
        for b in range(end - begin):
            one, another = begin + b, starts[other] + b
            if (
                buckets.lo[another] - buckets.lo[one] != moved
                or buckets.hi[another] - buckets.hi[one] != moved
            ):
                return False
            if buckets.density[another] != buckets.density[one]:
                return False
    return True
