"""Events that last: from Parquet to Arrow with exact confidences, beside range joins that compute none.

Both find a pair where each event can start before the other ends, so that the counts must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from engine import NO_CAP
from measuring import timed
from peers import duckdb_connection, has
from results import Goal, Row, Setup, check_equal
from workloads import SEED

from cepctl.engines.event.match import match_events
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import TimeUnit

PAIR = "PATTERN A a INTERSECTS B b WHERE [k]"
COSTLIER = (
    # query, microseconds per match that are aimed at
    ("PATTERN A a INTERSECTS B b BY {} ticks WHERE [k]", 50.0),
    ("PATTERN A a OVERLAPS B b TOLERANCE {} ticks WHERE [k]", 50.0),
    ("PATTERN ISEQ(A a, B b, C c) WHERE [k] AND a INTERSECTS b AND b INTERSECTS c AND a INTERSECTS c", 10.0),
)


def lasting(setup: Setup) -> Iterator[Row]:
    """One relation, side by side with the peers; then what has constants, and three events."""
    for width in (100, 1_000_000):
        path = setup.folder / f"lasting-{width}.parquet"
        pq.write_table(_events(setup.events(200_000, 8_000), "AB", width), path)
        timing, rows = timed(setup, partial(_from_file, path))
        for peer, count in _peers(setup, path):
            check_equal(f"pairs of {peer.case}", count, rows.num_rows)
            yield Row(
                f"INTERSECTS, width {width:,}", timing, rows.num_rows, unit="pairs",
                ratio=timing.seconds / (peer.timing.seconds if peer.timing else 1.0), against=peer.case,
                goal=Goal("at most", 1.0), rate_goal=Goal("at least", 2e6), checked="count",
            )  # fmt: skip
            yield peer
        for query, most in COSTLIER:
            kinds = "ABC" if " C c" in query else "AB"
            table = _events(setup.events(20_000, 2_000), kinds, width)
            text = query.format(width // 5)
            plan = _plan(text)
            spent, found = timed(setup, partial(match_events, plan, table, NO_CAP))
            yield Row(
                f"{text.partition(' WHERE')[0].removeprefix('PATTERN ')}, width {width:,}", spent,
                found.num_rows, rate_goal=Goal("at least", 1e6 / most), note=f"aimed at {most:g} us each",
            )  # fmt: skip


def _from_file(path: Path) -> pa.Table:
    return match_events(_plan(PAIR), pq.read_table(path), NO_CAP)


def _events(size: int, kinds: str, width: int) -> pa.Table:
    """Events of some keys, ten widths apart and up to twenty long, each end known to a width."""
    random, keys = np.random.default_rng(SEED), max(size // 2_000, 1)
    start = random.integers(0, size // 2 * width * 10 // keys // 8 + 1, size)
    end = start + random.integers(0, 20 * width, size)
    return pa.table(
        {
            "event_id": pa.array(np.arange(size)).cast(pa.string()),
            "event_type": pa.array(list(kinds)).take(pa.array(np.arange(size) % len(kinds))),
            "lower": start - width // 2,
            "upper": start + width // 2,
            "end_lower": end - width // 2,
            "end_upper": end + width // 2,
            "k": random.integers(0, keys, size),
        }
    )


def _plan(text: str) -> Plan:
    return analyze(parse(text), EventSchema({"k": pa.int64()}, TimeUnit.parse("1 ms"), lasting=True))


def _peers(setup: Setup, path: Path) -> Iterator[tuple[Row, int]]:
    timing, rows = timed(setup, lambda: _polars_join(path))
    yield Row("range join of Polars", timing, rows.height, unit="pairs"), rows.height
    if has("duckdb"):
        connection = duckdb_connection(setup.cores)
        timing, table = timed(setup, lambda: connection.sql(_duckdb_join(path)).to_arrow_table())
        yield Row("range join of DuckDB", timing, table.num_rows, unit="pairs"), table.num_rows


def _polars_join(path: Path) -> pl.DataFrame:
    events = pl.scan_parquet(path)
    one, other = (events.filter(event_type=kind) for kind in "AB")
    return one.join_where(
        other,
        pl.col("k") == pl.col("k_right"),
        pl.col("lower") < pl.col("end_upper_right"),
        pl.col("lower_right") < pl.col("end_upper"),
    ).collect()


def _duckdb_join(path: Path) -> str:
    one, other = (f"(SELECT * FROM read_parquet('{path}') WHERE event_type = '{kind}')" for kind in "AB")
    return (
        f"SELECT a.event_id, b.event_id other, a.lower, a.end_upper, b.lower, b.end_upper FROM {one} a "
        f"JOIN {other} b ON a.k = b.k AND a.lower < b.end_upper AND b.lower < a.end_upper"
    )
