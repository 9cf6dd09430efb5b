"""What cepctl is compared with: Polars and DuckDB, doing as much of the work as they can.

Neither has uncertain time.  Both find the candidate matches by a join over intervals: by difference
constraints, events can be in order and inside the window if and only if every pair of them can
(the closed system of constraints, with one upper and one lower bound for each event).
DuckDB also computes confidences, as an expert would write it: the middle event in closed form, the
ticks of the outer two summed.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from workloads import Pattern

BUCKET = "bucket"


@cache
def has(package: str) -> bool:
    """Whether a peer is installed."""
    return importlib.util.find_spec(package) is not None


def polars_join(path: Path, pattern: Pattern) -> pl.DataFrame:
    """Candidate matches by `join_where`: ids and intervals of their events, no confidence."""
    events = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    found: pl.LazyFrame | None = None
    for j, value in enumerate(pattern.values):
        fits = events.filter(pl.col("val") % pattern.modulus == value).select(
            pl.col("event_id").alias(f"id{j}"),
            pl.col("lower").alias(f"lower{j}"),
            pl.col("upper").alias(f"upper{j}"),
        )
        found = fits if found is None else found.join_where(fits, *_pairwise(pattern, j))
    assert found is not None
    return found.collect()


def _pairwise(pattern: Pattern, j: int) -> list[pl.Expr]:
    """That the j-th event can be with each one before it; first what prunes most."""
    last = len(pattern.values) - 1
    conditions = []
    for i in range(j - 1, -1, -1):
        conditions.append(pl.col(f"lower{i}") + (j - i) <= pl.col(f"upper{j}"))
        most = pattern.window - 1 - (last - j) - i
        conditions.append(pl.col(f"lower{j}") <= pl.col(f"upper{i}") + most)
    return conditions


def duckdb_connection(cores: int) -> Any:
    """A fresh database in memory."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {cores}")
    return connection


def candidates_sql(path: Path, pattern: Pattern) -> str:
    """DuckDB's range join, for chains of three: a row for each candidate match."""
    a, b, c = (_component_sql(path, pattern, value) for value in pattern.values)
    window = pattern.window
    return f"""
        SELECT a.event_id id0, b.event_id id1, c.event_id id2,
               a.lower lower0, a.upper upper0, b.lower lower1, b.upper upper1, c.lower lower2, c.upper upper2
        FROM ({a}) a
        JOIN ({b}) b ON b.upper > a.lower AND b.lower <= a.upper + {window - 2}
        JOIN ({c}) c ON c.upper > b.lower AND c.lower <= b.upper + {window - 2}
                    AND c.upper >= a.lower + 2 AND c.lower <= a.upper + {window - 1}"""


def bucketed_sql(path: Path, pattern: Pattern) -> str:
    """The same for certain events, with time cut into buckets of a window, so that equality finds pairs."""
    a, b, c = (_component_sql(path, pattern, value) for value in pattern.values)
    window = pattern.window
    near = f"SELECT *, lower // {window} + unnest([0, -1]) {BUCKET} FROM"
    return f"""
        SELECT a.event_id id0, b.event_id id1, c.event_id id2, a.lower lower0, c.lower lower2
        FROM (SELECT *, lower // {window} {BUCKET} FROM ({a})) a
        JOIN ({near} ({b})) b ON a.{BUCKET} = b.{BUCKET} 
            AND b.lower > a.lower AND b.lower - a.lower < {window}
        JOIN ({near} ({c})) c ON a.{BUCKET} = c.{BUCKET} 
            AND c.lower > b.lower AND c.lower - a.lower < {window}"""


def _component_sql(path: Path, pattern: Pattern, value: int) -> str:
    return (
        f"SELECT event_id, lower, upper FROM read_parquet('{path}') WHERE val % {pattern.modulus} = {value}"
    )


def duckdb_confidences(connection: Any, path: Path, pattern: Pattern) -> pa.Table:
    """Columns id0, id1, id2, confidence for uniform events and chains of three.

    Of several ways to write it this was the fastest: ticks of the first event as rows of a table,
    those of the last as a list, all numbers of 32 bits, since sums of wide integers are slow.
    """
    widest = f"SELECT max(upper - lower) + 1 FROM read_parquet('{path}')"
    (ticks,) = connection.execute(widest).fetchone()
    connection.execute(
        f"CREATE OR REPLACE TABLE offsets AS SELECT range::INTEGER AS first FROM range({ticks})"
    )
    query = f"""
        WITH found AS (SELECT row_number() OVER () AS number, * FROM ({candidates_sql(path, pattern)})),
        relative AS (
            SELECT number::INTEGER number, (upper0 - lower0)::INTEGER width0,
                   (lower1 - lower0)::INTEGER lower1, (upper1 - lower0)::INTEGER upper1,
                   (lower2 - lower0)::INTEGER lower2, (upper2 - lower0)::INTEGER upper2
            FROM found),
        started AS (SELECT * FROM relative, offsets WHERE first <= width0),
        summed AS (
            SELECT number, sum(list_sum(list_transform(
                       range(greatest(lower2, first + 2), least(upper2 + 1, first + {pattern.window})),
                       lambda last: greatest(0, least(upper1, last - 1) - greatest(lower1, first + 1) + 1)
                   ))) AS worlds
            FROM started GROUP BY number)
        SELECT id0, id1, id2, worlds /
               ((upper0 - lower0 + 1.0) * (upper1 - lower1 + 1.0) * (upper2 - lower2 + 1.0)) AS confidence
        FROM found JOIN summed USING (number) WHERE worlds > 0"""
    return connection.sql(query).to_arrow_table()
