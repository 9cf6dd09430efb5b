"""Reads logs of clocks once, or ingests and matches events under a model once; prints one JSON object.

Processor time counts that of child processes, too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from measuring import family_peaks_megabytes

import cepctl
from cepctl.cli import main as command

QUERY = "PATTERN SEQ(A a, B b) WHERE a.pair = b.pair"


def processor_seconds() -> float:
    """Of this process, and of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def clocks(logs: str, output: str) -> dict[str, float]:
    """From logs to CLOCKS."""
    wall, used = time.perf_counter(), processor_seconds()
    words = ["clocks", logs, "-o", output, "--host", "*/{host}/tracking.log", "--hold", "0 s", "--quiet"]
    if command(words) != 0:
        raise SystemExit("cepctl clocks failed")
    told = {"seconds": time.perf_counter() - wall, "cpu_seconds": processor_seconds() - used}
    peak = sum(megabytes for _, megabytes in family_peaks_megabytes())
    return told | {"peak": peak, "rows": pq.read_metadata(output).num_rows}


def events(path: str, model: str) -> dict[str, float]:
    """From events to matches, once for warmth and once to be measured."""
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder, "warm")
        cepctl.ingest(path, warm, uncertainty=model, runner="local")
        len(cepctl.match(QUERY, warm, runner="local"))
        wall, used = time.perf_counter(), processor_seconds()
        cepctl.ingest(path, Path(folder, "events"), uncertainty=model, runner="local")
        ingested = processor_seconds()
        rows = len(cepctl.match(QUERY, Path(folder, "events"), runner="local"))
        seconds, matched = time.perf_counter() - wall, processor_seconds()
    return {
        "seconds": seconds,
        "cpu_seconds": matched - used,
        "ingest_cpu_seconds": ingested - used,
        "match_cpu_seconds": matched - ingested,
        "rows": rows,
    }


if __name__ == "__main__":
    print(json.dumps({"clocks": clocks, "events": events}[sys.argv[1]](*sys.argv[2:])))  # noqa: T201
