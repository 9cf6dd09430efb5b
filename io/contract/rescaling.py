"""Intervals and histograms counted in one time unit, counted again in another.

A tick becomes all the ticks that it covers, at least in part, so an interval never loses an instant.
Going to a coarser unit, neighbouring buckets may share a tick; it goes to the earlier bucket, and a
bucket that is left without a tick gives its mass to the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import PMF_TYPE
from cepctl.numeric.arrays import Numbers
from cepctl.schema import END_PMF, LENGTH_LOWER, LENGTH_UPPER, TICK_MAX, TICK_MIN, TimeUnit


def first_tick(ticks: Numbers, old: TimeUnit, new: TimeUnit) -> Numbers:
    """First tick of the new unit that a tick of the old one covers; saturates.

    Examples
    --------
    >>> first_tick(np.array([-1, 2]), TimeUnit(1_000_000), TimeUnit(1_000)).tolist()
    [-1000, 2000]
    """
    ratio = Fraction(old.microseconds, new.microseconds)
    times, divisor = ratio.numerator, ratio.denominator
    if times == divisor:
        return ticks
    inside = (ticks <= TICK_MAX // times) & (ticks >= -(TICK_MAX // times))
    safe = np.where(inside, ticks, 0) * times // divisor
    exact = (min(max(int(tick) * times // divisor, TICK_MIN), TICK_MAX) for tick in ticks[~inside])
    safe[~inside] = np.fromiter(exact, dtype=np.int64)
    return safe


def last_tick(ticks: Numbers, old: TimeUnit, new: TimeUnit) -> Numbers:
    """Last tick of the new unit that a tick of the old one covers; saturates.

    Examples
    --------
    >>> last_tick(np.array([-1, 2]), TimeUnit(1_000_000), TimeUnit(1_000)).tolist()
    [-1, 2999]
    """
    if old == new:
        return ticks
    # floor((t * n + n - 1) / d) is the tick that holds the last microsecond of t.
    mirrored = np.where(ticks == TICK_MIN, TICK_MAX, -1 - ticks)
    return -1 - first_tick(mirrored, old, new)


def rescaled(table: pa.Table, old: TimeUnit, new: TimeUnit) -> pa.Table:
    """An event table (or batch of raw events with intervals) counted in another time unit."""
    if old == new:
        return table
    edges = {"lower": first_tick, "end_lower": first_tick, "upper": last_tick, "end_upper": last_tick}
    for name, convert in edges.items():
        if name in table.column_names:
            position = table.column_names.index(name)
            table = table.set_column(position, name, _converted(table.column(name), convert, old, new))
    for name in ("pmf", END_PMF):
        if name in table.column_names:
            position = table.column_names.index(name)
            table = table.set_column(position, name, _histograms(table.column(name), old, new))
    for name, length in ((LENGTH_LOWER, _shortest), (LENGTH_UPPER, _longest)):
        if name in table.column_names:
            position = table.column_names.index(name)
            table = table.set_column(position, name, _converted(table.column(name), length, old, new))
    return table


def _shortest(length: Numbers, old: TimeUnit, new: TimeUnit) -> Numbers:
    """The least length in new ticks: each end may be any tick that its old one covers."""
    return np.maximum(first_tick(length, old, new) - _covered(old, new), 0)


def _longest(length: Numbers, old: TimeUnit, new: TimeUnit) -> Numbers:
    return -first_tick(-length, old, new) + _covered(old, new)


def _covered(old: TimeUnit, new: TimeUnit) -> int:
    """How many more ticks than one a tick may cover."""
    return -(-old.microseconds // new.microseconds) - 1


def _converted(column: pa.ChunkedArray, convert: object, old: TimeUnit, new: TimeUnit) -> pa.Array:
    assert callable(convert)
    values = pc.fill_null(column, 0).to_numpy().astype(np.int64)
    return pa.array(convert(values, old, new), mask=pc.is_null(column).to_numpy())


def _histograms(column: pa.ChunkedArray, old: TimeUnit, new: TimeUnit) -> pa.Array:
    if column.null_count == len(column):
        return pa.nulls(len(column), PMF_TYPE)
    return pa.array([row and _histogram(row, old, new) for row in column.to_pylist()], PMF_TYPE)


def _histogram(buckets: list[dict[str, float]], old: TimeUnit, new: TimeUnit) -> list[dict[str, float]]:
    lows = first_tick(np.array([bucket["lo"] for bucket in buckets], np.int64), old, new)
    highs = last_tick(np.array([bucket["hi"] for bucket in buckets], np.int64), old, new)
    return apart(lows.tolist(), highs.tolist(), [bucket["p"] for bucket in buckets])


def apart(lows: Sequence[int], highs: Sequence[int], masses: Sequence[float]) -> list[dict[str, float]]:
    """Buckets in order, of which neighbours may share a tick: it goes to the earlier one."""
    merged: list[dict[str, float]] = []
    for low, high, mass in zip(lows, highs, masses, strict=True):
        start = max(low, int(merged[-1]["hi"]) + 1) if merged else low
        if start <= high:
            merged.append({"lo": start, "hi": high, "p": mass})
        else:
            merged[-1]["p"] += mass
    return merged
