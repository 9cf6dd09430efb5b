"""Logs and metrics of OpenTelemetry: types, times with what is not known of them, attributes, the account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions

SECOND = 1_000_000_000
BEGIN = 1_781_417_700 * SECOND


def taken(folder: Path, document: object, **read: Any) -> tuple[list[dict[str, Any]], IngestSummary]:
    log, out = folder / "x.json", folder / "events"
    log.write_text(json.dumps(document))
    summary = ingest([str(log)], str(out), IngestOptions(read=ReadOptions(**read), overwrite=True))
    rows = [row for part in sorted(out.glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    return sorted(rows, key=lambda row: (row["time"], row["event_id"])), summary


def tag(key: str, text: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": text}}


RESOURCE = {"attributes": [tag("service.name", "pay"), tag("host.name", "n7.example.org")]}


def logs(*records: object) -> dict[str, Any]:
    return {"resourceLogs": [{"resource": RESOURCE, "scopeLogs": [{"logRecords": list(records)}]}]}


def metrics(*metrics: object) -> dict[str, Any]:
    return {"resourceMetrics": [{"resource": RESOURCE, "scopeMetrics": [{"metrics": list(metrics)}]}]}


def point(second: int, value: float, **others: object) -> dict[str, Any]:
    return {"timeUnixNano": str(BEGIN + second * SECOND), "asDouble": value, **others}


def spans(rows: list[dict[str, Any]], name: str) -> list[tuple[float, int]]:
    """Values of a metric, and how many whole seconds they reach back from the time of the point."""
    found = [row for row in rows if row["event_type"] == name]
    return [(row["value"], round((row["upper"] - row["lower"]) / 1000)) for row in found]


def test_records_have_the_type_of_their_name_or_of_the_template_of_their_body(tmp_path: Path) -> None:
    rows, summary = taken(
        tmp_path,
        logs(
            {"timeUnixNano": str(BEGIN), "body": {"stringValue": "card 7 refused"}, "severityText": "WARN"},
            {
                "timeUnixNano": "0",
                "observedTimeUnixNano": str(BEGIN + 1),
                "body": {"stringValue": "card 9 refused"},
            },
            {"timeUnixNano": str(BEGIN + SECOND), "eventName": "page.view", "attributes": [tag("node", "x")]},
            {"timeUnixNano": str(BEGIN + 2 * SECOND)},
            {"body": {"stringValue": "never"}},
            "nothing",
        ),
        drop_domain=True,
        exact_times=True,
    )
    assert [row["event_type"] for row in rows] == ["card refused", "card refused", "page.view", "LogRecord"]
    assert [(row["service"], row["node"], row["node_raw"]) for row in rows] == [
        ("pay", "n7", "n7.example.org")
    ] * 4
    assert (rows[0]["severity"], rows[0]["message"], rows[2]["tag.node"]) == ("WARN", "card 7 refused", "x")
    assert (summary.records, sum(summary.rejected.values())) == (6, 2)


def test_a_number_may_have_come_about_since_the_point_before(tmp_path: Path) -> None:
    rows, _ = taken(
        tmp_path,
        metrics(
            {"name": "length", "gauge": {"dataPoints": [point(0, 1), point(10, 2), point(40, 3)]}},
            {"name": "paid", "sum": {"dataPoints": [point(20, 5, startTimeUnixNano=str(BEGIN))]}},
        ),
    )
    assert spans(rows, "length") == [(1, 0), (2, 10), (3, 30)]
    assert spans(rows, "paid") == [(5, 20)]
    rows, _ = taken(
        tmp_path,
        metrics({"name": "length", "gauge": {"dataPoints": [point(0, 1), point(9, 2)]}}),
        exact_times=True,
    )
    assert spans(rows, "length") == [(1, 0), (2, 0)]


def test_points_of_other_attributes_are_of_another_series(tmp_path: Path) -> None:
    points = [point(0, 1, attributes=[tag("cpu", "a")]), point(10, 2, attributes=[tag("cpu", "b")])]
    rows, _ = taken(tmp_path, metrics({"name": "load", "gauge": {"dataPoints": points}}))
    assert (spans(rows, "load"), [row["cpu"] for row in rows]) == ([(1, 0), (2, 0)], ["a", "b"])


def test_histograms_keep_their_counts(tmp_path: Path) -> None:
    buckets = {
        "timeUnixNano": str(BEGIN),
        "count": "2",
        "sum": 2.5,
        "bucketCounts": ["1", "1"],
        "explicitBounds": [1],
    }
    rows, _ = taken(tmp_path, metrics({"name": "took", "unit": "s", "histogram": {"dataPoints": [buckets]}}))
    assert [(row["count"], row["sum"], row["bucketCounts"], row["unit"]) for row in rows] == [
        (2, 2.5, '["1", "1"]', "s")
    ]
