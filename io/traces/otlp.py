"""Spans of OpenTelemetry in OTLP's JSON: documents of resourceSpans, one per line or printed over many.

    ResourceSpans > ScopeSpans > Span; attributes are lists of {key, value: {stringValue | intValue | ...}}

Attributes of the resource (service.name, host.name, ...) are those of each of its spans; its own
go first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.traces.spans import (
    EVENTS,
    OPTIONS,
    UNCERTAINTY,
    Moment,
    SpanReader,
    TracedSpan,
    instant,
    moments_of,
    others_of,
    text_or_none,
    whole_number,
)

_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES = ("unset", "ok", "error")
_DEEPEST = 20
_KNOWN = (
    frozenset(
        (
            "traceId",
            "spanId",
            "parentSpanId",
            "traceState",
            "flags",
            "name",
            "kind",
            "attributes",
            "events",
            "links",
        )
    )
    | {"startTimeUnixNano", "endTimeUnixNano", "status", "droppedAttributesCount", "droppedEventsCount"}
    | {"droppedLinksCount"}
)


def otlp_spans(value: Any) -> Iterator[tuple[TracedSpan | None, Any]]:
    """The spans of a ResourceSpans, each with what it was read from; None for what is none."""
    if not isinstance(value, dict):
        yield None, value
        return
    resource = attributes_of(member(value, "resource", "attributes"))
    scopes = value.get("scopeSpans", value.get("instrumentationLibrarySpans"))
    for scope in scopes if isinstance(scopes, list) else [value]:
        spans = member(scope, "spans")
        if not isinstance(spans, list):
            yield None, scope
            continue
        for span in spans:
            yield _span(span, resource), span


def _found(value: Any, _: str, around: Mapping[str, Any]) -> FoundRecord | None:
    """Spans of a damaged document, with the resource that was read last."""
    if not isinstance(value, dict):
        return None
    if "scopeSpans" in value or "instrumentationLibrarySpans" in value:
        return FoundRecord("resourceSpans", value)
    made: list[Any]
    if isinstance(value.get("spans"), list):
        made = [value]
    elif "spanId" in value and ("startTimeUnixNano" in value or "name" in value):
        made = [{"spans": [value]}]
    else:
        return None
    return FoundRecord("resourceSpans", {"resource": around.get("resource"), "scopeSpans": made}, whole=False)


def _span(span: Any, resource: dict[str, Value]) -> TracedSpan | None:
    trace_id, span_id = (text_or_none(member(span, name)) for name in ("traceId", "spanId"))
    if trace_id is None or span_id is None:
        return None
    tags = {**resource, **attributes_of(span.get("attributes"))}
    service = tags.pop("service.name", None)
    for name in ("links", "traceState"):
        if span.get(name):
            tags.setdefault(name, flat_value(span[name]))
    message = text_or_none(member(span, "status", "message"))
    if message is not None:
        tags.setdefault("status_message", message)
    return TracedSpan(
        trace_id,
        span_id,
        text_or_none(span.get("parentSpanId")),
        text_or_none(span.get("name")),
        None if service is None else str(service),
        instant(span.get("startTimeUnixNano"), 1),
        instant(span.get("endTimeUnixNano"), 1),
        _named(span.get("kind"), _KINDS, "SPAN_KIND_"),
        _named(member(span, "status", "code"), _STATUSES, "STATUS_CODE_"),
        tags=tags,
        moments=moments_of(span, "events", _KNOWN, _moment),
        others=others_of(span, _KNOWN),
    )


def _moment(event: Any) -> Moment:
    tags = attributes_of(member(event, "attributes"))
    return Moment(text_or_none(member(event, "name")), instant(member(event, "timeUnixNano"), 1), tags)


def member(value: Any, *path: str) -> Any:
    """What stands at a path of members; None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _named(value: Any, names: tuple[str, ...], prefix: str) -> str | None:
    """What a number of an enumeration, or its name, means; 0 is nothing said."""
    number = whole_number(value)
    if number is not None:
        return names[number] if 0 < number < len(names) else None
    text = text_or_none(value)
    return None if text is None else text.removeprefix(prefix).lower()


def attributes_of(pairs: Any) -> dict[str, Value]:
    """The attributes in pairs of key and value."""
    found: dict[str, Value] = {}
    for pair in pairs if isinstance(pairs, list) else []:
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            found[pair["key"]] = flat_value(_any_value(pair.get("value"), 0))
    return found


def _any_value(value: Any, depth: int) -> Any:
    """A value of OTLP without the word for its type."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _DEEPEST:
        return value
    ((kind, inside),) = value.items()
    if kind == "intValue":
        number = whole_number(inside)
        return inside if number is None else number
    if kind == "arrayValue":
        return [_any_value(each, depth + 1) for each in member(inside, "values") or []]
    if kind == "kvlistValue":
        pairs = member(inside, "values") or []
        return {str(member(each, "key")): _any_value(member(each, "value"), depth + 1) for each in pairs}
    return inside if kind.endswith("Value") else value


FORMAT = LogFormat(
    name="otlp",
    description="traces of OpenTelemetry as OTLP writes them in JSON (resourceSpans)",
    events=EVENTS,
    uncertainty=UNCERTAINTY,
    example=(
        '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}}]},'
        '"scopeSpans":[{"spans":[{"traceId":"5b8e","spanId":"eee1","name":"charge card",'
        '"startTimeUnixNano":"1781417704996000000","endTimeUnixNano":"1781417705380000000"}]}]}]}\n'
    ),
    page="logs-traces.md",
    reader=SpanReader(
        ("resourceSpans",),
        otlp_spans,
        (b"resourceSpans",),
        Records('"startTimeUnixNano"', _found, frozenset(("resource",))),
    ),
    options=OPTIONS,
)
