"""Intervals, masses and clocks of the events of a chunk: by the model, else by what the reader promises."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import UncertaintyModelError
from cepctl.ingestion.chunks import (
    RAW_AFTER,
    RAW_BEFORE,
    RAW_END_TIME,
    RAW_END_ZONE,
    RAW_ZONE,
    has_column,
)
from cepctl.ingestion.clocks import brings_clocks, brought_clocks, own_parts, with_clocks
from cepctl.ingestion.ends import with_ends
from cepctl.ingestion.kinds_read import ReadAs, column_as
from cepctl.ingestion.resolution import has_nanoseconds
from cepctl.io.contract.reader import END_SPAN, FOLD, SPAN
from cepctl.numeric.arrays import Numbers
from cepctl.schema import RECORD, SOURCE, TimeUnit
from cepctl.uncertainty.assign import DAY, Assigned, RawTimes, assign
from cepctl.uncertainty.model import UncertaintyModel
from cepctl.uncertainty.shapes import Granularity

_DAY = int(DAY.microseconds)


def at_local_midnight(table: pa.Table) -> bool:
    """Whether all events begin and end at midnight by their own clocks, as in logs that know only the day.

    Where a file says of some event how uncertain it is, the others are not.
    """
    if has_column(table, SPAN) or has_column(table, END_SPAN):
        return False
    ends = table.filter(pc.is_valid(table.column(RAW_END_TIME)))
    return not has_nanoseconds(table) and all(
        bool(np.all((_instants(rows, time) + 1_000_000 * rows.column(zone).to_numpy()) % _DAY == 0))
        for rows, time, zone in ((table, "time", RAW_ZONE), (ends, RAW_END_TIME, RAW_END_ZONE))
    )


def _instants(table: pa.Table, column: str) -> Numbers:
    times = pc.fill_null(table.column(column).cast(pa.int64()), 0)
    return np.asarray(times.to_numpy(), dtype=np.int64)


def with_intervals(
    table: pa.Table,
    model: UncertaintyModel,
    unit: TimeUnit,
    read_as: ReadAs,
    default: Granularity | None = None,
) -> tuple[pa.Table, Assigned]:
    """Fill the intervals of starts and ends, pmf and clocks by the model, else by the reader's defaults.

    `table`: events as a reader gives them, renamed; lower and upper are null where only a time is known.
    `model`, `unit`: what the user says of the clocks, and the time unit of the dataset.  `read_as`: the kinds
    of the attributes that the rules read.  `default`: what holds for events that no rule fits; None for what
    the reader promised of each.

    Raises
    ------
    UncertaintyModelError
        If a rule cannot be applied to an event that it fits.
    """
    has_clocks = brings_clocks(table, model.rules)
    if has_clocks:
        table = own_parts(table)
    lower, upper = (pc.fill_null(table.column(name), 0).to_numpy() for name in ("lower", "upper"))
    times = RawTimes(
        instants=_instants(table, "time"),
        known=pc.is_valid(table.column("time")).to_numpy(),
        zone_seconds=table.column(RAW_ZONE).to_numpy(),
        before=table.column(RAW_BEFORE).to_numpy(),
        after=table.column(RAW_AFTER).to_numpy(),
        lower=lower,
        upper=upper,
        given=pc.is_valid(table.column("lower")).to_numpy(),
        pmf=table.column("pmf").combine_chunks(),
        clocks=brought_clocks(table) if has_clocks else None,
        fold=pc.fill_null(table.column(FOLD), 0).to_numpy() if has_column(table, FOLD) else None,
    )
    try:
        conditions = conditions_of(table, read_as)
        assigned = assign(times, conditions, model.rules, unit, default)
        table = with_ends(table, conditions, model.rules, unit, default)
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"{model.file}: {problem}") from problem
    for name, values in (("lower", assigned.lower), ("upper", assigned.upper), ("pmf", assigned.pmf)):
        table = table.set_column(table.column_names.index(name), table.schema.field(name), pa.array(values))
    return table if assigned.clocks is None else with_clocks(table, assigned.clocks), assigned


def conditions_of(table: pa.Table, read_as: ReadAs) -> dict[str, pa.ChunkedArray]:
    """The columns that rules read."""
    fixed = {name: table.column(name) for name in ("event_id", "event_type", SOURCE, RECORD)}
    return fixed | {name: column_as(table, name, kind) for name, kind in read_as.items()}
