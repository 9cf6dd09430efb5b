"""Series that are sampled at a steady step: each value describes the time since the one before it.

A series is the events of one type on one node that carry a number in `value`.  It is steady when at
least SHARE of its gaps between distinct times, FEWEST_OF_ONE or more of them, differ from their median
by at most TOLERANCE of it; the step is the median, rounded to whole seconds, below a second to
milliseconds.  The evidence is clear when the steady series of the type with this step have FEWEST gaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cepctl.schema import TimeUnit

SHARE = 0.95
FEWEST = 30
FEWEST_OF_ONE = 10
TOLERANCE = 0.2
_SERIES = ["event_type", "node"]
_SECOND, _MILLISECOND = 1_000_000, 1_000


@dataclass(frozen=True)
class SampledSeries:
    """One series; times in microseconds.

    `step_microseconds` is None where the evidence for one is not clear; `share` is the part of the
    `gaps` that are near the median, from `shortest` to `longest`.  `after_microseconds` is how far the
    intervals of its events reach beyond their times now, and `covered` says that they reach back by
    just the step.
    """

    event_type: str
    node: str | None
    gaps: int
    step_microseconds: int | None
    share: float
    shortest_microseconds: int
    longest_microseconds: int
    after_microseconds: int
    covered: bool


def sampled_series(events: pl.DataFrame, unit: TimeUnit) -> tuple[SampledSeries, ...]:
    """Find the series and their steps; by event type and node, series with few gaps left out.

    `events`: as `observed_events` returns them.  `unit`: length of the ticks in which the intervals are
    counted.
    """
    samples = (
        events.lazy()
        .filter(pl.col("time").is_not_null() & pl.col("value").is_not_null())
        .group_by(*_SERIES, "time")
        .agg(pl.col("lower").min(), pl.col("upper").max())
        .sort(*_SERIES, "time", nulls_last=True)
        .with_columns(pl.col("time").diff().over(_SERIES).alias("gap"))
        .with_columns(pl.col("gap").median().over(_SERIES).alias("middle"))
    )
    near = (pl.col("gap") - pl.col("middle")).abs() <= TOLERANCE * pl.col("middle")
    tick = pl.col("time") // unit.counts
    step = pl.col("step").first()
    back = -(-step // unit.counts)
    series = (
        samples.with_columns(_rounded(pl.col("middle"), unit.per_microsecond).alias("step"))
        .group_by(_SERIES)
        .agg(
            pl.col("gap").count().alias("gaps"),
            step.alias("step"),
            near.mean().alias("share"),
            pl.col("gap").filter(near).min().alias("shortest"),
            pl.col("gap").filter(near).max().alias("longest"),
            ((pl.col("upper") - tick).max() * unit.counts).alias("after"),
            # (t - step, t] is as good as [t - step, t].
            (tick - pl.col("lower")).is_between(back - 1, back).mean().alias("exact"),
        )
        .filter(pl.col("gaps") >= FEWEST_OF_ONE)
        .with_columns(pl.when(pl.col("share") >= SHARE).then("step").alias("step"))
        .with_columns(pl.col("gaps").sum().over("event_type", "step").alias("alike"))
        .with_columns(pl.when(pl.col("alike") >= FEWEST).then("step").alias("step"))
        .drop("alike")
        .sort(_SERIES)
    )
    return tuple(_series(row, unit.per_microsecond) for row in series.collect().iter_rows())


def _rounded(middle: pl.Expr, per_microsecond: int) -> pl.Expr:
    """To whole seconds from one second on, else to milliseconds, but never to nothing."""
    second, milli = _SECOND * per_microsecond, _MILLISECOND * per_microsecond
    whole = pl.when(middle >= second).then(second).otherwise(milli)
    return pl.max_horizontal((middle / whole).round() * whole, pl.lit(float(per_microsecond))).cast(pl.Int64)


def _series(
    row: tuple[str, str | None, int, int | None, float, int, int, int, float],
    per_microsecond: int,
) -> SampledSeries:
    event_type, node, gaps, step, share, shortest, longest, after, exact = row
    return SampledSeries(
        event_type=event_type,
        node=node,
        gaps=gaps,
        step_microseconds=None if step is None else step // per_microsecond,
        share=share,
        shortest_microseconds=(shortest or 0) // per_microsecond,
        longest_microseconds=-(-(longest or 0) // per_microsecond),
        after_microseconds=-(-after // per_microsecond),
        covered=exact >= SHARE,
    )
