"""Parquet that unpacks to far more than the file has bytes: taken in small pieces, or refused beforehand.

A page is unpacked as a whole, so a row group may take no more than MOST_GROUP_BYTES; the metadata
say how much it will, and how wide values of one width are.  Rows are cut into pieces that take no more than
PIECE_BYTES once every row has its text (`parquet_pieces.py`).  Until then a dictionary holds each text once,
but where a block of rows takes no more in any case: where texts differ from row to row, gathering them in a
dictionary is most of the work of reading a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl.errors import LogFormatError
from cepctl.io.tabular.parquet_pieces import PIECE_BYTES, is_text

MOST_GROUP_BYTES = 1 << 30
BLOCK_ROWS = 65_536
_FEWEST_ROWS_OF_GROUP = 4_096
"""Of smaller row groups, a look at the dictionaries of each costs more than it spares."""
_CELL_BYTES = 8
_FEW = 1_000
_BOUNDED = {"PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"}
"""Encodings of text in which a value takes no more than its page, or is one of a dictionary."""

_opened = partial(pq.ParquetFile, page_checksum_verification=True)
"""Pages that carry a checksum are held to it: damage could leave other values that can be read."""


def rows_of_groups(metadata: pq.FileMetaData, groups: Iterable[int]) -> int:
    """How many rows some row groups have together."""
    return sum(metadata.row_group(number).num_rows for number in groups)


def bytes_of_group(metadata: pq.FileMetaData, number: int) -> int:
    """How many bytes of the file a row group takes."""
    group = metadata.row_group(number)
    return sum(group.column(place).total_compressed_size for place in range(group.num_columns))


def open_parquet(stream: IO[bytes], source: str, groups: range | None = None) -> pq.ParquetFile:
    """The file, to be read in blocks of BLOCK_ROWS; text that may be too much for one comes in dictionaries.

    `groups` are the row groups that will be read; None for all.

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
    widest = max((_width(metadata.schema.column(place)) for place in range(metadata.num_columns)), default=0)
    read = range(metadata.num_row_groups) if groups is None else groups
    for number in read:
        group = metadata.row_group(number)
        # Of columns that are not nested nothing is asked: a damaged one would end the process.
        cells = max((group.column(place).num_values for place in nested), default=0)
        values = max(cells, min(group.num_rows, BLOCK_ROWS))
        size = max(group.total_byte_size, cells * _CELL_BYTES, values * widest)
        if size > MOST_GROUP_BYTES:
            raise LogFormatError(
                f"{source}: row group {number + 1} unpacks to {size:,} bytes, more than the "
                f"{MOST_GROUP_BYTES:,} that are read at once; {_remedy(metadata, number, size)}"
            )
    leaves = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    every = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    if not every:
        return file
    texts = [field.name for field in file.schema_arrow if is_text(field.type)]
    file = _opened(stream, metadata=metadata, read_dictionary=every)
    small = _small_texts(file, texts, read) if texts else frozenset[str]()
    if not small:
        return file
    others = [name for name in every if name not in small]
    return _opened(stream, metadata=metadata, read_dictionary=others)


def _width(leaf: pq.ColumnSchema) -> int:
    """How many bytes each value takes of a column whose values are all of one width; 0 for any other."""
    return leaf.length if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0


def _small_texts(file: pq.ParquetFile, texts: Sequence[str], numbers: range) -> frozenset[str]:
    """The columns of text of which any block of rows takes, all together, no more than PIECE_BYTES.

    Those of few values are left as they are, with dictionaries.

    A value is one of the dictionary of its row group, no longer than the longest of them, or takes its room
    in the pages of that group.
    """
    metadata = file.metadata
    places = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    if (
        rows_of_groups(metadata, numbers) < _FEWEST_ROWS_OF_GROUP * len(numbers)
        or len(places) < metadata.num_columns
    ):
        return frozenset()
    try:
        found = [_dictionaries(file, number, texts) for number in numbers]
    except (pa.ArrowException, OSError):
        return frozenset()  # reading will say what is wrong
    longest = [[each.longest for each in group] for group in found]
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
    return frozenset(smallest[:fit]) - _of_few_values(groups, found, {name: places[name] for name in texts})


def _of_few_values(
    groups: Sequence[pq.RowGroupMetaData], found: Sequence[Sequence[_Dictionary]], places: Mapping[str, int]
) -> set[str]:
    """The columns of text whose dictionaries hold few values; `places` are those of columns in the file."""
    return {
        name
        for place, (name, column) in enumerate(places.items())
        if all(group.column(column).has_dictionary_page for group in groups)
        and all(group[place].values <= _FEW for group in found)
    }


class _Dictionary(NamedTuple):
    """How many values the dictionary of a column has in a row group, and the length of the longest."""

    values: int
    longest: int


def _dictionaries(file: pq.ParquetFile, number: int, texts: Sequence[str]) -> list[_Dictionary]:
    """The dictionary of each column of a row group."""
    first = next(file.iter_batches(1, row_groups=[number], columns=texts, use_threads=False), None)
    if first is None:
        return [_Dictionary(0, 0)] * len(texts)
    held = [column.dictionary for column in first.columns]
    return [_Dictionary(len(each), pc.max(pc.binary_length(each)).as_py() or 0) for each in held]


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
