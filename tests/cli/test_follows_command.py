"""`cepctl follows` on the command line: its forms, its cases, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl
from cepctl.cli import main

HEADER = "event_id,event_type,lower,upper,case_id\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(
        HEADER + 'e1,Open,1,4,c1\ne2,Shut,3,6,c1\ne3,Lock "it",9,9,c1\ne4,Open,5,5,c2\ne5,Shut,7,7,c2\n'
    )


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["follows", "log.csv", *words]) == 0
    return capsys.readouterr().out


def test_a_table_says_least_expected_and_greatest(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys).splitlines() == [
        "type  followed by  least  expected  greatest",
        "Open  Shut             1     1.812         2",
        'Shut  Lock "it"        0     0.938         1',
        'Open  Lock "it"        0     0.188         1',
        "Shut  Open             0     0.062         1",
    ]


def test_csv_has_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--format", "csv").splitlines()
    assert lines[:2] == [
        "a,b,least,expected,greatest,expected_error,bounds",
        "Open,Shut,1,1.8125,2,0.0,false",
    ]


def test_drawings_are_dashed_where_it_perhaps_never_happens(capsys: pytest.CaptureFixture[str]) -> None:
    dot = shown(capsys, "--format", "dot")
    assert '  "Open" -> "Shut" [label="1.812 (1 to 2)"];' in dot
    assert '  "Shut" -> "Lock \\"it\\"" [label="0.938 (0 to 1)", style=dashed];' in dot
    mermaid = shown(capsys, "--format", "mermaid").splitlines()
    assert mermaid[:2] == ["flowchart LR", '  t0["Lock #34;it#34;"]']
    assert '  t1 -->|"1.812 (1 to 2)"| t2' in mermaid
    assert '  t2 -.->|"0.938 (0 to 1)"| t0' in mermaid


def test_a_file_is_written_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "-o", "graph.txt") == ""
    assert (tmp_path / "graph.txt").read_text().startswith("type  followed by")


def test_an_attribute_that_no_event_has_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["follows", "log.csv", "--by", "case"]) == 3
    assert "--by case: no event has this attribute" in (said := capsys.readouterr().err)
    assert "did you mean 'case_id'?" in said


def test_events_without_a_case_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log.csv").write_text(HEADER + "e1,A,1,1,c\ne2,B,2,2,c\ne3,C,1,9,\n")
    assert main(["follows", "log.csv"]) == 0
    said = capsys.readouterr()
    assert "note: left out 1 event without case_id" in said.err
    assert "C" not in said.out.split()


def test_events_that_share_a_clock_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "clock.toml").write_text('[[rule]]\nclock = { name = "one", offset = "5 ms" }\n')
    assert main(["follows", "log.csv", "--uncertainty", "clock.toml"]) == 0
    (tmp_path / "log.csv").write_text(
        "event_id,event_type,time,case_id\ne1,A,2026-03-03T09:00:00Z,c\ne2,B,2026-03-03T09:00:01Z,c\n"
    )
    capsys.readouterr()
    assert main(["follows", "log.csv", "--uncertainty", "clock.toml"]) == 2
    assert "events that share clocks is not supported" in capsys.readouterr().err


@pytest.mark.slow
def test_a_case_of_10_000_events_of_one_day_is_estimated_with_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (
        f"e{at},{'ABCDE'[at % 5]},{at * 8000 % 82_000_000},{at * 8000 % 82_000_000 + 3_600_000 + at},c\n"
        for at in range(10_000)
    )
    (tmp_path / "log.csv").write_text(HEADER + "".join(rows))
    assert main(["follows", "log.csv"]) == 0
    said = capsys.readouterr()
    assert "off by at most  least and greatest" in said.out.splitlines()[0]
    assert "1 stretch with too many of these is estimated" in said.err
    graph = cepctl.follows("log.csv")
    assert graph.rows["expected"].sum() == pytest.approx(9_999, rel=0.01)
    assert all(0 < error < 100 for error in graph.rows["expected_error"].to_list())


def test_a_program_asks_the_same_of_a_frame() -> None:
    import polars as pl

    frame = pl.DataFrame({"event_type": ["A", "B"], "key": ["x", "x"], "lower": [1, 3], "upper": [4, 6]})
    rows = cepctl.follows(frame, by="key").rows
    assert rows.select("a", "b", "least", "expected", "greatest").rows() == [
        ("A", "B", 0, 0.8125, 1),
        ("B", "A", 0, 0.0625, 1),
    ]
