"""Measures a sketch on an archive: 50 million events of 1,000 types (Zipf) with an id that four share.

    .venv-test/bin/python scripts/measure_archive.py FOLDER [--parts 48]

FOLDER takes 22 MB for each part of 1,048,576 events; what is in it already is used again.  Where duckdb can
be imported, it answers the same on the same events, in Parquet files that it wrote with Bloom filters.  Times
are those of the processor, bytes those of all reads; both grow little where the machine has other work.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import cepctl

PART, ROW_GROUP, TICKS_BETWEEN, TYPES, SKEW = 1 << 20, 1 << 16, 50, 1_000, 1.3
ONE_GROUP = ("T0500x", "T0500y")
"""Types of one event each, near each other."""

QUERIES = {
    "types that one row group has": (*ONE_GROUP, 60_000),
    "rare types that are near each other once": ("T0940", "T0950", 500),
}


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def part_of(number: int, parts: int) -> tuple[pa.Table, np.ndarray]:
    """The events of one part, and how many each type has."""
    random = np.random.default_rng(number)
    lower = number * PART * TICKS_BETWEEN + np.sort(random.integers(0, PART * TICKS_BETWEEN, PART))
    width = random.integers(0, 200, PART)
    width[random.integers(0, PART, PART // 1000)] = 10_000_000  # clocks that are lost
    types = np.minimum(random.zipf(SKEW, PART) - 1, TYPES - 1)
    if number == parts // 2:
        types[[700_000, 700_020]] = TYPES, TYPES + 1
        width[[700_000, 700_020]] = 5
    names = pa.array([*(f"T{each:04d}" for each in range(TYPES)), *ONE_GROUP])
    tasks = (number * PART + np.arange(PART)) // 4 + random.integers(0, 200, PART)
    columns = {
        "event_id": texts("e", number * PART + np.arange(PART)),
        "event_type": names.take(pa.array(types)),
        "lower": lower,
        "upper": lower + width,
        "task": texts("task_", tasks),
        "value": random.random(PART) * 100,
    }
    return pa.table(columns), np.bincount(types, minlength=TYPES + 2)


def texts(before: str, numbers: np.ndarray) -> pa.Array:
    """Numbers with a word before them."""
    return pc.binary_join_element_wise(before, pa.array(numbers).cast(pa.string()), "")


def archive(folder: Path, parts: int) -> Path:
    """A dataset of so many parts: the first is ingested, and the others are written as it is."""
    target = folder / f"archive-{parts}"
    if target.exists():
        return target
    table, _ = part_of(0, parts)
    pq.write_table(table.slice(0, ROW_GROUP), folder / "first.parquet")
    cepctl.ingest(folder / "first.parquet", folder / "first", runner="local", overwrite=True)
    (first,) = (folder / "first").glob("*.parquet")
    schema = pq.read_schema(first)
    counts = sum(part_of(number, parts)[1] for number in range(parts))
    names = [*(f"T{each:04d}" for each in range(TYPES)), *ONE_GROUP]
    metadata = dict(schema.metadata)
    metadata[b"cepctl.event_type_counts"] = json.dumps(
        {name: int(count) for name, count in zip(names, counts, strict=True) if count}
    ).encode()
    (folder / "unfinished").mkdir()
    for number in range(parts):
        table, _ = part_of(number, parts)
        columns = [
            table.column(each.name).cast(each.type)
            if each.name in table.column_names
            else pa.nulls(PART, each.type)
            for each in schema
        ]
        whole = pa.table(columns, schema=schema.with_metadata(metadata))
        path = folder / "unfinished" / f"part-{number:05d}.parquet"
        pq.write_table(whole, path, row_group_size=ROW_GROUP, compression="zstd")
    (folder / "unfinished" / "_SUCCESS").touch()
    return (folder / "unfinished").rename(target)


def measured(work: Callable[[], object]) -> tuple[float, int]:
    """Seconds of the processor and bytes read, of the second of two runs."""
    for _ in range(2):
        began, before = time.process_time(), bytes_read()
        work()
    return time.process_time() - began, bytes_read() - before


def bytes_read() -> int:
    """What this process has read so far."""
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])


def in_duckdb(events: Path, folder: Path) -> Callable[[str, str, int], object] | None:
    """What joins two types in DuckDB on one core; None where it is not installed."""
    try:
        connection = importlib.import_module("duckdb").connect()
    except ImportError:
        return None
    connection.execute("SET threads = 1; SET memory_limit = '2GB'")
    folder.mkdir(exist_ok=True)
    for part in sorted(events.glob("*.parquet")):
        if not (folder / part.name).exists():
            chosen = f"SELECT event_id, event_type, lower, upper, task FROM '{part}'"
            connection.execute(
                f"COPY ({chosen}) TO '{folder / part.name}.new' "
                "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 65536, DICTIONARY_SIZE_LIMIT 70000)"
            )
            (folder / f"{part.name}.new").rename(folder / part.name)

    def joined(first: str, second: str, within: int) -> object:
        files = f"'{folder}/*.parquet'"
        return connection.execute(
            f"SELECT a.event_id, b.event_id FROM {files} a JOIN {files} b ON b.upper > a.lower "
            f"AND b.lower - a.upper < {within} WHERE a.event_type = '{first}' AND b.event_type = '{second}'"
        ).fetchall()

    return joined


def measure(folder: Path, parts: int) -> None:
    """Print what is found."""
    events = archive(folder, parts)
    count, size = parts * PART, sum(each.stat().st_size for each in events.iterdir())
    say(f"{count:,} events, {size / 1e9:.2f} GB")
    for on in ("", "task"):
        began = time.process_time()
        (made,) = cepctl.sketch(events, on=on or ())
        rate = count / (time.process_time() - began) / 1e6
        say(f"sketch on types {on}: {8 * made.size / count:.1f} bits/event, {rate:.2f} M events/s and core")
    duckdb = in_duckdb(events, folder / f"duckdb-{parts}")
    for name, (first, second, within) in QUERIES.items():
        query = f"PATTERN SEQ('{first}' a, '{second}' b) WITHIN {within} ms"
        works: dict[str, Callable[[], object]] = {
            "probe": lambda query=query: cepctl.probe(query, events),
            "match": lambda query=query: cepctl.match(query, events, runner="local"),
            "match --sketch off": lambda query=query: cepctl.match(
                query, events, runner="local", sketch="off"
            ),
        }
        if duckdb is not None:
            works["DuckDB"] = lambda asked=(first, second, within): duckdb(*asked)
        for who, work in works.items():
            seconds, read = measured(work)
            say(f"{name}: {who}: {seconds:.3f} s, {read:,} bytes, {read / size:.2%} of all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=int, default=48)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    measure(given.folder, given.parts)
