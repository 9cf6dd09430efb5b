"""`ingest` and `assign` as a user calls them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.matching.inputs import read_events


@pytest.fixture(autouse=True)
def csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    file = tmp_path / "log.csv"
    file.write_text(
        "event_type,time,node\nCPU,2024-05-01T10:00:00Z,n1\nCPU,2024-05-01T10:00:15Z,n2\nJob,?,n1\n"
    )
    return file


def test_ingest_writes_only_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "log.csv", "-o", "events"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "note: ticks of 1 ms; 2 times have no fraction, nor has any other of their column: each stands "
        "for its whole "
        "second; --exact-times takes them as exact\n"
        "warning: left out 1 of 3 records as bad:\n"
        "  log.csv:4: no time: Job,?,n1\n"
        "2 events of 1 type from 1 file in events (time unit 1 ms)\n"
    )


def test_quiet_says_only_what_went_wrong(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text("event_type,time\nA,1\n")
    assert main(["ingest", "log.csv", "-o", "events", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_types_are_renamed_and_models_applied_on_the_way_in() -> None:
    Path("m.toml").write_text("rule = [{ event_type = 'LOAD', interval = { before = '15 s' } }]")
    assert main(["ingest", "log.csv", "-o", "events", "--name", "CPU=LOAD", "--uncertainty", "m.toml"]) == 0
    (first, _) = read_events(["events"]).to_pylist()
    assert (first["event_type"], first["upper"] - first["lower"]) == ("LOAD", 15_000)


def test_too_many_rejects_exit_with_3_and_write_nothing(
    csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", "log.csv", "-o", "events", "--max-errors", "0"]) == 3
    assert "--max-errors" in capsys.readouterr().err
    assert not Path("events").exists()


def test_assign_replaces_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.toml").write_text("rule = [{ granularity = '1 min' }]")
    assert main(["ingest", "log.csv", "-o", "events"]) == 0
    assert main(["assign", "events", "-o", "wide", "--uncertainty", "m.toml"]) == 0
    assert {row["upper"] - row["lower"] for row in read_events(["wide"]).to_pylist()} == {59_999}


def test_a_mistake_in_the_model_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.toml").write_text("rule = [{ granularty = '1 min' }]")
    assert main(["ingest", "log.csv", "-o", "events", "--uncertainty", "m.toml"]) == 2
    assert capsys.readouterr().err == (
        "error: m.toml: rule 1: unknown key 'granularty'; did you mean 'granularity'?\n"
    )


@pytest.mark.slow  # test_session.py sees the same of every session
@pytest.mark.spark
def test_ingest_on_spark_keeps_standard_output_empty() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "cepctl", "ingest", "log.csv", "-o", "events", "--runner", "spark"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == ""
    assert told.stderr.splitlines()[-1] == "2 events of 1 type from 1 file in events (time unit 1 ms)"
    assert len(told.stderr.splitlines()) == 4
    assert main(["ingest", "log.csv", "-o", "here", "--quiet"]) == 0
    assert Path("here/part-00000.parquet").read_bytes() == Path("events/part-00000.parquet").read_bytes()
