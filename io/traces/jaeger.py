"""Spans of Jaeger in JSON: what its page and API give ({"data": [trace, ...]}), and its spans one per line.

A trace has spans and the processes that they name; a span by itself brings its process along.  `startTime`
and `duration` are microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
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
    text_or_none,
    whole_number,
)

_KNOWN = frozenset(
    (
        "traceID",
        "spanID",
        "parentSpanID",
        "flags",
        "operationName",
        "references",
        "startTime",
        "duration",
        "tags",
    )
) | {"startTimeMillis", "tag", "logs", "process", "processID", "warnings"}


def jaeger_spans(value: Any) -> Iterator[tuple[TracedSpan | None, Any]]:
    """The spans of a trace, or the one that the value is; None for what is none."""
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        for trace in value["data"]:
            yield from jaeger_spans(trace)
        return
    spans = value.get("spans") if isinstance(value, dict) else None
    processes = value.get("processes") if isinstance(value, dict) else None
    if not isinstance(spans, list):
        yield _span(value, {}), value
        return
    for span in spans:
        yield _span(span, processes if isinstance(processes, dict) else {}), span


def _found(value: Any, name: str, around: Mapping[str, Any]) -> FoundRecord | None:
    """Spans of a damaged document, with the processes that follow them."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("spans"), list):
        return FoundRecord(name, value)
    if "spanID" in value and ("startTime" in value or "operationName" in value):
        alone = name == ELEMENTS and "process" in value
        made = {"spans": [value], "processes": around.get("processes")}
        return FoundRecord(name, value if alone else made, whole=alone)
    return None


def _span(span: Any, processes: Mapping[str, Any]) -> TracedSpan | None:
    if not isinstance(span, dict):
        return None
    trace_id, span_id = text_or_none(span.get("traceID")), text_or_none(span.get("spanID"))
    if trace_id is None or span_id is None:
        return None
    process = span.get("process") or processes.get(str(span.get("processID")))
    process = process if isinstance(process, dict) else {}
    own = _tags(span.get("tags"))
    tags = {**_tags(process.get("tags")), **own}
    start = instant(span.get("startTime"))
    references = span.get("references")
    if isinstance(references, list) and len(references) > 1:
        tags.setdefault("references", flat_value(references))
    return TracedSpan(
        trace_id,
        span_id,
        _parent(references) or text_or_none(span.get("parentSpanID")),
        text_or_none(span.get("operationName")),
        text_or_none(process.get("serviceName")),
        start,
        end_of(start, span.get("duration")),
        _text(tags.pop("span.kind", None)),
        "error" if str(own.get("error", "")).lower() == "true" else None,
        tags=tags,
        moments=moments_of(span, "logs", _KNOWN, _moment),
        others=others_of(span, _KNOWN),
    )


def _parent(references: Any) -> str | None:
    known = [each for each in references if isinstance(each, dict)] if isinstance(references, list) else []
    # A span follows from another where none is its parent.
    ordered = sorted(known, key=lambda each: each.get("refType") != "CHILD_OF")
    return text_or_none(ordered[0].get("spanID")) if ordered else None


def _moment(log: Any) -> Moment:
    if not isinstance(log, dict):
        return Moment(None, None, {})
    tags = _tags(log.get("fields"))
    return Moment(_text(tags.pop("event", None)), instant(log.get("timestamp")), tags)


def _tags(tags: Any) -> dict[str, Value]:
    """Tags as attributes; integers may be written as text."""
    found: dict[str, Value] = {}
    for tag in tags if isinstance(tags, list) else []:
        if isinstance(tag, dict) and isinstance(tag.get("key"), str):
            value = tag.get("value")
            number = whole_number(value) if tag.get("type") in ("int64", "long") else None
            found[tag["key"]] = flat_value(value) if number is None else number
    return found


def _text(value: Value) -> str | None:
    return None if value is None else str(value)


FORMAT = LogFormat(
    name="jaeger",
    description="traces of Jaeger in JSON, as its page and its API give them, or spans one per line",
    events=EVENTS,
    uncertainty=UNCERTAINTY,
    example=(
        '{"data":[{"traceID":"2be3","spans":[{"traceID":"2be3","spanID":"7606","operationName":"get",'
        '"startTime":1781417704996000,"duration":267037,"processID":"p1"}],'
        '"processes":{"p1":{"serviceName":"api"}}}]}\n'
    ),
    page="logs-traces.md",
    reader=SpanReader(
        ("data", ELEMENTS),
        jaeger_spans,
        (b"traceID", b"spanID"),
        Records('"startTime"', _found, behind="processes"),
    ),
    options=OPTIONS,
)
