"""From what a reader gave to what a chunk holds: units, intervals and writers of all its events at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import pyarrow as pa

from cepctl.ingestion.chunks import RAW_OFFSET
from cepctl.ingestion.in_time import ending_after_start, inside_time, with_ends_of_lengths
from cepctl.ingestion.intervals import conditions_of, with_intervals
from cepctl.ingestion.kinds_read import ReadAs
from cepctl.ingestion.spans import with_spans
from cepctl.ingestion.writer_names import Writing, with_writers
from cepctl.ingestion.written_units import KnownTimes, in_whole_units
from cepctl.io.contract.clock_offsets import rescaled_with_clocks
from cepctl.io.contract.reader import ReadReport
from cepctl.numeric.arrays import Numbers
from cepctl.schema import TimeUnit
from cepctl.uncertainty.assign import Assigned

if TYPE_CHECKING:
    from cepctl.ingestion.task import ReadTask


def interpreted(
    table: pa.Table,
    task: ReadTask,
    known: KnownTimes,
    whole: Collection[str],
    read_as: ReadAs,
    writing: Writing,
    report: ReadReport,
    last: int | None,
) -> tuple[pa.Table, Numbers, Assigned]:
    """Events with their intervals and writers, the units that their times stand for, and what assigned them.

    `known`, `whole`: what is known of the times of the file.  `last`: the time of the record before the
    first, as `in_whole_units` has it.  Raises UncertaintyModelError where a rule cannot be applied.
    """
    table, units = in_whole_units(table, known, whole, report, task.file.name, last)
    table = rescaled_with_clocks(table, task.reading.time_unit, known.unit, RAW_OFFSET)
    table = with_spans(table, known.unit)
    table, assigned = with_intervals(table, task.model, known.unit, read_as)
    return with_writers(table, writing, conditions_of(table, read_as)), units, assigned


def possible(table: pa.Table, unit: TimeUnit, report: ReadReport, source: str) -> pa.Table:
    """The events that lie within time and can end after they start; the others are rejected."""
    table = inside_time(with_ends_of_lengths(table), unit, report, source)
    return ending_after_start(table, report, source)
