"""Events in memory that are read like those of a dataset: sorted, in files of a few row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.row_groups import PushedFilter, RowGroup
from cepctl.engines.runners.slices import last_ticks
from tests.plans import ATTRIBUTES

IN_ORDER = [("lower", "ascending"), ("event_id", "ascending")]


@dataclass(frozen=True)
class TableSource:
    """A table as one input: `size` events to a row group, two row groups to a file."""

    table: pa.Table
    size: int = 3

    @classmethod
    def of(cls, table: pa.Table, size: int = 3) -> TableSource:
        """Sort the events as a dataset is sorted."""
        return cls(table.sort_by(IN_ORDER), size)

    def _group(self, part: int, number: int) -> pa.Table:
        return self.table.slice((2 * part + number) * self.size, self.size)

    def row_groups(self, source: int) -> list[RowGroup]:
        groups: list[RowGroup] = []
        for place in range(-(-len(self.table) // self.size)):
            part, number = divmod(place, 2)
            group = self._group(part, number)
            first, last = (f(group.column("lower")).as_py() for f in (pc.min, pc.max))
            last_tick = int(last_ticks(group).max())
            groups.append(RowGroup(source, part, number, len(group), first, last, last_tick))
        return groups

    def read(self, part: int, numbers: Sequence[int], pushed: PushedFilter) -> Iterator[pa.Table]:
        for number in numbers:
            group = self._group(part, number)
            wanted = pushed(ATTRIBUTES)
            # What Parquet may rule out must be irrelevant: it is ruled out row by row here.
            yield group if wanted is None else group.filter(wanted)

    def ids(self, part: int) -> pa.ChunkedArray:
        return self.table.slice(2 * part * self.size, 2 * self.size).column("event_id")

    def empty(self) -> pa.Table:
        return self.table.slice(0, 0)

    def copied(self, directory: str, prefix: str) -> TableSource:
        raise AssertionError("a table is in the process of the test")

    @property
    def shipped(self) -> tuple[str, ...]:
        return ()
