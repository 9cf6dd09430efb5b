"""Incremental runs take times as the first run took them: its ticks, and whether fractions were dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from tests.cli.growing_log import begin_log, log

QUERY = "PATTERN SEQ(A a, B b) WITHIN 10 s"


def run(*arguments: str) -> str:
    """What the newest run has emitted, without its header."""
    assert main(["match", "--state", "S", "-o", "out", "--format", "csv", QUERY, "e.csv", *arguments]) == 0
    newest = max(Path("out").iterdir())
    return newest.read_text().partition("\n")[2]


def test_finer_digits_than_those_of_the_first_run_are_cut_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_log(tmp_path, monkeypatch, "event_id,event_type,time", "a,A,2024-05-01T00:00:01.5Z")
    run()
    log("b,B,2024-05-01T00:00:02.000100Z")
    emitted = run("--final")
    assert emitted == "1.0,2024-05-01T00:00:01.500Z,2024-05-01T00:00:02.000Z,a b\n"
    assert "times with digits finer than a tick of 1 ms, which are cut: 1" in capsys.readouterr().err


def test_ticks_of_the_first_run_are_those_of_coarser_digits_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_log(tmp_path, monkeypatch, "event_id,event_type,time", "a,A,2024-05-01T00:00:01.000001Z")
    run()
    log("b,B,2024-05-01T00:00:02.5Z")
    assert run("--final") == "1.0,2024-05-01T00:00:01.000001Z,2024-05-01T00:00:02.500000Z,a b\n"


def test_a_time_without_a_fraction_has_dropped_zeros_where_an_earlier_run_saw_fractions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_log(tmp_path, monkeypatch, "event_id,event_type,time", "a,A,2024-05-01T00:00:01.5Z")
    run()
    log("b,B,2024-05-01T00:00:02Z")
    assert run("--final") == "1.0,2024-05-01T00:00:01.500Z,2024-05-01T00:00:02.000Z,a b\n"


def test_a_time_without_a_fraction_is_its_second_where_no_earlier_one_had_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_log(tmp_path, monkeypatch, "event_id,event_type,time", "a,A,2024-05-01T00:00:01Z")
    run()
    log("b,B,2024-05-01T00:00:02Z")
    assert run("--final") == "1.0,2024-05-01T00:00:01.000Z,2024-05-01T00:00:02.999Z,a b\n"
