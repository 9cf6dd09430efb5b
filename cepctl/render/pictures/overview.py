"""All matches of a run in three counts: by confidence, over time, and by key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Ticks
from cepctl.plan.plan import Plan
from cepctl.schema import MICROSECONDS, TimeUnit
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs

CONFIDENCE_BINS = 20
MOST_TIME_BINS = 60
MOST_KEYS = 20

_SECOND, _MINUTE, _HOUR, _DAY = (1_000 * int(MICROSECONDS[name]) for name in ("s", "min", "h", "d"))
_WIDTHS = (
    *(digit * 10**power for power in range(9) for digit in (1, 2, 5)),
    *(digit * _SECOND for digit in (1, 2, 5, 10, 15, 30)),
    *(digit * _MINUTE for digit in (1, 2, 5, 10, 15, 30)),
    *(digit * _HOUR for digit in (1, 2, 3, 6, 12)),
    *(digit * 10**power * _DAY for power in range(12) for digit in (1, 2, 5)),
)
"""Lengths of time, in nanoseconds, that people count in."""


@dataclass(frozen=True)
class TimeCounts:
    """Matches by `start`: bin i begins at tick `first` + i * `width`."""

    first: int
    width: int
    counts: list[int]


@dataclass(frozen=True)
class KeyCounts:
    """Matches by the values of `[attr]`: the most frequent keys, and the total of the others."""

    name: str
    keys: list[str]
    counts: list[int]
    other_keys: int
    other_matches: int


@dataclass(frozen=True)
class MatchOverview:
    """Counts over all matches.  `confidence` has bins of equal width from 0 to 1, 1 being in the last."""

    total: int
    confidence: list[int]
    time: TimeCounts | None
    keys: KeyCounts | None


def overview(plan: Plan, inputs: EventInputs, matches: pa.Table) -> MatchOverview:
    """Count the matches of a run; `time` is None without matches, `keys` where the query has no [attr]."""
    bins = (matches.column("confidence").to_numpy() * CONFIDENCE_BINS).astype(np.int64)
    confidence = np.bincount(np.minimum(bins, CONFIDENCE_BINS - 1), minlength=CONFIDENCE_BINS)
    time = keys = None
    if matches.num_rows:
        time = time_counts(matches.column("start").to_numpy(), plan.time_unit)
        keys = _key_counts(plan, inputs, matches) if plan.partition_by else None
    return MatchOverview(matches.num_rows, [int(count) for count in confidence], time, keys)


def overview_beside(plan: Plan, inputs: EventInputs, matches: pa.Table) -> MatchOverview:
    """The counts, or nothing to be drawn but how many matches there are, where that fails."""
    nothing = MatchOverview(matches.num_rows, [], TimeCounts(0, 1, []), None)
    return beside(SideFigure.OVERVIEW, partial(overview, plan, inputs, matches), nothing)


def time_counts(starts: Ticks, unit: TimeUnit) -> TimeCounts:
    """Count ticks in at most MOST_TIME_BINS bins, of a width that people count in where one fits.

    Examples
    --------
    >>> time_counts(np.array([59_000, 61_000, 300_000]), TimeUnit(1_000))
    TimeCounts(first=55000, width=5000, counts=[1, 1, ...])
    """
    least, most = int(starts.min()), int(starts.max())
    width = _width(least, most, unit)
    first = max(least // width * width, np.iinfo(np.int64).min)
    # Modulo 2**64 the difference of any two ticks is right.
    bins = (starts.astype(np.uint64) - np.uint64(first % 2**64)) // np.uint64(width)
    return TimeCounts(first, width, [int(count) for count in np.bincount(bins.astype(np.int64))])


def _width(least: int, most: int, unit: TimeUnit) -> int:
    length: int
    for length in _WIDTHS:
        width, rest = divmod(length, unit.nanoseconds)
        if width and not rest and most // width - least // width < MOST_TIME_BINS:
            return width
    return (most - least) // (MOST_TIME_BINS - 1) + 1


def _key_counts(plan: Plan, inputs: EventInputs, matches: pa.Table) -> KeyCounts:
    """All events of a match share its key, so that of its first event is taken."""
    first = pc.list_element(pc.list_element(matches.column("signature"), 0), 0)
    events = inputs.read_ids(pc.unique(first), list(plan.partition_by))
    keys = key_texts(events, plan.partition_by)
    counted = keys.take(pc.index_in(first, events.column("event_id").combine_chunks())).value_counts()
    ranked = sorted(
        zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True),
        key=lambda pair: (-pair[1], pair[0]),
    )
    shown, others = ranked[:MOST_KEYS], ranked[MOST_KEYS:]
    return KeyCounts(
        ", ".join(plan.partition_by),
        [key for key, _ in shown],
        [count for _, count in shown],
        len(others),
        sum(count for _, count in others),
    )


def key_texts(events: pa.Table, names: tuple[str, ...]) -> pa.ChunkedArray:
    """The values of some attributes as one text per event; null where one of them is."""
    return pc.binary_join_element_wise(*(events.column(name).cast(pa.string()) for name in names), ", ")
