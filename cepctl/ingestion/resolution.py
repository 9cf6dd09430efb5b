"""Times of a chunk in the resolution of the dataset's ticks.

Readers give microseconds, and beside them the nanoseconds beyond, where there are any.  Beside ticks that
are whole microseconds the latter are cut; beside finer ones all times are counted in nanoseconds, which
reach less far.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import time_type
from cepctl.ingestion.chunks import (
    RAW_AFTER,
    RAW_BEFORE,
    RAW_END_AFTER,
    RAW_END_BEFORE,
    RAW_END_TIME,
    has_column,
)
from cepctl.ingestion.in_time import rejecting
from cepctl.io.contract.reader import END_FOLD, END_NANOS, FOLD, NANOS, ReadReport, beyond_time
from cepctl.numeric.arrays import Flags, Numbers
from cepctl.schema import EARLIEST_TICK, LATEST_TICK, TimeUnit

_NANOS_OF = {"time": NANOS, RAW_END_TIME: END_NANOS}
_REACHES = (RAW_BEFORE, RAW_AFTER, RAW_END_BEFORE, RAW_END_AFTER)
_PER_MICROSECOND = 1_000
_LAST_DIGIT = 10


def micros_and_nanos(table: pa.Table, column: str) -> tuple[Numbers, Numbers | None]:
    """Times as a reader gave them, 0 for none; the nanoseconds beyond, None where no time has any."""
    nanos = _NANOS_OF[column]
    return _numbers(table, column), _numbers(table, nanos) if has_column(table, nanos) else None


def has_nanoseconds(table: pa.Table) -> bool:
    """Whether some time of a chunk, as its reader gave it, has digits below the microsecond."""
    return any(has_column(table, name) and bool(np.any(_numbers(table, name))) for name in _NANOS_OF.values())


def cut_by(table: pa.Table, column: str, unit: TimeUnit) -> Flags:
    """The times, as their reader gave them, that have digits finer than a tick."""
    micros, nanos = micros_and_nanos(table, column)
    if unit.resolution == "us":
        finer = micros % unit.counts != 0
        return np.asarray(finer if nanos is None else finer | (nanos != 0))
    # Modulo at each step, so that 64 bits hold what stands between.
    rest = micros % unit.nanoseconds * _PER_MICROSECOND + (0 if nanos is None else nanos)
    return np.asarray(rest % unit.nanoseconds != 0)


def in_resolution(table: pa.Table, unit: TimeUnit, report: ReadReport, source: str) -> pa.Table:
    """A chunk as its readers gave it, with all times in the resolution of a tick.

    Those that 64 bits of nanoseconds do not hold are rejected, where nanoseconds are asked for.
    """
    if unit.resolution == "us":
        return table.drop_columns([name for name in _NANOS_OF.values() if has_column(table, name)])
    limit = min(LATEST_TICK, -EARLIEST_TICK) // _PER_MICROSECOND
    beyond = np.logical_or.reduce([np.abs(_numbers(table, column)) >= limit for column in _NANOS_OF])
    table = rejecting(table, pa.chunked_array([beyond]), beyond_time(unit), report, source)
    for column, finer in _NANOS_OF.items():
        micros, nanos = micros_and_nanos(table, column)
        counts = micros * _PER_MICROSECOND + (0 if nanos is None else nanos)
        missing = pc.is_null(table.column(column)).to_numpy()
        table = _with(table, column, pa.array(counts, mask=missing).cast(time_type(unit)))
        table = table if nanos is None else table.drop_columns([finer])
    for name in _REACHES:
        table = _with(table, name, pa.array(_in_nanoseconds(_numbers(table, name))))
    for name in (FOLD, END_FOLD):
        if has_column(table, name):
            table = _with(table, name, pa.array(_numbers(table, name) * _PER_MICROSECOND))
    return table


def _in_nanoseconds(reach: Numbers) -> Numbers:
    """Lengths of time; one that ends a microsecond before a unit ends a nanosecond before it."""
    most = LATEST_TICK // _PER_MICROSECOND - 1
    inside = np.clip(reach, -most, most)
    ends_before = (inside % _LAST_DIGIT == _LAST_DIGIT - 1) & (inside > 0)
    return np.asarray(inside * _PER_MICROSECOND + np.where(ends_before, _PER_MICROSECOND - 1, 0))


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, name, values)


def _numbers(table: pa.Table, column: str) -> Numbers:
    values = pc.fill_null(table.column(column).cast(pa.int64()), 0)
    return np.asarray(values.to_numpy(), dtype=np.int64)
