"""Records of a job history in Avro's JSON encoding: one JSON object per line after a schema.

The first line is `Avro-Json`, the second the schema; blank lines and leading blanks occur.  A
union is written as `{type: value}`; the values here are unwrapped, in records, not below.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.hadoop.records import Record
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines

MAGIC = b"Avro-Json"
MAGIC_BINARY = b"Avro-Binary"
BOM = b"\xef\xbb\xbf"

_DECODE = json.JSONDecoder().raw_decode
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
        if rest or not isinstance(content, dict) or len(line) > LONGEST_LINE:
            content = _json_object(line, number, source, report) if line.strip() else None
        if content is not None and not _is_schema(content):
            yield _record(content, number)


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
    report.records += 1
    report.rejects.append(Reject(source, number, "no complete JSON object", line))
    return None


def _is_schema(content: Mapping[str, Any]) -> bool:
    return content.get("type") == "record" and "fields" in content


def _record(content: Mapping[str, Any], line: int) -> Record:
    fields = _unwrapped(content.get("event"))
    if not isinstance(fields, dict):
        fields = {}
    if dict in map(type, fields.values()):
        fields = {
            name: _unwrapped(value) if isinstance(value, dict) else value for name, value in fields.items()
        }
    return Record(line, str(content.get("type")), fields)


def _unwrapped(value: Any) -> Any:
    """The value of an Avro union, which JSON writes as `{type: value}`."""
    if isinstance(value, dict) and len(value) == 1:
        kind, inner = next(iter(value.items()))
        if kind in _AVRO_TYPES or kind.startswith("org.apache.hadoop."):
            return inner
    return value
