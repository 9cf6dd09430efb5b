"""Tables without a header: their columns are named by another file, or by a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import EventSchemaError, LogFormatError, UsageError

ROWS = "2026-06-14T08:15:04Z,login,ann\n2026-06-14T08:15:09Z,logout,ann\n"
NAMES = "time,event_type,user"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(ROWS)
    Path("header.csv").write_text(f"{NAMES}\n2026-06-14T08:15:01Z,login,eve\n")
    return tmp_path


def taken(*paths: str, **options: Any) -> list[tuple[str, str, str]]:
    cepctl.ingest([*paths], "events", overwrite=True, **options)
    rows = pq.read_table("events").sort_by("lower").to_pylist()
    return [(row["event_id"], row["event_type"], row["user"]) for row in rows]


@pytest.mark.parametrize("columns", ["header.csv", NAMES, ["time", "event_type", "user"], Path("header.csv")])
def test_columns_have_the_names_of_another_file_or_of_a_list(folder: Path, columns: Any) -> None:
    assert taken("x.csv", columns_of=columns) == [("x.csv#1", "login", "ann"), ("x.csv#2", "logout", "ann")]


def test_the_file_that_has_the_header_may_be_among_them(folder: Path) -> None:
    assert taken("header.csv", "x.csv", columns_of="header.csv") == [
        ("header.csv#1", "login", "eve"), ("x.csv#1", "login", "ann"), ("x.csv#2", "logout", "ann")
    ]  # fmt: skip


def test_names_may_be_mapped(folder: Path) -> None:
    named = {"time": "when", "event_type": "what"}
    assert taken("x.csv", columns_of="when,what,user", map=named)[0] == ("x.csv#1", "login", "ann")


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_values_may_stand_between_other_signs(folder: Path, delimiter: str) -> None:
    Path("x.csv").write_text(ROWS.replace(",", delimiter))
    assert taken("x.csv", columns_of=NAMES)[1] == ("x.csv#2", "logout", "ann")


def test_a_bad_row_is_named_by_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.csv").write_text(f'{ROWS}"2026-06-14T08:15:10Z",login,"two\nlines"\nno row\n')
    assert main(["ingest", "x.csv", "-o", "events", "--columns-of", NAMES, "--runner", "local"]) == 0
    assert "x.csv:5: the row does not have 3 fields like the header: no row" in capsys.readouterr().err


def test_names_that_do_not_fit_the_rows_are_refused(folder: Path) -> None:
    with pytest.raises(LogFormatError, match=r"x.csv:1: its first row has 3 values, and columns_of names 2 "):
        taken("x.csv", columns_of="time,event_type")
    with pytest.raises(EventSchemaError, match=r"no column event_type .found when, what, user"):
        taken("x.csv", columns_of="when,what,user")
    with pytest.raises(UsageError, match=r"'header.cvs' is neither a file whose first line names"):
        taken("x.csv", columns_of="header.cvs")
    with pytest.raises(UsageError, match="two columns are called 'a'"):
        taken("x.csv", columns_of="a,b,a")


def test_what_has_no_tables_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.log").write_text("2026-06-14 08:15:04 in\n2026-06-14 08:15:05 out\n")
    assert main(["ingest", "x.log", "-o", "events", "--columns-of", "a,b", "--runner", "local"]) == 0
    assert "--columns-of was not used: it is for tables without a header" in capsys.readouterr().err


def test_new_rows_of_a_growing_table_have_the_names_too(folder: Path) -> None:
    query = "PATTERN SEQ(login a, logout b) WHERE [user] WITHIN 1 min RETURN b.user"
    words = ("match", query, "x.csv", "--columns-of", NAMES, "--state", "state", "-o", "rows")
    assert main([*words, "--runner", "local", "--quiet"]) == 0
    Path("x.csv").write_text(ROWS + ROWS.replace("ann", "bob").replace("08:15", "09:15"))
    assert main([*words, "--runner", "local", "--quiet", "--final"]) == 0
    rows = [row for part in sorted(Path("rows").iterdir()) for row in part.read_text().splitlines()]
    assert [row.partition(",")[0] for row in rows if not row.startswith("b.user")] == ["ann", "bob"]
