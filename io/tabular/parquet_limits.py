"""Parquet that unpacks to far more than the file has bytes: taken in small pieces, or refused beforehand.

A page is unpacked as a whole, so a row group may take no more than MOST_GROUP_BYTES; the metadata
say how much it will.  Rows are cut into pieces that take no more than PIECE_BYTES once every row has its
text.  Until then a dictionary holds each text once, but where a block of rows takes no more in any case:
where texts differ from row to row, gathering them in a dictionary is most of the work of reading a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl.errors import LogFormatError

MOST_GROUP_BYTES = 1 << 30
PIECE_BYTES = 64 << 20
BLOCK_ROWS = 65_536
_FEWEST_ROWS_OF_GROUP = 4_096
"""Of smaller row groups, a look at the dictionaries of each costs more than it spares."""
_CELL_BYTES = 8
_BOUNDED = {"PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"}
"""Encodings of text in which a value takes no more than its page, or is one of a dictionary."""

_opened = partial(pq.ParquetFile, page_checksum_verification=True)
"""Pages that carry a checksum are held to it: damage could leave other values that can be read."""


def open_parquet(stream: IO[bytes], source: str) -> pq.ParquetFile:
    """The file, to be read in blocks of BLOCK_ROWS; text that may be too much for one comes in dictionaries.

    Raises
    ------
    LogFormatError
        If a row group is too large.
    """
    file = _opened(stream)
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
    if not texts:
        return file
    file = _opened(stream, metadata=metadata, read_dictionary=texts)
    small = _small_texts(file, texts)
    if not small:
        return file
    others = [name for name in texts if name not in small]
    return _opened(stream, metadata=metadata, read_dictionary=others)


def _small_texts(file: pq.ParquetFile, texts: Sequence[str]) -> set[str]:
    """The columns of text of which any block of rows takes, all together, no more than PIECE_BYTES.

    A value is one of the dictionary of its row group, no longer than the longest of them, or takes its room
    in the pages of that group.
    """
    metadata = file.metadata
    numbers = range(metadata.num_row_groups)
    places = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    if metadata.num_rows < _FEWEST_ROWS_OF_GROUP * len(numbers) or len(places) < metadata.num_columns:
        return set()
    try:
        longest = [_longest_in_dictionaries(file, number, texts) for number in numbers]
    except (pa.ArrowException, OSError):
        return set()  # reading will say what is wrong
    groups = [metadata.row_group(number) for number in numbers]
    rows = np.array([group.num_rows for group in groups], np.float64)
    begins = np.cumsum(rows) - rows
    beyond = np.searchsorted(begins, begins + rows + (BLOCK_ROWS - 1))
    needed = {}
    for place, name in enumerate(texts):
        # Reading the first row of each has shown that they may be asked.
        columns = [group.column(places[name]) for group in groups]
        if all(_BOUNDED.issuperset(column.encodings) for column in columns):
            pages = np.cumsum([0.0, *(column.total_uncompressed_size for column in columns)])
            in_dictionaries = BLOCK_ROWS * max((group[place] for group in longest), default=0)
            needed[name] = in_dictionaries + max(pages[beyond] - pages[:-1], default=0)
    smallest = sorted(needed, key=needed.__getitem__)
    fit = np.searchsorted(np.cumsum([needed[name] for name in smallest]), PIECE_BYTES, "right")
    return set(smallest[:fit])


def _longest_in_dictionaries(file: pq.ParquetFile, number: int, texts: Sequence[str]) -> list[int]:
    """The length of the longest text in the dictionary of each column of a row group."""
    first = next(file.iter_batches(1, row_groups=[number], columns=texts, use_threads=False), None)
    if first is None:
        return [0] * len(texts)
    return [pc.max(pc.binary_length(column.dictionary)).as_py() or 0 for column in first.columns]


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
    block = {name: _in_one_form(column) for name, column in columns.items()}
    sizes = np.zeros(len(next(iter(block.values()), ())), np.int64)
    for column in block.values():
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
        elif _is_text(column.type):
            lengths = pc.binary_length(column)
        else:
            continue
        sizes += pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    number = (np.cumsum(sizes) - sizes) // PIECE_BYTES
    begins = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist()]
    for begin, end in zip(begins, [*begins[1:], len(sizes)], strict=True):
        yield {name: _decoded(column.slice(begin, end - begin)) for name, column in block.items()}


def _in_one_form(column: pa.Array) -> pa.Array:
    """Text in the types in which dictionaries have it, too."""
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column.cast(pa.binary()) if pa.types.is_large_binary(column.type) else column


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )
