"""RETURN in short: `*`, `a.*` and `duration(a, b)`; and what a table shows where nothing is named."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from cepctl.cli import main

LOG = """\
event_type,event_id,lower,upper,host,x
A,a1,1000,4000,n1,7
B,b1,3000,6000,n1,8
B,b2,90000,95000,n2,9
"""


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("log.csv").write_text(LOG)


def printed(capsys: pytest.CaptureFixture[str], query: str, *options: str) -> str:
    assert main(["match", query, "log.csv", "-q", *options]) == 0
    return capsys.readouterr().out


def rows(capsys: pytest.CaptureFixture[str], query: str, *options: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed(capsys, query, *options))))


@pytest.mark.parametrize(
    ("pattern", "window", "expected"),
    [
        # The intervals alone: 3000 - 4000 and 6000 - 1000, cut to at least one tick by the order of SEQ.
        ("SEQ(A a, B b)", "", ("0.001", "5.0")),
        ("AND(A a, B b)", "", ("-1.0", "5.0")),
        ("SEQ(B b, A a)", "", ("-1.0", "-0.001")),
        # W ticks hold at most W - 1 between two events.
        ("SEQ(A a, B b)", "WITHIN 2 s", ("0.001", "1.999")),
    ],
)
def test_a_duration_is_what_intervals_order_and_window_leave(
    capsys: pytest.CaptureFixture[str], pattern: str, window: str, expected: tuple[str, str]
) -> None:
    (row,) = rows(capsys, f"PATTERN {pattern} WHERE [host] {window} RETURN duration(a, b) AS wait")
    assert (row["wait_least_s"], row["wait_most_s"]) == expected


def test_the_enumeration_of_worlds_returns_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.csv").write_text("event_type,event_id,lower,upper\nA,a1,1,4\nB,b1,3,6\n")
    query = "PATTERN SEQ(A a, B b) WITHIN 4 ms RETURN duration(a, b), greatest(a.lower, b.lower) AS later"
    worlds = rows(capsys, query, "--engine", "worlds")
    assert worlds == rows(capsys, query)
    assert [*worlds[0].values()][:3] == ["0.001", "0.003", "3"]


def test_a_table_shows_it_as_a_span(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B b) RETURN b.host, duration(a, b)"
    lines = printed(capsys, query, "--format", "table").splitlines()
    assert lines[0].split("  ")[:2] == ["b.host", "duration(a, b)"]
    assert "1 min 26 s..1 min 34 s" in lines[1]
    assert "1 ms..5 s" in lines[2]


def test_stars_name_all_attributes(capsys: pytest.CaptureFixture[str]) -> None:
    (first, _) = rows(capsys, "PATTERN SEQ(A a, B b) RETURN *")
    assert [*first][:4] == ["a.host", "a.x", "b.host", "b.x"]
    (first, _) = rows(capsys, "PATTERN SEQ(A a, B b) RETURN b.*, a.x AS mine")
    assert ([*first][:3], first["mine"]) == (["b.host", "b.x", "mine"], "7")
    (first, *_) = rows(capsys, "PATTERN SEQ(A a, B+ b[]) RETURN *")
    assert "count(b[])" in first


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("PATTERN SEQ(A a, B+ b[]) RETURN b.*", "'b' is a group"),
        ("PATTERN SEQ(A a, B b) RETURN c.*", "'c' is no variable here"),
        ("PATTERN SEQ(A a, B b) RETURN duration(a)", "duration takes two variables"),
        ("PATTERN SEQ(A a, B b) WHERE duration(a, b) < 5", "duration(a, b) stands alone in RETURN"),
        ("PATTERN SEQ(A a, B b) RETURN b.time - a.time", "RETURN duration(a, b) gives how long it took"),
        ("PATTERN SEQ(A a, B b) GROUP BY *", "GROUP BY names its keys"),
    ],
)
def test_what_cannot_be_returned_is_taught(
    capsys: pytest.CaptureFixture[str], query: str, message: str
) -> None:
    assert main(["match", query, "log.csv", "-q"]) == 2
    assert message in capsys.readouterr().err


def test_a_table_shows_what_joins_the_events_and_other_forms_do_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for query, column in [
        ("PATTERN SEQ(A a, B b) WHERE [host]", "host"),
        ("PATTERN SEQ(A a, B b) WHERE a.host = b.host", "a.host"),
        ("PATTERN SEQ(A a, * b) WHERE a.x < b.x", "b.event_type"),
    ]:
        assert printed(capsys, query, "--format", "table").split()[0] == column
        assert printed(capsys, query).splitlines()[0] == "confidence,start,end,match"
    chosen = ("--format", "table", "--columns", "match")
    assert printed(capsys, "PATTERN SEQ(A a, B b) WHERE [host]", *chosen).splitlines()[0] == "match"


def test_a_column_that_the_query_could_return_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "PATTERN SEQ(A a, B b)", "log.csv", "--columns", "a.x"]) == 2
    assert "; RETURN a.x in the query makes it one" in capsys.readouterr().err
