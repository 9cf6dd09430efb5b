"""Traces in the JSON form of Chrome, which Perfetto and many profilers write, too.

    phase    event
    X        from `ts` on for `dur`
    B, E     from B to the E that closes it, of one thread; an E may have no name
    b, e     from b to e, of one category, id and name
    i, I     at `ts`; n between b and e, too
    C        at `ts`, with the values of the counter

The type is the name, and what `args` say are attributes.  Times are microseconds since a moment of the
program's own; `epoch` says when that was.  Names of processes and threads stand in metadata before the events
that they are for.  What is of other phases (flows, samples, objects) is skipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import pyarrow as pa

from cepctl.io.contract.batches import End, EventBatches
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.io.source.json_documents import (
    ELEMENTS,
    Element,
    JsonDocument,
    as_documents,
    flat_elements,
    read_documents,
)
from cepctl.io.source.json_objects import flat_value
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.source.streams import Chunks
from cepctl.io.source.text_encoding import decoded, utf8_stream

TRACE_EVENTS = "traceEvents"
NOT_AN_EVENT = "the element is no event of a trace: an object with ph"
UNOPENED = "an end without its beginning"
_NO_EPOCH = "times count from a moment of the program's own, taken for 1970-01-01; --epoch says when it was"
_UNENDED = "beginnings without an end, which are events of a moment: {:,}"
OTHER_PHASE = "metadata, flows, samples and objects of a trace"
NO_PHASE = "the event is of no phase that there is (ph)"
_PHASES = frozenset(("X", "B", "E", "b", "e", "n", "i", "I", "C"))
_OTHERS = frozenset(("s", "t", "f", "N", "O", "D", "P", "S", "T", "p", "F", "R", "c", "v", "V", "(", ")"))
_MICROS, _MOST = 1_000, 2**62


class ChromeTrace:
    """Reader of such traces."""

    def recognises(self, head: bytes) -> bool:
        text = decoded(head).lstrip()
        in_document = text.startswith("{") and f'"{TRACE_EVENTS}"' in text[:4_096]
        return (in_document or text.startswith("[")) and '"ph"' in text and '"pid"' in text

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one trace."""
        trace = _Trace(source, options, report)
        chunks = Chunks(utf8_stream(stream))
        places = (TRACE_EVENTS, ELEMENTS)
        for part in read_documents(as_documents(chunks), places, source, report, Records('"ph"', _found)):
            if isinstance(part, Element):
                for each in flat_elements(part, source, report):
                    trace.take(each.value, each.line)
            elif isinstance(part, JsonDocument) and part.hidden:
                report.records += part.hidden
                report.rejects.append(Reject(source, part.line, NOT_AN_EVENT, records=part.hidden))
            if trace.rows.full:
                yield trace.rows.take()
        trace.end()
        if options.epoch is None and trace.numbered:
            report.warnings.append(_NO_EPOCH)
        if len(trace.rows):
            yield trace.rows.take()
        chunks.tell_damage(source, report)


def _found(value: Any, name: str, around: Any) -> FoundRecord | None:
    """An event in damaged text."""
    return FoundRecord(TRACE_EVENTS, value) if isinstance(value, dict) and "ph" in value else None


@dataclass
class _Open:
    """A beginning that waits for its end."""

    name: str
    nanos: int
    attributes: dict[str, Value]


@dataclass
class _Trace:
    source: str
    options: ReadOptions
    report: ReadReport
    numbered: int = 0
    _threads: dict[tuple[str, str], list[_Open]] = field(default_factory=lambda: defaultdict(list))
    _spans: dict[tuple[str, ...], list[_Open]] = field(default_factory=lambda: defaultdict(list))
    _names: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = EventBatches(self.options)

    def take(self, event: Any, line: int | None) -> None:
        """Take one element."""
        self.report.records += 1
        phase = event.get("ph") if isinstance(event, dict) else None
        if not isinstance(phase, str):
            self._reject(line, NOT_AN_EVENT, event)
        elif phase == "M":
            self._name(event)
        elif phase in _OTHERS:
            self.report.skipped[OTHER_PHASE] += 1
        elif phase not in _PHASES:
            self._reject(line, NO_PHASE, event)
        elif (nanos := _nanos(event.get("ts"))) is None:
            self._reject(line, NO_TIME, event)
        else:
            self._timed(phase, event, nanos, line)

    def _timed(self, phase: str, event: dict[str, Any], nanos: int, line: int | None) -> None:
        name, attributes = str(event.get("name") or "Event"), self._attributes(event)
        thread = (str(event.get("pid")), str(event.get("tid")))
        if phase == "X":
            length = _nanos(event.get("dur"))
            self._put(name, nanos, None if length is None else nanos + length, attributes)
        elif phase in "Bb":
            waiting = self._threads[thread] if phase == "B" else self._spans[_span_of(event)]
            waiting.append(_Open(name, nanos, attributes))
        elif phase in "Ee":
            waiting = self._threads[thread] if phase == "E" else self._spans[_span_of(event)]
            if not waiting:
                self._reject(line, UNOPENED, event)
                return
            begun = waiting.pop()
            self._put(begun.name, begun.nanos, nanos, {**attributes, **begun.attributes})
        else:
            self._put(name, nanos, None, attributes)

    def end(self) -> None:
        """Make events of what was begun and not ended."""
        for waiting in (*self._threads.values(), *self._spans.values()):
            for each in waiting:
                self.report.notes[_UNENDED] += 1
                self._put(each.name, each.nanos, None, each.attributes)

    def _put(self, name: str, begin: int, end: int | None, attributes: dict[str, Value]) -> None:
        self.numbered += 1
        epoch = self.options.epoch or 0
        micros, nanos = divmod(begin, _MICROS)
        ended = None
        if end is not None:
            attributes = {**attributes, "duration_us": (end - begin) / _MICROS}
            if self.options.intervals:
                ended = End(epoch + end // _MICROS, nanos=end % _MICROS)
        self.rows.add(name, epoch + micros, attributes, end=ended, number=self.numbered, nanos=nanos)

    def _attributes(self, event: dict[str, Any]) -> dict[str, Value]:
        pid, tid = str(event.get("pid")), str(event.get("tid"))
        args = event.get("args")
        named = {
            "process": self._names.get((pid,), pid),
            "thread": self._names.get((pid, tid), tid),
            "category": event.get("cat"),
        }
        own = {str(key): flat_value(value) for key, value in args.items()} if isinstance(args, dict) else {}
        return {key: value for key, value in named.items() if value is not None} | own

    def _name(self, event: dict[str, Any]) -> None:
        """Remember what a process or a thread is called."""
        args = event.get("args")
        called = args.get("name") if isinstance(args, dict) else None
        self.report.skipped[OTHER_PHASE] += 1
        if isinstance(called, str) and event.get("name") in ("process_name", "thread_name"):
            pid, tid = str(event.get("pid")), str(event.get("tid"))
            self._names[(pid,) if event["name"] == "process_name" else (pid, tid)] = called

    def _reject(self, line: int | None, cause: str, event: Any) -> None:
        self.report.rejects.append(Reject(self.source, line, cause, str(event)))


def _span_of(event: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(event.get(name)) for name in ("cat", "id", "name"))


def _nanos(micros: Any) -> int | None:
    """Nanoseconds of a number of microseconds; None of what is none."""
    if isinstance(micros, bool) or not isinstance(micros, int | float) or not 0 <= micros < _MOST / _MICROS:
        return None
    return round(micros * _MICROS)


FORMAT = LogFormat(
    name="chrome-trace",
    description="traces in the JSON form of Chrome, also of Perfetto and other profilers",
    events="what name says; process, thread, category, args, duration_us; with --intervals they last",
    uncertainty="none: microseconds of the program's own clock; --epoch says when they began",
    example=(
        '{"traceEvents": [{"name": "parse", "ph": "X", "ts": 829, "dur": 12, "pid": 1, "tid": 2, '
        '"args": {"file": "a"}}]}\n'
    ),
    page="logs-traces.md",
    kinds=("Chrome and Perfetto",),
    reader=ChromeTrace(),
    options={"intervals": "traces", "epoch": "traces of programs"},
)
