"""The summary line of a match on standard error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

EVENTS = """\
event_type,event_id,time,lower,upper
A,a1,5,1,9
B,b1,6,2,9
B,b2,4,1,9
"""
UNTIMED = "B,b3,,3,12\n"
QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    file = tmp_path / "events.csv"
    file.write_text(EVENTS)
    return file


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a match says on standard error, without the seconds and the work of the engine."""
    assert main(["match", *arguments, "events.csv"]) == 0
    return re.sub(r"(, \d+ after filters)?, \d+\.\d s", "", capsys.readouterr().err).strip()


@pytest.mark.parametrize("engine", ["event", "point", "worlds"])
def test_it_counts_what_raw_times_would_have_missed(capsys: pytest.CaptureFixture[str], engine: str) -> None:
    assert told(capsys, QUERY, "--engine", engine) == (
        "2 matches in 3 events; raw times alone would have missed 1, 1 with a confidence below 0.5"
    )


@pytest.mark.slow
@pytest.mark.spark
def test_it_counts_alike_on_spark(events: Path) -> None:
    events.write_text(EVENTS + UNTIMED)
    command = [sys.executable, "-m", "cepctl", "match", QUERY, "events.csv", "--runner", "spark"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "raw times alone would have missed 1 of 2 with raw times, 1 with a" in done.stderr
    assert done.stderr.startswith("3 matches in 4 events, 4 after filters, 1 slice, ")
    assert done.stdout.splitlines()[0] == "confidence,start,end,match"


@pytest.mark.parametrize("engine", ["event", "worlds"])
def test_matches_without_raw_times_are_left_out(
    events: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    events.write_text(EVENTS + UNTIMED)
    assert told(capsys, QUERY, "--engine", engine) == (
        "3 matches in 4 events; raw times alone would have missed 1 of 2 with raw times, "
        "1 with a confidence below 0.5"
    )
    events.write_text("event_type,lower,upper\nA,1,5\nB,4,9\n")
    assert told(capsys, QUERY) == (
        "1 match in 2 events; no raw times to compare with, 0 with a confidence below 0.5"
    )


def test_it_speaks_of_the_rows_that_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, QUERY, "--top-k", "1") == (
        "1 match in 3 events, the most probable; raw times alone would have missed 0, "
        "0 with a confidence below 0.5"
    )


def test_without_rows_there_is_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    late = told(capsys, QUERY, "--since", "2030-01-01T00:00:00Z")
    assert late == "2 matches in 3 events, 0 of them written"


def test_rows_for_groups_are_no_matches_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, "PATTERN SEQ(A a, B+ b[]) WITHIN 10 ticks", "--kleene", "summary")
    assert "raw times" not in said
    assert said.endswith("with a confidence below 0.5")


def test_the_rows_themselves_say_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, QUERY, "-o", "rows.parquet")
    names = pq.read_schema("rows.parquet").names
    assert sorted(names) == ["confidence", "end", "match", "signature", "start"]
