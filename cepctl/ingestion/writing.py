"""One part of a dataset: the task that writes.

The bytes of a part follow from its rows alone, so they are the same wherever the task runs, and in however
many pieces its rows are put in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.arrow_files import SUFFIX, write_arrow
from cepctl.datasets.kinds import ARROW_TYPES, Kind, converted
from cepctl.datasets.marker import PARQUET
from cepctl.datasets.stored_events import LEAVES
from cepctl.event_table import FIXED_COLUMNS, LENGTH_COLUMNS, ORIGIN_COLUMNS, time_type
from cepctl.ingestion.chunk_files import read_rows
from cepctl.ingestion.chunks import (
    DISTINCT,
    RAW_ALONG,
    RAW_CLOCK,
    RAW_END_TIME,
    RAW_PREFIX,
    RAW_WRITER,
    RAW_ZONE,
    ZONE_ATTRIBUTE,
    has_column,
    sorted_events,
)
from cepctl.ingestion.ordering import Key, Piece, Slice
from cepctl.ingestion.room import return_freed
from cepctl.ingestion.schemas import OTHER, DatasetSchema
from cepctl.ingestion.written_rows import WrittenRows
from cepctl.io.contract.attribute_limit import REST
from cepctl.io.source.locations import Location
from cepctl.process.memory import MemoryBudget
from cepctl.schema import ALONG, CLOCK, END_TIME, META_TIME_UNIT, RECORD, WRITER, TimeUnit

ROW_GROUP_EVENTS = 65_536
_TABLES_AT_ONCE = 256
_ROWS_AT_ONCE = 1_000
_GROWING = frozenset(("lower", "upper", "end_lower", "end_upper", "time", END_TIME, RECORD))
"""Whole numbers that hardly differ from one row to the next: their differences take little room."""
_LOOKED_AT = 8_192


@dataclass(frozen=True)
class PartTask:
    """What writing one part needs; what is `read_once` is written fast rather than small.

    What this process alone reads is written `in_arrow`; all of it is then in memory at once.  `written` says
    what becomes of the rows of chunks whose writers are known.
    """

    scratch: Location
    pieces: tuple[Piece, ...]
    schema: DatasetSchema
    metadata: Mapping[bytes, bytes]
    memory: MemoryBudget
    read_once: bool = False
    in_arrow: bool = False
    written: Mapping[str, WrittenRows] = field(default_factory=dict)


def write_part(task: PartTask) -> str:
    """Gather the rows of a part, sort them and write them to the scratch directory; returns the path.

    Row groups are of ROW_GROUP_EVENTS, whatever the pieces are.

    Its name is new in every attempt, so that an attempt that was given up and still runs spoils nothing.
    """
    return_freed(task.memory)
    filesystem, directory = task.scratch.resolve()
    path = f"{directory}/{uuid4().hex}{SUFFIX if task.in_arrow else PARQUET}"
    unit = TimeUnit.parse(task.metadata[META_TIME_UNIT].decode())
    schema = arrow_schema(task.schema, unit).with_metadata(dict(task.metadata))
    if task.in_arrow:
        pieces = [_in_order(task, piece, schema, filesystem) for piece in task.pieces]
        write_arrow(pa.concat_tables(pieces), path, filesystem, ROW_GROUP_EVENTS)
        return path
    groups = _row_groups(task, schema, filesystem)
    first = next(groups, schema.empty_table())
    with pq.ParquetWriter(
        path,
        schema,
        filesystem=filesystem,
        compression="lz4" if task.read_once else "zstd",
        use_dictionary=_repeating(first),
        column_encoding={name: "DELTA_BINARY_PACKED" for name in schema.names if name in _GROWING},
        write_statistics=True,
        sorting_columns=[pq.SortingColumn(schema.get_field_index("lower"))],
    ) as writer:
        for group in chain([first], groups):
            writer.write_table(group, ROW_GROUP_EVENTS)
    return path


def _repeating(rows: pa.Table) -> list[str]:
    """The columns whose values are worth a dictionary, as some rows show, and as Parquet names them."""
    names = [name for name in rows.column_names if name not in DISTINCT | _GROWING]
    return [
        leaf
        for name in names
        for leaf in LEAVES.get(name, (name,))
        if name in LEAVES or _repeats(rows.column(name).slice(0, _LOOKED_AT))
    ]


def _repeats(values: pa.ChunkedArray) -> bool:
    """Whether each value stands in two rows or more, on average."""
    return bool(2 * pc.count_distinct(values).as_py() <= len(values) - values.null_count)


def _row_groups(task: PartTask, schema: pa.Schema, filesystem: fs.FileSystem) -> Iterator[pa.Table]:
    """The rows of a part in order, by row groups, each column in one array."""
    waiting = schema.empty_table()
    for piece in task.pieces:
        table = pa.concat_tables([waiting, _in_order(task, piece, schema, filesystem)])
        whole = len(table) - len(table) % ROW_GROUP_EVENTS
        for start in range(0, whole, ROW_GROUP_EVENTS):
            yield table.slice(start, ROW_GROUP_EVENTS).combine_chunks()
        # Taken, so that it does not hold the memory of all.
        waiting = table.take(np.arange(whole, len(table)))
    if len(waiting):
        yield waiting.combine_chunks()


def _in_order(task: PartTask, piece: Piece, schema: pa.Schema, filesystem: fs.FileSystem) -> pa.Table:
    """The rows of a piece, with the columns of the dataset."""
    dataset = task.schema
    gathered, tables = [schema.empty_table()], list[pa.Table]()
    last: Key | None = None
    follow = True
    for one in piece:
        table = _columns(_rows(one, dataset, filesystem, task.written), dataset, schema)
        if len(table):
            # The chunks of one file are mostly in order one after the other.
            follow = follow and (last is None or last <= _key(table, 0))
            last = _key(table, len(table) - 1)
            tables.append(table)
        if len(tables) >= _TABLES_AT_ONCE:
            # The columns of a table take more memory than what a small file has in them.
            gathered.append(pa.concat_tables(tables).combine_chunks())
            tables.clear()
    whole = pa.concat_tables([*gathered, *tables])
    return whole if follow else sorted_events(whole)


def _key(table: pa.Table, row: int) -> Key:
    return table.column("lower")[row].as_py(), table.column("event_id")[row].as_py().encode()


def arrow_schema(schema: DatasetSchema, unit: TimeUnit) -> pa.Schema:
    """Fixed columns, times of ends and clocks where some event has one, then the attributes by code point."""
    columns = {column: ARROW_TYPES[kind] for column, _, kind in schema.attributes}
    if schema.overflow or schema.crowded:
        columns[OTHER] = pa.string()
    if schema.zoned:
        columns[ZONE_ATTRIBUTE] = pa.int64()
    fixed = {**FIXED_COLUMNS, "time": time_type(unit)}
    known = {RECORD: True, WRITER: schema.writers, ALONG: schema.along}
    origins = [(name, ORIGIN_COLUMNS[name]) for name, is_known in known.items() if is_known]
    ends = [(END_TIME, time_type(unit))] if schema.ended else []
    clocks = [(CLOCK, pa.string())] if schema.clocked else []
    lengths = [(name, LENGTH_COLUMNS[name]) for name in schema.lengths]
    return pa.schema([*fixed.items(), *origins, *ends, *lengths, *clocks, *sorted(columns.items())])


def _rows(
    one: Slice, dataset: DatasetSchema, filesystem: fs.FileSystem, written: Mapping[str, WrittenRows]
) -> pa.Table:
    """The rows of one slice, with the columns that are written."""
    kept = {RAW_END_TIME: dataset.ended, RAW_CLOCK: dataset.clocked, RAW_ZONE: dataset.zoned}
    kept |= {RAW_WRITER: dataset.writers, RAW_ALONG: dataset.along}

    def is_wanted(name: str) -> bool:
        return kept.get(name, not name.startswith(RAW_PREFIX))

    table = read_rows(one.path, filesystem, one.start, one.stop, is_wanted)
    if one.path in written:
        table = written[one.path].applied(table, one.start)
    if not one.dropped:
        return table
    gone = {row - one.start for row in one.dropped}
    return table.take([row for row in range(len(table)) if row not in gone])


def _columns(table: pa.Table, dataset: DatasetSchema, schema: pa.Schema) -> pa.Table:
    sources = {column: (name, kind) for column, name, kind in dataset.attributes}
    columns = []
    for column in schema:
        if column.name in FIXED_COLUMNS | ORIGIN_COLUMNS:
            known = has_column(table, column.name)
            columns.append(table.column(column.name) if known else pa.nulls(len(table), column.type))
        elif column.name == END_TIME:
            columns.append(table.column(RAW_END_TIME))
        elif column.name in LENGTH_COLUMNS:
            known = column.name in table.column_names
            columns.append(table.column(column.name) if known else pa.nulls(len(table), column.type))
        elif column.name == CLOCK:
            columns.append(table.column(RAW_CLOCK))
        elif column.name in sources:
            columns.append(_attribute(table, *sources[column.name]))
        elif column.name == OTHER:
            columns.append(_overflow(table, dataset.overflow))
        else:
            columns.append(table.column(RAW_ZONE))
    return pa.table(columns, schema=schema)


def _attribute(table: pa.Table, name: str, kind: Kind) -> pa.ChunkedArray:
    if has_column(table, name):
        return converted(table.column(name), kind)
    return pa.chunked_array([pa.nulls(len(table), ARROW_TYPES[kind])])


def _overflow(table: pa.Table, names: Sequence[str]) -> pa.ChunkedArray:
    """The attributes beyond the limit as one JSON object per event; null where it has none."""
    present = [name for name in (*names, REST) if has_column(table, name)]
    if not present:
        return pa.chunked_array([pa.nulls(len(table), pa.string())])
    texts = []
    for batch in table.select(present).to_batches(max_chunksize=_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            rest = json.loads(row.pop(REST, None) or "{}")
            values = {name: value for name, value in row.items() if value is not None} | rest
            texts.append(json.dumps(values, ensure_ascii=False) if values else None)
    return pa.chunked_array([pa.array(texts, pa.string())])
