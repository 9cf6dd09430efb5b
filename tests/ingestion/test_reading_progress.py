"""Reading tells how far it is: bytes, rate, time left, events and rejects."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.progress import ReadingProgress, reading_told
from cepctl.ingestion.results import FileResult
from cepctl.runners.local import LocalRunner
from tests.ingestion.test_jobs import write

LINES = "".join(f'{{"event_type":"A","time":"2026-01-05T10:00:00Z","n":{number}}}\n' for number in range(400))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.ingestion.progress._TOLD_EVERY", 0.0)


@pytest.mark.parametrize("readers", [1, 2])
def test_each_part_of_a_file_counts_when_it_is_read(tmp_path: Path, readers: int) -> None:
    told: list[str] = []
    write(tmp_path, a__jsonl=LINES)
    with reading_told(told.append):
        runner = LocalRunner(len(LINES) // 4, readers)
        ingest([str(tmp_path)], str(tmp_path / "events"), IngestOptions(), runner)
    *told, last = told
    assert last == ""
    shares = [int(line.partition("(")[2].partition(" %")[0]) for line in told]
    assert len(shares) >= 4
    assert shares == sorted(shares)
    assert shares[-1] == 100
    assert told[-1].startswith("reading: 23 kB of 23 kB (100 %), ")
    assert told[-1].endswith("; 400 events")


def test_a_line_has_rate_time_left_events_and_rejects() -> None:
    told: list[str] = []
    seconds = iter([10.0, 14.0])
    progress = ReadingProgress([10_000_000, 30_000_000], told.append, lambda: next(seconds))
    progress.rejects = 3
    progress.ended(0, FileResult("a.log", "lines"))
    assert told == ["reading: 10 MB of 40 MB (25 %, about 12 s left), 2 MB/s; 0 events, 3 rejects"]


def test_on_a_cluster_tasks_are_counted() -> None:
    told: list[str] = []
    ReadingProgress([1, 2], told.append).counted(1, 2)
    assert told == ["reading: 1 of 2 tasks"]


def test_a_line_that_cannot_be_told_costs_nothing_else(tmp_path: Path) -> None:
    asked: list[str] = []

    def broken(line: str) -> None:
        asked.append(line)
        raise OSError("no terminal")

    write(tmp_path, a__jsonl=LINES)
    with reading_told(broken):
        summary = ingest(
            [str(tmp_path)], str(tmp_path / "events"), IngestOptions(), LocalRunner(len(LINES) // 4)
        )
    assert (summary.events, len(asked)) == (400, 1)
