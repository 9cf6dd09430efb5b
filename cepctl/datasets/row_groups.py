"""Row groups of stored events: what their statistics tell, and what reads them.

Datasets are sorted by `lower`, so the statistics of a row group say which stretch of time it holds;
a task reads only the row groups whose events can matter to its slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Flags, Indexes, Ticks

PushedFilter: TypeAlias = Callable[[Mapping[str, pa.DataType]], pc.Expression | None]
"""From the types of a file's columns, what of a filter Parquet may apply."""


class RowGroup(NamedTuple):
    """What is known of a row group without reading it.

    `source` numbers the inputs, `part` the files of an input, `number` the row groups of a file; it holds
    `rows` events.  `first_lower`, `last_lower` are the extremes of `lower` in it, `last_tick` the largest
    `upper` or end, in ticks.
    """

    source: int
    part: int
    number: int
    rows: int
    first_lower: int
    last_lower: int
    last_tick: int


@dataclass(frozen=True)
class RowGroups:
    """n row groups in the order in which their events begin; fields of `RowGroup` as columns, shape (n,)."""

    source: Indexes
    part: Indexes
    number: Indexes
    rows: Indexes
    first_lower: Ticks
    last_lower: Ticks
    last_tick: Ticks

    @classmethod
    def of(cls, groups: Iterable[RowGroup]) -> RowGroups:
        """Those that hold events.

        Examples
        --------
        >>> later = RowGroup(0, 0, 1, rows=10, first_lower=5, last_lower=9, last_tick=12)
        >>> RowGroups.of([later, RowGroup(0, 0, 0, 10, 0, 4, 6)]).first_lower.tolist()
        [0, 5]
        """
        holding = [each for each in groups if each.rows]
        table = np.array(holding, dtype=np.int64).reshape(-1, len(RowGroup._fields))
        columns = dict(zip(RowGroup._fields, table.T, strict=True))
        order = np.lexsort([columns[name] for name in ("number", "part", "source", "first_lower")])
        return cls(**{name: column[order] for name, column in columns.items()})

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, chosen: Flags) -> RowGroups:
        """Some of them, in the same order."""
        return RowGroups(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def files(self) -> Iterator[tuple[int, int, list[int]]]:
        """Source, part and numbers of the row groups, one entry for each file."""
        by_file: dict[tuple[int, int], list[int]] = {}
        for source, part, number in zip(
            self.source.tolist(), self.part.tolist(), self.number.tolist(), strict=True
        ):
            by_file.setdefault((source, part), []).append(number)
        yield from ((source, part, sorted(numbers)) for (source, part), numbers in by_file.items())

    def pieces(self, most: int) -> Iterator[tuple[int, int, list[int]]]:
        """The `files`, at most this many row groups in one entry.

        Examples
        --------
        >>> list(RowGroups.of(RowGroup(0, 0, i, 10, i, i, i) for i in range(3)).pieces(2))
        [(0, 0, [0, 1]), (0, 0, [2])]
        """
        for source, part, numbers in self.files():
            for start in range(0, len(numbers), most):
                yield source, part, numbers[start : start + most]


class EventSource(Protocol):
    """Stored events of one input; picklable, so that a task on another machine can read them.

    Tables are in the units and types that all inputs share, with the columns that a plan reads.
    """

    def row_groups(self, source: int) -> Sequence[RowGroup]:
        """All row groups of the input, which is number `source`."""

    def read(self, part: int, numbers: Sequence[int], pushed: PushedFilter) -> Iterator[pa.Table]:
        """The events of some row groups that may pass a filter, one table for each."""

    def ids(self, part: int) -> pa.ChunkedArray:
        """The ids of all events of a file."""

    def empty(self) -> pa.Table:
        """A table without events."""

    def copied(self, directory: str, prefix: str) -> EventSource:
        """Its events in copies of the files, all in one directory, `prefix` before their names."""

    @property
    def shipped(self) -> tuple[str, ...]:
        """Files that only this machine can read, and that have to be copied to the workers."""


def row_groups(sources: Sequence[EventSource]) -> RowGroups:
    """The row groups of all inputs, in the order in which their events begin."""
    return RowGroups.of(group for number, each in enumerate(sources) for group in each.row_groups(number))
