"""Lines that are no part of a table, before its header or among its rows, cost it nothing but themselves.

Two accounts of each table are compared: the rows that it was written from, and what the reader says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_of, open_bytes
from cepctl.io.tabular.preamble import BEFORE_HEADER

ROWS = 12
Row = tuple[str, int, str]
_BEGIN = 1_781_417_704_123_456


def _instant(number: int) -> int:
    return _BEGIN + 1_730_019 * number


def _time(number: int) -> str:
    return str(pa.scalar(_instant(number), pa.timestamp("us", "UTC")).as_py().isoformat(" "))


def _delimited(sign: str, quote: str = "") -> list[str]:
    rows = [("event_type", "time", "note"), *((f"T{n % 3}", _time(n), f"x{n}") for n in range(ROWS))]
    return [sign.join(f"{quote}{value}{quote}" for value in row) for row in rows]


def _csvlog(number: int) -> str:
    values = ["", "u", "d", "77", "", "6a.4d", str(number), "", "", "", "", f"T{number % 3}"] + [""] * 11
    return ",".join([_time(number).replace("+00:00", " UTC"), *values[1:12], "", f"x{number}", *[""] * 9])


TABLES: dict[str, tuple[list[str], ReadOptions]] = {
    "commas": (_delimited(","), ReadOptions()),
    "semicolons": (_delimited(";"), ReadOptions()),
    "bars": (_delimited("|"), ReadOptions()),
    "tabs": (_delimited("\t"), ReadOptions()),
    "quotes": (_delimited(",", '"'), ReadOptions()),
    "mapped": (
        ["what,when,note", *_delimited(",")[1:]],
        ReadOptions(columns=(("event_type", "what"), ("time", "when"))),
    ),
    "known": (["timestamp_desc,datetime,message", *_delimited(",")[1:]], ReadOptions()),
    "csvlog": ([_csvlog(n) for n in range(ROWS)], ReadOptions()),
    "names given": (_delimited(",")[1:], ReadOptions(column_names=("event_type", "time", "note"))),
}
_NOTES = {"known": "message", "csvlog": "message"}
RIGHT: list[Row] = [(f"T{n % 3}", _instant(n), f"x{n}") for n in range(ROWS)]
SIGNS = st.characters(exclude_characters="\n\r", codec="utf-8")


def read(name: str, lines: list[str]) -> tuple[list[Row], ReadReport]:
    options, report, found = TABLES[name][1], ReadReport(), []
    with open_bytes("".join(f"{line}\n" for line in lines).encode(), "t.csv") as log:
        known = format_of(log.head, "t.csv", None, options)
        assert known.name == ("tsv" if name == "tabs" else "csv")
        for batch in known.read(log.stream, "t.csv", options, report):
            columns: list[list[Any]] = [
                batch.column("event_type").to_pylist(),
                batch.column("time").cast(pa.int64()).to_pylist(),
                batch.column(_NOTES.get(name, "note")).to_pylist(),
            ]
            found += list(zip(*columns, strict=True))
    return found, report


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read(name: str) -> None:
    found, report = read(name, TABLES[name][0])
    assert (found, report.rejects) == (RIGHT, [])


@pytest.mark.parametrize("name", TABLES)
@given(line=st.text(SIGNS, max_size=30), place=st.integers(0, ROWS))
@example(line='he said "never', place=0)
@example(line='"never', place=0)
@example(line="a;b;c", place=0)
@example(line="a,b,c", place=0)
@example(line="time,event_type,note", place=0)
@example(line="# made by a program", place=0)
@example(line="\ufeffa banner", place=0)
@example(line='{"event_type":"A","time":"2026-06-14T06:15:04Z"}', place=0)
@example(line="2026-06-14 06:15:04 INFO export begins", place=0)
def test_a_foreign_line_is_one_reject_with_its_place(name: str, line: str, place: int) -> None:
    lines = TABLES[name][0]
    place = min(place, len(lines))
    assume(line.strip("\ufeff").strip())
    found, report = read(name, [*lines[:place], line, *lines[place:]])
    assert found == RIGHT
    assert [(each.line, each.records) for each in report.rejects] == [(place + 1, 1)]
    assert report.records == ROWS + 1


@pytest.mark.parametrize("name", TABLES)
@given(lines=st.lists(st.text(SIGNS, max_size=20), min_size=1, max_size=6))
def test_some_lines_before_a_table_are_as_many_rejects(name: str, lines: list[str]) -> None:
    # A quote that is not closed takes the line behind it in.
    assume(all('"' not in line for line in lines))
    found, report = read(name, [*lines, *TABLES[name][0]])
    assert found == RIGHT
    blank = {place for place, line in enumerate(lines, 1) if not line.lstrip("\ufeff").strip()}
    assert [each.line for each in report.rejects if each.line not in blank] == [
        place for place in range(1, len(lines) + 1) if place not in blank
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_of_the_byte_order_is_no_part_of_what_stands_before_a_table(encoding: str) -> None:
    text = "\n".join(["a banner", *TABLES["commas"][0], ""])
    report = ReadReport()
    with open_bytes(text.encode(encoding), "t.csv") as log:
        known = format_of(log.head, "t.csv", None, ReadOptions())
        assert sum(map(len, known.read(log.stream, "t.csv", ReadOptions(), report))) == ROWS
    assert [(each.line, each.cause, each.raw) for each in report.rejects] == [(1, BEFORE_HEADER, b"a banner")]


def test_a_marked_header_behind_another_line_is_the_header() -> None:
    header, *rows = TABLES["commas"][0]
    found, report = read("commas", ["a banner", f"\ufeff{header}", *rows])
    assert (found, len(report.rejects)) == (RIGHT, 1)


def test_a_table_of_too_many_columns_is_read_behind_a_line() -> None:
    more = [f"c{number}" for number in range(2_100)]
    header, *rows = TABLES["commas"][0]
    lines = [",".join([header, *more]), *(row + "," * len(more) for row in rows)]
    found, report = read("commas", ["a banner", *lines[:3], "in between", *lines[3:]])
    assert found == RIGHT
    assert [each.line for each in report.rejects] == [1, 5]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        # Rows alone, none of which is taken for a header.
        (TABLES["commas"][0][1:], "holds values and no names of columns"),
        # Nothing below it is a row.
        (["a banner", "event_type,time,note"], "its line 2 begins a table"),
        (["a banner", "event_type,time,note", *["no row, of it"] * 9], "of no known format"),
        # Further down than any preamble.
        (["a banner"] * 40 + TABLES["commas"][0], "of no known format"),
    ],
)
def test_where_a_table_begins_is_never_guessed(lines: list[str], told: str) -> None:
    with pytest.raises(LogFormatError, match=told):
        read("commas", lines)


def test_what_stands_before_a_table_is_told_with_its_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["made by a program", "", *TABLES["commas"][0], ""]))
    report = ingest([str(tmp_path / "t.csv")], str(tmp_path / "events"), IngestOptions())
    assert (report.events, report.rejected) == (ROWS, {BEFORE_HEADER: 1})
