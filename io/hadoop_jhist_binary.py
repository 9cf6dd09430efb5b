"""Records of a job history in binary Avro: one after the other behind the schema, without a container.

The first line is `Avro-Binary`, the second the schema as JSON.  Nothing separates the records, so
what stands behind damage cannot be read: reading ends there.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from typing import IO, Any

import fastavro
from fastavro.schema import SchemaParseException, UnknownType

from cepctl.errors import LogFormatError
from cepctl.io.hadoop_jhist_json import MAGIC_BINARY
from cepctl.io.hadoop_records import Record
from cepctl.io.reading import ReadReport, Reject

_LONGEST_SCHEMA = 1 << 24
_NO_SCHEMA = (
    SchemaParseException,
    UnknownType,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
)
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
    number = 0
    while (position := stream.tell()) < end:
        number += 1
        try:
            content = fastavro.schemaless_reader(stream, schema[0], None)
        except _DAMAGE as problem:
            report.records += 1
            place = f"record {number}, at byte {position:,} of {end:,}: {type(problem).__name__}"
            report.rejects.append(Reject(source, None, "damaged or cut, read as far as it goes", place))
            return
        yield _record(content)


def _schema(stream: IO[bytes], source: str) -> tuple[Any, int]:
    """The parsed schema, and where the records begin."""
    magic, line = stream.readline(_LONGEST_SCHEMA), stream.readline(_LONGEST_SCHEMA)
    if magic.strip() != MAGIC_BINARY:
        raise LogFormatError(f"{source}:1: no binary job history: the first line must be Avro-Binary")
    begin = stream.tell()
    try:
        schema = json.loads(line)
        if not _is_event(schema):
            raise ValueError("it is no record with the fields type and event")
        if _repeats_nothing(schema, {}):
            raise ValueError("a list of values that take no bytes may be endless")
        return fastavro.parse_schema(schema), begin
    except _NO_SCHEMA as problem:
        raise LogFormatError(
            f"{source}:2: the Avro schema of the history is damaged ({problem}); copy the file again"
        ) from problem


def _is_event(schema: Any) -> bool:
    fields = schema.get("fields", ()) if isinstance(schema, dict) else ()
    names = {field.get("name") for field in fields if isinstance(field, dict)}
    return {"type", "event"} <= names


def _repeats_nothing(schema: Any, named: dict[str, Any]) -> bool:
    """Whether the schema has an array whose items take no bytes: a few bytes could claim 2**63 of them."""
    if isinstance(schema, list):
        return any(_repeats_nothing(branch, named) for branch in schema)
    if not isinstance(schema, dict):
        return False
    if "name" in schema:
        named[schema["name"]] = schema
    if schema.get("type") == "array" and _is_empty(schema.get("items"), named):
        return True
    inside = (schema.get("type"), schema.get("items"), schema.get("values"), *schema.get("fields", ()))
    return any(_repeats_nothing(part, named) for part in inside if isinstance(part, dict | list))


def _is_empty(schema: Any, named: Mapping[str, Any]) -> bool:
    if isinstance(schema, str):
        return schema == "null" or (schema in named and _is_empty(named[schema], {}))
    if not isinstance(schema, dict):
        return False
    kind = schema.get("type")
    if kind == "record":
        return all(_is_empty(field.get("type"), named) for field in schema.get("fields", ()))
    return schema.get("size") == 0 if kind == "fixed" else _is_empty(kind, named)


def _record(content: Any) -> Record:
    event = content.get("event")
    return Record(None, str(content.get("type")), event if isinstance(event, dict) else {})
