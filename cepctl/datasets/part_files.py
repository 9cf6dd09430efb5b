"""The parts of a dataset whole, of Parquet or in Arrow's own format: their rows, how many, how large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.arrow_files import SUFFIX, read_arrow, rows_in_arrow
from cepctl.datasets.stored import StoredDataset
from cepctl.schema import FIXED_COLUMNS


def rows_of_part(
    part: str, columns: Sequence[str], filesystem: fs.FileSystem, wanted: pc.Expression | None
) -> pa.Table:
    """The wanted rows of a part (None: all) with some of its columns."""
    if part.endswith(SUFFIX):
        table = read_arrow(part, filesystem, columns)
        return table if wanted is None else table.filter(wanted)
    return pq.read_table(part, columns=columns, filesystem=filesystem, filters=wanted, partitioning=None)


def pieces_of_part(part: str, columns: Sequence[str], filesystem: fs.FileSystem) -> Iterator[pa.Table]:
    """The rows of a part, a row group at a time; a part in Arrow's own format, which is small, at once."""
    if part.endswith(SUFFIX):
        yield read_arrow(part, filesystem, columns)
        return
    with pq.ParquetFile(part, filesystem=filesystem) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=columns)


def events_held(dataset: StoredDataset) -> int:
    """How many events the parts of a dataset hold."""
    filesystem, _ = dataset.location.resolve()
    if dataset.in_arrow:
        return sum(rows_in_arrow(part, filesystem) for part in dataset.parts)
    return sum(pq.read_metadata(part, filesystem=filesystem).num_rows for part in dataset.parts)


def bytes_of_event(dataset: StoredDataset, attributes: Sequence[str]) -> int:
    """About how much memory one event takes as it is read: those of one row group tell."""
    filesystem, _ = dataset.location.resolve()
    columns = [*FIXED_COLUMNS, *(name for name in attributes if name in dataset.schema.names)]
    first = _first_rows(dataset.parts[len(dataset.parts) // 2], columns, filesystem)
    return -(-first.nbytes // len(first)) if first is not None and len(first) else 0


def _first_rows(part: str, columns: Sequence[str], filesystem: fs.FileSystem) -> pa.Table | None:
    if part.endswith(SUFFIX):
        return read_arrow(part, filesystem, columns, [0]) if rows_in_arrow(part, filesystem) else None
    file = pq.ParquetFile(part, filesystem=filesystem)
    return file.read_row_group(0, columns=columns) if file.num_row_groups else None
