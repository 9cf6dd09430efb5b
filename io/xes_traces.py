"""Events of an XES log gathered trace by trace, since what a trace says holds for all of its events.

Whoever parses the log opens a trace, gives its events one by one and finishes it.  An event waits
until its trace is finished, for the attributes of the trace, or until too many wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from cepctl.io.batches import End, EventBatches, Value
from cepctl.io.reading import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.times import LogTime, named_zone, parse_time
from cepctl.io.xes_intervals import START_TIMESTAMP, Activities, XesEvent
from cepctl.schema import ATTRIBUTE_PREFIX

ACTIVITY = "concept:name"
TIMESTAMP = "time:timestamp"
CASE_ID = "case_id"
CASE_PREFIX = "case:"
NO_ACTIVITY = "event without concept:name"

# Attributes of a trace stand before its events by the standard; where they follow them, they
# still reach all events of a trace that is no larger than this.
_TRACE_EVENTS = 20_000

# Notes for the report, each completed with a number.
_NO_ZONE = "times without a zone, read as UTC: {:,}; name their zone with --tz"
_IN_GAP = "times in an hour that the clocks skipped, read with the offset before it: {:,}"
_TWICE = "times in an hour that happened twice, with intervals that cover both: {:,}"
_NO_CASE = "traces without concept:name, their case_id made from their place in the file: {:,}"
_LATE = "traces with attributes behind so many events that only the later ones got them: {:,}"


@dataclass
class OpenTrace:
    """The trace being read and its events that are not yet added.

    Attributes
    ----------
    attributes
        Gives the attributes known so far, named with CASE_PREFIX; None for events outside of traces.
    """

    attributes: Callable[[], dict[str, Value]] | None
    activities: Activities | None
    case_id: str | None = None
    events: list[XesEvent] = field(default_factory=list)
    known: dict[str, Value] | None = None


@dataclass
class Traces:
    """The log being read: where its events go and what has been noted about it.

    Raises UsageError if the zone of the user does not exist.
    """

    source: str
    options: ReadOptions
    report: ReadReport
    rows: EventBatches = field(init=False)
    trace: OpenTrace | None = None
    _zone: ZoneInfo | None = field(init=False)
    _traces: int = 0
    _notes: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rows = EventBatches(self.options)
        self._zone = named_zone(self.options.time_zone)

    def open(self, attributes: Callable[[], dict[str, Value]] | None) -> OpenTrace:
        """Begin a trace, or without attributes what stands outside of traces; finishes the one before."""
        self.finish_trace()
        self._traces += attributes is not None
        self.trace = OpenTrace(attributes, Activities(self._notes) if self.options.intervals else None)
        return self.trace

    def add(self, trace: OpenTrace, attributes: dict[str, Value]) -> str | None:
        """Take the next event, which is one of the open trace; returns why it is none, if it is none."""
        self.report.records += 1
        activity = attributes.get(ACTIVITY)
        if activity is None or activity == "":
            return NO_ACTIVITY
        time = self._time(attributes.get(TIMESTAMP))
        if time is None:
            return NO_TIME
        event = XesEvent(self.report.records, str(activity), time, attributes)
        if trace.activities is not None and START_TIMESTAMP in attributes:
            event = trace.activities.with_start(event, self._time(attributes[START_TIMESTAMP]))
        trace.events.append(event)
        if len(trace.events) >= _TRACE_EVENTS:
            self._add_events(trace)
        return None

    def reject(self, cause: str, line: int | None, text: str) -> None:
        """Note why a record of the log has become no event."""
        self.report.rejects.append(Reject(self.source, line, cause, text))

    def finish_trace(self) -> None:
        """Add the events of the open trace; its attributes are known now."""
        if self.trace is not None:
            self._add_events(self.trace, last=True)
        self.trace = None

    def finish(self) -> None:
        """Add the events that still wait at the end of the log, and report what was noted."""
        self.finish_trace()
        self.report.warnings += [note.format(count) for note, count in self._notes.items() if count]

    def _time(self, value: Value) -> LogTime | None:
        time = parse_time(None if value is None else str(value), self._zone)
        if time is not None and not time.zone_given:
            self._notes[_NO_ZONE] += self._zone is None
            self._notes[_IN_GAP] += time.in_gap
            self._notes[_TWICE] += time.spread > 0
        return time

    def _add_events(self, trace: OpenTrace, *, last: bool = False) -> None:
        case: dict[str, Value] = {}
        if trace.attributes is not None:
            case = trace.attributes()
            self._name_case(trace, case)
        if trace.known is not None and case.keys() - trace.known.keys():
            self._notes[_LATE] += 1
        trace.known = case
        case = {CASE_ID: trace.case_id, **case}
        events = trace.events
        if trace.activities is not None:
            events = trace.activities.joined(events, last=last)
        if events:
            self._add_rows(events, case)
        trace.events.clear()

    def _name_case(self, trace: OpenTrace, case: Mapping[str, Value]) -> None:
        if trace.case_id is not None:
            return
        name = case.get(CASE_PREFIX + ACTIVITY)
        if name is None:
            self._notes[_NO_CASE] += 1
        trace.case_id = f"trace {self._traces}" if name is None else str(name)

    def _add_rows(self, events: list[XesEvent], case: dict[str, Value]) -> None:
        numbers, activities, times, attributes, ends = zip(*events, strict=True)
        if not all(map(case.keys().isdisjoint, attributes)):
            attributes = tuple(_renamed(each, case) for each in attributes)
        lasting = [end and End(end.micros, end.zone_seconds, after=end.spread) for end in ends]
        self.rows.add_group(numbers, activities, times, lasting, attributes, case)


def _renamed(attributes: Mapping[str, Value], taken: Mapping[str, Value]) -> dict[str, Value]:
    return {ATTRIBUTE_PREFIX + name if name in taken else name: value for name, value in attributes.items()}
