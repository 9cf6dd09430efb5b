"""What many lines of a log tell, in columns, as a batch of raw events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.batches import column_name
from cepctl.io.contract.local_instants import Instants, whole_units
from cepctl.io.contract.reader import FOLD, GRAIN, NANOS, NO_ZONE, TWICE, ReadOptions, ReadReport
from cepctl.io.contract.shaped_times import ShapedTimes
from cepctl.io.source.line_blocks import Layout
from cepctl.numeric.arrays import Flags, Numbers


@dataclass(frozen=True)
class LineColumns:
    """What lines tell, one entry for each.

    Attributes
    ----------
    event_type
        Text.
    times
        As they are written; lines whose time is not read, or is no instant, are left to be read one by one.
    instants
        The instants that these are.
    attributes
        Those that every event has, null for no value.
    rare
        Those that only events with a value have.
    note
        What the report says of each of these lines; empty for nothing.
    """

    event_type: pa.Array
    times: ShapedTimes
    instants: Instants
    attributes: Mapping[str, pa.Array]
    rare: Mapping[str, pa.Array] = field(default_factory=dict)
    note: str = ""

    @property
    def usable(self) -> Flags:
        """The lines that have an instant."""
        return np.asarray(self.times.read & (self.instants.problems == ""))

    def where(self, rows: Flags) -> LineColumns:
        """Some of them."""
        if rows.all():
            return self
        kept = pa.array(rows)
        return LineColumns(
            self.event_type.filter(kept),
            self.times.where(rows),
            self.instants.where(rows),
            {name: values.filter(kept) for name, values in self.attributes.items()},
            {name: values.filter(kept) for name, values in self.rare.items()},
            self.note,
        )

    def columns(self) -> dict[str, pa.Array]:
        """All attributes of which there is something to tell, by their names."""
        said = {
            name: values if values.null_count < len(values) else pa.nulls(len(values))
            for name, values in self.attributes.items()
        }
        return said | {name: each for name, each in self.rare.items() if each.null_count < len(each)}


LineLayout = Layout[LineColumns]


def raw_columns(
    numbers: Numbers, line_columns: LineColumns, options: ReadOptions, report: ReadReport
) -> pa.RecordBatch:
    """Lines with these numbers, all of which have an instant, as raw events."""
    report.records += len(numbers)
    times, instants, zeros = line_columns.times, line_columns.instants, np.zeros(len(numbers), np.int64)
    unzoned = int((~times.zoned).sum())
    for note, count in (
        (line_columns.note, len(numbers) if line_columns.note else 0),
        (NO_ZONE, unzoned if options.time_zone is None else 0),
        (TWICE, int((~times.zoned & (instants.fold > 0)).sum())),
    ):
        if count:
            report.notes[note] += count
    units = whole_units(times.precision)
    exact_units = options.exact_times and pc.any(pc.not_equal(units, 0)).as_py()
    columns = {
        "number": pa.array(numbers),
        "event_id": pa.nulls(len(numbers), pa.string()),
        "event_type": line_columns.event_type,
        "time": pa.array(instants.micros).cast(TIME_TYPE),
        "zone_seconds": pa.array(instants.zone_seconds).cast(pa.int32()),
        "before": pa.array(zeros),
        "after": pa.array(zeros if options.exact_times else times.precision - 1),
        **({} if exact_units else {GRAIN: units}),
        **({NANOS: pa.array(times.nanos)} if times.nanos.any() else {}),
        **({FOLD: pa.array(instants.fold)} if instants.fold.any() else {}),
    }
    columns |= {column_name(name): values for name, values in line_columns.columns().items()}
    return pa.RecordBatch.from_pydict(columns)


def in_order(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The events of all batches by their numbers; an attribute is of one type wherever it has a value."""
    if len(batches) == 1:
        return batches[0]
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    if any(GRAIN not in batch.schema.names for batch in batches) and GRAIN in table.column_names:
        table = table.drop_columns([GRAIN])
    for name in (NANOS, FOLD):
        if name in table.column_names:
            known = pc.fill_null(table.column(name), 0)
            table = table.set_column(table.column_names.index(name), name, known)
    return table.sort_by("number").combine_chunks().to_batches()[0]
