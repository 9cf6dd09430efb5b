"""Logs and metrics of OpenTelemetry as OTLP writes them in JSON: resourceLogs, resourceMetrics.

    record                     event                            time
    LogRecord                  its eventName, else the          timeUnixNano, else observedTimeUnixNano
                               template of its body
    a data point of a metric   the name of the metric           from the point before it of the same series,
                                                                or startTimeUnixNano, to timeUnixNano

The number of a data point says what was so at its time, or what came about since the point before; when in
between, nobody knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.log_format import WRITTEN, LogFormat
from cepctl.io.contract.message_template import OTHERS
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.source.json_documents import Element, JsonDocument, read_documents
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.source.streams import Chunks
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.templates.matching import NONE
from cepctl.io.templates.variables import TemplateTable
from cepctl.io.traces.otlp import attributes_of, member
from cepctl.io.traces.spans import begins_with_keys, instant, text_or_none, whole_number

LOG_RECORD = "LogRecord"
NOT_A_RECORD = "not a record: an object with a time"
HIDDEN = "records in a member of their document that holds none"
_SIGN = '"timeUnixNano"'
_MOST_SERIES = 1_000_000
_HOSTS = ("host.name", "k8s.node.name", "host")
_KINDS = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")
_METRIC_KINDS = frozenset(_KINDS)
_OWN = frozenset(("trace_id", "span_id", "service", "node", "node_raw", "scope", "severity", "message"))
_OF_POINT = frozenset(("attributes", "timeUnixNano", "startTimeUnixNano", "asDouble", "asInt", "exemplars"))
_NANOS = 1_000


@dataclass(frozen=True)
class Telemetry:
    """One record: what it was read from, its type or the message that it is derived from, and its time.

    Times are nanoseconds since 1970, None where there is none; `since` is the earliest that it may have been.
    """

    raw: Any
    event_type: str | None
    message: str | None = None
    time: int | None = None
    since: int | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)
    series: tuple[str, ...] = ()


RecordsOf = Callable[[Any], Iterator[Telemetry]]


def log_records(value: Any) -> Iterator[Telemetry]:
    """The records of a ResourceLogs."""
    for scope, common in _scopes(value, "scopeLogs", "instrumentationLibraryLogs"):
        found = member(scope, "logRecords")
        if not isinstance(found, list):
            yield Telemetry(scope, None)
            continue
        for record in found:
            yield _log_record(record, common)


def _log_record(record: Any, common: Mapping[str, Value]) -> Telemetry:
    if not isinstance(record, dict):
        return Telemetry(record, None)
    tags = attributes_of(record.get("attributes"))
    body = attributes_of([{"key": "body", "value": record.get("body")}]).get("body")
    named = text_or_none(record.get("eventName")) or text_or_none(tags.get("event.name"))
    severity = text_or_none(record.get("severityText"))
    own: dict[str, Value] = {
        "trace_id": text_or_none(record.get("traceId")),
        "span_id": text_or_none(record.get("spanId")),
        "severity": severity or whole_number(record.get("severityNumber")),
        "message": body,
    }
    message = body if isinstance(body, str) and body.strip() else None
    time = instant(record.get("timeUnixNano"), 1) or instant(record.get("observedTimeUnixNano"), 1)
    event_type = named or (None if message else LOG_RECORD)
    return Telemetry(record, event_type, message, time, None, {**common, **own, **_beside(tags)})


def data_points(value: Any) -> Iterator[Telemetry]:
    """The data points of a ResourceMetrics."""
    for scope, common in _scopes(value, "scopeMetrics", "instrumentationLibraryMetrics"):
        found = member(scope, "metrics")
        if not isinstance(found, list):
            yield Telemetry(scope, None)
            continue
        for metric in found:
            name = text_or_none(member(metric, "name"))
            kind = next((kind for kind in _KINDS if isinstance(member(metric, kind), dict)), None)
            points = None if kind is None else member(metric, kind, "dataPoints")
            if name is None or not isinstance(points, list):
                yield Telemetry(metric, None)
                continue
            unit = text_or_none(member(metric, "unit"))
            for point in points:
                yield _data_point(point, name, {**common, "unit": unit, "kind": kind})


def _data_point(point: Any, name: str, common: Mapping[str, Value]) -> Telemetry:
    if not isinstance(point, dict):
        return Telemetry(point, None)
    tags = attributes_of(point.get("attributes"))
    number = point.get("asDouble")
    if number is None:
        number = whole_number(point.get("asInt"))
    others = {key: _number(value) for key, value in point.items() if key not in _OF_POINT}
    attributes = {**common, **({} if number is None else {"value": number}), **others, **_beside(tags)}
    series = (name, *(f"{key}={value}" for key, value in sorted({**common, **tags}.items())))
    time, since = instant(point.get("timeUnixNano"), 1), instant(point.get("startTimeUnixNano"), 1)
    return Telemetry(point, name, None, time, since, attributes, series)


def _number(value: Any) -> Value:
    whole = whole_number(value)
    return flat_value(value) if whole is None else whole


def _scopes(value: Any, *names: str) -> Iterator[tuple[Any, dict[str, Value]]]:
    """The scopes of a resource, each with the attributes that all of its records have."""
    tags = attributes_of(member(value, "resource", "attributes"))
    service = tags.pop("service.name", None)
    host = next((str(tags[name]) for name in _HOSTS if tags.get(name)), None)
    scopes = next((found for name in names if isinstance(found := member(value, name), list)), [value])
    for scope in scopes:
        library = text_or_none(member(scope, "scope", "name"))
        yield scope, {"service": service, "node": host, "node_raw": host, "scope": library, **_beside(tags)}


def _beside(tags: Mapping[str, Value]) -> dict[str, Value]:
    return {f"tag.{name}" if name in _OWN else name: value for name, value in tags.items()}


@dataclass(frozen=True)
class _ResourceRecovery:
    """Tells records in damaged text: `kept` is the member of a resource, `inner` that of a scope."""

    array: str
    kept: str
    inner: str
    telling: str

    def found(self, value: Any, _: str, around: Mapping[str, Any]) -> FoundRecord | None:
        """What the value is, or holds, as an element of the array."""
        if not isinstance(value, dict):
            return None
        if self.kept in value:
            return FoundRecord(self.array, value)
        if isinstance(value.get(self.inner), list):
            made = [value]
        elif self.telling in value or not _METRIC_KINDS.isdisjoint(value):
            made = [{self.inner: [value]}]
        else:
            return None
        whole = {"resource": around.get("resource"), self.kept: made}
        return FoundRecord(self.array, whole, whole=False)


@dataclass(frozen=True)
class TelemetryReader:
    """Reader of the records in an array of OTLP."""

    array: str
    records_of: RecordsOf
    recovery: Records

    def recognises(self, head: bytes) -> bool:
        return begins_with_keys(head, (self.array.encode(),))

    def messages(self, stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
        """The bodies of records that events get their type from."""
        for value, _ in self._values(Chunks(utf8_stream(stream)), source, ReadReport()):
            found = [each.message for each in self.records_of(value) if each.event_type is None]
            yield pa.array([_first_line(text) for text in found if text], pa.string())

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one file."""
        chunks = Chunks(utf8_stream(stream))
        rows = _WaitingEvents(source, options, report)
        for value, line in self._values(chunks, source, report):
            for each in self.records_of(value):
                rows.add(each, line)
                if rows.rows.full:
                    yield rows.take()
        if len(rows.rows):
            yield rows.take()
        chunks.tell_damage(source, report)

    def _values(self, chunks: Chunks, source: str, report: ReadReport) -> Iterator[tuple[Any, int | None]]:
        for part in read_documents(chunks, (self.array,), source, report, self.recovery):
            if isinstance(part, Element):
                yield part.value, part.line
            elif isinstance(part, JsonDocument) and part.hidden:
                report.records += part.hidden
                report.rejects.append(Reject(source, part.line, HIDDEN, "", part.hidden))


@dataclass
class _WaitingEvents:
    """The events of one file that wait for their batch; `last` is the latest time of each series."""

    source: str
    options: ReadOptions
    report: ReadReport
    rows: EventBatches = field(init=False)
    templates: TemplateTable = field(init=False)
    last: dict[tuple[str, ...], int] = field(default_factory=dict)
    _messages: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows = EventBatches(self.options)
        self.templates = TemplateTable(self.options.templates)

    def add(self, each: Telemetry, line: int | None) -> None:
        """Take a record; one without type and message is a reject, of all records that stand in it."""
        known = each.event_type is not None or each.message is not None
        if not known or each.time is None:
            shown = json.dumps(each.raw, ensure_ascii=False)
            count = 1 if known else max(shown.count(_SIGN), 1)
            self.report.records += count
            self.report.rejects.append(
                Reject(self.source, line, NO_TIME if known else NOT_A_RECORD, shown, count)
            )
            return
        self.report.records += 1
        host = each.attributes.get("node")
        attributes = (
            {**each.attributes, "node": node_name(str(host), self.options.drop_domain)}
            if host
            else each.attributes
        )
        micros, nanos = divmod(each.time, _NANOS)
        self.rows.add(
            each.event_type or LOG_RECORD,
            micros,
            attributes,
            before=self._before(each, each.time),
            nanos=nanos,
        )
        self._messages.append(None if each.event_type is not None else _first_line(each.message or ""))

    def _before(self, each: Telemetry, time: int) -> int:
        """How many microseconds before its time the number of a data point may have come about."""
        if not each.series or self.options.exact_times:
            return 0
        since = self.last.get(each.series, each.since)
        if each.series in self.last or len(self.last) < _MOST_SERIES:
            self.last[each.series] = max(time, self.last.get(each.series, time))
        # The instant of the point before is that point's.
        return max((time - since) // _NANOS - 1, 0) if since is not None else 0

    def take(self) -> pa.RecordBatch:
        """All waiting events as one batch; afterwards none waits."""
        batch, messages = self.rows.take(), pa.array(self._messages, pa.string())
        self._messages = []
        if not messages.null_count < len(messages):
            return batch
        types, _, template = self.templates.typed(pc.fill_null(messages, ""))
        unknown = int(((template == NONE) & ~messages.is_null().to_numpy(zero_copy_only=False)).sum())
        if unknown:
            self.report.notes[OTHERS] += unknown
        place = batch.schema.get_field_index("event_type")
        chosen = pc.if_else(messages.is_valid(), types, batch.column(place))
        return batch.set_column(place, "event_type", chosen)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


_RESOURCE = frozenset(("resource",))
_LOGS = TelemetryReader(
    "resourceLogs",
    log_records,
    Records(
        _SIGN, _ResourceRecovery("resourceLogs", "scopeLogs", "logRecords", "timeUnixNano").found, _RESOURCE
    ),
)
_METRICS = TelemetryReader(
    "resourceMetrics",
    data_points,
    Records(_SIGN, _ResourceRecovery("resourceMetrics", "scopeMetrics", "metrics", "gauge").found, _RESOURCE),
)
FORMATS = (
    LogFormat(
        name="otlp-logs",
        description="logs of OpenTelemetry as OTLP writes them in JSON (resourceLogs)",
        events="eventName, else the template of the body; service, node, severity, message, all attributes",
        uncertainty="none: nanoseconds as written, by the clock of the service's host",
        example=(
            '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}}]},'
            '"scopeLogs":[{"logRecords":[{"timeUnixNano":"1781417704996000000","severityText":"WARN",'
            '"body":{"stringValue":"card 7 refused"}}]}]}]}\n'
        ),
        page="logs-traces.md",
        reader=_LOGS,
        options={"drop_domain": "OpenTelemetry"},
        messages=_LOGS.messages,
    ),
    LogFormat(
        name="otlp-metrics",
        description="metrics of OpenTelemetry as OTLP writes them in JSON (resourceMetrics)",
        events="one type per metric; value (count, sum, ... of histograms), unit, service, all attributes",
        uncertainty="from the data point before of the same series, or its startTimeUnixNano, to its time",
        example=(
            '{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}}]},'
            '"scopeMetrics":[{"metrics":[{"name":"queue.length","unit":"1","gauge":{"dataPoints":['
            '{"timeUnixNano":"1781417704996000000","asInt":"17"}]}}]}]}]}\n'
        ),
        page="logs-traces.md",
        reader=_METRICS,
        options={"drop_domain": "OpenTelemetry", "exact_times": WRITTEN},
    ),
)
