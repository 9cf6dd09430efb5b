"""Traces of Chrome as files: phases, beginnings and ends of threads and of spans, names, and the epoch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cepctl

EVENTS: list[dict[str, Any]] = [
    {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "browser"}},
    {"name": "load", "cat": "net", "ph": "B", "pid": 1, "tid": 2, "ts": 829, "args": {"url": "a"}},
    {"name": "parse", "ph": "X", "ts": 840.5, "dur": 12, "pid": 1, "tid": 2, "args": {"file": 7}},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 900},
    {"name": "gc", "ph": "i", "pid": 1, "tid": 3, "ts": 860},
    {"name": "rpc", "cat": "c", "id": "7", "ph": "b", "pid": 1, "tid": 3, "ts": 100},
    {"name": "rpc", "cat": "c", "id": "7", "ph": "e", "pid": 1, "tid": 4, "ts": 200},
    {"name": "open", "ph": "B", "pid": 1, "tid": 9, "ts": 950},
    {"ph": "s", "name": "flow", "pid": 1, "tid": 9, "ts": 951},
]


def taken(folder: Path, text: str, **options: Any) -> tuple[dict[str, dict[str, Any]], Any]:
    (folder / "x.json").write_text(text)
    made = cepctl.ingest(folder / "x.json", folder / "events", overwrite=True, **options)
    rows = pq.read_table(folder / "events").to_pylist()
    return {row["event_type"]: row for row in rows}, made.summary


@pytest.mark.parametrize("text", [json.dumps(EVENTS), json.dumps({"traceEvents": EVENTS, "otherData": {}})])
def test_events_last_from_their_beginning_to_their_end(tmp_path: Path, text: str) -> None:
    rows, summary = taken(tmp_path, text, intervals=True, epoch="2026-06-14T08:00:00Z")
    assert summary.accounts[0].format == "chrome-trace"
    lengths = {
        name: None if row["end_lower"] is None else row["end_lower"] - row["lower"]
        for name, row in rows.items()
    }
    assert lengths == {"load": 71_000, "parse": 12_000, "rpc": 100_000, "gc": None, "open": None}
    load = rows["load"]
    assert (load["process"], load["thread"], load["category"], load["url"]) == ("browser", "2", "net", "a")
    assert (load["duration_us"], str(load["time"])) == (71.0, "2026-06-14 08:00:00.000829+00:00")
    assert dict(summary.skipped) == {"metadata, flows, samples and objects of a trace": 2}
    assert any("beginnings without an end, which are events of a moment: 1" in n for n in summary.notices)


def test_without_an_epoch_times_count_from_1970_and_that_is_said(tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, json.dumps(EVENTS))
    assert str(rows["gc"]["time"]) == "1970-01-01 00:00:00.000860+00:00"
    assert any("--epoch says when it was" in each for each in summary.notices)


def test_an_end_without_its_beginning_is_rejected(tmp_path: Path) -> None:
    _, summary = taken(tmp_path, json.dumps([*EVENTS, {"ph": "E", "pid": 5, "tid": 5, "ts": 1}]))
    assert dict(summary.rejected) == {"an end without its beginning": 1}
