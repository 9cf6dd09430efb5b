"""Uncertain events as point events: one for every tick that an event may have, with its mass.

    name here             in ZDI10, section 4
    point                 a point event: the event at one tick of its interval
    mass                  the probability of that tick
    PointStream           the stream of point events
    PointIndex            those points of it that fit one component, in time order
    Budget                ours: how many steps may be taken, since widths multiply

What is stored and what is done grow with the width of the intervals; that is the price the paper
compares with, and bounds say when it is too high.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals, Ticks

MAX_POINTS = 50_000_000
"""Points that a stream may expand into."""

MAX_STEPS = 1_000_000_000
"""Pairs of a partial match and a point that may be looked at, over the whole query."""

ROWS_AT_ONCE = 1 << 21

_REMEDY = "use --engine event, fewer events, or a coarser time unit"


@dataclass
class Budget:
    """Steps taken so far."""

    taken: int = 0

    def spend(self, steps: int) -> None:
        """Count steps that are about to be taken; raises QueryTooLargeError above MAX_STEPS."""
        self.taken += steps
        if self.taken > MAX_STEPS:
            raise QueryTooLargeError(
                f"the combinations of points are more than {MAX_STEPS:,}, the point engine looks at no "
                f"more; {_REMEDY}"
            )


@dataclass(frozen=True)
class PointStream:
    """p points, numbered event by event: event e owns those from starts[e] to starts[e + 1].

    `tick`, `event`, `mass`: shape (p,).  Events that cannot matter own no points.
    """

    starts: Indexes
    tick: Ticks
    event: Indexes
    mass: Reals

    def points_of(self, events: Indexes) -> tuple[Indexes, Indexes]:
        """The points of some events, and for each point the position of its event in `events`."""
        counts = self.starts[events + 1] - self.starts[events]
        owner, within = places_in_runs(counts)
        return self.starts[events][owner] + within, owner


def point_stream(masses: Masses, wanted: Indexes) -> PointStream:
    """Expand the intervals of some events (row numbers, ascending) into points.

    Raises
    ------
    QueryTooLargeError
        If there would be more than MAX_POINTS; names their number.

    Examples
    --------
    >>> one = np.array([3]), np.array([5]), np.array([0, 1])
    >>> stream = point_stream(Masses(*one, one[0], one[1], np.array([1 / 3])), np.array([0]))
    >>> stream.tick.tolist(), stream.mass.round(3).tolist()
    ([3, 4, 5], [0.333, 0.333, 0.333])
    """
    chosen = np.zeros(len(masses.lower), dtype=bool)
    chosen[wanted] = True
    owner = np.repeat(np.arange(len(masses.lower)), np.diff(masses.starts))
    bucket = np.flatnonzero(chosen[owner])
    widths = ticks_between(masses.lo[bucket], masses.hi[bucket])
    if widths.sum() > MAX_POINTS:
        raise QueryTooLargeError(
            f"the events that can matter expand into {widths.sum():,.0f} points, the point engine takes at "
            f"most {MAX_POINTS:,}; {_REMEDY}"
        )
    of, within = places_in_runs(widths.astype(np.int64))
    event = owner[bucket[of]]
    starts = np.searchsorted(event, np.arange(len(masses.lower) + 1))
    return PointStream(starts, masses.lo[bucket[of]] + within, event, masses.density[bucket[of]])


@dataclass(frozen=True)
class PointIndex:
    """The points that fit a component, in time order within each join key.

    `point`: numbers in the stream; `ticks`: distinct ticks, ascending; `rank`: key and tick as one
    ascending number; shape (m,) but for `ticks`.
    """

    point: Indexes
    ticks: Ticks
    rank: Indexes

    def between(self, code: Indexes, first: Ticks, last: Ticks) -> tuple[Indexes, Indexes]:
        """Where in the index the points with this key and a tick in [first, last] begin and end.

        All of shape (n,); the code -1 has no points.
        """
        base = code * (len(self.ticks) + 1)
        begin = np.searchsorted(self.rank, base + np.searchsorted(self.ticks, first))
        end = np.searchsorted(self.rank, base + np.searchsorted(self.ticks, last, side="right"))
        return begin, np.where((code >= 0) & (end > begin), end, begin)


def point_index(stream: PointStream, events: Indexes, codes: Indexes) -> PointIndex:
    """Index the points of some events by key; events of code -1 are left out."""
    usable = codes >= 0
    point, owner = stream.points_of(events[usable])
    code, tick = codes[usable][owner], stream.tick[point]
    order = np.lexsort((tick, code))
    ticks = np.unique(tick)
    rank = code[order] * (len(ticks) + 1) + np.searchsorted(ticks, tick[order])
    return PointIndex(point[order], ticks, rank)


def batches(counts: Indexes) -> Iterator[slice]:
    """Consecutive rows that own about ROWS_AT_ONCE items together, at least one row each."""
    total = np.cumsum(counts)
    start, done = 0, 0
    while start < len(counts):
        stop = max(int(np.searchsorted(total, done + ROWS_AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start, done = stop, int(total[stop - 1])
