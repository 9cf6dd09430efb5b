"""Fifty million events, each command in a process of its own, so that peak memory is its own."""

from __future__ import annotations

from collections.abc import Iterator
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

SMALL = 10_000
CHUNK = 1_000_000
PEERS = {"polars": "Polars join_where", "duckdb": "DuckDB bucketed join"}
MOST_MEGABYTES = 4096


def large(setup: Setup) -> Iterator[Row]:
    """`cepctl match` at 1 % from a dataset to CSV, both runners, against peers at d = 0."""
    size = setup.events(50_000_000, 500_000)
    for half_width in (0,) if setup.quick else (0, 10):
        small, events = (
            _dataset(setup.folder / f"{name}_{half_width}", count, half_width)
            for name, count in (("small", SMALL), ("large", size))
        )
        case = f"{size:,} events, d = {half_width}"
        local = in_process("command_once.py", "local", small, events)
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
        if not has_java():
            yield left_out(f"{case}, Spark", "Java")
            continue
        spark = in_process("command_once.py", "spark", small, events)
        check_equal("rows of Spark", spark["rows"], local["rows"])
        ratio = spark["seconds"] / local["seconds"]
        yield _row(f"{case}, Spark", size, spark, ratio, "the local runner, start of Spark apart")
        yield Row(
            f"{case}, Spark, memory", None, ratio=spark["peak"] / MOST_MEGABYTES,
            against="peak memory of Java, driver and workers together over 4 GB", goal=Goal("at most", 1),
            note=f"peak {spark['peak']:,.0f} MB",
        )  # fmt: skip


def _row(
    case: str, size: int, told: dict[str, Any], ratio: float, against: str, goal: Goal | None = None,
    more: str = "",
) -> Row:  # fmt: skip
    note = f"{told['rows']:,} matches, peak {told['peak']:,.0f} MB{more}"
    timing = Timing(told["seconds"], told["cpu_seconds"], 1)
    return Row(case, timing, size, "events", ratio=ratio, against=against, goal=goal, checked="count",
               note=note)  # fmt: skip


def _dataset(folder: Path, count: int, half_width: int) -> Path:
    """Ingest events written in pieces, so that they never are in memory together."""
    plain = folder.with_suffix(".parquet")
    with pq.ParquetWriter(plain, appendix_c(1, 0).drop_columns(["pmf"]).schema) as writer:
        for begin in range(0, count, CHUNK):
            number = np.arange(begin, min(begin + CHUNK, count))
            piece = appendix_c(len(number), half_width).drop_columns(["pmf"])
            for name, shift in (("lower", begin), ("upper", begin)):
                moved = pa.array(piece.column(name).to_numpy() + shift)
                piece = piece.set_column(piece.column_names.index(name), name, moved)
            ids = pa.array(number).cast(pa.string())
            writer.write_table(piece.set_column(piece.column_names.index("event_id"), "event_id", ids))
    code = main(["ingest", str(plain), "-o", str(folder), "--overwrite", "--runner", "local", "--quiet"])
    if code:
        raise JobError(f"ingest of {plain} ended with {code}")
    plain.unlink()
    return folder
