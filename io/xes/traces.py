"""Events of an XES log gathered trace by trace, since what a trace says holds for all of its events.

Whoever parses the log opens a trace, gives its events one by one and finishes it.  Events wait, as columns,
for the attributes of their trace, until it is finished or too many wait; traces wait until they are worth
a call of EventBatches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, islice, starmap
from typing import Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import (
    BELOW_NANOSECONDS,
    END_SPAN,
    NO_TIME,
    NO_ZONE,
    SPAN,
    SPAN_TYPE,
    TWICE,
    ReadOptions,
    ReadReport,
    Reject,
    zones_said,
)
from cepctl.io.contract.times import LogTime, parse_time, usual_time, why_no_time
from cepctl.io.xes.intervals import Activities, XesEvent
from cepctl.io.xes.uncertain_times import (
    ACTIVITY,
    MARKS,
    START_SPAN,
    START_TIMESTAMP,
    TIMESTAMP,
    WITHOUT_MODEL,
    understood_marks,
)
from cepctl.schema import ATTRIBUTE_PREFIX

CASE_ID = "case_id"
CASE_PREFIX = "case:"
_CASE_NAME = CASE_PREFIX + ACTIVITY
NO_ACTIVITY = "event without concept:name"

# Attributes of a trace stand before its events by the standard; where they follow them, they
# still reach all events of a trace that is no larger than this.
_TRACE_EVENTS = 20_000
_GROUPED_EVENTS = 2_000

# Notes for the report, each completed with a number.
_NO_CASE = "traces without concept:name, their case_id made from their place in the file: {:,}"
_LATE = "traces whose attributes follow too many of their events: only the later ones got them: {:,}"


@dataclass(slots=True)
class OpenTrace:
    """The trace being read.

    Attributes
    ----------
    attributes
        Gives the attributes known so far, named with CASE_PREFIX; None for events outside of traces.
    """

    attributes: Callable[[], dict[str, Value]] | None
    activities: Activities | None
    case_id: str | None = None
    known: dict[str, Value] | None = None


class Traces:
    """The log being read: where its events go and what has been noted about it.

    Raises UsageError if the zone of the user does not exist.
    """

    def __init__(self, source: str, options: ReadOptions, report: ReadReport) -> None:
        self.source = source
        self.report = report
        self.rows = EventBatches(options, types={SPAN: SPAN_TYPE, END_SPAN: SPAN_TYPE})
        self.trace: OpenTrace | None = None
        self._intervals = options.intervals
        self._strict = options.strict
        self._zone, self._words = zones_said(options)
        self._traces = 0
        self._notes: Counter[str] = Counter()
        self._forget()

    def _forget(self) -> None:
        # The events that wait, of which the first `_grouped` know their trace.
        self._numbers: list[int] = []
        self._activities: list[str] = []
        self._times: list[LogTime] = []
        self._ends: list[LogTime | None] = []
        self._attributes: list[dict[str, Value]] = []
        self._groups: list[tuple[dict[str, Value], int]] = []
        self._grouped = 0

    def open(self, attributes: Callable[[], dict[str, Value]] | None) -> OpenTrace:
        """Begin a trace, or without attributes what stands outside of traces; finishes the one before."""
        self.finish_trace()
        self._traces += attributes is not None
        self.trace = OpenTrace(attributes, Activities(self._notes) if self._intervals else None)
        return self.trace

    def add(self, trace: OpenTrace, attributes: dict[str, Value]) -> str | None:
        """Take the next event, which is one of the open trace; returns why it is none, if it is none."""
        number = self.report.records = self.report.records + 1
        if not MARKS.isdisjoint(attributes):
            attributes = self._without_marks(attributes)
        activity = attributes.get(ACTIVITY)
        if activity is None or activity == "":
            return NO_ACTIVITY
        written = attributes.get(TIMESTAMP)
        time = usual_time(written) if type(written) is str else None
        if time is None:
            time = self._time(written)
            if time is None:
                text = None if written is None else str(written)
                return why_no_time(text, self._zone, self._words) or NO_TIME
        if time.cut:
            self._notes[BELOW_NANOSECONDS] += 1
        if trace.activities is not None:
            end = None
            if START_TIMESTAMP in attributes:
                start, uncertain = self._time(attributes[START_TIMESTAMP]), SPAN in attributes
                uncertain |= START_SPAN in attributes
                time, end = trace.activities.lasting(start, time, uncertain=uncertain)
                _turn_spans(attributes, lasts=end is not None)
            self._ends.append(end)
        self._numbers.append(number)
        self._activities.append(activity if type(activity) is str else str(activity))
        self._times.append(time)
        self._attributes.append(attributes)
        if len(self._numbers) - self._grouped >= _TRACE_EVENTS:
            self._group(trace)
        return None

    def reject(self, cause: str, line: int | None, text: str) -> None:
        """Note why a record of the log has become no event."""
        self.report.rejects.append(Reject(self.source, line, cause, text))

    def finish_trace(self) -> None:
        """What is known of the open trace now holds for its events."""
        if self.trace is not None:
            self._group(self.trace, last=True)
        self.trace = None

    def finish(self) -> None:
        """Add the events that still wait at the end of the log, and report what was noted."""
        self.finish_trace()
        self._add_groups()
        self.report.warnings += [note.format(count) for note, count in self._notes.items() if count]

    def _time(self, value: Value) -> LogTime | None:
        text = value if type(value) is str or value is None else str(value)
        time = parse_time(text, self._zone, self._words)
        if time is not None and not time.zone_given:
            self._notes[NO_ZONE] += self._zone is None
            self._notes[TWICE] += time.fold > 0
        return time

    def _without_marks(self, attributes: dict[str, Value]) -> dict[str, Value]:
        """The attributes of an event with spans in place of its marks of uncertain times."""
        marks = understood_marks(attributes, self._time, lasting=self._intervals)
        refused = WITHOUT_MODEL.intersection(marks.notes) if self._strict else ()
        for note in refused:
            what = note.partition(":")[0]
            raise LogFormatError(
                f"{self.source}: event {self.report.records:,} of the log is marked as uncertain in a way "
                f"that has no model here ({what}); without --strict its first alternative is taken"
            )
        self._notes.update(marks.notes)
        return marks.attributes

    def _group(self, trace: OpenTrace, *, last: bool = False) -> None:
        """Let the events that wait for their trace wait for the batch."""
        case: dict[str, Value] = {}
        if trace.attributes is not None:
            case = trace.attributes()
            self._name_case(trace, case)
        if trace.known is not None and case.keys() - trace.known.keys():
            self._notes[_LATE] += 1
        trace.known = case
        if trace.activities is not None:
            self._join(trace.activities, last=last)
        waiting = len(self._numbers) - self._grouped
        if waiting:
            self._groups.append(({CASE_ID: trace.case_id, **case}, waiting))
            self._grouped += waiting
        if self._grouped >= _GROUPED_EVENTS:
            self._add_groups()

    def _name_case(self, trace: OpenTrace, case: Mapping[str, Value]) -> None:
        if trace.case_id is not None:
            return
        name = case.get(_CASE_NAME)
        if name is None:
            self._notes[_NO_CASE] += 1
        trace.case_id = f"trace {self._traces}" if name is None else str(name)

    def _join(self, activities: Activities, *, last: bool) -> None:
        columns: list[list[Any]]
        columns = [self._numbers, self._activities, self._times, self._attributes, self._ends]
        waiting = zip(*(islice(column, self._grouped, None) for column in columns), strict=True)
        joined = activities.joined(list(starmap(XesEvent, waiting)), last=last)
        for place, column in enumerate(columns):
            column[self._grouped :] = [event[place] for event in joined]

    def _add_groups(self) -> None:
        """Add the events that know their trace, which are all that wait."""
        if self._groups:
            names = set(chain.from_iterable(case for case, _ in self._groups))
            if not all(map(names.isdisjoint, self._attributes)):
                self._rename()
            ends = [
                end and End(end.micros, end.zone_seconds, grain=end.grain, nanos=end.nanos, fold=end.fold)
                for end in self._ends
            ]
            columns = (self._numbers, self._activities, self._times, self._attributes)
            self.rows.add_groups(*columns, self._groups, ends)
        self._forget()

    def _rename(self) -> None:
        """Prefix attributes of events that are named like one of their trace."""
        begin = 0
        for case, size in self._groups:
            for place in range(begin, begin + size):
                own = self._attributes[place]
                if not case.keys().isdisjoint(own):
                    self._attributes[place] = {
                        ATTRIBUTE_PREFIX + name if name in case else name: value
                        for name, value in own.items()
                    }
            begin += size


def _turn_spans(attributes: dict[str, Value], *, lasts: bool) -> None:
    """Let the span of the time of an event that lasts be that of its end."""
    start, time = attributes.pop(START_SPAN, None), attributes.get(SPAN)
    if lasts:
        spans = {SPAN: start, END_SPAN: time}
        attributes.pop(SPAN, None)
        attributes.update({name: span for name, span in spans.items() if span is not None})
