"""What ties leave to the offsets of clocks: those that some offset of each tied clock is near enough to.

In a chain every such offset is that of some world: it is told by going along the chain and back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.clocks import NO_TIE, EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.errors import ContradictionError

_Buckets: TypeAlias = list[tuple[int, int, float]]


def left_by_ties(stamped: EventClocks) -> EventClocks:
    """The clocks of events with the offsets that ties leave, renormalised.

    Raises
    ------
    ContradictionError
        If there is no world; names the clocks.
    """
    tied = np.flatnonzero(stamped.tie != NO_TIE).tolist()
    left = _buckets(stamped.offsets)
    for clock, other in [(each, each - 1) for each in tied] + [(each - 1, each) for each in reversed(tied)]:
        ticks = int(stamped.tie[max(clock, other)])
        left[clock] = _near(left[clock], left[other], ticks)
        if not left[clock]:
            names = stamped.names
            raise ContradictionError(
                f"no possible world: the offsets of the clocks '{names[clock]}' and '{names[other]}' "
                f"differ by more than the {ticks} ticks that `jump` allows; correct what was recorded of them"
            )
    if left == _buckets(stamped.offsets):
        return stamped
    whole = [math.fsum((hi - lo + 1) * density for lo, hi, density in each) for each in left]
    lo, hi, density = (np.array([bucket[side] for each in left for bucket in each]) for side in range(3))
    sizes = [len(each) for each in left]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(stamped, offsets=Masses.of_buckets(starts, lo, hi, density / np.repeat(whole, sizes)))


def _buckets(offsets: Masses) -> list[_Buckets]:
    every = list(zip(offsets.lo.tolist(), offsets.hi.tolist(), offsets.density.tolist(), strict=True))
    starts = offsets.starts.tolist()
    return [every[begin:end] for begin, end in pairwise(starts)]


def _near(buckets: Sequence[tuple[int, int, float]], others: _Buckets, ticks: int) -> _Buckets:
    """What of some buckets is as near to others; all are in order."""
    spans: list[tuple[int, int]] = []
    for lo, hi, _ in others:
        begin = lo - ticks
        if spans and begin <= spans[-1][1] + 1:
            begin = spans.pop()[0]
        spans.append((begin, hi + ticks))
    return [
        (max(lo, begin), min(hi, end), density)
        for lo, hi, density in buckets
        for begin, end in spans
        if lo <= end and begin <= hi
    ]
