"""Lines of log4j logs in every layout, and a reader of what they become, for the tests of its parts."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.log4j.log import Log4jLog

READER = Log4jLog()
KEEP = ReadOptions(keep_unmatched=True)

CONTAINER = "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.Some: hello"
DAEMON = "2015-10-18 18:01:47,978 INFO org.apache.hadoop.Some: hello"
CONSOLE = "17/06/09 20:10:40 INFO mapred.JobClient: hello"
OLD_HDFS = "081109 203615 148 INFO dfs.DataNode$PacketResponder: hello"


def read(
    content: str | bytes,
    options: ReadOptions = KEEP,
    report: ReadReport | None = None,
    source: str = "a.log",
) -> list[dict[str, Any]]:
    raw = content.encode() if isinstance(content, str) else content
    batches = READER.read(io.BytesIO(raw), source, options, report or ReadReport())
    return [row for batch in batches for row in with_epoch_time(batch)]


def with_epoch_time(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    micros = batch.column("time").cast(pa.int64()).to_pylist()
    return [row | {"time": time} for row, time in zip(batch.to_pylist(), micros, strict=True)]


def only(content: str | bytes, options: ReadOptions = KEEP, source: str = "a.log") -> dict[str, Any]:
    (row,) = read(content, options, source=source)
    return row


def messages(content: str | bytes, report: ReadReport | None = None) -> list[str]:
    return [row["message"] for row in read(content, report=report)]


TRACE = "java.io.IOException: gone\n\tat a.B.c(B.java:1)\nCaused by: x: 2015-10-18 18:01:47,978 INFO y: z"
