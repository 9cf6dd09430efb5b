"""JSON of any shape whose objects have a time: lines, an array, or an array in a document.

What the file is made of is told by json_shape.py; with it this is a plain event file.  Every field is an
attribute, a field within a field by both names with a dot.  The type is that of a field that names one, else
the template of the message, whose variables are attributes too (`message.user`), else a field that is left.
Behind damage reading goes on at the next record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.contract.unicode_text import NOT_UNICODE, NotUnicodeError
from cepctl.io.source.first_lines import HEAD_BYTES
from cepctl.io.source.json_documents import Element, JsonDocument, as_documents, flat_elements, read_documents
from cepctl.io.source.json_objects import json_object, json_objects
from cepctl.io.source.json_recovery import FoundRecord, Records
from cepctl.io.source.line_blocks import Lines
from cepctl.io.source.plain_lines import PlainLines
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.tabular.flat_records import record_of_fields
from cepctl.io.tabular.json_events import (
    EVENT_TYPE,
    RECORD,
    TOO_DEEP,
    JsonEvents,
    messages_in,
    messages_of,
    said,
)
from cepctl.io.tabular.json_lines import BlockRecords, RecordLines, lines_in, records_of
from cepctl.io.tabular.json_shape import JsonShape, records_at, shape_in, shape_of, shape_text
from cepctl.io.tabular.kubernetes import IN_BETWEEN, occurrences, seen_between
from cepctl.schema import ARRIVAL

NOT_AN_OBJECT = "the record is not a JSON object"
HELD = "cepctl.json"
"""The name under which `ReadReport.time_forms` has the shape, for other parts of the file."""
_BLANKS = b" \t\r\0"
_BATCH_RECORDS = 20_000
_BATCH_BYTES = 16 << 20
_BATCH_CELLS = 4_000_000


@dataclass(frozen=True)
class _Found:
    """What stands where a record should: an object, or something else that is rejected for its cause."""

    record: dict[str, Any] | None
    line: int | None
    raw: bytes
    cause: str = NOT_AN_OBJECT


class AnyJsonReader:
    """JSON of any shape."""

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins so has records with times; it is asked when no other of JSON is."""
        return shape_of(head) is not None

    def may_be_mapped(self, head: bytes) -> bool:
        """Whether it is JSON over several lines: all that a mapping can ask for beside JSON lines."""
        shape = shape_of(head, (("time", "?"),))
        return shape is not None and not shape.by_lines

    def lines(self, head: bytes, options: ReadOptions) -> PlainLines | None:
        """How a file of one record per line falls into them; None for any other."""
        shape = shape_of(head, options.columns)
        if shape is None or not _by_lines(shape):
            return None
        return PlainLines(forms=((HELD, shape_text(shape)),))

    def messages(self, stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
        """Messages that events get their type from."""
        text = utf8_stream(stream)
        shape = shape_of(text.peek(HEAD_BYTES), options.columns)
        if shape is None or shape.message is None:
            return
        if _by_lines(shape):
            for lines in lines_in(Chunks(text), _BATCH_RECORDS):
                columnar = messages_in(lines, shape)
                yield messages_of(_records_of(lines, source).records, shape) if columnar is None else columnar
            return
        found: list[str] = []
        for each in _records(Chunks(text), shape, source, ReadReport()):
            fields = None if each.record is None else record_of_fields(each.record)
            message = None if fields is None else said(fields, shape)[1]
            if message is not None:
                found.append(message)
            if len(found) >= _BATCH_RECORDS:
                yield pa.array(found, pa.string())
                found = []
        yield pa.array(found, pa.string())

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one file.

        Raises
        ------
        LogFormatError
            If its first records have no time, or one whose day could be the month.
        """
        text = utf8_stream(stream)
        known = report.time_forms.get(HELD)
        shape = shape_of(text.peek(HEAD_BYTES), options.columns) if known is None else shape_in(known)
        if shape is None:
            raise LogFormatError(
                f"{source}: its first records have no time under a name that is known for one; say which "
                "field holds it: --map time=FIELD"
            )
        _tell(shape, report)
        events = JsonEvents(source, _options(options, shape, source), report, shape)
        chunks = Chunks(text)
        if _by_lines(shape):
            for lines in lines_in(chunks, _BATCH_RECORDS):
                alike = events.of_alike(lines)
                yield from events.of_lines(_records_of(lines, source)) if alike is None else alike
        else:
            blocks = _Blocks(events)
            for each in _records(chunks, shape, source, report):
                blocks.add(each)
                if blocks.full:
                    yield from blocks.take()
            yield from blocks.take()
        chunks.tell_damage(source, report)


def _by_lines(shape: JsonShape) -> bool:
    """Whether each record is a line, and gives one event."""
    return shape.by_lines and not shape.path and not shape.kubernetes


def _tell(shape: JsonShape, report: ReadReport) -> None:
    report.time_forms[HELD] = shape_text(shape)
    place = "objects" if not shape.path else f"elements of {'.'.join(shape.path)}"
    types = ", ".join(shape.types) or (f"template of {shape.message}" if shape.message else RECORD)
    time = "firstTimestamp, lastTimestamp" if shape.kubernetes else shape.time
    report.time_forms["json"] = (
        f"{place}; time: {time} ({shape.timed:,} of the first {shape.records:,} have it); type: {types}"
    )
    if shape.arrival is not None:
        text = f"'{shape.time}', which the event has of its own; '{shape.arrival}' around it is the {ARRIVAL}"
        report.time_forms["the time"] = text
        report.warnings.append(f"the time is {text}")


def _options(options: ReadOptions, shape: JsonShape, source: str) -> ReadOptions:
    """The options with what was found: where the time is, and its form."""
    if shape.columns_meant:
        fields = (field for field, _ in options.columns)
        options = replace(options, columns=tuple(zip(fields, shape.columns_meant, strict=True)))
    mapped = {field for field, _ in options.columns}
    if not shape.kubernetes and not mapped & {"time", "lower", "upper", "pmf"} and shape.time != "time":
        options = replace(options, columns=(*options.columns, ("time", shape.time)))
    if shape.arrival is not None and ARRIVAL not in mapped:
        options = replace(options, columns=(*options.columns, (ARRIVAL, shape.arrival)))
    if options.time_format is None and shape.time_form:
        if len(shape.time_form) > 1:
            asked = " or ".join(f"--time-format '{form}'" for form in shape.time_form)
            raise LogFormatError(
                f"{source}: the times under '{shape.time}' may be of several forms; say which: {asked}"
            )
        options = replace(options, time_format=shape.time_form[0])
    return options


def _records_of(lines: Lines, source: str) -> RecordLines:
    return records_of(lines, source, json_objects, json_object, NOT_AN_OBJECT, _BLANKS)


def _records(chunks: Chunks, shape: JsonShape, source: str, report: ReadReport) -> Iterator[_Found]:
    if shape.by_lines and not shape.path:
        return _of_lines(chunks)
    return _of_documents(chunks, shape, source, report)


def _of_lines(chunks: Chunks) -> Iterator[_Found]:
    for number, line in numbered_lines(chunks):
        raw = line.strip(_BLANKS)
        if not raw:
            continue
        if len(raw) > LONGEST_LINE:
            yield _Found(None, number, raw, TOO_LONG)
            continue
        try:
            yield _Found(json_object(raw), number, raw)
        except NotUnicodeError:
            yield _Found(None, number, raw, NOT_UNICODE)


def _of_documents(chunks: Chunks, shape: JsonShape, source: str, report: ReadReport) -> Iterator[_Found]:
    streamed = shape.path if len(shape.path) == 1 else ()
    records = None
    if streamed:
        # The reason of an event of Kubernetes is needed, and its time may be one of several.
        key = "reason" if shape.kubernetes else shape.time
        records = Records(f'"{key.rpartition(".")[2]}"', _Recovery(streamed[0], key).found)
    for part in read_documents(as_documents(chunks), streamed, source, report, records):
        if isinstance(part, Element):
            yield from (_found(each.value, each.line) for each in flat_elements(part, source, report))
        elif isinstance(part, JsonDocument) and part.hidden:
            report.records += part.hidden
            report.rejects.append(Reject(source, part.line, NOT_AN_OBJECT, records=part.hidden))
        elif not streamed and part.members:
            for value in records_at(part.members, shape.path):
                yield _found(value, part.line)


@dataclass(frozen=True)
class _Recovery:
    """Tells records in damaged text, as io/source/json_recovery.py wants it."""

    name: str
    time: str

    def found(self, value: Any, _: str, __: Mapping[str, Any]) -> FoundRecord | None:
        """The value, where it is an object with the time."""
        if isinstance(value, dict) and self.time in (record_of_fields(value) or ()):
            return FoundRecord(self.name, value)
        return None


def _found(value: Any, line: int | None) -> _Found:
    if isinstance(value, dict):
        return _Found(value, line, b"")
    try:
        return _Found(None, line, json.dumps(value, ensure_ascii=False).encode())
    except RecursionError:
        return _Found(None, line, b"", TOO_DEEP)


@dataclass(frozen=True)
class _Waiting:
    """An event that waits: its number, the record, and what it says."""

    number: int
    line: int | None
    raw: bytes
    record: dict[str, Any]
    message: str | None


@dataclass
class _Blocks:
    """Records that wait for their batch, of a file that is not of lines or whose lines are several events."""

    events: JsonEvents
    _waiting: list[_Waiting] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)
    _bad: list[Reject] = field(default_factory=list)
    _numbered: int = 0
    _bytes: int = 0

    @property
    def full(self) -> bool:
        waiting = max(len(self._waiting), len(self._bad))
        cells = waiting * len(self._names)
        return waiting >= _BATCH_RECORDS or self._bytes >= _BATCH_BYTES or cells >= _BATCH_CELLS

    def add(self, found: _Found) -> None:
        """Take what stands where a record should."""
        events = self.events
        self._numbered += 1
        self._bytes += len(found.raw)
        flat = None if found.record is None else record_of_fields(found.record)
        if flat is None:
            cause = found.cause if found.record is None else TOO_DEEP
            events.report.records += 1
            self._bad.append(Reject(events.source, found.line, cause, found.raw))
            return
        event_type, message = said(flat, events.shape)
        self._bytes += sum(len(value) for value in flat.values() if isinstance(value, str))
        for place, each in enumerate(self._of(flat)):
            self._numbered += place > 0
            if not events.type_is_mapped:
                # One derived from a message gets its own later.
                each[EVENT_TYPE] = event_type or RECORD
            self._names.update(each)
            self._waiting.append(_Waiting(self._numbered, found.line, found.raw, each, message))

    def _of(self, flat: dict[str, Any]) -> Iterator[dict[str, Any]]:
        own = {own: value for name, value in flat.items() if (own := self.events.own_name(name)) is not None}
        if not self.events.shape.kubernetes:
            yield own
            return
        between = seen_between(flat)
        if between:
            self.events.report.notes[IN_BETWEEN] += between
        yield from occurrences(own, intervals=self.events.options.intervals)

    def take(self) -> Iterator[pa.RecordBatch]:
        """The events that wait; afterwards none waits."""
        waiting, bad = self._waiting, self._bad
        self._waiting, self._bad, self._bytes, self._names = [], [], 0, set()
        numbers = np.array([each.number for each in waiting], np.int64)
        stand = np.array([each.number if each.line is None else each.line for each in waiting], np.int64)

        def raw(place: int) -> bytes:
            """The record as it is in the file, or as it was understood where its text is no longer known."""
            found = waiting[place]
            text = json.dumps(found.record, ensure_ascii=False).encode("utf-8", "surrogatepass")
            return found.raw or text

        records = BlockRecords.of([each.record for each in waiting], numbers, raw)
        messages = pa.array([each.message for each in waiting], pa.string())
        yield from self.events.of_records(replace(records, lines=stand), messages, bad)
