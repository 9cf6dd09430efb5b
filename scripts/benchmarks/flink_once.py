"""Runs Flink's MATCH_RECOGNIZE over a file of events; prints rows and seconds.

Run by a Python that has Apache Flink, which wants other versions of PyArrow and py4j than Spark: imports
nothing of ours.  A pattern without keys is matched by one thread, which gets the events in time order.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment


def run(
    tables: TableEnvironment, events: str, sink: str, modulus: int, values: list[int], window: int
) -> int:
    """Next matches of three components as CSV; returns how many there are."""
    first, second, third = values
    tables.execute_sql(f"""
        CREATE TEMPORARY TABLE events (
            event_id STRING, ticks BIGINT, val INT,
            happened AS TO_TIMESTAMP_LTZ(ticks, 3), WATERMARK FOR happened AS happened
        ) WITH ('connector' = 'filesystem', 'path' = '{events}', 'format' = 'csv')""")
    tables.execute_sql(f"""
        CREATE TEMPORARY TABLE found (id0 STRING, id1 STRING, id2 STRING)
        WITH ('connector' = 'filesystem', 'path' = '{sink}', 'format' = 'csv')""")
    tables.execute_sql(f"""
        INSERT INTO found SELECT id0, id1, id2 FROM events MATCH_RECOGNIZE (
            ORDER BY happened
            MEASURES a.event_id AS id0, b.event_id AS id1, c.event_id AS id2
            ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
            PATTERN (a x* b y* c) WITHIN INTERVAL '{window / 1000}' SECOND
            DEFINE a AS MOD(a.val, {modulus}) = {first}, b AS MOD(b.val, {modulus}) = {second},
                   c AS MOD(c.val, {modulus}) = {third}, x AS MOD(x.val, {modulus}) <> {second},
                   y AS MOD(y.val, {modulus}) <> {third})""").wait()
    for name in ("events", "found"):
        tables.execute_sql(f"DROP TEMPORARY TABLE {name}")
    parts = [part for part in Path(sink).rglob("*") if part.is_file()]
    return sum(part.read_bytes().count(b"\n") for part in parts)


def main(small: str, events: str, modulus: str, values: str, window: str) -> None:
    """Run over a few events for warmth, then over all, and print one JSON object."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", "1")
    pattern = int(modulus), [int(each) for each in values.split(",")], int(window)
    with tempfile.TemporaryDirectory() as folder:
        run(tables, small, f"{folder}/small", *pattern)
        began = time.perf_counter()
        rows = run(tables, events, f"{folder}/all", *pattern)
        seconds = time.perf_counter() - began
    print(json.dumps({"rows": rows, "seconds": seconds}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
