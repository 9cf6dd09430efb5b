"""What inspect says of the order of the records of each source and host."""

import json
from pathlib import Path

import pytest

from cepctl.cli import main

HEAD = "event_type,time,node\n"
ROWS = {
    "apart": [("2026-06-14 08:15:04", "x"), ("2026-06-14 08:15:05", "x"), ("2026-06-14 08:15:06", "x")],
    "tied": [("2026-06-14 08:15:04", "x"), ("2026-06-14 08:15:04", "y"), ("2026-06-14 08:15:04", "x")],
    "falls": [("2026-06-14 08:15:04", "x"), ("2026-06-14 08:15:03", "x"), ("2026-06-14 08:15:04", "x")],
}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, rows in ROWS.items():
        (tmp_path / f"{name}.csv").write_text(HEAD + "".join(f"A,{at},{node}\n" for at, node in rows))
    return [str(tmp_path / f"{name}.csv") for name in ROWS]


def found(capsys: pytest.CaptureFixture[str], *asked: str) -> list[dict[str, object]]:
    assert main(["inspect", *asked, "--format", "json", "--tz", "UTC"]) == 0
    written: list[dict[str, object]] = json.loads(capsys.readouterr().out)["written"]
    return written


def test_every_source_and_host_has_a_line(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    told = {(row["source"], row["host"]): row for row in found(capsys, *files)}
    assert {key: row["verdict"] for key, row in told.items()} == {
        ("apart.csv", "x"): "decides nothing",
        ("tied.csv", "x"): "suggested",
        ("tied.csv", "y"): "decides nothing",
        ("falls.csv", "x"): "steps back",
    }
    tied, falls = told["tied.csv", "x"], told["falls.csv", "x"]
    assert (tied["events"], tied["tied"], tied["open"], tied["steps_back"]) == (2, 2, 1, 0)
    assert (falls["events"], falls["steps_back"], falls["tied"]) == (3, 1, 2)


def test_an_order_that_is_taken_is_known(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert {row["verdict"] for row in found(capsys, files[1], "--writer", "source,node")} == {"known"}


def test_the_page_has_a_table_of_them(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", *files, "--full", "--tz", "UTC"]) == 0
    told = capsys.readouterr().out
    assert "The order in which records were written" in told
    assert "would decide them: --writer source,node" in told
