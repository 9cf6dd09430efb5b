"""`--intervals` and `--epoch` on the command line: ingest, match and inspect take them alike."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

WORKLOAD = {
    "job.id": "job_1",
    "job.start.ms": 0,
    "job.end.ms": 900,
    "job.tasks": [
        {"container.type": "map", "container.start.ms": 100, "container.end.ms": 500},
        {"container.type": "map", "container.start.ms": 200},
    ],
}
MODEL = 'rule = [{ event_type = "Job", interval = { before = "5 ms", after = "1 ms" } }]'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("load.json").write_text(json.dumps(WORKLOAD, indent=1))
    Path("model.toml").write_text(MODEL)
    return tmp_path


def test_interval_events_get_both_intervals_from_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--intervals", "--epoch", "1970-01-01T00:00:10Z", "--uncertainty", "model.toml"]
    assert main(["ingest", "load.json", "-o", "events", *options]) == 0
    table = pq.read_table("events")
    spans = {
        row["event_type"]: [row[name] for name in ("lower", "upper", "end_lower", "end_upper")]
        for row in table.to_pylist()
        if row["end_time"]
    }
    assert spans == {"Job": [9_995, 10_001, 10_895, 10_901], "TaskAttempt": [10_100, 10_100, 10_500, 10_500]}
    assert "no time: MapAttemptFinish; the rest is kept" in capsys.readouterr().err


def test_without_intervals_an_ingest_has_no_ends() -> None:
    assert main(["ingest", "load.json", "-o", "events", "--epoch", "2024-05-01"]) == 0
    assert "end_time" not in pq.read_schema("events/part-00000.parquet").names


def test_without_an_epoch_a_note_says_from_when_times_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "load.json", "--intervals"]) == 0
    told = capsys.readouterr()
    assert "load.json: times are relative and count from 1970-01-01; say with --epoch" in told.err
    assert "TaskAttempt" in told.out


def test_match_counts_from_the_epoch_in_the_zone_of_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(JobSubmit j, MapAttemptFinish m)"
    assert main(["match", query, "load.json", "--epoch", "2024-05-01 12:00", "--tz", "Europe/Berlin"]) == 0
    assert "2024-05-01T10:00:00.000Z,2024-05-01T10:00:00.500Z" in capsys.readouterr().out


def test_an_epoch_that_is_no_time_is_an_error_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "load.json", "-o", "events", "--epoch", "noon"]) == 2
    assert "--epoch 'noon' is not a time; write it as 2024-05-01T12:00:00Z" in capsys.readouterr().err
    assert not Path("events").exists()
