"""Events in any form give the rows that the command line writes for the same events in a file."""

from __future__ import annotations

import csv
import datetime as dt
import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import EventSchemaError, UsageError

Make = Callable[[pa.Table, Path], Any]
QUERY = (
    "PATTERN SEQ(A a, B+ b[], C c) WHERE a.node = c.node WITHIN 12 ticks RETURN a.node, count(b[]) AS size"
)


def in_parquet(events: pa.Table, folder: Path) -> str:
    pq.write_table(events, folder / "table")
    return str(folder / "table")


def in_dataset(events: pa.Table, folder: Path) -> cepctl.Ingested:
    return cepctl.ingest(in_parquet(events, folder), folder / "events")


def in_two(events: pa.Table, folder: Path) -> list[object]:
    """Half of them in a dataset, the others in a frame; ids are given."""
    return [in_dataset(events.slice(0, 2), folder), pl.DataFrame(events.slice(2))]


KINDS: dict[str, Make] = {
    "path": in_parquet,
    "dataset": in_dataset,
    "table": lambda events, _: events,
    "batches": lambda events, _: events.to_reader(2),
    "frame": lambda events, _: pl.DataFrame(events),
    "lazy frame": lambda events, _: pl.DataFrame(events).lazy(),
    "pandas": lambda events, _: pytest.importorskip("pandas") and events.to_pandas(),
    "several": in_two,
}


def drawn(number: int) -> pa.Table:
    """A few events, with ids of their own; the order is that of their ids."""
    chance = random.Random(number)
    lower = [chance.randrange(20) for _ in range(8)]
    return pa.table(
        {
            "event_id": [f"e{n}" for n in range(8)],
            "event_type": [chance.choice("ABC") for _ in range(8)],
            "lower": lower,
            "upper": [start + chance.randrange(6) for start in lower],
            "node": [chance.choice(["n1", "n2", None]) for _ in range(8)],
        }
    )


def text_of(value: object) -> str:
    """A value of a row as CSV has it."""
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    return "" if value is None else str(value)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_command_line(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = range(int(os.environ.get("CEPCTL_EXAMPLES", "3")))
    found = 0
    for number in numbers:
        folder = tmp_path / str(number)
        folder.mkdir()
        events = drawn(number)
        file = folder / "events.csv"
        file.write_bytes(pl.DataFrame(events).write_csv().encode())
        assert main(["match", QUERY, str(file), "--runner", "local", "-q"]) == 0
        written = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        with cepctl.match(QUERY, KINDS[kind](events, folder)) as matches:
            rows = [{name: text_of(row[name]) for name in row if name != "signature"} for row in matches]
        assert rows == written
        found += len(rows)
    assert found


@pytest.mark.parametrize(
    "times",
    [
        pytest.param(pl.Series(["1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"]), id="text"),
        pytest.param(pl.Series([1_000_000, 2_000_000]).cast(pl.Datetime("us")), id="datetimes"),
        pytest.param(pl.Series([10**9, 2 * 10**9]).cast(pl.Datetime("ns", "UTC")), id="nanoseconds"),
    ],
)
def test_times_in_a_frame_are_those_of_the_log(times: pl.Series) -> None:
    frame = pl.DataFrame({"kind": pl.Series(["A", "B"]).cast(pl.Categorical), "at": times})
    (row,) = cepctl.match("PATTERN SEQ(A a, B b)", frame, map={"event_type": "kind", "time": "at"})
    assert row["confidence"] == 1.0
    first, last = (dt.datetime(1970, 1, 1, 0, 0, second, tzinfo=dt.UTC) for second in (1, 3))
    assert (row["start"], row["end"]) == (first, last - dt.timedelta(milliseconds=1))


@pytest.mark.parametrize("library", ["polars", "pandas", "arrow"])
def test_times_of_a_frame_without_a_fraction_are_whole_seconds_or_exact(library: str) -> None:
    frame: Any = pl.DataFrame({"event_type": ["A", "B"], "time": [dt.datetime(2024, 5, 1, 0, 0, 1)] * 2})
    if library == "pandas":
        pytest.importorskip("pandas")
        frame = frame.to_pandas()
    elif library == "arrow":
        frame = frame.to_arrow()
    query = "PATTERN SEQ(A a, B b)"
    assert [row["confidence"] for row in cepctl.match(query, frame)] == [0.4995]
    assert not len(cepctl.match(query, frame, exact_times=True))


def test_ticks_are_those_of_the_finest_digit_or_of_the_unit_that_is_named() -> None:
    times = [dt.datetime(2024, 5, 1, 0, 0, 1, micros) for micros in (100, 900)]
    frame = pl.DataFrame({"event_type": ["A", "B"], "time": times})
    query = "PATTERN SEQ(A a, B b)"
    assert [row["confidence"] for row in cepctl.match(query, frame)] == [1.0]
    assert not len(cepctl.match(query, frame, time_unit="1 ms"))
    with pytest.raises(UsageError, match="the time unit: 'soon' is not a duration"):
        cepctl.match(query, frame, time_unit="soon")


def test_levels_of_a_pandas_index_that_have_names_are_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"event_type": ["A", "A", "B"], "lower": [1, 2, 5], "upper": [1, 3, 6]})
    part = frame[frame["lower"] != 2]  # whose index counts 0, 2
    (row,) = cepctl.match("PATTERN SEQ(A a, B b)", part)
    assert row["match"] == "table#1 table#2"
    named = part.set_index("event_type")
    assert len(cepctl.match("PATTERN SEQ(A a, B b)", named)) == 1


def test_matches_become_a_frame_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    events = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})
    frame = cepctl.match("PATTERN SEQ(A a, B b)", events).pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["confidence"].tolist() == [13 / 16]


def test_a_table_that_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    empty = pa.table({"event_type": ["A"], "lower": [1], "upper": [1], "none": pa.array([{}], pa.struct([]))})
    with pytest.raises(cepctl.CepctlError, match="cannot be written as Parquet"):
        cepctl.match("PATTERN SEQ(A a)", empty)


def test_a_table_without_types_is_told_what_it_lacks() -> None:
    with pytest.raises(cepctl.CepctlError, match="table: no column event_type"):
        cepctl.match("PATTERN SEQ(A a)", pa.table({"lower": [1], "upper": [2]}))


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        ({"kind": ["A"], "ts": [1]}, "event_type"),
        ({"event_type": ["A"], "x": [1]}, "time, and not both lower and upper"),
    ],
)
def test_a_frame_that_lacks_a_column_is_not_called_damaged(
    columns: dict[str, list[object]], missing: str
) -> None:
    with pytest.raises(EventSchemaError) as refused:
        cepctl.match("PATTERN SEQ(A a, B b)", pa.table(columns))
    assert f"table: no column {missing}" in str(refused.value)
    assert "damaged" not in str(refused.value)
