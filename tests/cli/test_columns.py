"""`cepctl match --columns`: which columns rows have, in which order."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b) RETURN a.x, coalesce(a.x, 1) AS y"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "log.csv").write_text("event_type,event_id,lower,upper,x\nA,a,1,3,7\nB,b,2,4,8\n")
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, query: str = QUERY) -> str:
    assert main(["match", query, "log.csv", "--quiet", "--time", "ticks", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, query: str = QUERY) -> str:
    assert main(["match", query, "log.csv", "--quiet", *arguments]) == 2
    return capsys.readouterr().err.splitlines()[0]


def test_what_was_asked_comes_first_and_what_it_stands_on_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys) == "a.x,y,confidence,start,end,match\n7,7,0.6666666666666666,1,4,a b\n"
    assert list(json.loads(shown(capsys, "--format", "jsonl"))) == [
        *("a.x", "y", "confidence", "start", "end", "match", "signature")
    ]


def test_columns_are_chosen_and_ordered(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert shown(capsys, "--columns", "match, a.x") == "match,a.x\na b,7\n"
    assert shown(capsys, "--columns", "signature", "--format", "jsonl") == '{"signature":[["a"],["b"]]}\n'
    shown(capsys, "--columns", "y,start", "-o", "rows.parquet")
    assert pq.read_table("rows.parquet").to_pylist() == [{"y": 7, "start": 1}]


def test_a_name_with_a_comma_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    query = QUERY.replace(" AS y", "")
    assert shown(capsys, "--columns", '"coalesce(a.x, 1)",a.x', query=query).endswith("\n7,7\n")


def test_of_groups_too(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B b) GROUP BY a.x"
    assert shown(capsys, "--columns", "matches,a.x", query=query) == "matches,a.x\n1,7\n"


def test_of_incremental_runs_too(capsys: pytest.CaptureFixture[str]) -> None:
    state = ("--state", "S", "--final", "--columns", "a.x,match")
    assert shown(capsys, *state) == "a.x,match\n7,a b\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("a.z",),
            "--columns: there is no column 'a.z'; there are a.x, y, confidence, start, end, match, sig",
        ),
        (("a.x,a.x",), "invalid value for '--columns': 'a.x' is named twice; name columns between commas"),
        (("a.x,,y",), "invalid value for '--columns': a name is empty; name columns between commas"),
        (
            ("signature",),
            "--columns: signature is a nested list, which csv cannot hold; match has the ids as",
        ),
        (
            ("a.x", "--format", "trace"),
            "--columns cannot apply with --format trace: a trace draws whole match",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "--columns", *arguments).startswith(f"error: {said}")


def test_a_wrong_name_changes_no_state(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    refused(capsys, "--state", "S", "--final", "--columns", "nothing")
    assert shown(capsys, "--state", "S", "--final", "--columns", "match") == "match\na b\n"
