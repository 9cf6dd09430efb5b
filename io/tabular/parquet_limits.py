"""Parquet that unpacks to far more than the file has bytes: taken in small pieces, or refused beforehand.

A page is unpacked as a whole, so a row group may take no more than MOST_GROUP_BYTES; the metadata
say how much it will.  Text that a dictionary holds once stays so, and rows are cut into pieces that
take no more than PIECE_BYTES once every row has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl.errors import LogFormatError

MOST_GROUP_BYTES = 1 << 30
PIECE_BYTES = 64 << 20
_CELL_BYTES = 8


def open_parquet(stream: IO[bytes], source: str) -> pq.ParquetFile:
    """The file, whose text comes in dictionaries.

    Raises
    ------
    LogFormatError
        If a row group is too large.
    """
    file = pq.ParquetFile(stream)
    metadata = file.metadata
    nested = [
        place for place in range(metadata.num_columns) if metadata.schema.column(place).max_repetition_level
    ]
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        # Of columns that are not nested nothing is asked: a damaged one would end the process.
        cells = max((group.column(place).num_values for place in nested), default=0)
        size = max(group.total_byte_size, cells * _CELL_BYTES)
        if size > MOST_GROUP_BYTES:
            raise LogFormatError(
                f"{source}: row group {number + 1} unpacks to {size:,} bytes, more than the "
                f"{MOST_GROUP_BYTES:,} that are read at once; {_remedy(metadata, number, size)}"
            )
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    return pq.ParquetFile(stream, metadata=metadata, read_dictionary=texts) if texts else file


def _remedy(metadata: pq.FileMetaData, number: int, size: int) -> str:
    """What to do about too large a row group: fewer rows in each, or a smaller value where it has one."""
    group = metadata.row_group(number)
    if group.num_rows > 1:
        fewer = max(group.num_rows * MOST_GROUP_BYTES // size, 1)
        return f"write the file again, with no more than {fewer:,} rows in a row group"
    row = sum(metadata.row_group(before).num_rows for before in range(number)) + 1
    columns = [group.column(place) for place in range(group.num_columns)]
    largest = max(columns, key=lambda column: int(column.total_uncompressed_size))
    return (
        f"it holds row {row:,} alone, and column '{largest.path_in_schema}' is the largest in it: shorten "
        "that value, or leave the row or the column out"
    )


def pieces(columns: Mapping[str, pa.Array]) -> Iterator[dict[str, pa.Array]]:
    """The rows of the columns in order, in pieces of bounded size, their text without dictionaries."""
    sizes = np.zeros(len(next(iter(columns.values()), ())), np.int64)
    for column in columns.values():
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
            sizes += pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    number = (np.cumsum(sizes) - sizes) // PIECE_BYTES
    begins = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist()]
    for begin, end in zip(begins, [*begins[1:], len(sizes)], strict=True):
        yield {name: _decoded(column.slice(begin, end - begin)) for name, column in columns.items()}


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )
