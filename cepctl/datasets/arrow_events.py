"""A temporary dataset in Arrow's own format as tasks read it: batch by batch, a few columns of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.arrow_files import arrow_schema_of, read_arrow
from cepctl.datasets.row_groups import PushedFilter
from cepctl.datasets.stored_events import FEW_VALUES, StoredEvents, common_form


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
