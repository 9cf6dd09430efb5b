"""Bounds of each host's clock, from tasks and attempts that two clocks stamped.

A node stamps the attempts that it runs, the master the tasks that they belong to.  An attempt starts
after its task and a task finishes after its successful attempt, so with one constant offset per node

    max(attempt finish - task finish) <= offset <= min(attempt start - task start)

over the successful attempts of the node, the offset being the node's clock minus the master's.  The
times are taken as they were written.

    an attempt's events   have attempt_id and task_id; types ...AttemptStart and ...AttemptFinish
    a task's events       have task_id; types TaskStart and TaskFinish

An attempt is successful when it has an ...AttemptFinish whose status, where it has one, says so.
A task is looked for in the source of the attempt, else in all sources.  An event that occurs several
times for one task or attempt counts in the way that claims least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from cepctl.schema import TimeUnit

SUCCESSES = ("SUCCESS", "SUCCEEDED")
Verdict = Literal["ahead", "behind", "inconsistent", "may be right"]


@dataclass(frozen=True)
class ClockBound:
    """What is known of one node's clock; microseconds, ahead of the master's clock is positive.

    `attempts` is how many gave the bounds.  `covered` says that the intervals of the node's attempts
    already hold the times that the bounds leave.
    """

    node: str
    attempts: int
    lowest_microseconds: int
    highest_microseconds: int
    covered: bool

    @property
    def verdict(self) -> Verdict:
        """Whether the clock is provably wrong; inconsistent where no constant offset fits."""
        if self.lowest_microseconds > self.highest_microseconds:
            return "inconsistent"
        if self.lowest_microseconds > 0:
            return "ahead"
        return "behind" if self.highest_microseconds < 0 else "may be right"

    @property
    def provably_skewed(self) -> bool:
        """Whether no clock that is right could have written these times."""
        return self.verdict != "may be right"


def ordered_pairs(events: pl.DataFrame, unit: TimeUnit) -> pl.DataFrame:
    """Every successful attempt of a known task, and what it says of two clocks.

    Columns: its `node`, its `master` (the source of the task), and between how many microseconds, `lowest`
    and `highest`, the node's clock is ahead of the master's.
    """
    per = unit.per_microsecond
    stamped = events.lazy().filter(pl.col("time").is_not_null() & pl.col("task_id").is_not_null())
    attempts, tasks = _attempts(stamped), _tasks(stamped)
    anywhere = tasks.group_by("task_id").agg(
        pl.col("task_start").min().alias("any_start"),
        pl.col("task_finish").max().alias("any_finish"),
        pl.col("source").min().alias("any_master"),
    )
    here = tasks.with_columns(pl.col("source").alias("task_master"))
    return (
        attempts.join(here, on=["source", "task_id"], how="left")
        .join(anywhere, on="task_id", how="left")
        .select(
            "node",
            pl.coalesce("task_master", "any_master").alias("master"),
            ((pl.col("finish") - pl.coalesce("task_finish", "any_finish")) // per).alias("lowest"),
            (-((pl.coalesce("task_start", "any_start") - pl.col("start")) // per)).alias("highest"),
        )
        .drop_nulls()
        .collect()
    )


def clock_bounds(events: pl.DataFrame, unit: TimeUnit) -> tuple[ClockBound, ...]:
    """Bound the clock of every node that ran a successful attempt of a known task.

    `events`: as `observed_events` returns them.  `unit`: length of the ticks in which the intervals are
    counted.  Returns one by node.
    """
    bounds = (
        ordered_pairs(events, unit)
        .group_by("node")
        .agg(pl.len().alias("attempts"), pl.col("lowest").max(), pl.col("highest").min())
    )
    found = bounds.sort("node")
    covered = _covered(events, found, unit)
    rows = found.join(covered, on="node", how="left", maintain_order="left").with_columns(
        pl.col("covered").fill_null(value=True)
    )
    return tuple(ClockBound(*row) for row in rows.iter_rows())


def _attempts(stamped: pl.LazyFrame) -> pl.LazyFrame:
    """Successful attempts of known start: source, task, node, start and finish."""
    kind, status = pl.col("event_type"), pl.col("status").str.to_uppercase()
    is_finish = kind.str.ends_with("AttemptFinish") & (status.is_null() | status.is_in(SUCCESSES))
    is_start = kind.str.ends_with("AttemptStart")
    return (
        stamped.filter(pl.col("attempt_id").is_not_null() & (is_start | is_finish))
        .group_by("source", "attempt_id")
        .agg(
            pl.col("task_id").first(),
            pl.col("node").drop_nulls().first(),
            pl.col("time").filter(is_start).max().alias("start"),
            pl.col("time").filter(is_finish).min().alias("finish"),
        )
        .drop_nulls(["start", "finish", "node"])
    )


def _tasks(stamped: pl.LazyFrame) -> pl.LazyFrame:
    kind = pl.col("event_type")
    return (
        stamped.filter(kind.is_in(["TaskStart", "TaskFinish"]))
        .group_by("source", "task_id")
        .agg(
            pl.col("time").filter(kind == "TaskStart").min().alias("task_start"),
            pl.col("time").filter(kind == "TaskFinish").max().alias("task_finish"),
        )
    )


def _covered(events: pl.DataFrame, found: pl.DataFrame, unit: TimeUnit) -> pl.DataFrame:
    """Per node whether the intervals of its attempts' events hold what the bounds leave."""
    stamped = events.lazy().filter(pl.col("time").is_not_null() & pl.col("attempt_id").is_not_null())
    first = (pl.col("time") - pl.col("highest") * unit.per_microsecond) // unit.counts
    last = (pl.col("time") - pl.col("lowest") * unit.per_microsecond) // unit.counts
    held = (pl.col("lower") <= first) & (pl.col("upper") >= last)
    return stamped.join(found.lazy(), on="node").group_by("node").agg(held.all().alias("covered")).collect()
