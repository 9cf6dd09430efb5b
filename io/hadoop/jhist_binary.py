"""Records of a job history in binary Avro: one after the other after the schema, without a container.

The first line is `Avro-Binary`, the second the schema as JSON.  Nothing separates the records, so
what follows damage cannot be read: reading ends there, and it is told how many bytes, and about how many
records, that is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Any

import fastavro

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.hadoop.avro_schema import LONGEST_SCHEMA, SchemaError, parsed_schema
from cepctl.io.hadoop.jhist_json import MAGIC_BINARY
from cepctl.io.hadoop.records import Record

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
    number = 0
    while (position := stream.tell()) < end:
        number += 1
        try:
            content = fastavro.schemaless_reader(stream, schema[0], None)
        except _DAMAGE as problem:
            lost = _about(end - position, position - schema[1], number - 1)
            report.records += lost
            place = (
                f"record {number}, at byte {position:,} of {end:,}: {type(problem).__name__}; "
                f"{end - position:,} bytes are lost"
            )
            report.rejects.append(Reject(source, None, "damaged or cut, read as far as it goes", place, lost))
            return
        yield _record(content)


def _about(lost_bytes: int, read_bytes: int, read_records: int) -> int:
    """How many records so many bytes hold, about; where none was read, as short ones as there may be."""
    mean = read_bytes / read_records if read_records else _SHORT_RECORD
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
