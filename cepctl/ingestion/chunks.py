"""Raw events between reading and writing: Parquet chunks of bounded size, one sequence per file.

A chunk holds the fixed columns, the RAW_ columns that assigning intervals needs, and the attributes
that occur in it.  Its rows are sorted by (lower, event_id), so that any range of the dataset is one
slice of every chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Offset
from cepctl.datasets.kinds import (
    ARROW_TYPES,
    Kind,
    beyond_floats,
    is_inferred,
    kinds_in_text,
    kinds_of,
    reads_otherwise_as_float,
    simple,
    simple_field,
    unified,
    with_kinds,
)
from cepctl.event_table import (
    FIXED_COLUMNS,
    LENGTH_COLUMNS,
    OFFSET_TEXTS,
    ORIGIN_COLUMNS,
    TIME_TYPE,
)
from cepctl.io.contract.reader import (
    END_COLUMNS,
    END_FOLD,
    END_GRAIN,
    END_NANOS,
    END_SPAN,
    FOLD,
    GRAIN,
    NANOS,
    RAW_COLUMNS,
    SPAN,
)
from cepctl.io.source.locations import InputFile
from cepctl.numeric.arrays import Indexes
from cepctl.schema import (
    ALONG,
    ATTRIBUTE_PREFIX,
    CLOCK,
    CLOCK_OFFSET,
    END_TIME,
    RECORD,
    WRITER,
)

RAW_PREFIX = "cepctl.raw."
RAW_WRITER, RAW_ALONG = RAW_PREFIX + WRITER, RAW_PREFIX + ALONG
RAW_ZONE = RAW_PREFIX + "zone_seconds"
RAW_BEFORE = RAW_PREFIX + "before"
RAW_AFTER = RAW_PREFIX + "after"
RAW_END_TIME = RAW_PREFIX + END_TIME
RAW_END_ZONE = RAW_PREFIX + "end_zone_seconds"
RAW_END_BEFORE = RAW_PREFIX + "end_before"
RAW_END_AFTER = RAW_PREFIX + "end_after"
RAW_CLOCK = RAW_PREFIX + CLOCK
RAW_OFFSET = RAW_PREFIX + CLOCK_OFFSET
ZONE_ATTRIBUTE = "zone_seconds"
_RAW_ONLY = RAW_COLUMNS.keys() - FIXED_COLUMNS.keys()
_CLOCK_COLUMNS = {CLOCK: RAW_CLOCK, CLOCK_OFFSET: RAW_OFFSET}
_NO_COLUMNS_OF_EVENTS = (_RAW_ONLY | END_COLUMNS.keys() | {CLOCK_OFFSET}) - {ZONE_ATTRIBUTE, END_TIME}

NO_ATTRIBUTES = (
    RAW_COLUMNS.keys()
    | END_COLUMNS.keys()
    | FIXED_COLUMNS.keys()
    | _CLOCK_COLUMNS.keys()
    | ORIGIN_COLUMNS.keys()
)
ERA = " #{}"
"""Behind the name of a writer that has begun anew: how often it has begun."""
_ERA = ERA.format(r"\d+$")
_VALUE_BYTES = 8
_BUCKET_BYTES = 24

SORT_KEYS = [("lower", "ascending"), ("event_id", "ascending")]
DISTINCT = frozenset(("event_id", "lower", "upper", "time", RECORD))
"""Columns whose values mostly differ from row to row."""


@dataclass(frozen=True, slots=True)
class AttributeFacts:
    """Of one attribute in one chunk: the kinds of its values and how many there are.

    Of `text` whose type is not known yet the kinds are what single values look like.  `beyond_floats` is
    how many are integers that no float64 holds exactly.
    """

    kinds: frozenset[Kind]
    values: int
    text: bool = False
    beyond_floats: int = 0

    def with_others(self, more: AttributeFacts) -> AttributeFacts:
        """Of the values in both."""
        return AttributeFacts(
            self.kinds | more.kinds,
            self.values + more.values,
            self.text or more.text,
            self.beyond_floats + more.beyond_floats,
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk on disk: where, how many rows, what the schema needs to know, first and last tick, clocks.

    `lengths` are the columns of LENGTH_COLUMNS that some event has; `written`: whether some have a writer,
    and `along` whether something else than their records tells its order.
    """

    path: str
    rows: int
    attributes: Mapping[str, AttributeFacts]
    zoned: bool
    ended: bool
    first: int
    last: int
    clocks: Mapping[str, Offset] = dataclass_field(default_factory=dict)
    lengths: tuple[str, ...] = ()
    written: bool = False
    along: bool = False


def raw_table(batch: pa.RecordBatch, file: InputFile) -> pa.Table:
    """A reader's batch with all fixed columns and simple attributes; ids and source filled in.

    The id made up for an event is the name of its file, `#` and its number there.
    """
    name = file.name
    numbers = pc.add(batch.column("number").cast(pa.int64()), file.records_before)
    columns: dict[str, pa.Array] = {}
    fields: list[pa.Field] = []
    for column, kind in FIXED_COLUMNS.items():
        known = column in batch.schema.names
        columns[column] = batch.column(column).cast(kind) if known else pa.nulls(len(batch), kind)
    if columns["event_id"].null_count:
        made_up = pc.binary_join_element_wise(pa.scalar(file.id_name or name), numbers.cast(pa.string()), "#")
        given = columns["event_id"]
        columns["event_id"] = made_up if given.null_count == len(given) else pc.coalesce(given, made_up)
    columns["source"] = pc.coalesce(columns["source"], pa.scalar(name))
    for raw in sorted(_RAW_ONLY):
        columns[RAW_PREFIX + raw] = batch.column(raw).cast(pa.int64())
    # Parts of a dataset say which record of its log each event was.
    columns[RECORD] = batch.column(RECORD) if RECORD in batch.schema.names else numbers
    if WRITER in batch.schema.names:
        columns[RAW_WRITER] = pc.replace_substring_regex(batch.column(WRITER), _ERA, "").dictionary_encode()
    if ALONG in batch.schema.names:
        columns[RAW_ALONG] = batch.column(ALONG)
    columns |= _end_columns(batch)
    optional = (GRAIN, END_GRAIN, NANOS, END_NANOS, FOLD, END_FOLD, SPAN, END_SPAN)
    columns |= {name: batch.column(name) for name in optional if name in batch.schema.names}
    for name, raw in _CLOCK_COLUMNS.items():
        known = name in batch.schema.names
        kind = OFFSET_TEXTS if name == CLOCK_OFFSET else pa.string()
        columns[raw] = batch.column(name).cast(kind) if known else pa.nulls(len(batch), kind)
    fields.extend(pa.field(column, values.type) for column, values in columns.items())
    for field in batch.schema:
        if field.name in LENGTH_COLUMNS:
            columns[field.name] = batch.column(field.name).cast(LENGTH_COLUMNS[field.name])
            fields.append(pa.field(field.name, LENGTH_COLUMNS[field.name]))
        elif field.name not in NO_ATTRIBUTES | columns.keys():
            values = simple(pa.chunked_array([batch.column(field.name)])).combine_chunks()
            attribute = attribute_name(field.name)
            columns[attribute] = values
            fields.append(simple_field(attribute, field, values))
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def _end_columns(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """Ends as readers give them; what they do not say of an end is as for its start."""
    columns = {RAW_END_TIME: pa.nulls(len(batch), TIME_TYPE)}
    if END_TIME in batch.schema.names:
        columns[RAW_END_TIME] = batch.column(END_TIME).cast(TIME_TYPE)
    for start in ("zone_seconds", "before", "after"):
        values = batch.column(start).cast(pa.int64())
        if f"end_{start}" in batch.schema.names:
            values = pc.coalesce(batch.column(f"end_{start}").cast(pa.int64()), values)
        columns[f"{RAW_PREFIX}end_{start}"] = values
    return columns


def attribute_name(column: str) -> str:
    """Readers also prefix what collides with a raw column; in the event table it does not."""
    bare = column.removeprefix(ATTRIBUTE_PREFIX)
    return bare if bare in _NO_COLUMNS_OF_EVENTS else column


def is_attribute(column: str) -> bool:
    """Whether a column of a chunk is an attribute."""
    fixed = FIXED_COLUMNS | LENGTH_COLUMNS | ORIGIN_COLUMNS
    return column not in fixed and not column.startswith(RAW_PREFIX)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows, with every attribute that occurs in some of the tables."""
    if len(tables) == 1:
        return tables[0]
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    columns: dict[str, pa.ChunkedArray] = {}
    fields: list[pa.Field] = []
    for name in names:
        present = [table for table in tables if has_column(table, name)]
        field = present[0].schema.field(name)
        if is_attribute(name):
            kinds = frozenset[Kind]().union(
                *(kinds_of(t.schema.field(name), t.column(name)) for t in present)
            )
            field = with_kinds(_common_field(name, present, kinds), kinds)
        fields.append(field)
        columns[name] = pa.chunked_array(
            [piece for table in tables for piece in _pieces(table, name, field)],
            field.type,
        )
    return pa.table(columns, schema=pa.schema(fields))


def attribute_facts(table: pa.Table) -> dict[str, AttributeFacts]:
    """The facts of the attributes of a chunk."""
    return {
        field.name: facts_of(field, table.column(place))
        for place, field in enumerate(table.schema)
        if is_attribute(field.name)
    }


def joined_facts(
    facts: Mapping[str, AttributeFacts], more: Mapping[str, AttributeFacts]
) -> dict[str, AttributeFacts]:
    """The facts of attributes in both of two sets of events."""
    joined = {name: each.with_others(facts[name]) if name in facts else each for name, each in more.items()}
    return {**facts, **joined}


def facts_of(field: pa.Field, column: pa.ChunkedArray) -> AttributeFacts:
    """The facts of one attribute."""
    text = is_inferred(field)
    kinds = kinds_in_text(column) if text else kinds_of(field, column)
    # Of text that is known to be text, no value is a number.
    large = beyond_floats(column) if kinds & {Kind.INT, Kind.BIG} else 0
    return AttributeFacts(kinds, len(column) - column.null_count, text, large)


def numbers_of(table: pa.Table) -> Indexes:
    """The number of the record of each event, its place in the chunk where the log is not known any more."""
    numbers = table.column(RECORD)
    if not numbers.null_count:
        return np.asarray(numbers.to_numpy(), np.int64)
    return np.asarray(pc.coalesce(numbers, pa.array(np.arange(len(table)))).to_numpy(), np.int64)


def bytes_of_values(table: pa.Table) -> int:
    """How many bytes the values take, whatever chunks they lie in."""
    return sum(map(_bytes_of_values, table.columns))


def _bytes_of_values(column: pa.ChunkedArray) -> int:
    if pa.types.is_string(column.type):
        return int(pc.sum(pc.binary_length(column)).as_py() or 0)
    if pa.types.is_list(column.type):
        return len(pc.list_flatten(column)) * _BUCKET_BYTES
    return int(len(column) - column.null_count) * _VALUE_BYTES


def _common_field(name: str, tables: Sequence[pa.Table], kinds: frozenset[Kind]) -> pa.Field:
    """The field that holds all: as it is where all agree, else in the kind that unifies them.

    Numbers whose text a float would change stay text: what comes after them may make all of them text.
    """
    fields = [table.schema.field(name) for table in tables]
    typed = [field for field in fields if not pa.types.is_null(field.type)]
    if typed and all(field.type == typed[0].type for field in typed):
        return typed[0]
    kind = unified(kinds)
    if kind is Kind.FLOAT and any(reads_otherwise_as_float(table.column(name)) for table in tables):
        kind = Kind.STRING
    return pa.field(name, ARROW_TYPES[kind])


def _pieces(table: pa.Table, name: str, field: pa.Field) -> list[pa.Array]:
    if not has_column(table, name):
        return [pa.nulls(len(table), field.type)]
    column = table.column(name)
    if column.type == field.type:
        return list(column.chunks)
    if pa.types.is_null(column.type):
        return [pa.nulls(len(table), field.type)]
    return list(column.cast(field.type).chunks)


def has_column(table: pa.Table, name: str) -> bool:
    """Whether a table has this column: in one look, however many it has."""
    return bool(table.schema.get_field_index(name) >= 0)


def sorted_events(table: pa.Table) -> pa.Table:
    """Rows by (lower, event_id), ids by code point; equal keys keep their order."""
    if _is_sorted(table):
        return table
    return table.take(pc.sort_indices(table, sort_keys=SORT_KEYS))


def _is_sorted(table: pa.Table) -> bool:
    """Whether the rows are in order already, as those of plain files mostly are."""
    lower, ids = table.column("lower"), table.column("event_id")
    if lower.null_count or ids.null_count:
        return False
    ticks = lower.to_numpy()
    if (ticks[1:] < ticks[:-1]).any():
        return False
    ties = np.flatnonzero(ticks[1:] == ticks[:-1])
    if not len(ties):  # Arrow copies all ids to take none of them.
        return True
    return not pc.any(pc.greater(ids.take(ties), ids.take(ties + 1))).as_py()


def is_zoned(table: pa.Table) -> bool:
    """Whether some time was written in a zone other than UTC."""
    return bool(np.any(table.column(RAW_ZONE).to_numpy() != 0))


def lengths_in(table: pa.Table) -> tuple[str, ...]:
    """What some event says of its length, or of the mass of its end."""
    present = (name for name in LENGTH_COLUMNS if has_column(table, name))
    return tuple(name for name in present if table.column(name).null_count < len(table))


def has_writers(table: pa.Table) -> bool:
    """Whether it is known of some event who wrote it."""
    return has_column(table, RAW_WRITER) and table.column(RAW_WRITER).null_count < len(table)


def has_ends(table: pa.Table) -> bool:
    """Whether some event is an interval event whose end the log gave."""
    column = table.column(RAW_END_TIME)
    return bool(column.null_count < len(column))
