"""Activities with a start and an end: events of one trace joined into interval events.

    in the trace                                          what becomes of it
    start_timestamp beside time:timestamp                 one interval event
    lifecycle:transition start, then complete, of one     one interval event with the attributes of the
      activity and one concept:instance                     end; what the start says otherwise is kept
                                                            under `start:`
    the same without concept:instance                     the earliest open start is the one completed
    a start without complete, or a complete without       points, as without this option; counted
      start, or an end before its start
    any other transition                                  a point

Transitions are compared without regard to case, and in the order of their times: the order of a file
need not be that of time.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import END_SPAN, SPAN
from cepctl.io.contract.times import LogTime

TRANSITION = "lifecycle:transition"
INSTANCE = "concept:instance"
START_PREFIX = "start:"

# Open starts of one trace that are waited for; a trace with more has starts that nothing completes.
MOST_OPEN = 20_000

# Notes for the report, each completed with a number.
NO_COMPLETE = "starts of activities that nothing completes, kept as points: {:,}"
NO_START = "completions of activities that nothing started, kept as points: {:,}"
BACKWARDS = "activities that end before they start, kept as points: {:,}"
NO_START_TIME = "activities whose start_timestamp is not a time, kept as points: {:,}"


class XesEvent(NamedTuple):
    """An event of a trace: with an `end` it lasts, and `time` is its start; `number` is its record's."""

    number: int
    activity: str
    time: LogTime
    attributes: dict[str, Value]
    end: LogTime | None = None


@dataclass
class Activities:
    """The activities of one trace, whose events may come in several pieces."""

    notes: Counter[str]
    _open: list[XesEvent] = field(default_factory=list)

    def joined(self, events: Sequence[XesEvent], *, last: bool) -> list[XesEvent]:
        """The next piece of the trace with its pairs joined, in the order of the file.

        Starts that are still open wait for the next piece, unless this is the last one.
        """
        events = [*self._open, *events]
        kept: list[XesEvent | None] = list(events)
        waiting: defaultdict[tuple[str, Value], deque[int]] = defaultdict(deque)
        for place in sorted(range(len(events)), key=lambda place: _order(events[place])):
            event = events[place]
            transition = _transition(event)
            key = (event.activity, event.attributes.get(INSTANCE))
            if event.end is None and transition == "start":
                waiting[key].append(place)
            elif event.end is None and transition == "complete":
                if waiting[key]:
                    start = waiting[key].popleft()
                    kept[start], kept[place] = None, _interval(events[start], event)
                else:
                    self.notes[NO_START] += 1
        self._open = []
        open_places = sorted(place for places in waiting.values() for place in places)
        if last or len(open_places) > MOST_OPEN:
            self.notes[NO_COMPLETE] += len(open_places)
        else:
            self._open = [events[place] for place in open_places]
            for place in open_places:
                kept[place] = None
        return [event for event in kept if event is not None]

    def lasting(
        self, start: LogTime | None, time: LogTime, *, uncertain: bool = False
    ) -> tuple[LogTime, LogTime | None]:
        """Start and end of the event at `time` with a `start_timestamp`; None where that is not a time.

        Of an event whose times are marked as `uncertain` the end may be written as an earlier one.
        """
        if start is None:
            self.notes[NO_START_TIME] += 1
            return time, None
        if (start.micros, start.nanos) > (time.micros, time.nanos) and not uncertain:
            self.notes[BACKWARDS] += 1
            return time, None
        return start, time


def _transition(event: XesEvent) -> str:
    return str(event.attributes.get(TRANSITION) or "").strip().lower()


def _order(event: XesEvent) -> tuple[int, int, bool]:
    """By time; a start before a completion at the same time, so that what takes no time is one activity."""
    return event.time.micros, event.time.nanos, _transition(event) != "start"


def _interval(start: XesEvent, end: XesEvent) -> XesEvent:
    begun, ended = dict(start.attributes), dict(end.attributes)
    spans = {SPAN: begun.pop(SPAN, None), END_SPAN: ended.pop(SPAN, None)}
    differing = {
        START_PREFIX + name: value
        for name, value in begun.items()
        if name != TRANSITION and ended.get(name) != value
    }
    known = {name: span for name, span in spans.items() if span is not None}
    return end._replace(time=start.time, attributes={**ended, **differing, **known}, end=end.time)
