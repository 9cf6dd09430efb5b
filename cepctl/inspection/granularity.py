"""How coarse the times of each source are: the greatest step that nearly all of them are multiples of.

Per source and event type the greatest of the STEPS that at least SHARE of the times are multiples of,
in UTC or in the zone in which they were written (the coarser wins; a day is a calendar day of that
zone), from at least FEWEST distinct times.  A type with fewer has the step of its source, all types
together, where its own times agree with that, or a finer one that both agree with.  Every step divides
the next, so the number of steps that divide a time tells the greatest one, and one pass over the times
is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from cepctl.inspection.findings import Findings
from cepctl.schema import TimeUnit

STEPS: dict[str, int] = {
    "1 ns": 1,
    "1 us": 1_000,
    "1 ms": 1_000_000,
    "1 s": 1_000_000_000,
    "15 s": 15_000_000_000,
    "1 min": 60_000_000_000,
    "1 h": 3_600_000_000_000,
    "1 day": 86_400_000_000_000,
}
"""Lengths in nanoseconds."""
_NAMES = tuple(STEPS)
SHARE = 0.99
FEWEST = 30
_GROUP = ["source", "event_type"]


@dataclass(frozen=True, slots=True)
class Grain:
    """How coarse the times of one event type in one source are.

    `step` is None where too few distinct times are known.  The evidence: `share` of the `times` are
    multiples of it, in the written zone where `local`, else in UTC; `zoned` says that some were written
    in another zone than UTC.  `covered` says that the intervals of the events already hold the whole
    unit around their times.  Where `of_source`, the type has too few distinct times to tell, and the step is
    one that the `times` of all types of the source have.
    """

    source: str
    event_type: str
    times: int
    distinct_times: int
    step: str | None
    share: float
    local: bool
    zoned: bool
    covered: bool
    of_source: bool = False


def granularities(events: pl.DataFrame, unit: TimeUnit) -> Findings[Grain]:
    """Infer the granularity of every event type of every source.

    `events`: as `observed_events` returns them.  `unit`: length of the ticks in which the intervals are
    counted.  Returns one by source and event type, unknown ones last.
    """
    timed = (
        events.lazy()
        .drop_nulls("time")
        .with_columns(
            _level(pl.col("time"), unit).alias("level"),
            _level(pl.col("time") + pl.col("zone"), unit).alias("level_local"),
        )
    )
    found = _shared(_steps_of_groups(timed, _GROUP), _steps_of_groups(timed, ["source"]), unit).collect()
    covered = _covered(timed, found, unit)
    grains = found.lazy().join(covered.lazy(), on=_GROUP, how="left").sort(pl.col("known").not_(), *_GROUP)
    return Findings(grains.select(_of_grains()).collect(), _grain)


def _grain(source: str, event_type: str, times: int, distinct: int, step: int | None, *rest: Any) -> Grain:
    """A Grain of a row of `_of_grains`."""
    return Grain(source, event_type, times, distinct, None if step is None else _NAMES[step], *rest)


def _of_grains() -> list[pl.Expr]:
    """The columns in the order of the fields of a Grain, the step as its place in STEPS."""
    known = pl.col("known")
    return [
        *map(pl.col, (*_GROUP, "times", "distinct")),
        pl.when(known).then("step").alias("step"),
        pl.when(known).then("share").otherwise(0.0).alias("share"),
        (pl.col("is_local") & known).alias("local"),
        *(pl.col(name).fill_null(value=False) for name in ("zoned", "covered", "of_source")),
    ]


def _steps_of_groups(timed: pl.LazyFrame, group: list[str]) -> pl.LazyFrame:
    """Per group the greatest step, in which zone, and the shares of times that tell it."""
    shares = timed.group_by(group).agg(
        pl.len().alias("times"),
        pl.col("time").n_unique().alias("distinct"),
        (pl.col("zone") != 0).any().alias("zoned"),
        *((pl.col("level") >= at).mean().alias(f"utc{at}") for at in range(len(STEPS))),
        *((pl.col("level_local") >= at).mean().alias(f"local{at}") for at in range(len(STEPS))),
    )
    return shares.with_columns(_greatest("utc"), _greatest("local")).with_columns(
        (pl.col("zoned") & (pl.col("local") >= pl.col("utc"))).alias("is_local"),
        pl.max_horizontal("utc", "local").alias("step"),
    )


def _shared(types: pl.LazyFrame, sources: pl.LazyFrame, unit: TimeUnit) -> pl.LazyFrame:
    """The types, those of too few distinct times with the step that they share with their source."""
    enough = pl.col("distinct") >= FEWEST
    of_source = sources.filter(enough).select(
        "source", pl.col("step").alias("source_step"), pl.col("is_local").alias("source_is_local")
    )
    own = pl.when("source_is_local").then("local").otherwise("utc")
    common = pl.min_horizontal("source_step", own)
    # The finest step proves nothing: every time is a multiple of it.
    shared = ~enough & pl.col("source_step").is_not_null() & (common > _lengths(unit).count(1) - 1)
    return (
        types.join(of_source, on="source", how="left")
        .with_columns(shared.alias("of_source"))
        .with_columns(
            pl.when("of_source").then(common).otherwise("step").alias("step"),
            pl.when("of_source").then("source_is_local").otherwise("is_local").alias("is_local"),
        )
        .with_columns((enough | pl.col("of_source")).alias("known"), _share().alias("share"))
        .drop([f"{zone}{at}" for zone in ("utc", "local") for at in range(len(STEPS))])
    )


def _share() -> pl.Expr:
    """The share of times that are multiples of the step, in its zone."""
    of_steps = [pl.when("is_local").then(f"local{at}").otherwise(f"utc{at}") for at in range(len(STEPS))]
    return pl.coalesce(pl.when(pl.col("step") == at).then(each) for at, each in enumerate(of_steps))


def _lengths(unit: TimeUnit) -> list[int]:
    """The STEPS in the resolution of a unit; what is finer than that is as long as it."""
    per_count = 1_000 // unit.per_microsecond
    return [max(step // per_count, 1) for step in STEPS.values()]


def _level(time: pl.Expr, unit: TimeUnit) -> pl.Expr:
    """Place in STEPS of the greatest step that divides a time."""
    return pl.sum_horizontal(((time % step) == 0).cast(pl.Int8) for step in _lengths(unit)[1:])


def _greatest(zone: str) -> pl.Expr:
    """Place in STEPS of the greatest step of which SHARE of the times are multiples."""
    return pl.sum_horizontal(
        (pl.col(f"{zone}{at}") >= SHARE).cast(pl.Int8) for at in range(1, len(STEPS))
    ).alias(zone)


def _covered(timed: pl.LazyFrame, found: pl.DataFrame, unit: TimeUnit) -> pl.DataFrame:
    """Per group the share of events whose interval holds the whole unit around their time."""
    steps = found.select(
        *_GROUP,
        pl.col("is_local"),
        pl.col("step").replace_strict(dict(enumerate(_lengths(unit))), return_dtype=pl.Int64).alias("length"),
    )
    zone = pl.when("is_local").then("zone").otherwise(0)
    start = (pl.col("time") + zone) // pl.col("length") * pl.col("length") - zone
    first = start // unit.counts
    last = -(-(start + pl.col("length")) // unit.counts) - 1
    tick = pl.col("time") // unit.counts
    holds = (pl.col("lower") <= first) & (pl.col("upper") >= last)
    # An interval that leaves out its own time was moved on purpose, for a clock that is wrong.
    moved = (pl.col("lower") > tick) | (pl.col("upper") < tick)
    held = (holds | moved).mean() >= SHARE
    return timed.join(steps.lazy(), on=_GROUP).group_by(_GROUP).agg(held.alias("covered")).collect()
