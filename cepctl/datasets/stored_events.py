"""The Parquet files of one dataset as tasks read them: row group by row group, a few columns of each.

Paths go through Arrow's filesystem layer, so that a task reads them wherever it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from cepctl.clocks.shared import Clocks
from cepctl.datasets.kinds import Kind, converted
from cepctl.datasets.marker import check_count
from cepctl.datasets.row_groups import PushedFilter, RowGroup
from cepctl.errors import EventSchemaError
from cepctl.event_table import FIXED_COLUMNS, LENGTH_COLUMNS, PMF_TYPE, time_type
from cepctl.io.contract.clock_offsets import rescaled_of_clocks
from cepctl.io.contract.rescaling import first_tick, last_tick
from cepctl.io.source.locations import Location, first_line
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import CLOCK, EARLIEST_TICK, END_PMF, END_TIME, LATEST_TICK, TICK_MAX, TICK_MIN, TimeUnit

if TYPE_CHECKING:
    from cepctl.datasets.stored import StoredDataset

KINDS = {pa.bool_(): Kind.BOOL, pa.int64(): Kind.INT, pa.float64(): Kind.FLOAT, pa.string(): Kind.STRING}
_NEVER_READ = ("source",)
_OF_ENDS = ("end_lower", "end_upper")
_FOOTERS_AT_ONCE = 16
_FORMAT = ds.ParquetFileFormat()
# Types are few: as numbers of a dictionary they are read and compared several times as fast.
FEW_VALUES = ("event_type",)
PMF = "pmf"
LEAVES = {name: tuple(f"{name}.list.element.{leaf}" for leaf in ("lo", "hi", "p")) for name in (PMF, END_PMF)}


@dataclass(frozen=True)
class StoredEvents:
    """The events of a dataset with the attributes `names`, in the units and types of `schema`.

    `only` are the numbers of the part and the row group of all that is read, None for everything.
    `own_disk`: whether the files are a copy for this run that no other machine can read.  `written`: how many
    events the files must hold, None where that is unknown.  `clocks` are those of the dataset, in its unit.
    """

    location: Location
    parts: tuple[str, ...]
    unit: TimeUnit
    schema: EventSchema
    names: tuple[str, ...]
    own_disk: bool = False
    written: int | None = None
    clocks: Clocks = field(default_factory=dict)
    only: frozenset[tuple[int, int]] | None = None

    @classmethod
    def of(
        cls, dataset: StoredDataset, schema: EventSchema, names: Sequence[str], *, own_disk: bool = False
    ) -> StoredEvents:
        """The events of a dataset; `schema` is that of all inputs of the query."""
        return cls(
            *(dataset.location, dataset.parts, dataset.time_unit, schema, tuple(names), own_disk),
            *(dataset.events, dataset.clocks),
        )

    @property
    def shipped(self) -> tuple[str, ...]:
        """Files that have to be copied to workers on other machines."""
        return self.parts if self.own_disk else ()

    def copied(self, directory: str, prefix: str) -> StoredEvents:
        """Its events in copies of the files, all in one directory, `prefix` before their names."""
        parts = tuple(f"{directory}/{prefix}{PurePosixPath(part).name}" for part in self.parts)
        return replace(self, location=Location(directory), parts=parts, own_disk=False)

    def empty(self) -> pa.Table:
        """A table without events, of the schema of all others."""
        fields = [(name, fixed_columns(self.schema)[name]) for name in self._fixed]
        attributes = [(name, self.schema.readable[name]) for name in self.names]
        return pa.schema([*fields, *attributes]).empty_table()

    def row_groups(self, source: int) -> list[RowGroup]:
        """What the footers of the files say of every row group that is read.

        Where `only` chooses some, whoever chose them has counted the events, and other files are left alone.

        Raises
        ------
        EventSchemaError
            If a file cannot be read, or all together do not hold what the ingest has written.
        """
        parts = range(len(self.parts)) if self.only is None else sorted({part for part, _ in self.only})
        with ThreadPoolExecutor(_FOOTERS_AT_ONCE) as threads:
            footers = list(threads.map(self._footer, parts))
        if self.only is None:
            check_count(self.location, sum(rows for groups in footers for rows, *_ in groups), self.written)
        return [
            RowGroup(source, part, number, *facts)
            for part, groups in zip(parts, footers, strict=True)
            for number, facts in enumerate(groups)
            if self.only is None or (part, number) in self.only
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
            if field.type == self.schema.readable[field.name]
        }
        possible = fragment.subset(row_group_ids=list(numbers))
        if (wanted := pushed(same)) is not None:
            possible = possible.subset(filter=wanted)
        yield from self._read_groups(
            part, fragment.metadata, [each.id for each in possible.row_groups], present
        )

    def _read_groups(
        self, part: int, metadata: pq.FileMetaData, numbers: Sequence[int], attributes: Sequence[str]
    ) -> Iterator[pa.Table]:
        """Some row groups of a file; a column in which a group holds only nulls is not read."""
        columns = [*self._fixed, *attributes]
        places = _places(metadata, columns)
        with ExitStack() as opened:
            with self._readable(part):
                file = pq.ParquetFile(
                    self.parts[part],
                    metadata=metadata,
                    filesystem=self._filesystem,
                    read_dictionary=FEW_VALUES,
                    pre_buffer=True,
                )
            opened.enter_context(file)
            for number in numbers:
                group = metadata.row_group(number)
                held = [name for name in columns if not _only_nulls(group, places[name])]
                with self._readable(part):
                    table = file.read_row_group(number, columns=held, use_threads=False)
                for name in self._fixed:
                    if name not in held:
                        kind = fixed_columns(self.schema)[name]
                        table = table.append_column(name, pa.nulls(len(table), kind))
                yield common_form(table, self.unit, self.schema, self.names, self.clocks)

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
        left_out = _NEVER_READ if self.schema.lasting else (*_NEVER_READ, *_OF_ENDS)
        return [name for name in fixed_columns(self.schema) if name not in left_out]

    @property
    def _filesystem(self) -> fs.FileSystem:
        return self.location.resolve()[0]

    def _footer(self, part: int) -> list[tuple[int, int, int, int]]:
        """Rows, first and last `lower`, last tick of every row group of a file."""
        with self._readable(part):
            metadata = pq.read_metadata(self.parts[part], filesystem=self._filesystem)
        found = []
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            bounds = {}
            for place in range(group.num_columns):
                column = group.column(place)
                if column.path_in_schema in ("lower", "upper", "end_upper"):
                    if column.path_in_schema == "end_upper" and _only_nulls(group, [place]):
                        continue
                    known = column.statistics is not None and column.statistics.has_min_max
                    ends = (column.statistics.min, column.statistics.max) if known else (TICK_MIN, TICK_MAX)
                    bounds[column.path_in_schema] = ends
            first, last = bounds["lower"]
            last_tick = max(bounds[name][1] for name in ("upper", "end_upper") if name in bounds)
            found.append((group.num_rows, *self._ticks(first, last, last_tick)))
        return found

    def _ticks(self, first: int, last: int, latest: int) -> tuple[int, int, int]:
        """Bounds of a row group in the common time unit."""
        edges = first_tick(np.array([first, last]), self.unit, self.schema.time_unit)
        end = int(last_tick(np.array([latest]), self.unit, self.schema.time_unit)[0])
        if self.clocks and self.unit != self.schema.time_unit:
            # Own part and offset each grow to all the ticks that they cover, less than a tick of this unit.
            end = min(end + self.unit.microseconds // self.schema.time_unit.microseconds, TICK_MAX)
        return int(edges[0]), int(edges[1]), end


def _places(metadata: pq.FileMetaData, columns: Sequence[str]) -> dict[str, list[int]]:
    """Where the columns of Parquet that make up a column stand."""
    paths: dict[str, list[int]] = {}
    for place in range(metadata.num_columns):
        paths.setdefault(metadata.schema.column(place).path, []).append(place)
    return {
        name: [place for path in LEAVES.get(name, (name,)) for place in paths.get(path, ())]
        for name in columns
    }


def _only_nulls(group: pq.RowGroupMetaData, places: Sequence[int]) -> bool:
    """Whether statistics say that a column holds nothing (a list without elements counts as nothing)."""
    for place in places:
        column = group.column(place)
        known = column.is_stats_set and column.statistics.has_null_count
        if not known or column.statistics.null_count != column.num_values:
            return False
    return bool(places)


def fixed_columns(schema: EventSchema) -> dict[str, pa.DataType]:
    """The columns that events have beside attributes: with those of clocks and ends where there are any."""
    clock = {CLOCK: pa.string()} if schema.clocks else {}
    kind = time_type(schema.time_unit)
    ends = {END_TIME: kind, **LENGTH_COLUMNS} if schema.lasting else {}
    return {**FIXED_COLUMNS, "time": kind, **ends, **clock}


def common_form(
    table: pa.Table, unit: TimeUnit, schema: EventSchema, names: Sequence[str], clocks: Clocks
) -> pa.Table:
    """Stored events in the common time unit and types: their fixed columns, then the attributes asked for.

    `clocks` are those of the dataset, in its own unit.
    """
    # Parquet names the list's elements in its own way.
    table = table.replace_schema_metadata(None)
    for name in (PMF, END_PMF):
        if name in table.column_names:
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).cast(PMF_TYPE))
    fixed = fixed_columns(schema)
    for name, kind in fixed.items():
        if name not in FIXED_COLUMNS and name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), kind))
    table = _in_resolution(rescaled_of_clocks(table, unit, schema.time_unit, clocks), unit, schema.time_unit)
    for name in names:
        target = schema.readable[name]
        if name in table.column_names:
            values = converted(table.column(name), KINDS[target])
            table = table.set_column(table.column_names.index(name), name, values)
        else:
            table = table.append_column(name, pa.nulls(len(table), target))
    return table.select(
        [*(name for name in fixed if name in table.column_names and name not in names), *names]
    )


def _in_resolution(table: pa.Table, unit: TimeUnit, common: TimeUnit) -> pa.Table:
    """Events of ticks of `unit`, counted in `common` ones, with their logged times as those are.

    Raises
    ------
    EventSchemaError
        If an event lies beyond the range of the finer ticks.
    """
    if unit.resolution == common.resolution:
        return table
    times = [name for name in ("time", END_TIME) if name in table.column_names]
    try:
        for name in times:
            values = table.column(name).cast(time_type(common))
            table = table.set_column(table.column_names.index(name), name, values)
    except pa.ArrowInvalid:
        reaches = False
    else:
        ends = [
            table.column(name)
            for name in ("lower", "upper", "end_lower", "end_upper")
            if name in table.column_names
        ]
        least, most = (pc.min_element_wise, pc.max_element_wise)
        reaches = not len(table) or (
            pc.min(least(*ends)).as_py() >= EARLIEST_TICK and pc.max(most(*ends)).as_py() <= LATEST_TICK
        )
    if not reaches:
        raise EventSchemaError(
            f"a dataset of ticks of {unit} holds events beyond what ticks of {common}, those of another one, "
            "reach: 1823-11-12 to 2116-02-20; ingest the latter again with --time-unit us"
        )
    return table
