"""Events of a chunk that have a place in time; the others are rejected.

Ends that follow from lengths, and interval events that cannot end after they start.

An event with bounds of its length and no end may end from `lower + length_lower` to `upper + length_upper`.
"""

from __future__ import annotations

import functools
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.chunks import RAW_END_TIME, has_column, is_attribute
from cepctl.ingestion.clocks import brings_clocks, own_parts
from cepctl.io.contract.reader import NO_TIME, ReadReport, Reject, beyond_time
from cepctl.schema import EARLIEST_TICK, LATEST_TICK, LENGTH_LOWER, LENGTH_UPPER, TICK_MAX, TimeUnit

ENDS_FIRST = "ends before its start"
_SHOWN_OF_REJECTS = ("event_id", "event_type")


def with_times(table: pa.Table, report: ReadReport, source: str) -> pa.Table:
    """Events that have a time or an interval; the others are rejected."""
    usable = pc.or_(pc.is_valid(table.column("time")), pc.is_valid(table.column("lower")))
    return rejecting(table, pc.invert(usable), NO_TIME, report, source)


def inside_time(table: pa.Table, unit: TimeUnit, report: ReadReport, source: str) -> pa.Table:
    """Events whose intervals lie within the ends of time; the others are rejected."""
    beyond = [
        compare(table.column(name), limit)
        for compare, names, limit in (
            (pc.less, ("lower", "end_lower"), EARLIEST_TICK),
            (pc.greater, ("upper", "end_upper"), LATEST_TICK),
        )
        for name in names
    ]
    bad = pc.fill_null(functools.reduce(pc.or_kleene, beyond), False)
    return rejecting(table, bad, beyond_time(unit), report, source)


def ending_after_start(table: pa.Table, report: ReadReport, source: str) -> pa.Table:
    """Interval events that can end after they start, and events that do not last; the others are rejected.

    One clock stamps both ends of an event, so its offset does not bring them into order: own parts tell.
    """
    if table.column("end_lower").null_count == len(table):
        return table
    own = own_parts(table) if brings_clocks(table) else table
    return rejecting(table, pc.fill_null(ends_too_early(own), False), ENDS_FIRST, report, source)


def rejecting(table: pa.Table, bad: pa.ChunkedArray, cause: str, report: ReadReport, source: str) -> pa.Table:
    """The events of a chunk that are not bad; the others are rejected by a cause."""
    if not pc.any(bad).as_py():
        return table
    known = [name for name in table.column_names if name in _SHOWN_OF_REJECTS or is_attribute(name)]
    for row in table.filter(bad).select(known).to_pylist():
        values = {name: value for name, value in row.items() if value is not None}
        report.rejects.append(Reject(source, None, cause, json.dumps(values, ensure_ascii=False)))
    return table.filter(pc.invert(bad))


def with_ends_of_lengths(table: pa.Table) -> pa.Table:
    """Fill `end_lower` and `end_upper` of events that have a length, and no end."""
    if not has_column(table, LENGTH_UPPER):
        return table
    open_ended = pc.and_(pc.is_null(table.column("end_lower")), pc.is_null(table.column(RAW_END_TIME)))
    filled = pc.and_(open_ended, pc.is_valid(table.column(LENGTH_UPPER)))
    for end, start, length in (
        ("end_lower", "lower", shortest(table)),
        ("end_upper", "upper", table.column(LENGTH_UPPER)),
    ):
        own = table.column(end)
        values = pc.if_else(filled, pc.add(table.column(start), length), own)
        table = table.set_column(table.column_names.index(end), table.schema.field(end), values)
    return table


def ends_too_early(table: pa.Table) -> pa.ChunkedArray:
    """Interval events whose start, end and length contradict each other whatever the ticks."""
    latest = pc.subtract(table.column("end_upper"), table.column("lower"))
    earliest = pc.subtract(table.column("end_lower"), table.column("upper"))
    least = shortest(table)
    most = _column(table, LENGTH_UPPER, TICK_MAX)
    wrong = (pc.less(latest, least), pc.greater(earliest, most), pc.less(most, least))
    return pc.and_(pc.is_valid(table.column("end_lower")), functools.reduce(pc.or_, wrong))


def shortest(table: pa.Table) -> pa.ChunkedArray:
    """The least length of every event, 0 where nothing is said."""
    return pc.max_element_wise(_column(table, LENGTH_LOWER, 0), pa.scalar(0, pa.int64()))


def _column(table: pa.Table, name: str, missing: int) -> pa.ChunkedArray:
    if not has_column(table, name):
        return pa.chunked_array([pa.array(np.full(len(table), missing, np.int64))])
    return pc.fill_null(table.column(name), missing)
