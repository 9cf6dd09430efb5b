"""A table of what hosts recorded of their clocks: read from either form, refused where it makes no sense."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from cepctl.errors import UncertaintyModelError
from cepctl.uncertainty.clock_records import COLUMNS, NO_PIECE, ClockRecords, read_records

HEAD = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump\n"
TWO_HOSTS = HEAD + "n2,50,90,5,7,-3,3,,1,1,\nn1,100,200,0,0,-2,2,1.5,1,2,4\nn1,0,100,0,0,-1,1,1.0,1,1,\n"


def read(tmp_path: Path, text: str, name: str = "clocks.csv") -> ClockRecords:
    path = tmp_path / name
    path.write_text(text)
    return read_records(path)


def test_pieces_stand_by_host_and_time(tmp_path: Path) -> None:
    records = read(tmp_path, TWO_HOSTS)
    assert records.hosts == ("n1", "n2")
    assert records.host.tolist() == [0, 0, 1]
    assert records.begin.tolist() == [0, 100, 50]
    assert records.jump.tolist() == [-1, 4, -1]
    assert records.sd[:2].tolist() == [1.0, 1.5]
    assert np.isnan(records.sd[2])


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    one = read(tmp_path, TWO_HOSTS)
    told = csv.ConvertOptions(column_types=dict(COLUMNS), null_values=[""])
    table = csv.read_csv(tmp_path / "clocks.csv", convert_options=told)
    pq.write_table(table.append_column("note", pa.array(["row"] * 3)), tmp_path / "clocks.parquet")
    other = read_records(tmp_path / "clocks.parquet")
    for name in (
        "host",
        "begin",
        "end",
        "ahead",
        "ahead_to",
        "low",
        "high",
        "sd",
        "epoch",
        "segment",
        "jump",
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.digest != other.digest


@given(st.data())
def test_a_reading_has_the_piece_that_holds_it(data: st.DataObject) -> None:
    hosts = ("a", "b", "c")
    rows: list[tuple[int, int, int]] = []
    for place in range(len(hosts)):
        ends = sorted(data.draw(st.sets(st.integers(-20, 20), min_size=2, max_size=8)))
        every = [(place, *pair) for pair in pairwise(ends)]
        rows += every[:: data.draw(st.sampled_from([1, 2]))]
    host, begin, end = np.array(rows, dtype=np.int64).T
    zero, none = np.zeros(len(rows), np.int64), np.full(len(rows), np.nan)
    records = ClockRecords("", "", hosts, host, begin, end, zero, zero, zero, zero, none, zero, zero, zero)
    readings = data.draw(st.lists(st.integers(-22, 22), max_size=12))
    names = data.draw(
        st.lists(
            st.sampled_from(["a", "b", "c", "other", None]), min_size=len(readings), max_size=len(readings)
        )
    )
    pieces, known = records.pieces(pa.array(names, pa.string()), np.array(readings, dtype=np.int64))
    for name, reading, piece, is_known in zip(names, readings, pieces, known, strict=True):
        holding = [i for i, (own, lo, hi) in enumerate(rows) if hosts[own] == name and lo <= reading < hi]
        assert is_known == (name in hosts)
        assert [piece] == (holding or [NO_PIECE])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + "n,0,0,0,0,-1,1,,1,1,\n", r"row 1 \('n'\) ends before it begins"),
        (HEAD + "n,0,9,0,0,1,2,,1,1,\n", r"row 1 \('n'\) has a `low` above 0"),
        (HEAD + "n,0,9,0,0,-2,-1,,1,1,\n", r"row 1 \('n'\) has a `high` below 0"),
        (HEAD + "n,0,9,0,0,-2,2,0,1,1,\n", r"row 1 \('n'\) has an sd that is not a number above 0"),
        (HEAD + "n,5,9,0,0,-2,2,,1,2,\nn,0,6,0,0,-2,2,,1,1,\n", r"row 1 \('n'\) overlaps the row before it"),
        (HEAD + "n,0,5,0,0,-2,2,,1,1,\nn,5,9,0,0,-2,2,,2,1,\n", r"row 2 \('n'\) has the segment of the row"),
        (
            HEAD + "n,0,1,0,0,-2,2,,1,1,\nn,1,2,0,0,-2,2,,1,2,\nn,2,3,0,0,-2,2,,1,1,\n",
            r"row 3 \('n'\) goes back to an earlier segment",
        ),
        (HEAD + "n,0,5,0,0,-2,2,,1,1,\nn,5,9,0,0,-2,2,,1,2,-4\n", r"row 2 \('n'\) has a `jump` below 0"),
        (HEAD + "n,0,5,0,0,-2,2,,1,1,4\n", r"row 1 \('n'\) has a `jump` and no other segment of its epoch"),
        (
            HEAD + "n,0,5,0,0,-2,2,,1,1,\nn,5,9,0,0,-2,2,,2,2,4\n",
            r"row 2 \('n'\) has a `jump` and no other segment of its epoch",
        ),
        (HEAD + "n,0,,0,0,-2,2,,1,1,\n", "row 1 has no 'to'"),
        (HEAD, "has no rows"),
        (
            "host,from\nn,0\n",
            "has no column 'to'; make it of clock logs with: cepctl clocks LOG -o clocks.csv",
        ),
        (HEAD + "n,0,one,0,0,-2,2,,1,1,\n", "cannot read .*clocks.csv: .*one"),
        (HEAD + "n,0,1\n", "cannot read .*clocks.csv"),
        ("", "cannot read .*clocks.csv"),
    ],
)
def test_a_row_without_sense_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UncertaintyModelError, match=told):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UncertaintyModelError, match=r"cannot read .*none\.parquet"):
        read_records(tmp_path / "none.parquet")


def test_damaged_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "clocks.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(UncertaintyModelError, match=r"cannot read .*clocks\.parquet"):
        read_records(path)
