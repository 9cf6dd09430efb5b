"""Events that last as points: one for each pair of a start and an end that the law of an event allows.

Widths multiply, so that this is for few and narrow events; a bound says when there are too many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.point.stream import PointStream, point_stream, positions
from cepctl.errors import QueryTooLargeError

MAX_PAIRS = 5_000_000
"""Pairs of a start and an end that the events may expand into."""


@dataclass(frozen=True)
class Pairs:
    """The points of a stream, whose ticks are starts; `end`, shape (p,), is where each ends."""

    points: PointStream
    end: Ticks

    @classmethod
    def of(cls, endpoints: Endpoints, wanted: Indexes) -> Pairs:
        """Expand some events (row numbers, ascending).

        Raises
        ------
        QueryTooLargeError
            If there would be more than MAX_PAIRS; names their number.
        """
        needed = np.unique(np.concatenate([wanted, endpoints.end[wanted]]))
        ticks = point_stream(endpoints.masses, needed)
        sizes = np.diff(ticks.starts)
        lasts = endpoints.end[wanted] != wanted
        counts = sizes[wanted] * np.where(lasts, sizes[endpoints.end[wanted]], 1)
        if counts.sum() > MAX_PAIRS:
            raise QueryTooLargeError(
                f"the events that can matter have {counts.sum():,} pairs of a start and an end, the point "
                f"engine takes at most {MAX_PAIRS:,}; use --engine event, fewer events or a coarser time unit"
            )
        row, within = positions(counts)
        event = wanted[row]
        ends = np.where(lasts, sizes[endpoints.end[wanted]], 1)[row]
        first = ticks.starts[event] + within // ends
        last = np.where(lasts[row], ticks.starts[endpoints.end[event]] + within % ends, first)
        start, end = ticks.tick[first], ticks.tick[last]
        length = end - start
        allowed = (length >= endpoints.shortest[event]) & (length <= endpoints.longest[event])
        mass = ticks.mass[first] * np.where(lasts[row], ticks.mass[last], 1.0)
        kept = np.flatnonzero(allowed)
        # An event that ends before its start has no pair.
        whole = np.bincount(event[kept], weights=mass[kept], minlength=len(endpoints))
        mass = mass[kept] / whole[event[kept]]
        starts = np.searchsorted(event[kept], np.arange(len(endpoints) + 1))
        return cls(PointStream(starts, start[kept], event[kept], mass), end[kept])
