"""The law of the start alone of events that last: that of both ends, added up over the end.

    P(s) = p_start(s) P(L0 <= t - s <= L1) / Z          source: docs/what-lasts.md

From one tick to the next the probability of the end changes by p_end(s + 1 + L1) - p_end(s + L0).  Where that
is 0 a bucket of the start stays one; where it is not, each of its ticks becomes a bucket.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.endpoints import Endpoints, certainly_agreeing
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import LAST, apart, plus, tick_count
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Reals, Ticks

MOST_BUCKETS = 1 << 24
"""Buckets of all starts together, which take 400 MB."""


def masses_of_starts(ends: Endpoints, starts: Masses) -> Masses:
    """The masses of starts, with those of events that last given how long these may last.

    `ends`: of all events.  `starts`: the masses of events that do not last.

    Raises
    ------
    QueryTooLargeError
        If starts have more than MOST_BUCKETS probabilities.
    """
    undecided = (ends.whole > 0.0) & ~certainly_agreeing(ends)
    if not undecided.any():
        return starts
    law = ends.masses.buckets, ends.end, ends.shortest, ends.longest, ends.whole
    offsets = np.zeros(len(ends) + 1, dtype=np.int64)
    if not _fill(starts.buckets, *law, undecided, offsets, _room(0), False):
        raise QueryTooLargeError(
            f"events that last start at more than {MOST_BUCKETS:,} ticks of different probability, since how "
            "long they may last depends on that; ingest them with a coarser time unit, or narrower ends"
        )
    lo, hi, density = found = _room(int(offsets[-1]))
    _fill(starts.buckets, *law, undecided, offsets, found, True)
    return Masses.of_buckets(offsets, lo, hi, density)


def _room(count: int) -> tuple[Ticks, Ticks, Reals]:
    """First and last tick of so many buckets, and their densities."""
    return np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count)


@kernel
def _fill(starts, ends, end, shortest, longest, whole, undecided, offsets, found, filling):
    """Count the buckets of every event, or fill them; whether there are not too many."""
    count = 0
    for event in range(len(end)):
        for b in range(starts.starts[event], starts.starts[event + 1]):
            at, last, share = starts.lo[b], starts.hi[b], starts.density[b]
            if not undecided[event]:
                count = _put(found, count, at, last, share, filling)
                continue
            while at <= last:
                until, level = _alike(ends, end[event], shortest[event], longest[event], at, last)
                if not level and count + tick_count(at, until) > MOST_BUCKETS:
                    return False
                while at <= until:
                    to = until if level else at
                    mass = mass_on(ends, end[event], plus(at, shortest[event]), plus(at, longest[event]))
                    if mass > 0.0:
                        count = _put(found, count, at, to, share * mass / whole[event], filling)
                    at = to + 1
        offsets[event + 1] = count
        if count > MOST_BUCKETS:
            return False
    return True


@inner
def _put(found, count, first, last, density, filling):
    """Count a bucket, and fill it; returns how many there are now."""
    if filling:
        lo, hi, densities = found
        lo[count], hi[count], densities[count] = first, last, density
    return count + 1


@inner
def _alike(ends, end, shortest, longest, at, last):
    """Up to which tick the probability of the end changes as from `at` on, and whether it does not change."""
    entering, leaving = plus(plus(at, longest), 1), plus(at, shortest)
    more, more_steps = _piece(ends, end, entering)
    less, less_steps = _piece(ends, end, leaving)
    # It changes alike from each of these ticks to the next, so that the one after them belongs to them.
    return min(last, plus(plus(at, min(more_steps, less_steps)), 1)), more == less


@inner
def _piece(buckets, event, tick):
    """The mass at a tick, and for how many more ticks it is the same."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if tick < buckets.lo[b]:
            return 0.0, apart(tick, buckets.lo[b] - 1)
        if tick <= buckets.hi[b]:
            return buckets.density[b], apart(tick, buckets.hi[b])
    return 0.0, LAST
