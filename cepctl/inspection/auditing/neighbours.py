"""What the events of each source tell of their times: neighbours, ties, steps back, gaps, zones, hosts.

Neighbours are events of one source that follow each other by the beginnings of their intervals; their order
is open where the first may also happen at the last instant of the second's interval or later than it begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cepctl.inspection.disorder import number_of_traces
from cepctl.schema import TimeUnit

_ZONE_SECOND = 1_000_000
_FEWEST_FOR_GAPS = 20
_LONG_GAP, _SHORTEST_GAP = 20, 60_000_000


@dataclass(frozen=True)
class SourceFacts:
    """Counts of one source.

    Attributes
    ----------
    events, types, hosts
        How many there are.
    first, last
        The ends of their intervals, in ticks.
    timed, tied
        How many have a time, and share it with another one of the source.
    open_pairs, pair, pair_count, open_at
        How many neighbours have an open order, which two types are so most often, how often, and the event
        with the widest overlap.
    numbered, late, worst_back, back_at
        How many have a known place in the file, how many come after one with a later time (of their trace, in
        a file that was written trace by trace), by how many microseconds at most, and which event that is.
    gap, gap_at
        Microseconds of the longest time without an event, and the event before it; 0 where that is usual.
    offsets
        Offsets from UTC in which times are written, in seconds.
    """

    source: str
    events: int
    types: int
    hosts: int
    first: int
    last: int
    timed: int
    tied: int
    open_pairs: int
    pair: tuple[str, str] | None
    pair_count: int
    open_at: str | None
    numbered: int
    late: int
    worst_back: int
    back_at: str | None
    gap: int
    gap_at: str | None
    offsets: tuple[int, ...]


def source_facts(events: pl.DataFrame, unit: TimeUnit) -> list[SourceFacts]:
    """The facts of each source, by its name; `events` as cepctl/inspection/overview.py lists them."""
    return [_facts(str(name), part, unit) for (name,), part in sorted(events.group_by("source"), key=_name)]


def _name(group: tuple[tuple[object, ...], pl.DataFrame]) -> str:
    return str(group[0][0])


def _facts(source: str, events: pl.DataFrame, unit: TimeUnit) -> SourceFacts:
    timed = events.filter(pl.col("time").is_not_null())
    tied = int(timed.select((pl.len().over("time") > 1).sum()).item() or 0) if timed.height else 0
    open_pairs, pair, pair_count, open_at = _open(events)
    numbered, late, worst_back, back_at = _backwards(timed, source, unit)
    gap, gap_at = _gap(timed, unit)
    offsets = timed.get_column("zone").unique().sort() // (_ZONE_SECOND * unit.per_microsecond)
    return SourceFacts(
        source,
        events.height,
        events.get_column("event_type").n_unique(),
        events.get_column("node").drop_nulls().n_unique(),
        int(events.get_column("lower").min()),  # type: ignore[arg-type]
        int(events.get_column("upper").max()),  # type: ignore[arg-type]
        timed.height,
        tied,
        *(open_pairs, pair, pair_count, open_at),
        *(numbered, late, worst_back, back_at),
        *(gap, gap_at),
        tuple(offsets.to_list()),
    )


def _open(events: pl.DataFrame) -> tuple[int, tuple[str, str] | None, int, str | None]:
    """How many neighbours have an open order, the types that do most often, and the widest such case.

    Of two events that one writer wrote the order is known.
    """
    is_known = (pl.col("writer") == pl.col("writer").shift(-1)).fill_null(False)
    following = (
        events.lazy()
        .select("event_id", "event_type", "lower", "upper", "writer")
        .sort("lower", "upper", "event_id")
        .with_columns(
            pl.col("event_type").shift(-1).alias("next_type"),
            pl.col("lower").shift(-1).alias("next_lower"),
            is_known.alias("is_known"),
        )
        .with_columns((pl.col("upper") - pl.col("next_lower")).alias("overlap"))
        .filter((pl.col("overlap") >= 0) & ~pl.col("is_known"))
        .collect()
    )
    if not following.height:
        return 0, None, 0, None
    first, second = pl.min_horizontal("event_type", "next_type"), pl.max_horizontal("event_type", "next_type")
    pairs = (
        following.group_by(first.alias("a"), second.alias("b"))
        .len()
        .sort("len", "a", "b", descending=[True, False, False])
    )
    a, b, count = pairs.row(0)
    widest = following.sort("overlap", "lower", "event_id", descending=[True, False, False]).row(
        0, named=True
    )
    return following.height, (a, b), count, widest["event_id"]


def _backwards(timed: pl.DataFrame, source: str, unit: TimeUnit) -> tuple[int, int, int, str | None]:
    """How many events have made-up ids, how many of them are late, and the worst of these."""
    number = pl.col("event_id").str.strip_prefix(f"{source}#")
    numbered = (
        timed.lazy()
        .select("event_id", "case_id", "time", number.alias("number"))
        .filter(pl.col("number") != pl.col("event_id"))
        .with_columns(pl.col("number").cast(pl.Int64, strict=False))
        .drop_nulls("number")
        .sort("number")
        .with_columns(pl.when(number_of_traces() > 0).then("case_id").alias("trace"))
        .with_columns((pl.col("time").cum_max().over("trace") - pl.col("time")).alias("behind"))
        .collect()
    )
    late = numbered.filter(pl.col("behind") > 0)
    if not late.height:
        return numbered.height, 0, 0, None
    worst = late.sort("behind", "number", descending=[True, False]).row(0, named=True)
    return numbered.height, late.height, -(-worst["behind"] // unit.per_microsecond), worst["event_id"]


def _gap(timed: pl.DataFrame, unit: TimeUnit) -> tuple[int, str | None]:
    """The longest time without an event, where it is many times what is usual."""
    if timed.height < _FEWEST_FOR_GAPS:
        return 0, None
    steps = (
        timed.lazy()
        .select("event_id", "time")
        .sort("time", "event_id")
        .with_columns((pl.col("time").shift(-1) - pl.col("time")).alias("step"))
        .drop_nulls("step")
        .collect()
    )
    usual = steps.get_column("step").quantile(0.95) or 0
    longest = steps.sort("step", "time", descending=[True, False]).row(0, named=True)
    length = longest["step"] // unit.per_microsecond
    if length < _SHORTEST_GAP or longest["step"] <= _LONG_GAP * usual:
        return 0, None
    return length, longest["event_id"]
