"""Parquet that unpacks to far more than the file has bytes: taken in small pieces, or refused beforehand.

A page is unpacked as a whole, so a column of a row group may take no more than MOST_COLUMN_BYTES; the
metadata say how much it will.  Text that a dictionary holds once stays so, and rows are cut into pieces that
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

MOST_COLUMN_BYTES = 1 << 30
PIECE_BYTES = 64 << 20
_CELL_BYTES = 8


def open_parquet(stream: IO[bytes], source: str) -> pq.ParquetFile:
    """The file, whose text comes in dictionaries.

    Raises
    ------
    LogFormatError
        If a column of a row group is too large.
    """
    file = pq.ParquetFile(stream)
    metadata = file.metadata
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            cells = column.num_values if metadata.schema.column(place).max_repetition_level else 0
            size = max(column.total_uncompressed_size, cells * _CELL_BYTES)
            if size > MOST_COLUMN_BYTES:
                raise LogFormatError(
                    f"{source}: the column {column.path_in_schema} of row group {group + 1} unpacks to "
                    f"{size:,} bytes, more than the {MOST_COLUMN_BYTES:,} that are read at once; write the "
                    f"file with row groups of fewer than {rows:,} rows"
                )
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    return pq.ParquetFile(stream, metadata=metadata, read_dictionary=texts) if texts else file


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
