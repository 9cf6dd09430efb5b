"""Tables in files of Arrow's own format: for this run alone, written and read without encoding.

They take several times the room of Parquet, and a fraction of its time.  A column that holds nothing takes
neither: it is stored without a type, which the schema beside it keeps.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from threading import Lock

import pyarrow as pa
from pyarrow import fs

SUFFIX = ".arrow"
_SCHEMA = b"cepctl.schema"
_ROWS = b"cepctl.rows"


def write_arrow(table: pa.Table, path: str, filesystem: fs.FileSystem, rows_of_batch: int) -> None:
    """Write a table, in batches of at most so many rows."""
    stored = _stored(table)
    with (
        filesystem.open_output_stream(path) as stream,
        pa.ipc.new_file(stream, stored.schema) as writer,
    ):
        for batch in stored.to_batches(rows_of_batch):
            if len(batch):
                writer.write_batch(batch)


def write_batches(table: pa.Table, path: str, filesystem: fs.FileSystem, bounds: Sequence[int]) -> None:
    """Write a table in batches that end at these rows; the first begins at the first of them."""
    stored = _stored(table.combine_chunks()).to_batches()[0]
    with (
        filesystem.open_output_stream(path) as stream,
        pa.ipc.new_file(stream, stored.schema) as writer,
    ):
        for start, stop in pairwise(bounds):
            writer.write_batch(stored.slice(start, stop - start))


def _stored(table: pa.Table) -> pa.Table:
    """A table as it is written."""
    table = table.unify_dictionaries()
    columns, fields = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        empty = column.null_count == len(column)
        columns.append(pa.chunked_array([pa.nulls(len(column))]) if empty else column)
        fields.append(pa.field(field.name, pa.null() if empty else field.type))
    kept = {_SCHEMA: table.schema.serialize().to_pybytes(), _ROWS: str(len(table)).encode()}
    return pa.table(columns, schema=pa.schema(fields, kept))


def arrow_schema_of(path: str, filesystem: fs.FileSystem) -> pa.Schema:
    """The schema of a table as it was written."""
    return _schema(_kept(path, filesystem))


def rows_in_arrow(path: str, filesystem: fs.FileSystem) -> int:
    """How many rows there are."""
    return int(_kept(path, filesystem)[_ROWS])


def read_arrow(
    path: str,
    filesystem: fs.FileSystem,
    names: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
) -> pa.Table:
    """Some columns (None: all), in this order, of some batches (None: all), one chunk for each batch.

    Nothing else is read, and of a file of this machine nothing is copied: its pages are the memory.
    """
    with _opened(path, filesystem) as file:
        reader = pa.ipc.open_file(file)
        whole = _schema(reader.schema.metadata)
        schema = whole if names is None else pa.schema([whole.field(name) for name in names], whole.metadata)
        if not isinstance(file, pa.MemoryMappedFile):
            places = [reader.schema.get_field_index(name) for name in schema.names]
            reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=places))
        chosen = range(reader.num_record_batches) if numbers is None else numbers
        batches = [_typed(reader.get_batch(number), schema) for number in chosen]
    return pa.Table.from_batches(batches, schema)


class HeldBatches:
    """A file of this machine that stays open: of many small batches each would else cost opening it.

    `schema`: that of the table as it was written.
    """

    def __init__(self, path: str) -> None:
        self._reader = pa.ipc.open_file(pa.memory_map(path))
        self.schema = _schema(self._reader.schema.metadata)
        # Dictionaries are read with the first batch, by one thread.
        self._lock = Lock()

    def table(self, number: int, names: Sequence[str] | None = None) -> pa.Table:
        """Some columns (None: all), in this order, of a batch; dictionaries hold what occurs in it."""
        wanted = self.schema.names if names is None else names
        with self._lock:
            batch = self._reader.get_batch(number)
        columns, fields = [], []
        for name in wanted:
            field, column = self.schema.field(name), batch.column(name)
            if pa.types.is_null(column.type):
                column = pa.nulls(len(batch), field.type)
            elif pa.types.is_dictionary(column.type):
                column = column.dictionary_decode().dictionary_encode().cast(field.type)
            columns.append(column)
            fields.append(field)
        return pa.Table.from_arrays(columns, schema=pa.schema(fields, self.schema.metadata))


def _typed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a schema of a batch as it is stored."""
    columns = [
        pa.nulls(len(batch), field.type) if pa.types.is_null(column.type) else column
        for field, column in zip(schema, map(batch.column, schema.names), strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _opened(path: str, filesystem: fs.FileSystem) -> pa.NativeFile:
    # Elsewhere a file that is mapped cannot be removed.
    if isinstance(filesystem, fs.LocalFileSystem) and os.name == "posix":
        return pa.memory_map(path)
    return filesystem.open_input_file(path)


def _kept(path: str, filesystem: fs.FileSystem) -> dict[bytes, bytes]:
    with _opened(path, filesystem) as file:
        return dict(pa.ipc.open_file(file).schema.metadata)


def _schema(kept: dict[bytes, bytes]) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(kept[_SCHEMA]))
