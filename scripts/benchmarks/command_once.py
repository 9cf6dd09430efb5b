"""Runs one command over a dataset, by cepctl or a peer; prints rows, seconds and peak memory."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from machine import cores
from measuring import family_peaks_megabytes
from peers import bucketed_sql, duckdb_connection, polars_join
from workloads import ONE_PERCENT

from cepctl.cli import main as cepctl
from cepctl.runners.spark.session import spark_session


def run(who: str, events: str, output: Path, key: str | None) -> None:
    """Matches of the 1 % query as CSV; `key` is an attribute that all events of a match share."""
    parts = Path(events, "*.parquet")
    if who == "polars":
        polars_join(parts, ONE_PERCENT).write_csv(output)
    elif who == "duckdb":
        query = bucketed_sql(parts, ONE_PERCENT)
        duckdb_connection(cores()).execute(f"COPY ({query}) TO '{output}' (HEADER)")
    else:
        text = ONE_PERCENT.text if key is None else ONE_PERCENT.text.replace("WHERE ", f"WHERE [{key}] AND ")
        asked = ["match", text, events, "-o", str(output), "--runner", who, "--quiet"]
        if code := cepctl(asked):
            raise SystemExit(f"cepctl ended with {code}")


def main(who: str, small: str, events: str, key: str | None = None) -> None:
    """Run over a small dataset for warmth, then over the large one, and print one JSON object."""
    with ExitStack() as open_until_told:
        output = Path(open_until_told.enter_context(tempfile.TemporaryDirectory()), "rows.csv")
        if who == "spark":
            open_until_told.enter_context(spark_session(f"local[{cores()}]"))
        run(who, small, output, key)
        wall, cpu = time.perf_counter(), time.process_time()
        run(who, events, output, key)
        seconds, used = time.perf_counter() - wall, time.process_time() - cpu
        with output.open("rb") as rows:
            count = sum(1 for _ in rows) - 1
        peaks = family_peaks_megabytes()
        workers = [peak for name, peak in peaks[1:] if name.startswith("python")]
        told = {
            "rows": count, "seconds": seconds, "cpu_seconds": used,
            "peak": sum(peak for _, peak in peaks), "worker": max(workers, default=0.0),
        }  # fmt: skip
    print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
