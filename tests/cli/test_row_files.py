"""Rows in files of every form, read back by other tools; the name of a file tells the form."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest

from cepctl.cli import main
from cepctl.io.rows.encoding import compressed, encoded_rows
from cepctl.io.rows.forms import COMPRESSIONS, FORMS, forms_by_rows

QUERY = "PATTERN SEQ(A a, B b) RETURN a.s"
TEXT = 'tab\there, "quoted" | barred'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two events that match, one with a text that every form must quote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    events = [
        {"event_type": "A", "event_id": "a1", "lower": 1000, "upper": 1000, "s": TEXT},
        {"event_type": "B", "event_id": "b1", "lower": 2000, "upper": 2000, "s": None},
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return tmp_path


def match(*arguments: str, code: int = 0) -> None:
    assert main(["match", QUERY, "log.jsonl", "--quiet", *arguments]) == code


def by_csv(text: str, separator: str = ",") -> list[dict[str, Any]]:
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
    return [row | {"confidence": float(row["confidence"])} for row in rows]


def opened(data: bytes, codec: str) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
        return bytes(stream.read())


def by_markdown(text: str) -> list[dict[str, Any]]:
    """Rows of a table of Markdown; a bar that is escaped is part of a cell."""
    lines = [re.split(r"(?<!\\) ?\| ?", line)[1:-1] for line in text.splitlines()]
    header, rulers, *rows = lines
    assert {*rulers} <= {"---", "---:"}
    return [
        {
            name: float(cell) if ruler == "---:" and cell else re.sub(r"\\([|<])", r"\1", cell)
            for name, cell, ruler in zip(header, row, rulers, strict=True)
        }
        for row in rows
    ]


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


READERS: dict[str, Callable[[bytes], Any]] = {
    "csv": lambda data: by_csv(data.decode()),
    "tsv": lambda data: by_csv(data.decode(), "\t"),
    "json": json.loads,
    "jsonl": lines,
    "md": lambda data: by_markdown(data.decode()),
    "parquet": lambda data: pl.read_parquet(io.BytesIO(data)).to_dicts(),
    "arrow": lambda data: pl.read_ipc(io.BytesIO(data)).to_dicts(),
}
"""By another tool than the one that writes."""
OPENERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: opened(data, "zstd"),
    ".lz4": lambda data: opened(data, "lz4"),
}
NAMES = [
    (form, ending, compression)
    for form in forms_by_rows()
    for ending in FORMS[form].endings
    for compression in ("", *([] if FORMS[form].typed else COMPRESSIONS))
]


@pytest.mark.parametrize(("form", "ending", "compression"), NAMES)
def test_every_form_is_read_back_by_another_tool(
    form: str, ending: str, compression: str, folder: Path
) -> None:
    before, name = {*folder.iterdir()}, f"r{ending}{compression}"
    match("-o", name)
    (row,) = READERS[form](OPENERS[compression](Path(name).read_bytes()))
    assert (row["match"], row["a.s"], row["confidence"]) == ("a1 b1", TEXT, 1.0)
    start = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert row["start"] == (start if FORMS[form].typed else "1970-01-01T00:00:01.000Z")
    assert row.get("signature", [["a1"], ["b1"]]) == [["a1"], ["b1"]]
    assert {*folder.iterdir()} == {*before, folder / name}


@pytest.mark.parametrize("form", [form for form in forms_by_rows() if form != "parquet"])
def test_every_form_goes_to_standard_output(form: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    match("-o", f"rows.{form}")
    match("--format", form)
    assert capfdbinary.readouterr().out == Path(f"rows.{form}").read_bytes()


def test_a_form_that_is_added_to_the_list_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMS, "ssv", replace(FORMS["csv"], name="ssv", endings=(".ssv",), text=semicolons))
    match("-o", "rows.ssv", "--columns", "a.s,confidence", "--csv-safe")
    assert Path("rows.ssv").read_text().splitlines()[0] == "a.s;confidence"
    match("-o", "rows.ssv.gz", "--columns", "a.s,confidence", "--csv-safe")
    assert gzip.decompress(Path("rows.ssv.gz").read_bytes()) == Path("rows.ssv").read_bytes()


def semicolons(frame: pl.DataFrame, header: bool) -> bytes:
    return frame.write_csv(include_header=header, separator=";").encode()


def test_a_column_of_lists_is_refused_where_a_form_holds_none(capsys: pytest.CaptureFixture[str]) -> None:
    match("-o", "r.md", "--columns", "signature", code=2)
    assert "signature is a nested list, which md cannot hold" in capsys.readouterr().err


def test_a_table_of_markdown_has_numbers_to_the_right() -> None:
    match("-o", "r.md", "--columns", "a.s,confidence")
    assert Path("r.md").read_text() == (
        '| a.s | confidence |\n| --- | ---: |\n| tab\there, "quoted" \\| barred | 1.0 |\n'
    )


def test_no_row_is_an_empty_file_of_its_form() -> None:
    for name in ("r.json", "r.tsv", "r.arrow"):
        assert main(["match", "PATTERN SEQ(B b, A a)", "log.jsonl", "-o", name]) == 0
    assert json.loads(Path("r.json").read_text()) == []
    assert Path("r.tsv").read_text() == "confidence\tstart\tend\tmatch\n"
    assert pa.ipc.open_file(Path("r.arrow").read_bytes()).read_all().num_rows == 0


@pytest.mark.parametrize("name", ["r.html", "r.xlsx", "r.txt", "r", "r.gz", "r.csv.xz"])
def test_a_name_that_tells_no_form_is_an_error(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    match("-o", name, code=2)
    said = capsys.readouterr().err
    assert said.startswith(f"error: cannot tell the form of {name}: the endings are .csv .tsv .json .jsonl ")
    assert ("cepctl report" in said) == (name == "r.html")
    assert not Path(name).exists()


def test_a_form_that_is_named_needs_no_name_that_tells_it() -> None:
    match("-o", "rows", "--format", "csv")
    match("-o", "rows.gz", "--format", "csv")
    match("-o", "rows.txt", "--format", "table")
    match("-o", "trace.json", "--format", "trace")
    match("-o", "/dev/null")
    assert gzip.decompress(Path("rows.gz").read_bytes()) == Path("rows").read_bytes()
    assert "a1 b1" in Path("rows.txt").read_text()
    assert json.loads(Path("trace.json").read_text())["traceEvents"]


@pytest.mark.parametrize(
    ("form", "name", "told"),
    [("csv", "r.parquet", "parquet"), ("jsonl", "r.json", "json"), ("table", "r.csv", "csv"),
     ("arrow", "r.tsv.gz", "tsv"), ("trace", "r.csv", "csv")],
)  # fmt: skip
def test_a_form_against_the_name_is_an_error(
    form: str, name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    match("-o", name, "--format", form, code=2)
    said = f"error: --format {form} disagrees with -o {name}, which names {told}; leave one out\n"
    assert said in capsys.readouterr().err
    match("-o", "r.html", "--format", "csv", code=2)
    match("-o", "r.parquet.gz", code=2)
    assert "parquet is not compressed as a whole; name it without .gz" in capsys.readouterr().err


def test_the_ending_of_a_name_may_be_written_in_capitals() -> None:
    match("-o", "R.CSV.GZ")
    assert by_csv(gzip.decompress(Path("R.CSV.GZ").read_bytes()).decode())[0]["match"] == "a1 b1"


@pytest.mark.parametrize("form", sorted(forms_by_rows()))
def test_runs_with_a_state_write_the_same_forms(form: str) -> None:
    arguments = ["match", QUERY, "log.jsonl", "--state", "S", "--final", "-o", "said", "--format", form]
    assert main([*arguments, "--quiet"]) == 0
    (row,) = READERS[form](Path(f"said/run-000001.{form}").read_bytes())
    assert row["match"] == "a1 b1"


def table(count: int) -> pa.Table:
    rows = range(count)
    return pa.table({"match": [f"m{row}" for row in rows], "signature": [[[f"m{row}"]] for row in rows]})


@pytest.mark.parametrize("form", forms_by_rows())
def test_how_rows_are_cut_changes_no_byte(form: Any) -> None:
    whole = table(1_000)
    cut = [whole.slice(0, 0), whole.slice(0, 1), whole.slice(1, 700), whole.slice(701)]
    assert b"".join(encoded_rows([whole], form)) == b"".join(encoded_rows(cut, form))


@pytest.mark.parametrize("codec", ["gzip", "zstd", "bz2", "lz4"])
def test_how_pieces_are_cut_changes_no_compressed_byte(codec: str) -> None:
    data = b"".join(b"%d\n" % (number * 7919 % 10_007) for number in range(300_000))
    fine = (data[start : start + 997] for start in range(0, len(data), 997))
    assert b"".join(compressed([data], codec)) == b"".join(compressed(fine, codec))


def test_json_is_written_while_rows_come() -> None:
    """An array needs no more memory than lines do."""
    taken = []

    def blocks() -> Any:
        for number in range(3):
            taken.append(number)
            yield table(5)

    pieces = encoded_rows(blocks(), "json", threads=1)
    next(pieces)
    assert taken == [0]
    assert json.loads(b"".join(encoded_rows(blocks(), "json")))[-1] == {"match": "m4", "signature": [["m4"]]}
