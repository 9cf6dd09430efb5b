"""Point matches collapsed by signature: range, and the summed probability of the worlds behind them.

Rows of several alternatives of an OR that bind the same events to the same ticks are one situation.
In it each alternative holds if none of its forbidden points happens; that at least one holds follows
by inclusion and exclusion over the alternatives, as points that two of them forbid count once.

Where events share clocks every combination of offsets is looked at in turn, with the events as they then are:
what is found there is weighted with the probability of the offsets and added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations as subsets
from itertools import product

import numpy as np
import polars as pl

from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.point.absences import Forbidden, Gap, forbidden, probability_of_absence, reached
from cepctl.engines.point.combinations import Combinations, PointSearch
from cepctl.engines.point.stream import batches
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.numeric.precision import SMALLEST

MAX_TOGETHER = 12
"""Alternatives of an OR that may bind the same events: 2^12 of their subsets are looked at."""


@dataclass(frozen=True)
class PointSource:
    """One alternative: its search, its rules of absence, and its number in the plan."""

    number: int
    search: PointSearch
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class _Part:
    """The rows of one alternative, in the order of the situations that they belong to."""

    source: PointSource
    rows: Combinations
    situation: Indexes
    reach: tuple[tuple[Indexes, Indexes], ...]


def collapsed(sources: Sequence[PointSource], found: Sequence[Combinations]) -> pl.DataFrame:
    """One row per signature and starting point: event_0 ..., `first`, `start`, `end`, `confidence`,
    `alternative`.

    `found` gives the rows of each source, all of them binding equally many events; together they are
    all rows of some starting points.  `alternative` is the first one that some world makes hold.

    Raises
    ------
    QueryTooLargeError
        If more than MAX_TOGETHER alternatives bind the same events.
    """
    situations, parts = _situations(sources, found)
    count = len(situations)
    holds, alternative = np.zeros(count), np.zeros(count, dtype=np.int64)
    steps = np.zeros(count, dtype=np.int64)
    for part in parts:
        for begin, end in part.reach:
            np.add.at(steps, part.situation, end - begin)
    for chosen in batches(steps + 1):
        holds[chosen], alternative[chosen] = _judged(parts, chosen)
    width = situations.event.shape[1]
    frame = pl.DataFrame(
        {
            **{f"event_{column}": situations.event[:, column] for column in range(width)},
            **{f"tick_{column}": situations.tick[:, column] for column in range(width)},
            "start": situations.tick.min(axis=1),
            "end": situations.tick.max(axis=1),
            "confidence": np.where(holds > 0, np.maximum(situations.mass * holds, SMALLEST), 0.0),
            "alternative": alternative,
        }
    )
    # All rows of one starting point are here, those of other points of the same event may be elsewhere.
    signature = [f"event_{column}" for column in range(width)]
    ticks = [f"tick_{column}" for column in range(width)]
    rows = _summed(frame.filter(pl.col("confidence") > 0), [*signature, "tick_0"], ticks[1:])
    return rows.rename({"tick_0": "first"})


def grouped(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of one signature and different `first` ticks as one."""
    signature = [name for name in frame.columns if name.startswith("event_")]
    return _summed(frame, signature, ["first"])


def _summed(frame: pl.DataFrame, keys: list[str], order: list[str]) -> pl.DataFrame:
    """Rows of equal keys as one, confidences added in a given order: each sum then rounds in one way."""
    frame = frame.sort([*keys, *order])
    if not len(frame):
        return frame.select([*keys, "start", "end", "confidence", "alternative"])
    own = frame.select(keys).to_numpy()
    begin = np.flatnonzero(np.concatenate([[True], (own[1:] != own[:-1]).any(axis=1)]))
    start, end, confidence, alternative = (
        frame.get_column(name).to_numpy() for name in ("start", "end", "confidence", "alternative")
    )
    return frame[begin].select(
        *keys,
        start=pl.Series(np.minimum.reduceat(start, begin)),
        end=pl.Series(np.maximum.reduceat(end, begin)),
        confidence=pl.Series(np.add.reduceat(confidence, begin)),
        alternative=pl.Series(np.minimum.reduceat(alternative, begin)),
    )


def _situations(
    sources: Sequence[PointSource], found: Sequence[Combinations]
) -> tuple[Combinations, list[_Part]]:
    """Distinct choices of events and ticks, and where each source's rows lie among them."""
    together = Combinations(
        np.concatenate([rows.event for rows in found]),
        np.concatenate([rows.tick for rows in found]),
        np.concatenate([rows.mass for rows in found]),
    )
    number = np.arange(len(together))
    if len(sources) > 1:
        columns = np.concatenate([together.event, together.tick], axis=1)
        first, number = distinct_rows(columns)
        together = together.take(first)
    parts, done = [], 0
    for source, unordered in zip(sources, found, strict=True):
        own = number[done : done + len(unordered)]
        done += len(unordered)
        order = np.argsort(own, kind="stable")
        rows = unordered.take(order)
        reach = tuple(reached(source.search, gap, rows) for gap in source.gaps)
        for begin, end in reach:
            source.search.budget.spend(int((end - begin).sum()))
        parts.append(_Part(source, rows, own[order], reach))
    return together, parts


def _judged(parts: Sequence[_Part], chosen: slice) -> tuple[Reals, Indexes]:
    """For some situations the probability that an alternative holds, and the first that can."""
    count = chosen.stop - chosen.start
    present = np.zeros((len(parts), count), dtype=bool)
    pairs: list[Forbidden] = []
    for place, part in enumerate(parts):
        low, high = np.searchsorted(part.situation, [chosen.start, chosen.stop])
        own = part.situation[low:high] - chosen.start
        present[place, own] = True
        pairs.append(_forbidden(part, slice(low, high), own))
    holds, alternative = np.zeros(count), np.full(count, np.iinfo(np.int64).max)
    for members, where in _kinds(present):
        holds[where] = _at_least_one(parts, [pairs[i] for i in members], where)
        for i in members:
            single = probability_of_absence(parts[i].source.search.stream, _only(pairs[i], where), count)
            able = where & (single > 0)
            alternative[able] = np.minimum(alternative[able], parts[i].source.number)
    return holds, alternative


def _kinds(present: Flags) -> Iterator[tuple[list[int], Flags]]:
    """The sets of alternatives that occur together, each with the situations where they do."""
    distinct, which = np.unique(present, axis=1, return_inverse=True)
    for kind in range(distinct.shape[1]):
        members = np.flatnonzero(distinct[:, kind]).tolist()
        if len(members) > MAX_TOGETHER:
            raise QueryTooLargeError(
                f"{len(members)} alternatives of OR bind the same events, the point engine takes at most "
                f"{MAX_TOGETHER}; use --engine event, or write fewer alternatives"
            )
        yield members, which.reshape(-1) == kind


def _forbidden(part: _Part, own: slice, situation: Indexes) -> Forbidden:
    """Forbidden points of some rows of an alternative, by the number of their situation."""
    rows = Combinations(part.rows.event[own], part.rows.tick[own], part.rows.mass[own])
    found = [
        forbidden(part.source.search, gap, rows, begin[own], end[own])
        for gap, (begin, end) in zip(part.source.gaps, part.reach, strict=True)
    ]
    return _all_of([Forbidden(situation[each.row], each.point) for each in found])


def _all_of(pairs: Sequence[Forbidden]) -> Forbidden:
    nothing = np.zeros(0, dtype=np.int64)
    return Forbidden(
        np.concatenate([nothing, *(each.row for each in pairs)]),
        np.concatenate([nothing, *(each.point for each in pairs)]),
    )


def _only(pairs: Forbidden, where: Flags) -> Forbidden:
    keep = where[pairs.row]
    return Forbidden(pairs.row[keep], pairs.point[keep])


def _at_least_one(parts: Sequence[_Part], pairs: Sequence[Forbidden], where: Flags) -> Reals:
    """Probability that one or more of some alternatives hold, for the situations `where`."""
    stream = parts[0].source.search.stream
    total, largest = np.zeros(len(where)), np.zeros(len(where))
    for size in range(1, len(pairs) + 1):
        for chosen in subsets(pairs, size):
            all_hold = probability_of_absence(stream, _only(_all_of(chosen), where), len(where))
            total += (-1) ** (size + 1) * all_hold
            if size == 1:
                largest = np.maximum(largest, all_hold)
    return np.clip(total, largest, 1.0)[where]


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
    stamping = np.unique(clocks.clock[clocks.clock != NO_CLOCK])
    used = clocks.with_chains(np.zeros(len(stamping), np.int64), stamping)[1].tolist()
    choices = [_ticks(clocks.offsets, clock) for clock in used]
    count = math.prod(len(ticks) for ticks, _ in choices)
    if count > MAX_OFFSETS:
        raise QueryTooLargeError(
            f"the offsets of {len(used)} clocks have {count:,} combinations, the point engine goes through "
            f"at most {MAX_OFFSETS:,}; use --engine event, fewer events, or a coarser time unit"
        )
    own = clocks.own
    owner = np.repeat(np.arange(len(own.lower)), np.diff(own.starts))
    tied = [(place, ticks) for place, ticks in enumerate(clocks.tie[used].tolist()) if ticks != NO_TIE]
    left = [
        chosen
        for chosen in product(*(zip(*each, strict=True) for each in choices))
        if all(abs(chosen[place][0] - chosen[place - 1][0]) <= ticks for place, ticks in tied)
    ]
    whole = math.fsum(math.prod(weight for _, weight in chosen) for chosen in left) if tied else 1.0
    for chosen in left:
        shift = np.zeros(len(own.lower), dtype=np.int64)
        for clock, (tick, _) in zip(used, chosen, strict=True):
            shift[clocks.clock == clock] = tick
        by = shift[owner]
        moved = Masses(
            own.lower + shift, own.upper + shift, own.starts, own.lo + by, own.hi + by, own.density
        )
        yield moved, math.prod(weight for _, weight in chosen) / whole


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
