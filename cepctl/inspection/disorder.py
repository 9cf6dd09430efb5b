"""Times that are equal, times that are missing, and times that run against the order of their file.

Where the ingest made up the ids of a file's events they are its path, `#` and the number of the
record, which tells the order in which they were written; ids that the log gave tell none.  A file that
was written trace by trace (all events of a case_id together, as XES is) has no order of time between
its traces: there only the order within each trace counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cepctl.inspection.findings import Findings
from cepctl.schema import TimeUnit


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """One event type: how many events, and the first and last tick that they may have.

    `untimed` events have no time of the log; `tied` share theirs with another event of the type,
    `tied_across` with an event of another type.
    """

    event_type: str
    events: int
    first: int
    last: int
    untimed: int
    tied: int
    tied_across: int


@dataclass(frozen=True)
class FileOrder:
    """How one source keeps the order of time.

    `numbered` events have a time and a known place in the file; `late` of them come after an event
    with a later time, by at most `worst_microseconds`.  A file with this many `traces`, 0 for none, was
    written trace by trace; an event is late there when its own trace has a later one before it.
    """

    source: str
    numbered: int
    late: int
    worst_microseconds: int
    traces: int = 0


@dataclass(frozen=True)
class SharedTimes:
    """How many events share the time of the log with another event, of `timed` that have one."""

    timed: int
    tied: int


def simultaneous(events: pl.DataFrame) -> pl.DataFrame:
    """Per time of the log and event type how many events: `same` of the type, `all` of any type."""
    counts = events.lazy().drop_nulls("time").group_by("time", "event_type").agg(pl.len().alias("same"))
    return counts.with_columns(pl.col("same").sum().over("time").alias("all")).collect()


def ties(together: pl.DataFrame) -> SharedTimes:
    """How many of all events share their time, whatever their types; takes what `simultaneous` returns."""
    same = pl.col("same")
    timed, tied = together.select(
        same.sum().alias("timed"), same.filter(pl.col("all") > 1).sum().alias("tied")
    ).row(0)
    return SharedTimes(timed, tied)


def type_facts(events: pl.DataFrame, together: pl.DataFrame) -> Findings[TypeFacts]:
    """Facts per event type, the most frequent first; `together` as `simultaneous` returns it."""
    spans = (
        events.lazy()
        .group_by("event_type")
        .agg(
            pl.len().alias("events"),
            pl.col("lower").min(),
            pl.col("upper").max(),
            pl.col("time").null_count().alias("untimed"),
        )
    )
    same, all_types = pl.col("same"), pl.col("all")
    ties = (
        together.lazy()
        .group_by("event_type")
        .agg(
            same.filter(same > 1).sum().alias("tied"),
            same.filter(all_types > same).sum().alias("tied_across"),
        )
    )
    facts = (
        spans.join(ties, on="event_type", how="left")
        .with_columns(pl.col("tied", "tied_across").fill_null(0))
        .sort("events", "event_type", descending=[True, False])
        .collect()
    )
    return Findings(facts, TypeFacts)


def file_orders(events: pl.DataFrame, unit: TimeUnit) -> tuple[FileOrder, ...]:
    """How each source keeps the order of time, for sources whose order is known; worst first."""
    number = pl.col("event_id").str.strip_prefix(pl.col("source") + "#")
    numbered = (
        events.lazy()
        .select("source", "case_id", "event_id", "time", number.alias("number"))
        .filter(pl.col("time").is_not_null() & (pl.col("number") != pl.col("event_id")))
        .with_columns(pl.col("number").cast(pl.Int64, strict=False))
        .drop_nulls("number")
        .sort("source", "number")
        .with_columns(number_of_traces().over("source").alias("traces"))
        .with_columns(pl.when(pl.col("traces") > 0).then("case_id").alias("trace"))
    )
    behind = (pl.col("time").cum_max().over("source", "trace") - pl.col("time")).alias("behind")
    orders = (
        numbered.with_columns(behind)
        .group_by("source")
        .agg(
            pl.len().alias("numbered"),
            (pl.col("behind") > 0).sum().alias("late"),
            (-(-pl.col("behind").max() // unit.per_microsecond)).alias("worst"),
            pl.col("traces").first(),
        )
        .sort("late", "source", descending=[True, False])
        .collect()
    )
    return tuple(FileOrder(*row) for row in orders.iter_rows())


def number_of_traces() -> pl.Expr:
    """How many traces a source was written in, one after the other; 0 where it was not.

    Cases of one event each prove nothing: any file looks like that.
    """
    case = pl.col("case_id")
    runs, cases = (case != case.shift()).sum() + 1, case.n_unique()
    by_trace = (case.null_count() == 0) & (runs == cases) & (cases > 1) & (cases < pl.len())
    return pl.when(by_trace).then(cases).otherwise(0)
