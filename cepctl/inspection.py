"""What a set of events is like: types, attributes, span, ties, and how coarse each source's times are.

Granularity is inferred and only reported: per source and event type the greatest of the STEPS that
at least SHARE of the distinct times are multiples of, in UTC or in the zone in which they were
written (the coarser wins), from at least FEWEST distinct times.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.dataset import EventInputs
from cepctl.schema import FIXED_COLUMNS

STEPS: dict[str, int] = {
    "1 day": 86_400_000_000,
    "1 h": 3_600_000_000,
    "1 min": 60_000_000,
    "15 s": 15_000_000,
    "1 s": 1_000_000,
    "1 ms": 1_000,
    "1 us": 1,
}
SHARE = 0.99
FEWEST = 30
_ZONE = "zone_seconds"


@dataclass(frozen=True)
class TypeFacts:
    """One event type: how many events, and the first and last tick that they may have."""

    event_type: str
    events: int
    first: int
    last: int


@dataclass(frozen=True)
class AttributeColumn:
    """One attribute: its type, and how many events have a value."""

    name: str
    type: str
    values: int


@dataclass(frozen=True)
class Grain:
    """How coarse the times of one event type in one source are.

    `step` is None where too few distinct times are known; `share` is the evidence, the part of the
    distinct times that are multiples of the step; `local` says that they are in the written zone.
    """

    source: str
    event_type: str
    distinct_times: int
    step: str | None
    share: float
    local: bool


@dataclass(frozen=True)
class Inspection:
    """Everything that `cepctl inspect` shows; ticks are counted in `time_unit`.

    `tied` events have a time (as the log gave it) that another event has, too; `timed` have one at
    all; `uncertain` are those whose interval is longer than one tick.
    """

    events: int
    time_unit: str
    first: int | None
    last: int | None
    timed: int
    tied: int
    uncertain: int
    types: tuple[TypeFacts, ...]
    attributes: tuple[AttributeColumn, ...]
    grains: tuple[Grain, ...]


def inspect_events(inputs: EventInputs) -> Inspection:
    """Count and measure all events of the inputs."""
    table = inputs.read()
    frame = pl.from_arrow(table.select(["event_type", "source", "lower", "upper"]))
    assert isinstance(frame, pl.DataFrame)
    times = _times(table)
    tied = times.filter(pl.col("time").is_duplicated()).height
    types = frame.group_by("event_type").agg(
        pl.len().alias("events"), pl.col("lower").min(), pl.col("upper").max()
    )
    ordered = types.sort("events", "event_type", descending=[True, False])
    return Inspection(
        events=len(table),
        time_unit=str(inputs.schema.time_unit),
        first=pc.min(table.column("lower")).as_py(),
        last=pc.max(table.column("upper")).as_py(),
        timed=times.height,
        tied=tied,
        uncertain=frame.filter(pl.col("upper") > pl.col("lower")).height,
        types=tuple(TypeFacts(*row) for row in ordered.iter_rows()),
        attributes=_attributes(table),
        grains=_grains(times),
    )


def _times(table: pa.Table) -> pl.DataFrame:
    """Source, type, raw time and zone of the events that have a time, in microseconds."""
    zone = table.column(_ZONE) if _ZONE in table.column_names else pa.nulls(len(table), pa.int64())
    frame = pl.DataFrame(
        {
            "source": pl.from_arrow(table.column("source")),
            "event_type": pl.from_arrow(table.column("event_type")),
            "time": pl.from_arrow(table.column("time").cast(pa.int64())),
            "zone": pl.from_arrow(pc.fill_null(zone, 0)),
        }
    )
    return frame.drop_nulls("time")


def _attributes(table: pa.Table) -> tuple[AttributeColumn, ...]:
    return tuple(
        AttributeColumn(field.name, str(field.type), len(table) - table.column(field.name).null_count)
        for field in table.schema
        if field.name not in FIXED_COLUMNS
    )


def _grains(times: pl.DataFrame) -> tuple[Grain, ...]:
    local = pl.col("time") + pl.col("zone") * 1_000_000
    distinct = times.unique(["source", "event_type", "time"])
    shares = distinct.group_by("source", "event_type").agg(
        pl.len().alias("distinct"),
        *(((pl.col("time") % step) == 0).mean().alias(f"{name} UTC") for name, step in STEPS.items()),
        *(((local % step) == 0).mean().alias(f"{name} local") for name, step in STEPS.items()),
    )
    grains = [_grain(row) for row in shares.sort("source", "event_type").iter_rows(named=True)]
    return tuple(sorted(grains, key=lambda grain: grain.step is None))


def _grain(row: dict[str, object]) -> Grain:
    source, event_type, distinct = str(row["source"]), str(row["event_type"]), row["distinct"]
    assert isinstance(distinct, int)
    if distinct >= FEWEST:
        for name in STEPS:
            for zone in ("UTC", "local"):
                share = row[f"{name} {zone}"]
                assert isinstance(share, float)
                if share >= SHARE:
                    return Grain(source, event_type, distinct, name, share, zone == "local")
    return Grain(source, event_type, distinct, None, 0.0, local=False)
