"""Fifty million events, each command in a process of its own, so that peak memory is its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from commands import has_java
from measuring import in_process
from peers import has
from results import Goal, Row, Setup, Timing, check_equal, left_out
from workloads import appendix_c

from cepctl.cli import main
from cepctl.errors import JobError
from cepctl.ingestion.writing import ROW_GROUP_EVENTS
from cepctl.schema import META_TYPE_COUNTS

SMALL = 10_000
PART = 1_000_000
PEERS = {"polars": "Polars join_where", "duckdb": "DuckDB bucketed join"}
MOST_MEGABYTES, MOST_MEGABYTES_OF_A_WORKER = 4096, 2048
LEAST_PER_SECOND = 1_000_000
KEY = "node"
BLOCK, BLOCKS_OF_OTHERS = 1_000, 10
"""Every tenth block of this many events has a key of its own, all others share one."""


def large(setup: Setup) -> Iterator[Row]:
    """`cepctl match` at 1 % from a dataset to CSV, both runners, against peers at d = 0."""
    size = setup.events(50_000_000, 500_000)
    for half_width in (0,) if setup.quick else (0, 10):
        small, events = (large_dataset(setup.folder, count, half_width) for count in (SMALL, size))
        case = f"{size:,} events, d = {half_width}"
        local = in_process("command_once.py", "local", small, events)
        check_equal("rows of the local runner", local["rows"], size // 100)
        for who, name in PEERS.items() if half_width == 0 else ():
            if who == "duckdb" and not has(who):
                yield left_out(f"{case}, DuckDB", who)
                continue
            peer = in_process("command_once.py", who, small, events)
            check_equal(f"rows of {name}", peer["rows"], local["rows"])
            yield _row(
                f"{case}, local", size, local, local["seconds"] / peer["seconds"],
                f"{name}, CSV, without confidences", Goal("at most", 2), f"; peer {peer['seconds']:.1f} s",
            )  # fmt: skip
        if not setup.quick:
            yield from _on_spark(setup, case, size, small, events, local)
    size = setup.events(10_000_000, 200_000)
    small, events = (large_dataset(setup.folder, count, 10, keyed=True) for count in (SMALL, size))
    yield from _on_spark(setup, f"{size:,} events, 90 % of one key", size, small, events, None)


def _on_spark(
    setup: Setup, case: str, size: int, small: Path, events: Path, local: dict[str, Any] | None
) -> Iterator[Row]:
    """Time and memory on Spark, start apart; `local` is what the other runner took for the same."""
    if not has_java():
        yield left_out(f"{case}, Spark", "Java")
        return
    keyed = () if local is not None else (KEY,)
    spark = in_process("command_once.py", "spark", small, events, *keyed)
    check_equal("rows of Spark", spark["rows"], size // 100)
    seconds = local["seconds"] if local is not None else size / LEAST_PER_SECOND
    against = "the local runner" if local is not None else "a million events a second"
    yield _row(
        f"{case}, Spark", size, spark, spark["seconds"] / seconds, f"{against}, start of Spark apart",
        rate_goal=None if setup.quick else Goal("at least", LEAST_PER_SECOND),
    )  # fmt: skip
    for what, peak, most in (
        ("Java, driver and workers together", spark["peak"], MOST_MEGABYTES),
        ("the largest worker", spark["worker"], MOST_MEGABYTES_OF_A_WORKER),
    ):
        yield Row(
            f"{case}, Spark, memory", None, ratio=peak / most,
            against=f"peak memory of {what} over {most // 1024} GB", goal=Goal("at most", 1),
            note=f"peak {peak:,.0f} MB",
        )  # fmt: skip


def _row(
    case: str, size: int, told: dict[str, Any], ratio: float, against: str, goal: Goal | None = None,
    more: str = "", rate_goal: Goal | None = None,
) -> Row:  # fmt: skip
    note = f"{told['rows']:,} matches, peak {told['peak']:,.0f} MB{more}"
    timing = Timing(told["seconds"], told["cpu_seconds"], 1)
    return Row(case, timing, size, "events", ratio=ratio, against=against, goal=goal, rate_goal=rate_goal,
               checked="count", note=note)  # fmt: skip


def large_dataset(folder: Path, count: int, half_width: int, *, keyed: bool = False) -> Path:
    """A dataset as ingest writes it: the first part by ingest itself, the others with its schema."""
    name = f"large_{count}_{half_width}{'_keyed' if keyed else ''}"
    output, plain = folder / name, folder / f"{name}.parquet"
    pq.write_table(_events(0, min(count, PART), half_width, keyed), plain)
    code = main(["ingest", str(plain), "-o", str(output), "--overwrite", "--runner", "local", "--quiet"])
    if code:
        raise JobError(f"ingest of {plain} ended with {code}")
    plain.unlink()
    (first,) = output.glob("part-*.parquet")
    schema = pq.read_schema(first)
    counts = {META_TYPE_COUNTS: json.dumps({"E": count}).encode()}
    schema = schema.with_metadata({**schema.metadata, **counts})
    write = partial(_write_part, output, schema, count, half_width, keyed)
    with ThreadPoolExecutor() as threads:
        list(threads.map(write, range(-(-count // PART))))
    return output


def _write_part(output: Path, schema: pa.Schema, count: int, half_width: int, keyed: bool, part: int) -> None:
    begin = part * PART
    events = _events(begin, min(count, begin + PART), half_width, keyed)
    held = dict(zip(events.column_names, events.columns, strict=True))
    columns = [
        held[field.name].cast(field.type) if field.name in held else pa.nulls(len(events), field.type)
        for field in schema
    ]
    pq.write_table(
        pa.table(columns, schema=schema),
        output / f"part-{part:05d}.parquet",
        compression="zstd",
        row_group_size=ROW_GROUP_EVENTS,
    )


def _events(begin: int, end: int, half_width: int, keyed: bool) -> pa.Table:
    """Events number `begin` to `end` - 1 of Appendix C."""
    number = np.arange(begin, end)
    table = appendix_c(len(number), half_width).drop_columns(["pmf"])
    for name in ("lower", "upper"):
        moved = pa.array(table.column(name).to_numpy() + begin)
        table = table.set_column(table.column_names.index(name), name, moved)
    ids = pa.array(number).cast(pa.string())
    table = table.set_column(table.column_names.index("event_id"), "event_id", ids)
    if not keyed:
        return table
    block = number // BLOCK
    keys = pa.array(np.where(block % BLOCKS_OF_OTHERS == 0, block + 1, 0)).cast(pa.string())
    return table.append_column(KEY, keys)
