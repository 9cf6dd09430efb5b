"""The strip of time of a page: where sketches leave room for matches, in all the time of their events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cepctl.matching.sketched import possible_stretches
from cepctl.numeric.arrays import Ticks
from cepctl.render.pictures.records import plain

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

MOST_DRAWN = 1_000
"""Stretches that are nearer to each other than so small a part of the strip are drawn as one."""


@dataclass(frozen=True)
class Strip:
    """The time from `first` to `last`, both ticks included, of which a match can lie in `stretches` alone.

    Of them those that could not be told apart are joined; there are `count`, and they are a `share` of all.
    """

    first: int
    last: int
    count: int
    share: float
    stretches: list[tuple[int, int]]

    def counted_from(self, origin: int) -> dict[str, Any]:
        """What the page is given: ticks after another one."""
        drawn = [[plain(start - origin), plain(end - origin)] for start, end in self.stretches]
        first, last = plain(self.first - origin), plain(self.last - origin)
        return {"first": first, "last": last, "count": self.count, "share": self.share, "stretches": drawn}


def strip_of(plan: Plan, inputs: EventInputs) -> Strip | None:
    """The strip of a run; None where it used no sketch."""
    found = possible_stretches(plan, inputs)
    if found is None:
        return None
    start, end = found.start, found.end
    length = found.last - found.first + 1
    left = float(np.sum(end.astype(np.float64) - start + 1))
    drawn = joined(start, end, length // MOST_DRAWN)
    return Strip(found.first, found.last, len(start), min(left / length, 1.0), drawn)


def joined(start: Ticks, end: Ticks, gap: int) -> list[tuple[int, int]]:
    """Stretches that are apart and ascend, those with at most so many ticks between them as one.

    Examples
    --------
    >>> joined(np.array([0, 10, 30]), np.array([5, 12, 40]), 4)
    [(0, 12), (30, 40)]
    """
    if not len(start):
        return []
    begins = np.append(True, start[1:] - end[:-1] - 1 > gap)
    ends = np.append(begins[1:], True)
    return list(zip(start[begins].tolist(), end[ends].tolist(), strict=True))
