"""The whole command from Parquet to CSV, on both runners, and what peers need for as much."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl
from measuring import once, timed
from peers import bucketed_sql, candidates_sql, duckdb_connection, has, polars_join
from results import CheckFailed, Goal, Row, Setup, Timing, check_equal, left_out
from workloads import ONE_PERCENT, appendix_c, stored

from cepctl.cli import main
from cepctl.errors import JobError
from cepctl.runners.spark.java import find_java
from cepctl.runners.spark.session import spark_session

SIZES = (1_000_000, 10_000_000)


def commands(setup: Setup) -> Iterator[Row]:
    """`cepctl match` at 1 %, in this process, so that nobody's start counts."""
    for full in SIZES[:1] if setup.quick else SIZES:
        size = setup.events(full, full // 20)
        for half_width in (0, 10):
            folder = setup.folder / f"events_{half_width}"
            events = stored(setup.folder, "commands", appendix_c(size, half_width).drop_columns(["pmf"]))
            _cepctl("ingest", events, "-o", folder, "--overwrite", "--runner", "local")
            case = f"{size:,} events, d = {half_width}"
            yield from _one_size(setup, case, size, half_width, folder)


def _one_size(setup: Setup, case: str, size: int, half_width: int, folder: Path) -> Iterator[Row]:
    output = setup.folder / "matches.csv"
    match = partial(
        _cepctl, "match", ONE_PERCENT.text, folder, "-o", output, "--max-matches", 1 << 40, "--runner"
    )
    local, _ = timed(setup, partial(match, "local"))
    expected, rows = output.read_bytes(), pl.read_csv(output).height
    parts = folder / "*.parquet"
    peers = {"Polars join_where": partial(_polars, parts, output)}
    if has("duckdb"):
        peers["DuckDB range join"] = partial(_duckdb, setup, candidates_sql(parts, ONE_PERCENT), output)
        if half_width == 0:
            peers["DuckDB bucketed join"] = partial(_duckdb, setup, bucketed_sql(parts, ONE_PERCENT), output)
    else:
        yield left_out(f"{case}, DuckDB", "duckdb")
    for name, work in peers.items():
        timing, _ = timed(setup, work)
        check_equal(f"rows of {name}, {case}", pl.read_csv(output).height, rows)
        yield Row(
            f"{case}, local", local, size, "events", ratio=local.seconds / timing.seconds,
            against=f"{name}, CSV, without confidences", goal=Goal("at most", 2) if half_width == 0 else None,
            checked="count", note=f"{rows:,} matches; peer {timing.seconds:.2f} s",
        )  # fmt: skip
    if not has_java():
        yield left_out(f"{case}, Spark", "Java")
        return
    start, spark = _on_spark(setup, partial(match, "spark"))
    if output.read_bytes() != expected:
        raise CheckFailed(f"{case}: Spark wrote other bytes than the local runner")
    yield Row(
        f"{case}, Spark", spark, size, "events", ratio=spark.seconds / local.seconds,
        against="the local runner, start of Spark apart", checked="same bytes",
        note=f"session in {start.seconds:.1f} s; the first starts Java",
    )  # fmt: skip


def _on_spark(setup: Setup, match: partial[None]) -> tuple[Timing, Timing]:
    """Times of the start of a session and of the command in it."""
    session = spark_session(f"local[{setup.cores}]")
    start, _ = once(session.__enter__)
    try:
        return start, timed(setup, match)[0]
    finally:
        session.__exit__(None, None, None)


def has_java() -> bool:
    """Whether Spark can run here."""
    try:
        find_java()
    except JobError:
        return False
    return True


def _cepctl(*arguments: object) -> None:
    """Run one command line quietly; raise CheckFailed when it does not go through."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        code = main([str(each) for each in arguments] + ["--quiet"])
    if code != 0:
        raise CheckFailed(f"cepctl {arguments[0]} ended with {code}: {told.getvalue()}")


def _polars(parts: Path, output: Path) -> None:
    polars_join(parts, ONE_PERCENT).write_csv(output)


def _duckdb(setup: Setup, query: str, output: Path) -> None:
    duckdb_connection(setup.cores).execute(f"COPY ({query}) TO '{output}' (HEADER)")
