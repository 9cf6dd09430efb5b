"""Job history of Hadoop 2 and 3 (`.jhist`), in its JSON and in its binary form.

Which records become which events, with which attributes, is the table of events.py.  Task records name no
host: that of an attempt that may come later.

    first line     second    then
    Avro-Json      schema    a JSON object per line; blank lines and leading blanks occur.  A union is written
                             as `{type: value}`; the values here are unwrapped, in records, not below
    Avro-Binary    schema    one record after the other, without a container

Nothing separates binary records, so what follows damage cannot be read: reading ends there, and it is told
how many bytes, and about how many records, that is.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import IO, Any

import fastavro
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.contract.unicode_text import NOT_UNICODE, is_unicode
from cepctl.io.hadoop.avro_schema import LONGEST_SCHEMA, SchemaError, parsed_schema
from cepctl.io.hadoop.events import EVENTS, OPTIONS, history_events
from cepctl.io.hadoop.records import Record
from cepctl.io.source.json_objects import may_hold_half_pairs
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines

MAGIC = b"Avro-Json"
MAGIC_BINARY = b"Avro-Binary"
BOM = b"\xef\xbb\xbf"

_MOST_LINES_BEFORE = 20
_DECODE = json.JSONDecoder().raw_decode
_RECORD = re.compile(rb'\{\s*"type"\s*:\s*"[A-Z_]+"\s*,\s*"event"')
_AVRO_TYPES = frozenset(
    {"null", "boolean", "int", "long", "float", "double", "bytes", "string", "array", "map"}
)


def read_records(chunks: Chunks, source: str, report: ReadReport) -> Iterator[Record]:
    """The records of the file in file order; what is not a record goes to the report.

    Raises
    ------
    LogFormatError
        If none of the first lines is `Avro-Json`.
    """
    lines = numbered_lines(chunks)
    _pass_magic(lines, source, report)
    for number, line in lines:
        content, rest = None, True
        try:  # what `json.loads` does to most lines, without its preparations
            decoded = line.decode()
            content, end = _DECODE(decoded)
            rest = end < len(decoded)
        except (ValueError, RecursionError):
            pass
        if rest or type(content) is not dict or len(line) > LONGEST_LINE:
            content = _json_object(line, number, source, report) if line.strip() else None
            if content is None:
                continue
        if may_hold_half_pairs(line) and not is_unicode(content):
            report.records += 1
            report.rejects.append(Reject(source, number, NOT_UNICODE, line))
            continue
        kind = content.get("type")
        if type(kind) is not str:
            report.records += 1
            report.rejects.append(Reject(source, number, "a record without its type", line))
            continue
        if kind != "record" or "fields" not in content:
            yield Record(number, str(kind), _fields(content))


def _pass_magic(lines: Iterator[tuple[int, bytes]], source: str, report: ReadReport) -> None:
    """Take the line that says what the file is, and what stands before it: that is no part of the history."""
    before: list[Reject] = []
    for number, line in islice(lines, _MOST_LINES_BEFORE + 1):
        text = line.removeprefix(BOM).strip()
        if text == MAGIC:
            report.records += len(before)
            report.rejects += before
            return
        if text:
            before.append(Reject(source, number, "the line stands before the history", line))
    raise LogFormatError(f"{source}:1: not a job history: the first line must be Avro-Json or Avro-Binary")


def _json_object(line: bytes, number: int, source: str, report: ReadReport) -> dict[str, Any] | None:
    if len(line) > LONGEST_LINE:
        report.records += 1
        report.rejects.append(Reject(source, number, TOO_LONG, line))
        return None
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode(errors="replace")
        if not report.warnings:
            report.warnings.append(f"bytes that are not UTF-8 were replaced, the first at line {number}")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict):
        return content
    count = max(len(_RECORD.findall(line)), 1)
    report.records += count
    report.rejects.append(Reject(source, number, "no complete JSON object", line, count))
    return None


def _fields(content: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = content.get("event")
    if type(fields) is not dict:
        return {}
    if len(fields) == 1:
        fields = _unwrapped(fields)
        if type(fields) is not dict:
            return {}
    # In place: nothing else holds what was just read.
    if dict in map(type, fields.values()):
        for name, value in fields.items():
            if type(value) is dict and len(value) == 1:
                fields[name] = _unwrapped(value)
    return fields


def _unwrapped(value: dict[str, Any]) -> Any:
    """The value of an Avro union, which JSON writes as `{type: value}`; another object as it is."""
    ((kind, inner),) = value.items()
    return inner if kind in _AVRO_TYPES or kind.startswith("org.apache.hadoop.") else value


_SHORT_RECORD = 32
_DAMAGE = (
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    MemoryError,
    RecursionError,
    struct.error,
)


def read_binary_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Record]:
    """The records of the file in file order; the first that is cut or damaged ends it, as one reject.

    Raises
    ------
    LogFormatError
        If the first line is not `Avro-Binary`, or the second no Avro schema of job history events.
    """
    schema = _schema(stream, source)
    end = stream.seek(0, 2)
    stream.seek(schema[1])
    number, last = 0, schema[1]
    while (position := stream.tell()) < end:
        number += 1
        try:
            content = fastavro.schemaless_reader(stream, schema[0], None)
        except _DAMAGE as problem:
            # The record before may be the one that is damaged, and was read too far.
            lost = _about(end - position, last - schema[1], number - 2)
            report.records += lost
            place = (
                f"record {number}, at byte {position:,} of {end:,}: {type(problem).__name__}; "
                f"{end - position:,} bytes are lost"
            )
            report.rejects.append(Reject(source, None, "damaged or cut, read as far as it goes", place, lost))
            return
        last = position
        yield _record(content)


def _about(lost_bytes: int, read_bytes: int, read_records: int) -> int:
    """How many records so many bytes hold, about; where none was read, as short ones as there may be."""
    mean = read_bytes / read_records if read_records > 0 else _SHORT_RECORD
    return max(round(lost_bytes / mean), 1)


def _schema(stream: IO[bytes], source: str) -> tuple[Any, int]:
    """The parsed schema, and where the records begin."""
    magic, line = stream.readline(LONGEST_SCHEMA + 1), stream.readline(LONGEST_SCHEMA + 1)
    if magic.strip() != MAGIC_BINARY:
        raise LogFormatError(f"{source}:1: not a binary job history: the first line must be Avro-Binary")
    try:
        return parsed_schema(line), stream.tell()
    except SchemaError as problem:
        raise LogFormatError(
            f"{source}:2: the Avro schema of the history is damaged ({problem}); copy the file again"
        ) from problem


def _record(content: Any) -> Record:
    event = content.get("event")
    return Record(None, str(content.get("type")), event if isinstance(event, dict) else {})


_FIRST_BYTES = 1 << 10


class HadoopJobHistory:
    """Reader of `.jhist` files, Avro-Json and Avro-Binary."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first line; lines of something else may stand before one of a history in JSON."""
        if head.removeprefix(BOM).lstrip().startswith((MAGIC, MAGIC_BINARY)):
            return True
        lines = head.split(b"\n", _MOST_LINES_BEFORE + 1)[: _MOST_LINES_BEFORE + 1]
        return MAGIC in (line.removeprefix(BOM).strip() for line in lines)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the events of one job history; see events.py for what becomes an event.

        Raises
        ------
        LogFormatError
            If no first line is `Avro-Json` or `Avro-Binary`, or a binary history has no
            usable schema.
        """

        def records(copy: IO[bytes], notes: ReadReport) -> Iterator[Record]:
            first = copy.read(_FIRST_BYTES).removeprefix(BOM).lstrip()
            copy.seek(0)
            if first.startswith(MAGIC_BINARY):
                return read_binary_records(copy, source, notes)
            return read_records(Chunks(copy), source, notes)

        yield from history_events(Chunks(stream), records, source, options, report)


FORMAT = LogFormat(
    name="jhist",
    description="Hadoop 2 and 3 job history (.jhist, Avro-Json or Avro-Binary)",
    events=EVENTS,
    uncertainty="1 ms",
    example=(
        "Avro-Json\n"
        '{"type":"record","name":"Event","fields":[]}\n'
        '{"type":"TASK_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskStarted":'
        '{"taskid":"task_1772009204117_0042_m_000000","taskType":"MAP","startTime":1781417704000,"splitLocations":"n7"}}}\n'
    ),
    page="logs-hadoop.md",
    reader=HadoopJobHistory(),
    options=OPTIONS,
)
