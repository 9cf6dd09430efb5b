"""The parts of a dataset follow the order of all events, however many files those come from."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.ingestion import ordering
from cepctl.ingestion.jobs import IngestOptions, ingest


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
