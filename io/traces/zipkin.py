"""Spans of Zipkin (version 2) in JSON: an array of spans, an array of traces, or spans one per line.

`timestamp` and `duration` are microseconds; a span that client and server share has the same id in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.source.json_documents import ELEMENTS
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.traces.spans import (
    EVENTS,
    OPTIONS,
    UNCERTAINTY,
    Moment,
    SpanReader,
    TracedSpan,
    end_of,
    instant,
    moments_of,
    others_of,
    plain_tags,
    text_or_none,
)

_KNOWN = frozenset(
    ("traceId", "id", "parentId", "name", "kind", "timestamp", "duration", "annotations", "tags")
) | {
    "localEndpoint",
    "remoteEndpoint",
    "debug",
    "shared",
}


def zipkin_spans(value: Any) -> Iterator[tuple[TracedSpan | None, Any]]:
    """The spans of a trace, or the one that the value is; None for what is none."""
    for span in value if isinstance(value, list) else [value]:
        yield _span(span), span


def _found(value: Any, name: str, _: Mapping[str, Any]) -> FoundRecord | None:
    """A span of a damaged document."""
    return (
        FoundRecord(name, value) if isinstance(value, dict) and "traceId" in value and "id" in value else None
    )


def _span(span: Any) -> TracedSpan | None:
    if not isinstance(span, dict):
        return None
    trace_id, span_id = text_or_none(span.get("traceId")), text_or_none(span.get("id"))
    if trace_id is None or span_id is None:
        return None
    local, remote = (
        found if isinstance(found := span.get(name), dict) else {}
        for name in ("localEndpoint", "remoteEndpoint")
    )
    tags = plain_tags(span.get("tags"))
    for name, value in remote.items():
        tags.setdefault(f"remote.{name}", flat_value(value))
    if span.get("shared") is True:
        tags.setdefault("shared", True)
    start = instant(span.get("timestamp"))
    return TracedSpan(
        trace_id,
        span_id,
        text_or_none(span.get("parentId")),
        text_or_none(span.get("name")),
        text_or_none(local.get("serviceName")),
        start,
        end_of(start, span.get("duration")),
        kind.lower() if (kind := text_or_none(span.get("kind"))) else None,
        "error" if "error" in tags else None,
        text_or_none(local.get("ipv4")) or text_or_none(local.get("ipv6")),
        tags,
        moments_of(span, "annotations", _KNOWN, _moment),
        others_of(span, _KNOWN),
    )


def _moment(note: Any) -> Moment:
    if not isinstance(note, dict):
        return Moment(None, None, {})
    return Moment(text_or_none(note.get("value")), instant(note.get("timestamp")), {})


FORMAT = LogFormat(
    name="zipkin",
    description="traces of Zipkin in JSON, version 2",
    events=EVENTS,
    uncertainty=UNCERTAINTY,
    example=(
        '[{"traceId":"5982","id":"bd7a","name":"get","timestamp":1781417704996000,"duration":150000,'
        '"localEndpoint":{"serviceName":"api","ipv4":"10.0.0.7"}}]\n'
    ),
    page="logs-traces.md",
    reader=SpanReader(
        (ELEMENTS,), zipkin_spans, (b"traceId", b"id", b"localEndpoint"), Records('"traceId"', _found)
    ),
    options=OPTIONS,
)
