"""A call leaves the process that makes it as it was: threads, event loops, signals, Spark sessions."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import cepctl
import cepctl.engines.event.match  # importing the engines alone adds a finder of modules
from cepctl.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cepctl.runners.spark.session import Session

QUERY = "PATTERN SEQ(A a, B b) RETURN a.task"
# Importing Polars alone sets a variable of the environment.
EVENTS = pl.DataFrame({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6], "task": ["t1", "t2"]})
LOG = "event_type,time,task\nA,1970-01-01T00:00:01Z,t1\nB,1970-01-01T00:00:02Z,t1\n"


def state() -> list[object]:
    """What a call could change of a process."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    return [dict(os.environ), gc.get_threshold(), [*sys.meta_path], [*sys.path], Path.cwd(), *handlers]


def test_a_call_changes_nothing_of_the_process(tmp_path: Path) -> None:
    before = state()
    (tmp_path / "log.csv").write_text(LOG)
    dataset = cepctl.ingest(tmp_path / "log.csv", tmp_path / "events")
    assert len(cepctl.match(QUERY, dataset)) == 1
    assert cepctl.inspect(tmp_path / "log.csv").facts.events == 2
    assert state() == before


def test_threads_may_call_at_the_same_time() -> None:
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda _: [row["match"] for row in cepctl.match(QUERY, EVENTS)], range(8))]
    assert found == [["table#1 table#2"]] * 8


def test_an_event_loop_may_run(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG)

    async def cell() -> int:
        return len(cepctl.match(QUERY, tmp_path / "log.csv"))

    assert asyncio.run(cell()) == 1


@pytest.fixture
def session(spark: Session) -> Iterator[SparkSession]:
    """A session of a program, in the context that runs already."""
    from pyspark.sql import SparkSession

    yield SparkSession(spark.sparkContext)
    assert spark.sparkContext.parallelize([1, 2]).count() == 2  # it runs on


@pytest.mark.spark
def test_a_frame_of_spark_is_matched_on_spark_where_its_session_runs(session: SparkSession) -> None:
    before = state()
    columns = "kind string, lower long, upper long, task string"
    frame = session.createDataFrame([("A", 1, 4, "t1"), ("B", 3, 6, "t2")], columns)
    matches = cepctl.match(QUERY, frame, map={"event_type": "kind"})
    assert [(row["confidence"], row["a.task"]) for row in matches] == [(13 / 16, "t1")]
    assert matches.summary.slices == 1
    assert cepctl.match(QUERY, frame, map={"event_type": "kind"}, runner="local").summary.slices is None
    assert state() == before


@pytest.mark.spark
def test_a_session_is_used_as_it_is(session: SparkSession) -> None:
    assert cepctl.match(QUERY, EVENTS, spark=session).summary.slices == 1
    with pytest.raises(UsageError, match="a Spark session runs already"):
        cepctl.match(QUERY, EVENTS, master="local[1]")
    with pytest.raises(UsageError, match="spark is not a session of this process"):
        cepctl.match(QUERY, EVENTS, spark=object())  # type: ignore[arg-type]


def test_options_of_spark_need_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.library.execution.session_runs", lambda: False)
    with pytest.raises(UsageError, match="add runner='spark'"):
        cepctl.match(QUERY, EVENTS, master="local[2]")
    assert cepctl.match(QUERY, EVENTS).summary.slices is None
