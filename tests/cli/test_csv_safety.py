"""`--csv-safe`: no cell that comes out of a log is a formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from cepctl.io.rows.safe_cells import safe_cells
from tests.calls import called

NOTES = ["=1+1", "+1", "-1 a", "@SUM(A1)", "\tx", "a=1", "", "'=1"]
Run = Callable[..., tuple[str, str]]
QUERY = "PATTERN SEQ(A a) RETURN a.note, a.amount"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command in the temporary folder; what it wrote to standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    return partial(called, capsys)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["event_id", "event_type", "time", "note", "amount"])
        rows.writerows([f"={at}", "A", at, note, -at] for at, note in enumerate(NOTES))
    return tmp_path


@pytest.mark.parametrize(("form", "separator"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.usefixtures("log")
def test_texts_that_begin_like_formulas_get_an_apostrophe_and_numbers_none(
    run: Run, form: str, separator: str
) -> None:
    arguments = ["match", QUERY, "log.csv", "--runner", "local", "--format", form]
    plain, safe = (
        list(csv.reader(io.StringIO(run(*arguments, *more)[0], newline=""), delimiter=separator))
        for more in ([], ["--csv-safe"])
    )
    assert plain[0] == safe[0]
    for before, after in zip(plain[1:], safe[1:], strict=True):
        assert before[0] == NOTES[int(before[5][1:])]
        assert after[5] == f"'{before[5]}"
        assert after[0] == (f"'{before[0]}" if before[0][:1] in {*"=+-@\t\r"} - {""} else before[0])
        assert after[2:5] == before[2:5]
        assert after[1] == before[1] == str(-int(before[5][1:]))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_names_of_columns_that_begin_like_formulas_get_an_apostrophe_too(
    run: Run, tmp_path: Path, form: str
) -> None:
    """Attributes have the names that the log gives them."""
    names = ["=1+1", "+a", "-b", "@SUM(A1)", "plain"]
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["event_type", "time", "number", *names], ["A", 1, 2, *"vwxyz"]])
    returned = ", ".join(f"a.`{name}` AS `{name}`" for name in names)
    query = f"PATTERN SEQ(A a) RETURN {returned}, -a.number"
    arguments = ["match", query, "log.csv", "--runner", "local", "--format", form]
    before, after = (
        run(*arguments, *more)[0].splitlines()[0].split("," if form == "csv" else "\t")
        for more in ([], ["--csv-safe"])
    )
    assert before[:6] == [*names, "-a.number"]
    assert after == [f"'{name}" if name[0] in "=+-@" else name for name in before]


def test_a_name_that_begins_like_a_formula_gets_an_apostrophe() -> None:
    rows = pa.table({"=1": ["x"], "'=1": ["z"], "-b": [1], "'a": ["y"]})
    assert safe_cells(rows).to_pydict() == {"'=1": ["x"], "''=1": ["z"], "'-b": [1], "'a": ["y"]}


def test_incremental_rows_are_as_safe(run: Run, log: Path) -> None:
    (log / "rows").mkdir()
    arguments = ["match", QUERY, "log.csv", "--runner", "local", "--state", "state", "-o", "rows", "--final"]
    run(*arguments, "--csv-safe")
    (written,) = (log / "rows").iterdir()
    assert "'=1+1" in written.read_text(encoding="utf-8")


def test_a_carriage_return_begins_a_formula_too() -> None:
    rows = pa.table({"a": ["\rx", "x\r"], "b": pa.array(["=", None], pa.large_string())})
    assert safe_cells(rows).to_pydict() == {"a": ["'\rx", "x\r"], "b": ["'=", None]}
    assert safe_cells(rows).schema == rows.schema


@pytest.mark.parametrize("output", [["--format", "jsonl"], ["-o", "rows.parquet"], ["--format", "table"]])
def test_it_is_refused_where_there_are_no_cells(run: Run, log: Path, output: list[str]) -> None:
    shown, said = run("match", QUERY, "log.csv", "--runner", "local", "--csv-safe", *output, code=2)
    assert shown == ""
    assert "error: --csv-safe cannot apply to rows that are written as " in said
    assert {path.name for path in log.iterdir()} == {"log.csv"}


def test_in_the_configuration_it_is_for_csv_alone(run: Run, log: Path) -> None:
    (log / "cepctl.toml").write_text("[match]\ncsv-safe = true\n")
    arguments = ["match", QUERY, "log.csv", "--runner", "local", "--quiet"]
    assert "'=1+1" in run(*arguments)[0]
    shown, said = run(*arguments, "--format", "jsonl")
    assert said == ""
    assert '"=1+1"' in shown
