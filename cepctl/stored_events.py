"""The Parquet files of one dataset as tasks read them: row group by row group, a few columns of each.

Paths go through Arrow's filesystem layer, so that a task reads them wherever it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.engines.row_groups import GroupFacts, PushedFilter
from cepctl.errors import EventSchemaError
from cepctl.ingest.kinds import Kind, converted
from cepctl.ingest.stored import StoredDataset
from cepctl.io.locations import Location, first_line
from cepctl.io.rescaling import first_tick, last_tick, rescaled
from cepctl.plan.plan import EventSchema
from cepctl.schema import FIXED_COLUMNS, PMF_TYPE, TICK_MAX, TICK_MIN, TimeUnit

KINDS = {pa.bool_(): Kind.BOOL, pa.int64(): Kind.INT, pa.float64(): Kind.FLOAT, pa.string(): Kind.STRING}
_NEVER_READ = ("source", "end_lower", "end_upper")
_FOOTERS_AT_ONCE = 16
# Types are few: as numbers of a dictionary they are read and compared several times as fast.
_FORMAT = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(dictionary_columns={"event_type"}))


@dataclass(frozen=True)
class StoredEvents:
    """The events of a dataset with the attributes `names`, in the units and types of `schema`.

    `own_disk`: whether the files are a copy for this run that no other machine can read.
    """

    location: Location
    parts: tuple[str, ...]
    unit: TimeUnit
    schema: EventSchema
    names: tuple[str, ...]
    own_disk: bool = False

    @classmethod
    def of(
        cls, dataset: StoredDataset, schema: EventSchema, names: Sequence[str], *, own_disk: bool = False
    ) -> StoredEvents:
        """The events of a dataset; `schema` is that of all inputs of the query."""
        return cls(dataset.location, dataset.parts, dataset.time_unit, schema, tuple(names), own_disk)

    @property
    def shipped(self) -> tuple[str, ...]:
        """Files that have to be copied to workers on other machines."""
        return self.parts if self.own_disk else ()

    def copied(self, directory: str, prefix: str) -> StoredEvents:
        """The same events in copies of the files, all in one directory, `prefix` before their names."""
        parts = tuple(f"{directory}/{prefix}{PurePosixPath(part).name}" for part in self.parts)
        return replace(self, location=Location(directory), parts=parts, own_disk=False)

    def empty(self) -> pa.Table:
        """A table without events, of the schema of all others."""
        fields = [(name, FIXED_COLUMNS[name]) for name in self._fixed]
        attributes = [(name, self.schema.attributes[name]) for name in self.names]
        return pa.schema([*fields, *attributes]).empty_table()

    def row_groups(self, source: int) -> list[GroupFacts]:
        """What the footers of the files say of every row group."""
        with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as threads:
            footers = list(threads.map(self._footer, range(len(self.parts))))
        return [
            (source, part, number, *facts)
            for part, groups in enumerate(footers)
            for number, facts in enumerate(groups)
        ]

    def read(self, part: int, numbers: Sequence[int], pushed: PushedFilter) -> Iterator[pa.Table]:
        """The events of some row groups that may pass a filter, one table for each."""
        with self._readable(part):
            fragment = _FORMAT.make_fragment(self.parts[part], self._filesystem)
            fragment.ensure_complete_metadata()
        stored = fragment.physical_schema
        present = [name for name in self.names if stored.get_field_index(name) >= 0]
        same = {
            field.name: field.type
            for field in map(stored.field, present)
            if field.type == self.schema.attributes[field.name]
        }
        possible = fragment.subset(row_group_ids=list(numbers))
        if (wanted := pushed(same)) is not None:
            possible = possible.subset(filter=wanted)
        for group in possible.row_groups:
            one = fragment.subset(row_group_ids=[group.id])
            with self._readable(part):
                table = one.to_table(columns=[*self._fixed, *present], use_threads=False)
            yield common_form(table, self.unit, self.schema, self.names)

    def ids(self, part: int) -> pa.ChunkedArray:
        """The ids of all events of a file."""
        with self._readable(part):
            table = pq.read_table(
                self.parts[part], columns=["event_id"], filesystem=self._filesystem, partitioning=None
            )
        return table.column("event_id")

    @contextmanager
    def _readable(self, part: int) -> Iterator[None]:
        """Say which file cannot be read, and what to do."""
        try:
            yield
        except (OSError, pa.ArrowInvalid) as problem:
            raise EventSchemaError(
                f"cannot read {self.parts[part]}: {first_line(problem)}; the dataset is not whole, ingest it "
                "again (on a cluster: to a path that all workers reach)"
            ) from problem

    @property
    def _fixed(self) -> list[str]:
        return [name for name in FIXED_COLUMNS if name not in _NEVER_READ]

    @property
    def _filesystem(self) -> fs.FileSystem:
        return self.location.resolve()[0]

    def _footer(self, part: int) -> list[tuple[int, int, int, int]]:
        """Rows, first and last `lower`, last `upper` of every row group of a file."""
        with self._readable(part):
            metadata = pq.read_metadata(self.parts[part], filesystem=self._filesystem)
        found = []
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            bounds = {}
            for place in range(group.num_columns):
                column = group.column(place)
                if column.path_in_schema in ("lower", "upper"):
                    known = column.statistics is not None and column.statistics.has_min_max
                    ends = (column.statistics.min, column.statistics.max) if known else (TICK_MIN, TICK_MAX)
                    bounds[column.path_in_schema] = ends
            first, last = bounds["lower"]
            found.append((group.num_rows, *self._ticks(first, last, bounds["upper"][1])))
        return found

    def _ticks(self, first: int, last: int, last_upper: int) -> tuple[int, int, int]:
        """Bounds of a row group in the common time unit."""
        edges = first_tick(np.array([first, last]), self.unit, self.schema.time_unit)
        end = last_tick(np.array([last_upper]), self.unit, self.schema.time_unit)
        return int(edges[0]), int(edges[1]), int(end[0])


def common_form(table: pa.Table, unit: TimeUnit, schema: EventSchema, names: Sequence[str]) -> pa.Table:
    """Stored events in the common time unit and types: their fixed columns, then the attributes asked for."""
    # Parquet names the list's elements in its own way.
    table = table.replace_schema_metadata(None)
    table = table.set_column(table.column_names.index("pmf"), "pmf", table.column("pmf").cast(PMF_TYPE))
    table = rescaled(table, unit, schema.time_unit)
    for name in names:
        target = schema.attributes[name]
        if name in table.column_names:
            values = converted(table.column(name), KINDS[target])
            table = table.set_column(table.column_names.index(name), name, values)
        else:
            table = table.append_column(name, pa.nulls(len(table), target))
    return table.select([*(name for name in FIXED_COLUMNS if name in table.column_names), *names])
