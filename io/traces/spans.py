"""Spans as events, whatever wrote them.

    of a span                          event
    its start and its end              SpanStart, SpanFinish; with `intervals` one Span from start to end
    what happened at an instant of it  SpanEvent, with the ids of the span

Attributes of all are trace_id, span_id, parent_id, name, service and node; Span and SpanFinish also have what
came of it.  A tag that is called like one of these is called `tag.NAME`.

Files of spans are documents of JSON whose large arrays come element by element, or one large array.  An array
at the outside is read as the member ELEMENTS of one document (io/source/json_documents.py).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.source.json_documents import Element, JsonDocument, as_documents, read_documents
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.json_recovery import Records
from cepctl.io.source.streams import Chunks
from cepctl.io.source.text_encoding import utf8_stream

EVENTS = "SpanStart, SpanFinish, SpanEvent; with --intervals Span for the first two"
UNCERTAINTY = "none: microseconds or nanoseconds as written, by the clock of the service's host"
OPTIONS = {"drop_domain": "traces", "intervals": "traces"}

NOT_A_SPAN = "not a span: an object with the ids of its trace and its own"
NO_END = "no end: the span has not ended, or at no time; its start is kept"
HIDDEN = "spans in a member of their document that holds none"
NO_MOMENT = "no time: an event of a span, which is kept"
_BACKWARDS = "spans that end before they start, kept as the points of both: {:,}"
_OTHERS = "spans with members that spans of their kind do not have, kept as attributes: {:,}"
_NANOS = 1_000  # of a microsecond
# One sign of the shortest name, `logs`, may be another.
_NEARLY = 0.74
_HOSTS = ("host.name", "hostname", "k8s.node.name", "host")
_OWN = frozenset(
    ("trace_id", "span_id", "parent_id", "name", "service", "node", "node_raw", "kind", "status")
)


@dataclass(frozen=True)
class Moment:
    """Something that happened at an instant of a span; nanoseconds since 1970, None where it is no time."""

    name: str | None
    time: int | None
    tags: Mapping[str, Value]


@dataclass(frozen=True)
class TracedSpan:
    """A span; times in nanoseconds since 1970, `end` None while it has not ended.

    `others` are members that spans of its tool do not have.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str | None
    service: str | None
    start: int | None
    end: int | None
    kind: str | None = None
    status: str | None = None
    host: str | None = None
    tags: Mapping[str, Value] = field(default_factory=dict)
    moments: tuple[Moment, ...] = ()
    others: Mapping[str, Value] = field(default_factory=dict)


@dataclass
class SpanRows:
    """The events of the spans of one file; `sign` is what stands once in each of them."""

    source: str
    options: ReadOptions
    report: ReadReport
    sign: str
    rows: EventBatches = field(init=False)

    def __post_init__(self) -> None:
        self.rows = EventBatches(self.options)

    def add(self, span: TracedSpan | None, raw: Any, line: int | None = None) -> None:
        """Take one span; None is a reject, of all spans that stand in what was read."""
        if span is None or span.start is None:
            cause = NOT_A_SPAN if span is None else NO_TIME
            shown = _shown(raw)
            count = max(shown.count(self.sign), 1) if span is None else 1
            self.report.records += count
            self.report.rejects.append(Reject(self.source, line, cause, shown, count))
            return
        self.report.records += 1
        own: dict[str, Value] = {
            "trace_id": span.trace_id,
            "span_id": span.span_id,
            "parent_id": span.parent_id,
            "name": span.name,
            "service": span.service,
        }
        host = span.host or next((str(span.tags[name]) for name in _HOSTS if span.tags.get(name)), None)
        own |= {"node": node_name(host, self.options.drop_domain), "node_raw": host}
        if span.others:
            self.report.notes[_OTHERS] += 1
        tags = {**_tags(span.others), **_tags(span.tags)}
        self._add_span(span, span.start, own | tags | {"kind": span.kind})
        if span.end is None:
            self.report.rejects.append(Reject(self.source, line, NO_END, _shown(raw)))
        for moment in span.moments:
            if moment.time is None:
                self.report.rejects.append(Reject(self.source, line, NO_MOMENT, _shown(raw)))
            else:
                said = {"event": moment.name} if moment.name is not None else {}
                self._add("SpanEvent", moment.time, {**own, **_tags(moment.tags), **said})

    def reject_hidden(self, count: int, line: int | None) -> None:
        """So many spans stand where no span does."""
        self.report.records += count
        self.report.rejects.append(Reject(self.source, line, HIDDEN, "", count))

    def _add_span(self, span: TracedSpan, start: int, attributes: dict[str, Value]) -> None:
        whole = {**attributes, "status": span.status}
        if span.end is None:
            self._add("SpanStart", start, attributes)
        elif self.options.intervals and span.end >= start:
            self._add("Span", start, whole, span.end)
        else:
            if self.options.intervals:
                self.report.notes[_BACKWARDS] += 1
            self._add("SpanStart", start, attributes)
            self._add("SpanFinish", span.end, whole)

    def _add(
        self, event_type: str, time: int, attributes: Mapping[str, Value], end: int | None = None
    ) -> None:
        micros, nanos = divmod(time, _NANOS)
        ended = None if end is None else End(end // _NANOS, nanos=end % _NANOS)
        self.rows.add(event_type, micros, attributes, end=ended, nanos=nanos)


def moments_of(
    span: Mapping[str, Any], name: str, known: frozenset[str], moment_of: Callable[[Any], Moment]
) -> tuple[Moment, ...]:
    """The moments in a member of a span; at no time where that is no list, or its name is damaged.

    `known` are the members that spans have.
    """
    named = span.get(name)
    lists = [] if named is None else [named]
    if named is None:
        others = [other for other in span.keys() - known if isinstance(span[other], list)]
        lists = [span[other] for other in get_close_matches(name, others, 1, _NEARLY)]
        moment_of = _damaged
    return tuple(
        moment_of(each) for found in lists for each in (found if isinstance(found, list) else [found])
    )


def _damaged(_: Any) -> Moment:
    return Moment(None, None, {})


def _tags(tags: Mapping[str, Value]) -> dict[str, Value]:
    return {f"tag.{name}" if name in _OWN else name: value for name, value in tags.items()}


def others_of(span: Mapping[str, Any], known: frozenset[str]) -> dict[str, Value]:
    """The members of a span that are not known, as attributes."""
    return {name: flat_value(value) for name, value in span.items() if name not in known}


def text_or_none(value: Any) -> str | None:
    """A text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def whole_number(value: Any) -> int | None:
    """A number, also one that is written as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def instant(value: Any, nanoseconds: int = _NANOS) -> int | None:
    """A time since 1970 in units of so many nanoseconds, as nanoseconds; None where it is no time."""
    number = whole_number(value)
    if number is None or not 0 < number * nanoseconds < LAST_SECOND * 1_000_000_000:
        return None
    return number * nanoseconds


def end_of(start: int | None, duration: Any) -> int | None:
    """The end of a span that lasts so many microseconds; None where it is no time.

    Examples
    --------
    >>> end_of(1_000_000, "5"), end_of(1_000_000, None), end_of(1_000_000, 1e37)
    (1005000, None, None)
    """
    length = whole_number(duration)
    return None if start is None or length is None else instant(start + length * _NANOS, 1)


def plain_tags(tags: Any) -> dict[str, Value]:
    """An object of tags as attributes."""
    return {name: flat_value(value) for name, value in tags.items()} if isinstance(tags, dict) else {}


def _shown(raw: Any) -> str:
    try:
        return json.dumps(raw, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


SpansOf = Callable[[Any], Iterable[tuple[TracedSpan | None, Any]]]
"""The spans that a value holds, each with what it was read from; None for what is none."""

_KEY = re.compile(rb'"((?:[^"\\\n]|\\.){1,40})"\s*:')
_LARGEST_BATCH = 20_000


@dataclass(frozen=True)
class SpanReader:
    """Reader of the spans of one tool: those in its arrays called `streamed`, and documents that are spans.

    `telling` are keys that the beginning of every such file has; `records` tells spans in damaged text.
    """

    streamed: tuple[str, ...]
    spans_of: SpansOf
    telling: tuple[bytes, ...]
    records: Records

    def recognises(self, head: bytes) -> bool:
        return begins_with_keys(head, self.telling)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of the spans of one file."""
        chunks = Chunks(utf8_stream(stream))
        rows = SpanRows(source, options, report, self.records.sign)
        for part in read_documents(as_documents(chunks), self.streamed, source, report, self.records):
            value, line = _value(part, self.streamed)
            if value is None:
                if isinstance(part, JsonDocument) and part.hidden:
                    rows.reject_hidden(part.hidden, line)
                continue
            try:
                for span, raw in self.spans_of(value):
                    rows.add(span, raw, line)
                    if len(rows.rows) >= _LARGEST_BATCH or rows.rows.full:
                        yield rows.rows.take()
            except RecursionError:
                report.records += 1
                report.rejects.append(Reject(source, line, "nested too deeply", ""))
        if len(rows.rows):
            yield rows.rows.take()
        chunks.tell_damage(source, report)


def begins_with_keys(head: bytes, telling: Sequence[bytes]) -> bool:
    """Whether a file of JSON that begins so has all of these keys there."""
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return text[:1] in (b"{", b"[") and {found[1] for found in _KEY.finditer(text)} >= set(telling)


def _value(part: Element | JsonDocument, streamed: Sequence[str]) -> tuple[Any, int | None]:
    """What may hold spans: an element of an array, or a whole document without any such array.

    What stands beside an array (totals, errors) should hold none.
    """
    if isinstance(part, Element):
        return part.value, part.line
    alone = part.whole and len(part.missing) == len(streamed) and part.members
    return (part.members if alone else None), part.line
