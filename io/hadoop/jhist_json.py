"""Records of a job history in Avro's JSON encoding: one JSON object per line after a schema.

The first line is `Avro-Json`, the second the schema; blank lines and leading blanks occur.  A
union is written as `{type: value}`; the values here are unwrapped, in records, not below.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.contract.unicode_text import NOT_UNICODE, is_unicode
from cepctl.io.hadoop.records import Record
from cepctl.io.source.json_objects import may_hold_half_pairs
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines

MAGIC = b"Avro-Json"
MAGIC_BINARY = b"Avro-Binary"
BOM = b"\xef\xbb\xbf"

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
        If the first line is not `Avro-Json`.
    """
    lines = numbered_lines(chunks)
    magic = next((text for _, line in lines if (text := line.removeprefix(BOM).strip())), b"")
    if magic != MAGIC:
        raise LogFormatError(f"{source}:1: not a job history: the first line must be Avro-Json")
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
