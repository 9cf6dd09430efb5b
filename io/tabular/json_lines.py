"""JSON lines: one object per line, with the keys that the columns of the event table are called by.

Nested values stay as JSON text.  A line that is not an object, or longer than LONGEST_LINE, is a reject.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.attribute_limit import REST, AttributeNames
from cepctl.io.contract.batches import BATCH_CELLS
from cepctl.io.contract.natural_columns import (
    FIRST_WITH_EXPONENT,
    array_of,
    mixture_of,
    natural_array,
    pure_text,
)
from cepctl.io.contract.reader import ColumnMap, ReadOptions, ReadReport, Reject, among_rejects
from cepctl.io.contract.unicode_text import NOT_UNICODE, NotUnicodeError
from cepctl.io.source.event_lines import lines_fit
from cepctl.io.source.json_objects import json_object, json_objects
from cepctl.io.source.line_blocks import Lines, line_blocks, lines_of
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG, Chunks
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.tabular.alike_fields import AlikeFields
from cepctl.io.tabular.columns import BlockRows, raw_batch
from cepctl.io.tabular.composed import columns_meant, name_meant
from cepctl.io.tabular.flat_records import record_of_fields
from cepctl.io.tabular.mapping import RESERVED, raw_name, require_mapped
from cepctl.io.tabular.sifting import sifted
from cepctl.numeric.arrays import Numbers
from cepctl.schema import ATTRIBUTE_PREFIX, TICK_MAX, TICK_MIN

_NOT_AN_OBJECT = "the line is not a JSON object"
_TIMED = ('"time"', '"lower"', '"pmf"')
_BLOCK_ROWS = 65_536
_MOST_MISFITS = 3
_BLOCK_BYTES = 16 << 20


@dataclass(frozen=True)
class BlockRecords:
    """Records of a block, by their fields.

    Attributes
    ----------
    columns
        The fields in the order in which they first occur, with an entry for each record: None where it has
        none.
    numbers, lines
        The number of each, and the line on which it stands.
    raw
        The text of a record, by its place here.
    """

    columns: Mapping[str, Sequence[Any]]
    numbers: Numbers
    lines: Numbers | None
    raw: Callable[[int], bytes]

    @classmethod
    def of(
        cls, records: Sequence[Mapping[str, Any]], numbers: Numbers, raw: Callable[[int], bytes]
    ) -> BlockRecords:
        """Those that stand on the lines of their numbers."""
        names = dict.fromkeys(chain.from_iterable(records))
        columns = {name: [record.get(name) for record in records] for name in names}
        return cls(columns, numbers, numbers, raw)

    def part(self, start: int, stop: int) -> BlockRecords:
        """Some of them, with the fields that they have."""
        columns = {name: values[start:stop] for name, values in self.columns.items()}
        return BlockRecords(
            {name: values for name, values in columns.items() if any(each is not None for each in values)},
            self.numbers[start:stop],
            None if self.lines is None else self.lines[start:stop],
            lambda place: self.raw(start + place),
        )


@dataclass(frozen=True)
class RecordLines:
    """Lines of a block that are records, with their numbers, and those that are none as rejects."""

    records: Sequence[dict[str, Any]]
    numbers: Numbers
    raw: Callable[[int], bytes]
    bad: Sequence[Reject]


class JsonLinesReader:
    """One JSON object per line."""

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, _is_an_event)

    def has_object(self, head: bytes) -> bool:
        """Whether the file begins with lines that are one object each: all that a mapping can ask for."""
        return lines_fit(head, _may_be_object)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        table = RecordTable(options.columns, source)
        chunks = Chunks(utf8_stream(stream))
        wanted = columns_meant(options.columns)
        many, record_of = partial(_objects, wanted), partial(_object, wanted)
        for lines in lines_in(chunks):
            rows = table.rows_alike(lines)
            if rows is not None:
                yield raw_batch(sifted(rows, options, report), source, options, report)
                continue
            found = records_of(lines, source, many, record_of, _NOT_AN_OBJECT, None)
            table.learn(found.records)
            report.records += len(found.bad)
            records = BlockRecords.of(found.records, found.numbers, found.raw)
            with among_rejects(report, found.bad):
                batches = [
                    raw_batch(sifted(each, options, report), source, options, report)
                    for each in table.rows(records)
                ]
            yield from batches
        if chunks.damage:
            report.records += 1
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _objects(wanted: Sequence[str], lines: Lines) -> list[dict[str, Any] | None]:
    found = json_objects(lines)
    return [_with_deep_fields(wanted, record) for record in found] if wanted else found


def _object(wanted: Sequence[str], line: bytes) -> dict[str, Any] | None:
    return _with_deep_fields(wanted, json_object(line))


def _with_deep_fields(wanted: Sequence[str], record: dict[str, Any] | None) -> dict[str, Any] | None:
    """An object with what stands in it under these names at any depth."""
    if record is None or all(name in record for name in wanted):
        return record
    flat = record_of_fields(record) or {}
    for name in wanted:
        if name not in record and (meant := name_meant(name, flat)) is not None:
            record[name] = flat[meant]
    return record


def _may_be_object(line: str) -> bool:
    try:
        return json_object(line) is not None
    except NotUnicodeError:
        return True


def _is_an_event(line: str) -> bool:
    """Whether a line is an object with a type, and with a time or an interval: one without is any JSON.

    A comma behind it makes it an element of an array.
    """
    is_object = line.startswith("{") and not line.endswith(",")
    return is_object and '"event_type"' in line and any(name in line for name in _TIMED)


def record_blocks(
    chunks: Chunks,
    source: str,
    many: Callable[[Lines], Sequence[dict[str, Any] | None]],
    record_of: Callable[[bytes], dict[str, Any] | None],
    misfit: str,
    most: int = _BLOCK_ROWS,
    blanks: bytes | None = None,
) -> Iterator[RecordLines]:
    """The lines of a file that are no blanks, in blocks of bounded size.

    Those of which `many` tells nothing are asked for one by one; what is no record is rejected as a `misfit`.
    Blanks are those of text, or these, which then stand around lines and are no part of them.
    """
    for lines in lines_in(chunks, most):
        yield records_of(lines, source, many, record_of, misfit, blanks)


def lines_in(chunks: Chunks, most: int = _BLOCK_ROWS) -> Iterator[Lines]:
    """The lines of a file, at most so many at a time."""
    for number, text in line_blocks(chunks, _BLOCK_BYTES):
        yield from lines_of(number, text, most)


def records_of(
    lines: Lines,
    source: str,
    many: Callable[[Lines], Sequence[dict[str, Any] | None]],
    record_of: Callable[[bytes], dict[str, Any] | None],
    misfit: str,
    blanks: bytes | None,
) -> RecordLines:
    """As `record_blocks`, of some lines."""
    found, bad = [*many(lines)], list[Reject]()
    for row in [row for row, record in enumerate(found) if record is None]:
        raw = lines.whole(row).strip(blanks)
        if raw:
            line = raw if blanks else lines.whole(row)
            found[row], cause = _alone(line, record_of, misfit)
            if found[row] is None:
                bad.append(Reject(source, lines.number + row, cause, raw))
    rows = np.array([row for row, record in enumerate(found) if record is not None], np.int64)
    records = [record for record in found if record is not None]
    return RecordLines(records, lines.number + rows, partial(_raw, lines, rows, blanks), bad)


def _raw(lines: Lines, rows: Numbers, blanks: bytes | None, place: int) -> bytes:
    return lines.whole(int(rows[place])).strip(blanks)


def _alone(
    line: bytes, record_of: Callable[[bytes], dict[str, Any] | None], misfit: str
) -> tuple[dict[str, Any] | None, str]:
    """The record that a line is, or None and why it is none."""
    if len(line) > LONGEST_LINE:
        return None, TOO_LONG
    try:
        return record_of(line), misfit
    except NotUnicodeError:
        return None, NOT_UNICODE


@dataclass
class RecordTable:
    """The columns that the records of one file make."""

    mapping: ColumnMap
    source: str
    names: AttributeNames = field(default_factory=AttributeNames)
    fields: AlikeFields = field(default_factory=lambda: AlikeFields(BATCH_CELLS))
    checked: bool = False
    _misfits: int = 0

    def __post_init__(self) -> None:
        fields = {field for field, _ in self.mapping}
        self.names.admit([*(name for name in RESERVED if name not in fields), *columns_meant(self.mapping)])

    def rows(self, records: BlockRecords) -> Iterator[BlockRows]:
        """Records of a block as columns, so many at a time as have room in memory; none of no records.

        Those of the first say whether the mapping can be meant.
        """
        self.names.admit(records.columns)
        total = len(records.numbers)
        count = max(BATCH_CELLS // max(len(self.names), 1), 1)
        for start in range(0, total, count):
            yield self._rows(records if total <= count else records.part(start, start + count))

    def rows_alike(self, lines: Lines) -> BlockRows | None:
        """Lines of objects whose fields are of one type each, as far as known; None where some are not."""
        return self.counted(self._alike(lines)) if self.may_be_alike(lines) else None

    def may_be_alike(self, lines: Sized) -> bool:
        """Whether a look at all lines at once is worth its time: of those before, some were alike."""
        return self._misfits < _MOST_MISFITS and len(lines) > 0

    def counted(self, rows: BlockRows | None) -> BlockRows | None:
        """Count whether lines that were looked at at once were alike; returns their rows."""
        self._misfits = 0 if rows is not None else self._misfits + 1
        return rows

    def _alike(self, lines: Lines) -> BlockRows | None:
        found = self.fields.of(lines)
        if found is None or not {column for _, column in self.mapping} <= found.keys():
            return None
        if self.mapping and any("." in key for key in found):
            return None
        return self.rows_of(lines, found)

    def learn(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Know of the next lines what fields those have that were read one by one."""
        if self.may_be_alike(records):
            self.fields.learn(records)

    def rows_of(self, lines: Lines, fields: Mapping[str, pa.Array]) -> BlockRows | None:
        """Lines with these fields; None where their values may not be told as those of single ones."""
        names = [raw_name(key, self.mapping) for key in fields]
        if not self.names.admit(fields) or len(set(names)) < len(names) or "pmf" in names:
            return None
        columns = dict(zip(names, fields.values(), strict=True))
        if not all(_is_natural(values, name) for name, values in columns.items()):
            return None
        columns.setdefault("event_type", pa.nulls(len(lines), pa.string()))
        self.checked, numbers = True, lines.number + np.arange(len(lines))
        return BlockRows(columns, numbers, numbers, partial(_raw, lines, np.arange(len(lines)), None))

    def _rows(self, records: BlockRecords) -> BlockRows:
        keys = list(records.columns)
        if not self.checked:
            require_mapped(keys, self.mapping, self.source)
            self.checked = True
        columns: dict[str, pa.Array] = {}
        mixed: dict[str, str | None] = {}
        for key in self.names.among(keys):
            column = raw_name(key, self.mapping)
            while column in columns:
                column = ATTRIBUTE_PREFIX + column
            values = records.columns[key]
            if column == "pmf":
                columns[column] = _histogram_texts(values)
                continue
            text = pure_text(values)
            if text is not None:
                columns[column] = text
                continue
            plain = [json.dumps(v) if isinstance(v, dict | list) else v for v in values]
            simple = _exact_numbers(plain) if column in RESERVED else plain
            kinds = set(map(type, simple))
            columns[column] = array_of(simple, kinds)
            mixed[column] = mixture_of(simple, columns[column], kinds)
        others = {key: values for key, values in records.columns.items() if key not in self.names}
        if others:
            rest = [dict(zip(others, values, strict=True)) for values in zip(*others.values(), strict=True)]
            columns[REST] = natural_array([self.names.rest(record) for record in rest])
        columns.setdefault("event_type", pa.nulls(len(records.numbers), pa.string()))
        lines = records.numbers if records.lines is None else records.lines
        return BlockRows(columns, records.numbers, lines, records.raw, mixed)


def _is_natural(values: pa.Array, name: str) -> bool:
    """Whether values of these types are as single ones would be; floats may be integers in the file."""
    if (
        pa.types.is_string(values.type)
        or pa.types.is_boolean(values.type)
        or values.null_count == len(values)
    ):
        return True
    ends = pc.min_max(values)
    least, most = ends["min"].as_py(), ends["max"].as_py()
    if pa.types.is_integer(values.type):
        return bool(least >= TICK_MIN and most <= TICK_MAX)
    plain = not pc.any(pc.is_nan(values)).as_py() and max(-least, most) < FIRST_WITH_EXPONENT
    return plain and name not in RESERVED


def _exact_numbers(values: Sequence[Any]) -> Sequence[Any]:
    """The values; floats among others, and what stands beside them, as text that keeps every digit."""
    kinds = set(map(type, values)) - {type(None)}
    if float not in kinds or len(kinds) == 1:
        return values
    return [f"{Decimal(repr(value)):f}" if type(value) in (float, int) else value for value in values]


def _histogram_texts(values: Sequence[Any]) -> pa.Array:
    """Histograms as text; what is none, or holds a sign that no histogram has, is refused later."""
    plain = [None if value is None else isinstance(value, str) and value.isascii() for value in values]
    return pa.array(
        [value if fits is not False else "?" for value, fits in zip(values, plain, strict=True)], pa.string()
    )
