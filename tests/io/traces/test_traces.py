"""Spans of OpenTelemetry, Jaeger and Zipkin: one way to read them, and what each tool says otherwise."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, known_formats, recognised_format
from cepctl.io.traces.spans import HIDDEN, NO_END, NO_MOMENT, NOT_A_SPAN
from tests.forty_records import COUNT, FORTY_RECORDS
from tests.small_logs import SMALL_LOGS

TOOLS = ("otlp", "jaeger", "zipkin")
ZIPKIN = {"traceId": "5982", "id": "bd7a", "timestamp": 1_502_787_600_000_000, "duration": 150}


def read(name: str, text: Any, **options: Any) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    data = text if isinstance(text, bytes) else json.dumps(text).encode()
    batches = format_named(name).reader.read(io.BytesIO(data), "t.json", ReadOptions(**options), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def known(event: dict[str, Any]) -> dict[str, Any]:
    standing = ("number", "time", "zone_seconds", "before", "after", "end_time")
    return {
        name: value
        for name, value in event.items()
        if value is not None and name not in standing and not name.startswith(("end_", "cepctl.raw."))
    }


def test_spans_of_opentelemetry() -> None:
    start, finish, moment = read("otlp", SMALL_LOGS["otlp"][1])[0]
    own = {"trace_id": "5b8e", "span_id": "eee1", "name": "charge", "service": "pay"}
    assert known(start) == {"event_type": "SpanStart", **own, "kind": "server"}
    assert known(finish) == {"event_type": "SpanFinish", **own, "kind": "server", "status": "error"}
    assert known(moment) == {"event_type": "SpanEvent", **own, "event": "exception"}
    assert finish["time"] == datetime(2026, 6, 14, 6, 15, 5, 380_000, tzinfo=UTC)


def test_spans_of_jaeger() -> None:
    start, _, moment = read("jaeger", SMALL_LOGS["jaeger"][1])[0]
    own = {"trace_id": "2be3", "span_id": "7606", "parent_id": "4927", "name": "get", "service": "api"}
    assert known(start) == {"event_type": "SpanStart", **own, "port": 80}
    assert known(moment) == {"event_type": "SpanEvent", **own, "event": "hit"}


def test_spans_of_zipkin() -> None:
    start, *_ = read("zipkin", SMALL_LOGS["zipkin"][1])[0]
    assert known(start) == {
        "event_type": "SpanStart",
        "trace_id": "5982",
        "span_id": "5982",
        "name": "get",
        "service": "api",
        "node": "10.0.0.7",
        "node_raw": "10.0.0.7",
        "http.path": "/",
        "kind": "server",
    }


@pytest.mark.parametrize(("tool", "micros"), list(zip(TOOLS, (379_999, 267_037, 150), strict=True)))
def test_with_intervals_a_span_is_one_event(tool: str, micros: int) -> None:
    events, _ = read(tool, SMALL_LOGS[tool][1], intervals=True)
    assert {event["event_type"] for event in events} == {"Span", "SpanEvent"}
    assert events[0]["end_time"] - events[0]["time"] == timedelta(microseconds=micros + (tool == "otlp"))


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("jaeger", json.loads(SMALL_LOGS["jaeger"][1])["data"]),
        ("jaeger", json.loads(SMALL_LOGS["jaeger"][1])["data"][0]),
        (
            "jaeger",
            {
                "traceID": "1",
                "spanID": "2",
                "operationName": "x",
                "startTime": 5,
                "duration": 1,
                "process": {},
            },
        ),
        ("zipkin", [[{**ZIPKIN, "localEndpoint": {}}]]),
        ("zipkin", {**ZIPKIN, "localEndpoint": {}}),
        ("otlp", json.loads(SMALL_LOGS["otlp"][1])),
    ],
)
def test_every_shape_of_a_file_is_told_and_read(tool: str, text: Any) -> None:
    data = json.dumps(text, indent=1).encode()
    assert recognised_format(data, "x").name == tool
    events, report = read(tool, data)
    assert (len(events) > 0, report.rejects) == (True, [])


@pytest.mark.parametrize("intervals", [False, True])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_span_without_an_end_keeps_its_start_and_is_a_reject(tool: str, intervals: bool) -> None:
    member = {"otlp": b"endTimeUnixNano", "jaeger": b"duration", "zipkin": b"duration"}[tool]
    whole = SMALL_LOGS[tool][1]
    all_events, _ = read(tool, whole, intervals=intervals)
    hurt = whole.replace(b'"%s"' % member, b'"%sX"' % member[:-1], 1)
    events, report = read(tool, hurt, intervals=intervals)
    assert [event["event_type"] for event in events].count("SpanStart") >= 1
    assert len(events) == len(all_events) - (not intervals)
    assert [reject.cause for reject in report.rejects] == [NO_END]
    assert member[:-1].decode() in report.rejects[0].text + str(report.rejects[0].raw)


@pytest.mark.parametrize("duration", [None, "-1", 1e40])
def test_an_end_that_is_no_time_is_a_reject(duration: Any) -> None:
    events, report = read("zipkin", [{**ZIPKIN, "duration": duration}], intervals=True)
    assert [event["event_type"] for event in events] == ["SpanStart"]
    assert ([reject.cause for reject in report.rejects], report.skipped) == ([NO_END], {})


def test_what_happened_at_no_time_is_a_reject_of_its_own() -> None:
    notes = [{"timestamp": 1781417704996500, "value": "sent"}, {"timestamp": "soon", "value": "got"}, 7]
    events, report = read("zipkin", [{**ZIPKIN, "duration": 9, "annotations": notes}])
    assert [event["event_type"] for event in events] == ["SpanStart", "SpanFinish", "SpanEvent"]
    assert [reject.cause for reject in report.rejects] == [NO_MOMENT, NO_MOMENT]


@pytest.mark.parametrize(
    ("tool", "member", "damaged"),
    [("otlp", b'"events"', b'"ewents"'), ("jaeger", b'"logs"', b'"l<gs"')],
)
def test_moments_under_a_damaged_name_are_rejects(tool: str, member: bytes, damaged: bytes) -> None:
    whole = SMALL_LOGS[tool][1]
    assert member in whole
    moments = [event["event_type"] for event in read(tool, whole)[0]].count("SpanEvent")
    events, report = read(tool, whole.replace(member, damaged, 1))
    assert [event["event_type"] for event in events].count("SpanEvent") == 0
    assert [reject.cause for reject in report.rejects] == [NO_MOMENT] * moments


@pytest.mark.parametrize(
    ("tool", "member", "damaged", "cause"),
    [
        ("otlp", b'"resourceSpans"', b'"resourceSpan"', NOT_A_SPAN),
        ("otlp", b'"scopeSpans"', b'"scopeSp<ns"', NOT_A_SPAN),
        ("otlp", b'"spans"', b'"spanz"', NOT_A_SPAN),
        ("jaeger", b'"data"', b'"dataa"', NOT_A_SPAN),
        ("jaeger", b'"spans"', b'"sxans"', NOT_A_SPAN),
    ],
)
def test_the_spans_of_a_list_whose_name_is_damaged_are_so_many_rejects(
    tool: str, member: bytes, damaged: bytes, cause: str
) -> None:
    events, report = read(tool, FORTY_RECORDS[tool][1].replace(member, damaged, 1))
    assert events == []
    assert {reject.cause for reject in report.rejects} == {cause}
    assert sum(reject.records for reject in report.rejects) == report.records == COUNT


def test_spans_beside_the_list_of_a_document_are_rejects() -> None:
    span = {"traceID": "1", "spanID": "2", "operationName": "x", "startTime": 5, "duration": 1}
    events, report = read("jaeger", {"data": [{"spans": [span]}], "dato": [{"spans": [span, span]}]})
    assert len(events) == 2
    assert [(reject.cause, reject.records) for reject in report.rejects] == [(HIDDEN, 2)]


def test_a_span_that_ends_too_early_stays_two_points_with_a_note() -> None:
    early = json.loads(SMALL_LOGS["otlp"][1].replace(b"1781417705380000000", b"1781417704380000000"))
    events, report = read("otlp", early, intervals=True)
    assert [event["event_type"] for event in events[:2]] == ["SpanStart", "SpanFinish"]
    assert report.notes == {"spans that end before they start, kept as the points of both: {:,}": 1}


def test_tags_called_like_attributes_of_their_own_are_marked_and_values_keep_their_kind() -> None:
    values = {
        "name": {"stringValue": "x"},
        "n": {"intValue": "7"},
        "l": {"arrayValue": {"values": [{"intValue": 1}, {"kvlistValue": {"values": []}}]}},
        "b": {"boolValue": False},
    }
    tags = [{"key": key, "value": value} for key, value in values.items()]
    text = json.loads(SMALL_LOGS["otlp"][1])
    text["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = tags
    event = read("otlp", text)[0][0]
    assert [event[name] for name in ("name", "tag.name", "n", "l", "b")] == [
        "charge",
        "x",
        7,
        "[1, {}]",
        False,
    ]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("value", [7, "x", [], [[7]], {"spans": 7}, {}])
def test_what_is_no_span_is_a_reject_and_nothing_else_comes_of_it(tool: str, value: Any) -> None:
    key = {"otlp": "resourceSpans", "jaeger": "data"}.get(tool)
    events, report = read(tool, [value] if key is None else {key: [value]})
    assert events == []
    assert {reject.cause for reject in report.rejects} <= {
        "not a span: an object with the ids of its trace and its own"
    }


def test_logs_that_only_name_traces_are_not_taken_for_traces() -> None:
    line = b'{"event_type": "A", "time": 5, "traceId": "1", "id": "2", "spanID": "3"}\n'
    assert next(known.name for known in known_formats() if known.reader.recognises(line)) == "jsonl"
