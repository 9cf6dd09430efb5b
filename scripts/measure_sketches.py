"""Measures sketches on events whose types are Zipf: bits per event, making, probing, what a match reads.

    .venv-test/bin/python scripts/measure_sketches.py [--events 2000000] [--types 1000] [--skew 1.3]

Beside them the tree of Bloom filters (Baltus, TU Eindhoven 2021): a filter over the types of each window of
C events, filters of neighbours merged up to the root.  Its bits are counted from how many types each node
really has, as 1.44 log2(1/p) bits for each.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cepctl

KEYS_SHARED_BY = 4
TICKS_BETWEEN = 50


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def written_events(folder: Path, count: int, types: int, skew: float) -> Path:
    """Events in order of time with a type, an id that some neighbours share, and a number."""
    random = np.random.default_rng(1)
    lower = np.sort(random.integers(0, count * TICKS_BETWEEN, count))
    width = random.integers(0, 200, count)
    width[random.integers(0, count, count // 1000)] = 10_000_000  # clocks that are lost
    ranks = np.minimum(random.zipf(skew, count) - 1, types - 1)
    names = np.array([f"T{number:04d}" for number in range(types)])
    tasks = np.arange(count) // KEYS_SHARED_BY + random.integers(0, 200, count)
    columns = {
        "event_type": pa.array(names[ranks]),
        "lower": lower,
        "upper": lower + width,
        "task": pa.array(np.char.add("task_", tasks.astype(str))),
        "value": random.random(count) * 100,
    }
    pq.write_table(pa.table(columns), folder / "events.parquet")
    return folder / "events.parquet"


def timed(work: Callable[[], object]) -> float:
    """Seconds, the best of three."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def bloom_tree_bits(types: np.ndarray, window: int, false_positives: float) -> float:
    """Bits per event of a tree of Bloom filters over windows of so many events."""
    each = math.log2(1 / false_positives) / math.log(2)
    bits, size = 0.0, window
    while True:
        nodes = np.arange(len(types)) // size
        bits += each * len(np.unique(nodes * (types.max() + 1) + types))
        if size >= len(types):
            return bits / len(types)
        size *= 2


def bytes_read(*words: str) -> int:
    """Bytes that a call of `cepctl` reads, as the kernel counts them, libraries and all."""
    code = (
        "import sys; from cepctl.cli import main; main(sys.argv[1:]); "
        "sys.stderr.write(open('/proc/self/io').read())"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return next(int(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("rchar:"))


def measure(folder: Path, count: int, types: int, skew: float) -> None:
    """Print what is found."""
    events = folder / "dataset"
    cepctl.ingest(written_events(folder, count, types, skew), events, runner="local")
    for on in ("", "task", "value:range", "task,value:range"):
        began = time.perf_counter()
        (made,) = cepctl.sketch(events, on=on or ())
        rate = count / (time.perf_counter() - began) / 1e6
        say(f"sketch on types {on:17} {8 * made.size / count:6.1f} bits/event {rate:6.2f} M events/s")
    stored = pq.read_table(folder / "events.parquet", columns=["event_type"]).column(0)
    numbers = stored.combine_chunks().dictionary_encode().indices.to_numpy()
    for window in (256, 1024, 4096):
        for rate in (0.1, 0.01):
            bits = bloom_tree_bits(numbers, window, rate)
            say(f"Bloom tree, C = {window}, false positives {rate}: {bits:.1f} bits/event")
    rare = [f"T{number:04d}" for number in (types - 60, types - 50, types - 2)]
    queries = {
        "rare pair": f"PATTERN SEQ({rare[0]} a, {rare[1]} b) WITHIN 1 minute",
        "rare triple": f"PATTERN SEQ({rare[0]} a, {rare[1]} b, {rare[2]} c) WITHIN 10 minutes",
        "rare and common": f"PATTERN SEQ({rare[0]} a, T0000 b) WITHIN 1 second",
        "one task": "PATTERN SEQ(T0001 a, T0000 b) WHERE a.task = 'task_30000' AND [task] WITHIN 20 s",
        "tasks": f"PATTERN SEQ({rare[0]} a, T0001 b) WHERE [task] WITHIN 20 s",
    }
    for name, query in queries.items():
        found = cepctl.probe(query, events)
        probing = 1000 * timed(lambda query=query: cepctl.probe(query, events))
        times = [
            timed(lambda query=query, use=use: cepctl.match(query, events, runner="local", sketch=use))
            for use in ("auto", "off")
        ]
        say(
            f"{name:16} {len(found):5} rows {probing:7.1f} ms; match {times[0]:.3f} s, without sketch "
            f"{times[1]:.3f} s; {cepctl.explain(query, events).facts.sketch}"
        )
    query = queries["rare pair"]
    never = "PATTERN SEQ(NeverSeen a, NeverSeen b) WITHIN 1 ms"
    base = bytes_read("match", never, str(events), "--runner", "local", "-q")
    for use in ("auto", "off"):
        held = bytes_read("match", query, str(events), "--runner", "local", "-q", "--sketch", use) - base
        say(f"rare pair, --sketch {use}: {held:,} bytes more than a match of nothing")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--types", type=int, default=1_000)
    parser.add_argument("--skew", type=float, default=1.3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        measure(Path(scratch), given.events, given.types, given.skew)
