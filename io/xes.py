"""Event logs in XES (IEEE 1849), read as a stream: memory does not grow with the file.

The event type is the activity (`concept:name`), `case_id` the `concept:name` of its trace.  All
attributes are kept, those that made type, time and case too; attributes of the trace get the
prefix `case:`, an attribute of an event that is named like one of these, or `case_id`, the prefix
`attr:`.  `<global>` holds defaults for editors, not events, and is left alone.

    in the log                             what becomes of it
    trace without concept:name             case_id `trace 17`, by its place in the file; a warning
    event without concept:name             rejected, with its line
    no time:timestamp, or an unusable one  rejected, with its line
    time without a zone                    read in the user's zone, else UTC; a warning
    damaged or truncated XML               read as far as it goes; one reject, with its line

Elements are matched by local name: files use one of two namespaces, or none.  On request activities
become interval events (xes_intervals.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from lxml import etree

from cepctl.errors import LogFormatError
from cepctl.io.batches import End, EventBatches, Value
from cepctl.io.reading import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.streams import Chunks
from cepctl.io.times import LogTime, named_zone, parse_time
from cepctl.io.xes_attributes import attribute_values
from cepctl.io.xes_intervals import START_TIMESTAMP, Activities, XesEvent
from cepctl.io.xml_source import Prolog, first_complaint, local_name, pull_parser, without_comments
from cepctl.schema import ATTRIBUTE_PREFIX

ACTIVITY = "concept:name"
TIMESTAMP = "time:timestamp"
CASE_ID = "case_id"
CASE_PREFIX = "case:"

# Events are read once their trace is complete, or so many of them are.
_WAITING_EVENTS = 500
# Attributes of a trace stand before its events by the standard; where they follow them, they
# still reach all events of a trace that is no larger than this.
_TRACE_EVENTS = 20_000
_BATCH_BYTES = 32 << 20
_FIRST_ELEMENT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_BEFORE_FIRST_ELEMENT = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff<")

# Notes for the report, each completed with a number.
_NO_ZONE = "times without a zone, read as UTC: {:,}; name their zone with --tz"
_IN_GAP = "times in an hour that the clocks skipped, read with the offset before it: {:,}"
_TWICE = "times in an hour that happened twice, with intervals that cover both: {:,}"
_NO_CASE = "traces without concept:name, their case_id made from their place in the file: {:,}"
_LATE = "traces with attributes behind so many events that only the later ones got them: {:,}"


@dataclass
class _Trace:
    """The open trace: its element (None for events outside of traces) and the events not yet added."""

    element: Any
    case_id: str | None
    activities: Activities | None
    events: list[XesEvent] = field(default_factory=list)
    known: dict[str, Value] | None = None


@dataclass
class _Log:
    """The file being read: where its events go and what has been noted about it."""

    source: str
    rows: EventBatches
    report: ReadReport
    zone: ZoneInfo | None
    intervals: bool = False
    waiting: list[Any] = field(default_factory=list)
    trace: _Trace | None = None
    traces: int = 0
    notes: Counter[str] = field(default_factory=Counter)

    def event_ended(self, element: Any) -> bool:
        """Let the event wait; returns whether those that wait were read."""
        self.waiting.append(element)
        if len(self.waiting) < _WAITING_EVENTS:
            return False
        self._read_waiting()
        return True

    def trace_ended(self, element: Any) -> None:
        self._read_waiting(element)
        self._trace_of(element)
        self._finish_trace()
        _drop(element)

    def _read_waiting(self, ended: Any = None) -> None:
        """Read the events that wait; those of a trace that has ended are dropped with it."""
        for element in self.waiting:
            parent = element.getparent()
            self._event_ended(element, parent)
            if ended is None or parent is not ended:
                _drop(element)
        self.waiting.clear()

    def _event_ended(self, element: Any, parent: Any) -> None:
        self.report.records += 1
        trace = self._trace_of(parent)
        attributes = attribute_values(element)
        activity = attributes.get(ACTIVITY)
        if activity is None or activity == "":
            self._reject(element, "event without concept:name")
            return
        time = self._time(attributes.get(TIMESTAMP))
        if time is None:
            self._reject(element, NO_TIME)
            return
        event = XesEvent(self.report.records, str(activity), time, attributes)
        if trace.activities is not None and START_TIMESTAMP in attributes:
            event = trace.activities.with_start(event, self._time(attributes[START_TIMESTAMP]))
        trace.events.append(event)
        if len(trace.events) >= _TRACE_EVENTS:
            self._add_events(trace)

    def _reject(self, element: Any, cause: str) -> None:
        text = etree.tostring(element, encoding="unicode", with_tail=False)
        self.report.rejects.append(Reject(self.source, element.sourceline, cause, text))

    def _time(self, value: Value) -> LogTime | None:
        time = parse_time(None if value is None else str(value), self.zone)
        if time is not None and not time.zone_given:
            self.notes[_NO_ZONE] += self.zone is None
            self.notes[_IN_GAP] += time.in_gap
            self.notes[_TWICE] += time.spread > 0
        return time

    def _trace_of(self, element: Any) -> _Trace:
        """The open trace of this element; one for all the events that the log holds directly."""
        inside = element is not None and local_name(element.tag) == "trace"
        owner = element if inside else None
        if self.trace is None or self.trace.element is not owner:
            self._finish_trace()
            self.traces += inside
            self.trace = _Trace(owner, None, Activities(self.notes) if self.intervals else None)
        return self.trace

    def finish(self) -> None:
        """Add the events that stand at the end of the file."""
        self._read_waiting()
        self._finish_trace()

    def _finish_trace(self) -> None:
        if self.trace is not None:
            self._add_events(self.trace, last=True)
        self.trace = None

    def _add_events(self, trace: _Trace, *, last: bool = False) -> None:
        case: dict[str, Value] = {}
        if trace.element is not None:
            case = attribute_values(trace.element, CASE_PREFIX)
            self._name_case(trace, case)
        if trace.known is not None and case.keys() - trace.known.keys():
            self.notes[_LATE] += 1
        trace.known = case
        case = {CASE_ID: trace.case_id, **case}
        events = trace.events
        if trace.activities is not None:
            events = trace.activities.joined(events, last=last)
        if events:
            self._add(events, case)
        trace.events.clear()

    def _name_case(self, trace: _Trace, case: dict[str, Value]) -> None:
        if trace.case_id is not None:
            return
        name = case.get(CASE_PREFIX + ACTIVITY)
        if name is None:
            self.notes[_NO_CASE] += 1
        trace.case_id = f"trace {self.traces}" if name is None else str(name)

    def _add(self, events: list[XesEvent], case: dict[str, Value]) -> None:
        numbers, activities, times, attributes, ends = zip(*events, strict=True)
        if not all(map(case.keys().isdisjoint, attributes)):
            attributes = tuple(_renamed(each, case) for each in attributes)
        lasting = [end and End(end.micros, end.zone_seconds, after=end.spread) for end in ends]
        self.rows.add_group(numbers, activities, times, lasting, attributes, case)


def _drop(element: Any) -> None:
    """Forget an element that has ended, as far as the parser allows.

    It may still stand inside the parent, but never inside an element before this one.
    """
    previous = element.getprevious()
    element.clear()
    if previous is not None and local_name(previous.tag) in ("event", "trace"):
        element.getparent().remove(previous)


def _renamed(attributes: Mapping[str, Value], taken: Mapping[str, Value]) -> dict[str, Value]:
    return {ATTRIBUTE_PREFIX + name if name in taken else name: value for name, value in attributes.items()}


class XesLog:
    """Reader of XES event logs."""

    name = "xes"
    description = "XES event log (IEEE 1849)"

    def recognises(self, head: bytes) -> bool:
        """Tell from the first element: a `log`, in any namespace and encoding."""
        text = without_comments(head).lstrip()
        first = _FIRST_ELEMENT.search(text)
        return text.startswith(_BEFORE_FIRST_ELEMENT) and first is not None and first[1] == b"log"

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one log, trace by trace.

        Raises
        ------
        LogFormatError
            If the file is no XML, has another root than `log`, or declares XML entities.
        UsageError
            If the zone of the user does not exist.
        """
        zone = named_zone(options.time_zone)
        log = _Log(source, EventBatches(options), report, zone, options.intervals)
        chunks = Chunks(stream)
        taken = 0
        for element in _ended_elements(chunks, source, report):
            if local_name(element.tag) == "trace":
                log.trace_ended(element)
            elif not log.event_ended(element):
                continue
            if log.rows.full or chunks.read_bytes - taken > _BATCH_BYTES:
                taken = chunks.read_bytes
                yield log.rows.take()
        log.finish()
        if len(log.rows):
            yield log.rows.take()
        report.warnings += [note.format(count) for note, count in log.notes.items() if count]


def _ended_elements(chunks: Chunks, source: str, report: ReadReport) -> Iterator[Any]:
    """Every event and trace element once it is complete; damage goes to the report."""
    parser = pull_parser(("{*}event", "{*}trace"), ("end",))
    prolog = Prolog("log", source)
    blank_lines = 0
    try:
        for chunk in chunks:
            data = chunk
            if not prolog.seen:
                data = chunk.lstrip(b" \t\r\n")
                blank_lines += chunk.count(b"\n", 0, len(chunk) - len(data))
            prolog.check(data)
            parser.feed(data)
            for _, element in parser.read_events():
                yield element
        # Closing ends what is still open: an element that ends only now was cut in half.
        root = parser.close() if prolog.seen else None
    except etree.XMLSyntaxError as error:
        raise LogFormatError(f"{source}:{error.lineno or 1}: not readable as XML: {error.msg}") from error
    if prolog.seen and (root is None or local_name(root.tag) != "log"):
        found = (
            "there is no root element" if root is None else f"the root element is <{local_name(root.tag)}>"
        )
        raise LogFormatError(f"{source}: no XES: {found}, a <log> was expected")
    _report_damage(parser, chunks, blank_lines, source, report)


def _report_damage(parser: Any, chunks: Chunks, blank_lines: int, source: str, report: ReadReport) -> None:
    complaint = first_complaint(parser)
    if complaint is None and chunks.damage is None:
        return
    line, message, count = complaint or (0, "", 0)
    more = f" (and {count - 1} more complaints)" if count > 1 else ""
    cause = "truncated input" if chunks.damage else "damaged XML, read as far as it goes"
    text = f"{chunks.damage or message}{more}"
    report.records += 1
    report.rejects.append(Reject(source, line + blank_lines if complaint else None, cause, text))
