"""Shared clocks in the point engine: every combination of offsets in turn, with the events as they then are.

Given the offsets of all clocks, events are independent; what is found there is weighted with the probability
of the offsets and added.  The combinations multiply, so that this is for few clocks and short offsets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.point.collapse import grouped
from cepctl.errors import QueryTooLargeError

MAX_OFFSETS = 10_000
"""Combinations of offsets that are gone through."""


def over_offsets(
    events: Events, clocks: EventClocks, found: Callable[[Events], Iterator[pl.DataFrame]]
) -> Iterator[pl.DataFrame]:
    """The rows that `found` gives of events, summed over all offsets of their clocks.

    Raises
    ------
    QueryTooLargeError
        If there are more than MAX_OFFSETS combinations; names their number.
    """
    total: dict[int, list[pl.DataFrame]] = {}
    for number, (masses, weight) in enumerate(_given_offsets(clocks)):
        for frame in found(replace(events, masses=masses, clocks=None)):
            weighted = frame.with_columns(
                confidence=pl.col("confidence") * weight, first=pl.lit(number, pl.Int64)
            )
            total.setdefault(len(frame.columns), []).append(weighted)
    for frames in total.values():
        yield grouped(pl.concat(frames)).with_columns(pl.col("confidence").clip(upper_bound=1.0))


def _given_offsets(clocks: EventClocks) -> Iterator[tuple[Masses, float]]:
    """The masses of events for every combination of offsets, and its probability."""
    used = np.unique(clocks.clock[clocks.clock != NO_CLOCK]).tolist()
    choices = [_ticks(clocks.offsets, clock) for clock in used]
    count = math.prod(len(ticks) for ticks, _ in choices)
    if count > MAX_OFFSETS:
        raise QueryTooLargeError(
            f"the offsets of {len(used)} clocks have {count:,} combinations, the point engine goes through "
            f"at most {MAX_OFFSETS:,}; use --engine event, fewer events, or a coarser time unit"
        )
    own = clocks.own
    owner = np.repeat(np.arange(len(own.lower)), np.diff(own.starts))
    for chosen in product(*(zip(*each, strict=True) for each in choices)):
        shift = np.zeros(len(own.lower), dtype=np.int64)
        for clock, (tick, _) in zip(used, chosen, strict=True):
            shift[clocks.clock == clock] = tick
        by = shift[owner]
        moved = Masses(
            own.lower + shift, own.upper + shift, own.starts, own.lo + by, own.hi + by, own.density
        )
        yield moved, math.prod(weight for _, weight in chosen)


def _ticks(offsets: Masses, clock: int) -> tuple[list[int], list[float]]:
    """The ticks of a clock's offset, and the probability of each."""
    ticks: list[int] = []
    weights: list[float] = []
    for bucket in range(offsets.starts[clock], offsets.starts[clock + 1]):
        size = int(offsets.hi[bucket] - offsets.lo[bucket]) + 1
        if size > MAX_OFFSETS:
            raise QueryTooLargeError(
                f"the offset of a clock has {size:,} ticks, the point engine goes through at most "
                f"{MAX_OFFSETS:,}; use --engine event, or a coarser time unit"
            )
        ticks += range(int(offsets.lo[bucket]), int(offsets.hi[bucket]) + 1)
        weights += [float(offsets.density[bucket])] * size
    return ticks, weights
