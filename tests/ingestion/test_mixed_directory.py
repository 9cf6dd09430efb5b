"""One command over a directory of all kinds of logs: every event, or the reason why a file was left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

pytestmark = pytest.mark.realdata

NO_LOGS = {
    "MANIFEST.md",
    "ganglia/rrd/corrupt.rrd",
    "hadoop/log4j/LICENSE",
    "hadoop/log4j/log4j.properties",
    "xes/DISCLAIMER",
}
XES_EVENTS = {
    "04_reviewing.xes.gz": 3_730,
    "11_tickets.xes.gz": 43,
    "19_roadtraffic_1t_per_variant.xes.gz": 0,
    "bpic2012.xes.gz": 262_200,
    "interval_event_log.xes": 8_109,
    "partial order example.xes": 0,
    "roadtraffic100traces.xes": 390,
    "running-example.xes": 42,
    "siesta_test.xes": 10,
}
WITHOUT_TIMES = {"xes/19_roadtraffic_1t_per_variant.xes.gz": 1_891, "xes/partial order example.xes": 25}


@pytest.fixture(scope="module")
def dataset(real_logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    choices = ["--runner", "local", "--quiet", "--max-errors", "5000"]
    files = ["--rejects", str(folder / "rejects.jsonl"), "--report", str(folder / "report.json")]
    assert main(["ingest", str(real_logs), "-o", str(folder / "events"), *choices, *files]) == 0
    return folder


@pytest.fixture(scope="module")
def report(dataset: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((dataset / "report.json").read_text())
    return told


def test_what_is_no_log_is_named_and_nothing_else(report: dict[str, Any]) -> None:
    left_out = {entry["file"] for entry in report["by_file"] if entry["unreadable"]}
    # Small files of cases are no logs of a machine; some are of forms that are not read.
    assert {each for each in left_out if not each.startswith("evidence/")} == NO_LOGS
    assert all(entry["file"] in entry["unreadable"] for entry in report["by_file"] if entry["unreadable"])


def test_every_file_is_accounted_for(report: dict[str, Any], real_logs: Path) -> None:
    files = sorted(str(path.relative_to(real_logs)) for path in real_logs.rglob("*") if path.is_file())
    assert [entry["file"] for entry in report["by_file"]] == files
    silent = [
        entry["file"]
        for entry in report["by_file"]
        if not (entry["events"] or entry["unreadable"] or entry["rejected"] or entry["skipped"])
    ]
    assert silent == ["ganglia/rrd/empty.rrd"]


def test_the_events_are_those_that_the_report_counts(report: dict[str, Any], dataset: Path) -> None:
    tables = [
        pq.read_table(part, columns=["source"]) for part in sorted((dataset / "events").glob("*.parquet"))
    ]
    sources = [source for table in tables for source in table.column("source").to_pylist()]
    for entry in report["by_file"]:
        assert sources.count(entry["file"]) == entry["events"] == sum(entry["event_types"].values())


def test_logs_of_processes_are_read_completely(report: dict[str, Any]) -> None:
    counts = {Path(e["file"]).name: e["events"] for e in report["by_file"] if e["format"] == "xes"}
    assert counts == XES_EVENTS


def test_events_without_a_time_are_rejected_one_by_one(report: dict[str, Any], dataset: Path) -> None:
    rejected = {entry["file"]: entry["rejected"] for entry in report["by_file"] if entry["format"] == "xes"}
    assert {name: causes for name, causes in rejected.items() if causes} == {
        name: {"no time": count} for name, count in WITHOUT_TIMES.items()
    }
    lines = [json.loads(line) for line in (dataset / "rejects.jsonl").read_text().splitlines()]
    untimed = [line for line in lines if line["cause"] == "no time" and line["source"] in WITHOUT_TIMES]
    assert len(untimed) == sum(WITHOUT_TIMES.values())
    assert all(line["raw"].startswith("<event>") for line in lines if line["source"] in WITHOUT_TIMES)
