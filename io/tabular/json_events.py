"""Events of the records of a JSON file, whose shape is known: their types, and what varies in messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import BATCH_CELLS, INFERRED
from cepctl.io.contract.message_template import OTHERS
from cepctl.io.contract.natural_columns import pure_text
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject, among_rejects
from cepctl.io.source.json_objects import text_fields
from cepctl.io.source.line_blocks import Lines
from cepctl.io.tabular.alike_fields import AlikeFields
from cepctl.io.tabular.columns import BlockRows, raw_batch
from cepctl.io.tabular.composed import columns_meant
from cepctl.io.tabular.flat_records import columns_of_fields, record_of_fields
from cepctl.io.tabular.json_lines import BlockRecords, RecordLines, RecordTable
from cepctl.io.tabular.json_shape import JsonShape
from cepctl.io.tabular.mapping import RESERVED
from cepctl.io.templates.matching import NONE
from cepctl.io.templates.variables import TemplateTable
from cepctl.numeric.arrays import Numbers
from cepctl.schema import ATTRIBUTE_PREFIX

TOO_DEEP = "nested too deeply"
RECORD, EVENT_TYPE = "Record", "event_type"


def said(record: Mapping[str, Any], shape: JsonShape) -> tuple[str | None, str | None]:
    """The type that a flat record names, else the first line of the message that it is derived from."""
    for name in shape.types:
        if record.get(name) not in (None, ""):
            return _text(record[name]), None
    if shape.message is not None and record.get(shape.message) not in (None, ""):
        return None, _text(record[shape.message]).strip().partition("\n")[0]
    return next((_text(record[name]) for name in shape.others if record.get(name)), RECORD), None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def said_by(columns: Mapping[str, Sequence[Any]], count: int, shape: JsonShape) -> tuple[pa.Array, pa.Array]:
    """As `said`, of the fields of so many records; a type derived from a message is RECORD yet."""
    types = _first([columns[name] for name in shape.types if name in columns], _NOTHING, count)
    messages = pa.nulls(count, pa.string())
    if shape.message is not None and shape.message in columns:
        values = columns[shape.message]
        texts = pure_text(values)
        if texts is None:
            texts = pa.array([None if value is None else _text(value) for value in values], pa.string())
        first = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), r"(?s)\n.*", "")
        messages = pc.if_else(pc.and_(types.is_null(), pc.not_equal(texts, "")), first, messages)
    others = _first([columns[name] for name in shape.others if name in columns], None, count)
    others = pc.if_else(messages.is_null(), others, pa.scalar(None, pa.string()))
    return pc.coalesce(types, others, pa.scalar(RECORD)), messages


_NOTHING = (None, "")


def _first(columns: Sequence[Sequence[Any]], nothing: tuple[Any, ...] | None, count: int) -> pa.Array:
    """Of each record the text of the first of its values that says something.

    What says nothing is one of these values; None for all that are false.
    """
    found = pa.nulls(count, pa.string())
    for values in columns:
        texts = [
            None if (not value if nothing is None else value in nothing) else _text(value) for value in values
        ]
        found = pc.coalesce(found, pa.array(texts, pa.string()))
    return found


def messages_in(lines: Lines, shape: JsonShape) -> pa.Array | None:
    """As `messages_of`, of the records that lines are; None where these have to be asked."""
    names = [*shape.types, *filter(None, [shape.message])]
    fields = None if any("." in name for name in names) else text_fields(lines, names)
    if fields is None:
        return None
    texts = {name: values.to_pylist() for name, values in fields.items()}
    return said_by(texts, len(lines), shape)[1].drop_null()


def messages_of(records: Sequence[Mapping[str, Any]], shape: JsonShape) -> pa.Array:
    """The messages of records from which their types are told."""
    names = [*shape.types, *filter(None, [shape.message])]
    looked_at = [*dict.fromkeys([*names, *(name.partition(".")[0] for name in names)])]
    some = [{name: record[name] for name in looked_at if name in record} for record in records]
    columns, _ = columns_of_fields(some)
    messages = said_by(columns, max(map(len, columns.values()), default=0), shape)[1]
    return messages.drop_null()


@dataclass
class JsonEvents:
    """Makes events of the records of one file."""

    source: str
    options: ReadOptions
    report: ReadReport
    shape: JsonShape
    table: RecordTable = field(init=False)
    templates: TemplateTable = field(init=False)

    def __post_init__(self) -> None:
        fields = AlikeFields(BATCH_CELLS, nested=True)
        self.table = RecordTable(self.options.columns, self.source, fields=fields)
        self.templates = TemplateTable(self.options.templates)
        self.type_is_mapped = EVENT_TYPE in dict(self.options.columns)
        self._mapped = frozenset(columns_meant(self.options.columns))

    def of_lines(self, lines: RecordLines) -> Iterator[pa.RecordBatch]:
        """The events of a block of lines, whose fields may be those of the next block."""
        self.table.learn(lines.records)
        columns, deep = columns_of_fields(lines.records)
        bad, raw = list(lines.bad), lines.raw
        numbers = lines.numbers
        if deep:
            bad += [Reject(self.source, int(numbers[row]), TOO_DEEP, raw(row)) for row in deep]
            bad.sort(key=lambda reject: reject.line or 0)
            kept = np.setdiff1d(np.arange(len(numbers)), deep)
            columns = {name: [values[row] for row in kept] for name, values in columns.items()}
            numbers, raw = numbers[kept], lambda place: lines.raw(int(kept[place]))
        self.report.records += len(bad)
        types, messages = said_by(columns, len(numbers), self.shape)
        named = self._names(columns)
        fields: dict[str, Sequence[Any]] = {own: columns[name] for name, own in named}
        if len(fields) < len(named):
            # Of two fields that come to have one name, a record keeps its later one.
            flat = [each for each in map(record_of_fields, lines.records) if each is not None]
            records = [{own: each[name] for name, own in self._names(each)} for each in flat]
            fields = dict(BlockRecords.of(records, numbers, raw).columns)
        if not self.type_is_mapped:
            fields[EVENT_TYPE] = types.to_pylist()
        yield from self.of_records(BlockRecords(fields, numbers, numbers, raw), messages, bad)

    def of_alike(self, lines: Lines) -> list[pa.RecordBatch] | None:
        """As `of_lines`, of lines whose fields are alike; None where each has to be read."""
        if not self.table.may_be_alike(lines):
            return None
        found = self.table.fields.of(lines)
        if not found:
            self.table.counted(None)
            return None
        types, messages = said_by(self._asked(found), len(lines), self.shape)
        rows = self.table.counted(self._rows_alike(lines, found, types))
        return None if rows is None else self._events([rows], rows.numbers, messages)

    def _rows_alike(self, lines: Lines, found: Mapping[str, pa.Array], types: pa.Array) -> BlockRows | None:
        named = self._names(found)
        fields = {own: found[name] for name, own in named}
        mapped = {column for _, column in self.options.columns}
        if len(fields) < len(named) or not mapped <= fields.keys():
            return None
        if not self.type_is_mapped:
            fields[EVENT_TYPE] = types
        return self.table.rows_of(lines, fields)

    def _asked(self, found: Mapping[str, pa.Array]) -> dict[str, list[Any]]:
        """The fields that types and messages are derived from."""
        names = (*self.shape.types, *filter(None, [self.shape.message]), *self.shape.others)
        return {name: found[name].to_pylist() for name in names if name in found}

    def own_name(self, name: str) -> str | None:
        """The name of a field as an attribute: none of those of events, unless mapped; None for the type."""
        if name == EVENT_TYPE and self.shape.types[:1] == (EVENT_TYPE,):
            return None
        taken = name in RESERVED and name not in self._mapped and name != self.shape.time
        return f"{ATTRIBUTE_PREFIX}{name}" if taken else name

    def _names(self, fields: Iterable[str]) -> list[tuple[str, str]]:
        return [(name, own) for name in fields if (own := self.own_name(name)) is not None]

    def of_records(
        self, records: BlockRecords, messages: pa.Array, bad: Sequence[Reject]
    ) -> Iterator[pa.RecordBatch]:
        """The events of records with these messages, with the rejects of the same block."""
        with among_rejects(self.report, bad):
            batches = self._events(self.table.rows(records), records.numbers, messages)
        yield from batches

    def _events(
        self, rows: Iterable[BlockRows], numbers: Numbers, messages: pa.Array
    ) -> list[pa.RecordBatch]:
        """The events of rows, whose records have these numbers and messages."""
        batches = [raw_batch(each, self.source, self.options, self.report) for each in rows]
        if self.shape.message is None:
            return batches
        places = [np.searchsorted(numbers, events.column("number").to_numpy()) for events in batches]
        return [
            self._typed(events, messages.take(pa.array(place)))
            for events, place in zip(batches, places, strict=True)
        ]

    def _typed(self, events: pa.RecordBatch, messages: pa.Array) -> pa.RecordBatch:
        """Events with the types that the templates of their messages are, and what varies in these."""
        types, found, template = self.templates.typed(pc.fill_null(messages, ""))
        unknown = int(((template == NONE) & ~messages.is_null().to_numpy(zero_copy_only=False)).sum())
        if unknown:
            self.report.notes[OTHERS] += unknown
        place = events.schema.get_field_index("event_type")
        events = events.set_column(
            place, "event_type", pc.if_else(messages.is_valid(), types, events.column(place))
        )
        for name, values in found.items():
            column = f"{self.shape.message}.{name}"
            if column not in events.schema.names:
                known = pc.if_else(messages.is_valid(), values, pa.scalar(None, pa.string()))
                events = events.append_column(pa.field(column, pa.string(), metadata=INFERRED), known)
        return events
