"""Chunks on disk: as Parquet or, for a dataset that is read once, as Arrow keeps them in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.arrow_files import SUFFIX, HeldBatches, arrow_schema_of, read_arrow, write_arrow
from cepctl.ingestion.chunks import (
    DISTINCT,
    RAW_ALONG,
    AttributeFacts,
    Chunk,
    has_column,
    has_ends,
    has_writers,
    is_zoned,
    lengths_in,
)
from cepctl.ingestion.clocks import clocks_in

ROWS_OF_GROUP = 50_000
_OF_FILE = "@"
MOST_ARROW_BYTES = 512 << 20
"""Beyond these, so many bytes of values, disks are spared and what is left is Parquet."""


def write_chunk(
    table: pa.Table,
    path: str,
    filesystem: fs.FileSystem,
    rows_of_group: int,
    whole: pa.Table,
    facts: Mapping[str, AttributeFacts],
) -> Chunk:
    """Write the sorted rows of a chunk; returns what later steps need to know of it.

    The ending of its name tells in which format.  `whole`: all events that were read, of which those that are
    not written are told as well; `facts` are those of its attributes.
    """
    if path.endswith(SUFFIX):
        write_arrow(table, path, filesystem, rows_of_group)
    else:
        _write_parquet(table, path, filesystem, rows_of_group)
    first, last = pc.min(whole.column("lower")).as_py(), pc.max(whole.column("upper")).as_py()
    return Chunk(
        *(path, len(table), facts, is_zoned(whole), has_ends(whole), first, last, clocks_in(whole)),
        *(lengths_in(whole), has_writers(whole), has_column(whole, RAW_ALONG)),
    )


def _write_parquet(table: pa.Table, path: str, filesystem: fs.FileSystem, rows_of_group: int) -> None:
    # What differs from row to row need not be looked up in a dictionary.
    repeating = [name for name in table.column_names if name not in DISTINCT]
    pq.write_table(
        table.unify_dictionaries(), path, filesystem=filesystem, compression="snappy",
        row_group_size=rows_of_group, use_dictionary=repeating,
    )  # fmt: skip


def read_chunk(
    path: str, filesystem: fs.FileSystem, names: Sequence[str] | None = None, few_values: Sequence[str] = ()
) -> pa.Table:
    """The rows of a chunk with some of its columns, None for all.

    Those of `few_values` may come as dictionaries, where that is less work.
    """
    if is_one_of_several(path):
        return _one_of_several(path, names)
    if path.endswith(SUFFIX):
        return read_arrow(path, filesystem, names)
    columns = None if names is None else list(names)
    return pq.read_table(path, columns=columns, filesystem=filesystem, read_dictionary=few_values)


def read_rows(
    path: str, filesystem: fs.FileSystem, start: int, stop: int, wanted: Callable[[str], bool]
) -> pa.Table:
    """Rows start .. stop - 1 of a chunk, with the columns that are wanted.

    Of Parquet only row groups that hold some of them are read.
    """
    if is_one_of_several(path):
        names = [name for name in _held(_place(path)[0]).schema.names if wanted(name)]
        return _alone(_one_of_several(path, names), start, stop)
    if path.endswith(SUFFIX):
        names = [name for name in arrow_schema_of(path, filesystem).names if wanted(name)]
        return _alone(read_arrow(path, filesystem, names), start, stop)
    file = pq.ParquetFile(path, filesystem=filesystem)
    groups, before, position = [], 0, 0
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if position + rows <= start:
            before += rows
        elif position < stop:
            groups.append(group)
        position += rows
    columns = [name for name in file.schema_arrow.names if wanted(name)]
    return _alone(file.read_row_groups(groups, columns=columns), start - before, stop - before)


def _alone(whole: pa.Table, start: int, stop: int) -> pa.Table:
    """Some rows: a slice keeps the memory of all that was read, of thousands of files the whole input."""
    few = 2 * (stop - start) < len(whole)
    return whole.take(np.arange(start, stop)) if few else whole.slice(start, stop - start)


def bytes_of_columns(chunk: Chunk, names: Sequence[str], filesystem: fs.FileSystem) -> int:
    """About how much memory some columns of a chunk take."""
    if chunk.path.endswith(SUFFIX):
        return int(read_chunk(chunk.path, filesystem, names).nbytes)
    footer = pq.read_metadata(chunk.path, filesystem=filesystem)
    places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    return int(sum(group.column(places[name]).total_uncompressed_size for group in groups for name in names))


def path_of_one(path: str, number: int) -> str:
    """The name of the chunk that is batch `number` of a file of Arrow with several chunks.

    Examples
    --------
    >>> path_of_one("/tmp/000012-ab.arrow", 7), is_one_of_several("/tmp/000012-ab@7.arrow")
    ('/tmp/000012-ab@7.arrow', True)
    """
    return f"{path.removesuffix(SUFFIX)}{_OF_FILE}{number}{SUFFIX}"


def is_one_of_several(path: str) -> bool:
    """Whether a chunk is one of several in a file, which belongs to all of them."""
    return _OF_FILE in path.rpartition("/")[2]


def _place(path: str) -> tuple[str, int]:
    """The file of a chunk among several, and its batch there."""
    before, _, number = path.removesuffix(SUFFIX).rpartition(_OF_FILE)
    return f"{before}{SUFFIX}", int(number)


@lru_cache(maxsize=2)
def _held(path: str) -> HeldBatches:
    """A file whose chunks are asked for one after the other."""
    return HeldBatches(path)


def _one_of_several(path: str, names: Sequence[str] | None) -> pa.Table:
    file, number = _place(path)
    return _held(file).table(number, names)
