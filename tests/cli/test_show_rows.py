"""`cepctl show --rank` and `--last`: a match named by its row, without its ids."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.calls import called

QUERY = "PATTERN SEQ(A a, B b) WITHIN 10 ticks"
EVENTS = "event_id,event_type,lower,upper,x\na1,A,1,3,2\nb1,B,4,5,4\nb2,B,2,3,9\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two matches, a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "events.csv").write_text(EVENTS)
    return tmp_path


def first(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    return called(capsys, "show", "--time", "ticks", *arguments)[0].splitlines()[0]


def test_a_row_is_shown_by_its_rank(capsys: pytest.CaptureFixture[str]) -> None:
    assert first(capsys, QUERY, "events.csv", "--rank", "1") == "confidence 1, from 1 to 5"
    assert first(capsys, QUERY, "events.csv", "--rank", "2") == "confidence 0.5, from 1 to 3"
    _, said = called(capsys, "show", QUERY, "events.csv", "--rank", "3", code=2)
    assert said == "error: there is no row 3: the query has 2 matches here\n"


def test_the_row_of_a_group_is_its_best_match(capsys: pytest.CaptureFixture[str]) -> None:
    grouped = f"{QUERY} GROUP BY b.x"
    assert first(capsys, grouped, "events.csv", "--rank", "2") == "confidence 0.5, from 1 to 3"
    called(capsys, "match", grouped, "events.csv")
    assert first(capsys, "--last", "--rank", "2") == "confidence 0.5, from 1 to 3"


def test_the_last_match_is_remembered_wherever_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed = QUERY.replace("B b", "C b")
    called(capsys, "match", renamed, "events.csv", "--name", "B=C", "--limit", "0")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert first(capsys, "--last") == "confidence 1, from 1 to 5"
    assert first(capsys, "--last", "--rank", "2") == "confidence 0.5, from 1 to 3"


def test_it_lies_where_nobody_else_reads(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    called(capsys, "match", QUERY, "events.csv")
    file = folder / "cache" / "cepctl" / "last-match.json"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file.parent, file)] == [0o700, 0o600]
    assert json.loads(file.read_text())["matches"] == ["a1 b1", "a1 b2"]
    file.chmod(0o666)
    assert "is not used: it can be written by everybody" in called(capsys, "show", "--last", code=2)[1]


def test_a_cache_that_cannot_be_written_fails_no_match(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "events.csv"))
    called(capsys, "match", QUERY, "events.csv")
    assert called(capsys, "show", "--last", code=2)[1].startswith("error: no match is remembered: ")


@pytest.mark.parametrize("options", [["--quiet"], ["--state", "S", "--final"]])
def test_what_runs_by_itself_is_not_remembered(
    options: list[str], capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    called(capsys, "match", QUERY, "events.csv", *options)
    assert not (folder / "cache").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((QUERY, "events.csv"), "name the match: --match IDS, --rank 1, or --last of the last cepctl match"),
        ((QUERY, "events.csv", "--last"), "--last has QUERY and EVENTS of the last match; leave them out"),
        (
            ("--last", "--match", "a1 b1"),
            "--match cannot apply with --last: it shows a row of the last match",
        ),
        (("--last", "--tz", "UTC"), "--tz cannot apply with --last: the last match decides what is read"),
        (
            (QUERY, "events.csv", "--rank", "1", "--match", "a"),
            "--match cannot apply with --rank 1: each nam",
        ),
    ],
)
def test_what_names_no_match_or_two_is_refused(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(capsys, "show", *arguments, code=2)[1].startswith(f"error: {said}")


def test_a_limit_writes_fewer_rows_and_counts_all(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out, said = called(capsys, "match", QUERY, "events.csv", "--limit", "1", "--columns", "match")
    assert out == "match\na1 b1\n"
    assert said.startswith("2 matches in 3 events, ")
    assert said.endswith("; --limit leaves out 1\n")
    called(capsys, "match", QUERY, "events.csv", "--limit", "1", "--format", "trace", "-o", "one.json")
    assert "a1 b2" not in (folder / "one.json").read_text()
    wrong = called(capsys, "match", QUERY, "events.csv", "--limit", "1", "--state", "S", code=2)[1]
    assert wrong.startswith(
        "error: --limit cannot apply with --state S: the rows that it leaves out would never be"
    )
