"""The parts of a dataset whole, of Parquet or in Arrow's own format: their rows, how many, how large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.datasets.arrow_files import SUFFIX, arrow_schema_of, read_arrow, rows_in_arrow
from cepctl.datasets.row_groups import PushedFilter
from cepctl.datasets.stored import StoredDataset
from cepctl.datasets.stored_events import FEW_VALUES, StoredEvents, common_form
from cepctl.event_table import FIXED_COLUMNS


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
    present = [name for name in attributes if name in dataset.schema.names]
    columns = list(dict.fromkeys([*FIXED_COLUMNS, *present]))
    first = _first_rows(dataset.parts[len(dataset.parts) // 2], columns, filesystem)
    return -(-first.nbytes // len(first)) if first is not None and len(first) else 0


def _first_rows(part: str, columns: Sequence[str], filesystem: fs.FileSystem) -> pa.Table | None:
    if part.endswith(SUFFIX):
        return read_arrow(part, filesystem, columns, [0]) if rows_in_arrow(part, filesystem) else None
    file = pq.ParquetFile(part, filesystem=filesystem)
    return file.read_row_group(0, columns=columns) if file.num_row_groups else None


@dataclass(frozen=True)
class ArrowEvents(StoredEvents):
    """As `StoredEvents`, of files that `arrow_files` has written; batches are its row groups."""

    def read(self, part: int, numbers: Sequence[int], pushed: PushedFilter) -> Iterator[pa.Table]:
        """The events of some batches, one table for each; nothing is known that could leave some out."""
        path = self.parts[part]
        with self._readable(part):
            stored = set(arrow_schema_of(path, self._filesystem).names)
        names = [name for name in (*self._fixed, *self.names) if name in stored]
        for number in numbers:
            with self._readable(part):
                table = read_arrow(path, self._filesystem, names, [number])
            for name in FEW_VALUES:
                place = table.column_names.index(name)
                table = table.set_column(place, name, table.column(name).dictionary_encode())
            yield common_form(table, self.unit, self.schema, self.names, self.clocks)

    def ids(self, part: int) -> pa.ChunkedArray:
        """The ids of all events of a file."""
        with self._readable(part):
            return read_arrow(self.parts[part], self._filesystem, ["event_id"]).column("event_id")

    def _footer(self, part: int) -> list[tuple[int, int, int, int]]:
        """Rows, first and last `lower`, last tick of every batch of a file."""
        with self._readable(part):
            table = read_arrow(self.parts[part], self._filesystem, ["lower", "upper", "end_upper"])
        found = []
        for batch in table.to_batches():
            bounds = pc.min_max(batch.column("lower")).as_py()
            ends = [pc.max(batch.column(name)).as_py() for name in ("upper", "end_upper")]
            latest = max(each for each in ends if each is not None)
            found.append((len(batch), *self._ticks(bounds["min"], bounds["max"], latest)))
        return found
