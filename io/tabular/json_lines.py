"""JSON lines: one object per line, with the keys that the columns of the event table are called by.

Nested values stay as JSON text.  A line that is not an object, or longer than LONGEST_LINE, is a reject.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import IO, Any

import numpy as np
import pyarrow as pa

from cepctl.io.contract.attribute_limit import REST, AttributeNames
from cepctl.io.contract.batches import BATCH_CELLS
from cepctl.io.contract.natural_columns import mixture, natural_array
from cepctl.io.contract.reader import ColumnMap, ReadOptions, ReadReport, Reject, among_rejects
from cepctl.io.contract.unicode_text import NOT_UNICODE, NotUnicodeError
from cepctl.io.source.event_lines import lines_fit
from cepctl.io.source.json_objects import json_object
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks, numbered_lines
from cepctl.io.source.text_encoding import decoded, utf8_stream
from cepctl.io.tabular.columns import Rows, raw_batch
from cepctl.io.tabular.composed import columns_meant, name_meant
from cepctl.io.tabular.flat_records import record_of_fields
from cepctl.io.tabular.mapping import RESERVED, raw_name, require_mapped
from cepctl.schema import ATTRIBUTE_PREFIX

_NOT_AN_OBJECT = "the line is not a JSON object"
_TIMED = ('"time"', '"lower"', '"pmf"')
_BLOCK_ROWS = 65_536
_BLOCK_BYTES = 16 << 20


@dataclass(frozen=True)
class RecordLine:
    """A record, its number, and the line on which it stands, where that is not its number."""

    number: int
    text: bytes
    record: dict[str, Any]
    line: int | None = None


class JsonLinesReader:
    """One JSON object per line."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _is_an_event)

    def has_object(self, head: bytes) -> bool:
        """Whether the file begins with a line that is one object: all that a mapping can ask for."""
        try:
            return json_object(decoded(head).lstrip().split("\n", 1)[0]) is not None
        except NotUnicodeError:
            return True

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        table = RecordTable(options.columns, source)
        chunks = Chunks(utf8_stream(stream))
        record_of = (
            partial(_with_deep_fields, columns_meant(options.columns)) if options.columns else json_object
        )
        for lines, bad in record_blocks(chunks, table, source, record_of, _NOT_AN_OBJECT):
            report.records += len(bad)
            if not lines:
                report.rejects.extend(bad)
                continue
            with among_rejects(report, bad):
                events = raw_batch(table.rows(lines), source, options, report)
            yield events
        if chunks.damage:
            report.records += 1
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _with_deep_fields(wanted: Sequence[str], line: bytes) -> dict[str, Any] | None:
    """The object in a line, with what stands in it under these names at any depth."""
    record = json_object(line)
    if record is None or all(name in record for name in wanted):
        return record
    flat = record_of_fields(record) or {}
    for name in wanted:
        if name not in record and (meant := name_meant(name, flat)) is not None:
            record[name] = flat[meant]
    return record


def _is_an_event(line: str) -> bool:
    """Whether a line is an object with a type, and with a time or an interval: one without is any JSON."""
    return line.startswith("{") and '"event_type"' in line and any(name in line for name in _TIMED)


def record_blocks(
    chunks: Chunks,
    table: RecordTable,
    source: str,
    record_of: Callable[[bytes], dict[str, Any] | None],
    misfit: str,
) -> Iterator[tuple[list[RecordLine], list[Reject]]]:
    """Lines that are records, and rejects for those that are none, by `misfit`, in blocks of bounded size."""
    lines: list[RecordLine] = []
    bad: list[Reject] = []
    size = 0
    for number, line in numbered_lines(chunks):
        if not line.strip():
            continue
        cause = TOO_LONG if len(line) > LONGEST_LINE else misfit
        try:
            record = None if cause == TOO_LONG else record_of(line)
        except NotUnicodeError:
            record, cause = None, NOT_UNICODE
        if record is None:
            bad.append(Reject(source, number, cause, line.strip()))
        else:
            lines.append(RecordLine(number, line.strip(), record))
            table.names.admit(record)
        size += len(line)
        cells = len(lines) * max(len(table.names), _FEW_COLUMNS)
        if size >= _BLOCK_BYTES or cells >= BATCH_CELLS or len(bad) >= _BLOCK_ROWS:
            yield lines, bad
            lines, bad, size = [], [], 0
    if lines or bad:
        yield lines, bad


# So that a block of few columns has no more than _BLOCK_ROWS rows.
_FEW_COLUMNS = BATCH_CELLS // _BLOCK_ROWS


@dataclass
class RecordTable:
    """The columns that the records of one file make."""

    mapping: ColumnMap
    source: str
    names: AttributeNames = field(default_factory=AttributeNames)
    checked: bool = False

    def __post_init__(self) -> None:
        fields = {field for field, _ in self.mapping}
        self.names.admit([*(name for name in RESERVED if name not in fields), *columns_meant(self.mapping)])

    def rows(self, lines: Sequence[RecordLine]) -> Rows:
        """One block of records as columns; those of the first say whether the mapping can be meant."""
        keys = list(dict.fromkeys(chain.from_iterable(line.record for line in lines)))
        if not self.checked:
            require_mapped(keys, self.mapping, self.source)
            self.checked = True
        columns: dict[str, pa.Array] = {}
        mixed: dict[str, str | None] = {}
        for key in self.names.among(keys):
            column = raw_name(key, self.mapping)
            while column in columns:
                column = ATTRIBUTE_PREFIX + column
            values = [line.record.get(key) for line in lines]
            if column == "pmf":
                columns[column] = _histogram_texts(values)
                continue
            simple = [json.dumps(v) if isinstance(v, dict | list) else v for v in values]
            if column in RESERVED:
                simple = _exact_numbers(simple)
            columns[column] = natural_array(simple)
            mixed[column] = mixture(simple, columns[column])
        if not self.names.admit(keys):
            columns[REST] = natural_array([self.names.rest(line.record) for line in lines])
        columns.setdefault("event_type", pa.nulls(len(lines), pa.string()))
        numbers = np.array([line.number for line in lines], dtype=np.int64)
        stand = [line.number if line.line is None else line.line for line in lines]
        return Rows(columns, numbers, np.array(stand, np.int64), lambda place: _text(lines[place]), mixed)


def _text(line: RecordLine) -> bytes:
    """The record as it is in the file, or as it was understood where its text is no longer known."""
    return line.text or json.dumps(line.record, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _exact_numbers(values: list[Any]) -> list[Any]:
    """The values; floats among others, and what stands beside them, as text that keeps every digit."""
    kinds = set(map(type, values)) - {type(None)}
    if float not in kinds or len(kinds) == 1:
        return values
    return [f"{Decimal(repr(value)):f}" if type(value) in (float, int) else value for value in values]


def _histogram_texts(values: list[Any]) -> pa.Array:
    """Histograms as text; what is none, or holds a sign that no histogram has, is refused later."""
    plain = [None if value is None else isinstance(value, str) and value.isascii() for value in values]
    return pa.array(
        [value if fits is not False else "?" for value, fits in zip(values, plain, strict=True)], pa.string()
    )
