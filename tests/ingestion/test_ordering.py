"""The parts of a dataset follow the order of all events, however many files those come from."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.ingestion import ordering
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions


def test_parts_hold_the_events_of_many_files_in_order_without_those_that_were_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering, "PART_EVENTS", 7)
    logs = tmp_path / "logs"
    logs.mkdir()
    for file in range(5):
        # Times of the files interleave; every third id is that of the first file.
        lines = [f"A,{file if i % 3 else 0}-{i},{5 * i + file}" for i in range(9)]
        (logs / f"{file}.csv").write_text("\n".join(["event_type,event_id,time", *lines]))
    ingest([str(logs)], str(tmp_path / "out"), IngestOptions(max_errors=100))
    parts = [
        pq.read_table(path, columns=["event_id"]) for path in sorted((tmp_path / "out").glob("*.parquet"))
    ]
    ids = [text for part in parts for text in part.column("event_id").to_pylist()]
    kept = [(5 * i + file, f"{file}-{i}") for file in range(5) for i in range(9) if i % 3 or file == 0]
    assert len(parts) > 3
    assert all(len(part) <= 14 for part in parts)
    assert ids == [text for _, text in sorted(kept)]


@pytest.mark.parametrize(
    ("files", "again"),
    [
        pytest.param([["1", "2", "2"]], [2], id="after one another"),
        pytest.param([["9", "10", "9"]], [2], id="after a longer one"),
        pytest.param([["1", "2"], ["2", "3"]], [2], id="last of one file and first of the next"),
        pytest.param([["1", "3"], ["2", "3"]], [3], id="in two files"),
        pytest.param([["8", "9", "10"], ["11"]], [], id="none among numbers"),
        pytest.param([["b", "a"], ["é", "c"]], [], id="none among names"),
    ],
)
def test_ids_that_occur_again_are_found_in_whatever_order_they_come(
    tmp_path: Path, files: list[list[str]], again: list[int]
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    ids = [text for file in files for text in file]
    for number, file in enumerate(files):
        before = sum(map(len, files[:number]))
        lines = [f"A,{text},{before + row}" for row, text in enumerate(file)]
        (logs / f"{number}.csv").write_text("\n".join(["event_type,event_id,time", *lines]))
    summary = ingest([str(logs)], str(tmp_path / "out"), IngestOptions(max_errors=100))
    kept = pq.read_table(tmp_path / "out" / "part-00000.parquet").column("event_id").to_pylist()
    assert kept == [text for place, text in enumerate(ids) if place not in again]
    assert summary.rejected["duplicate event_id"] == len(again)
