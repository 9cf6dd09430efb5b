"""Ends that follow from lengths, and interval events that cannot end after they start.

An event with bounds of its length and no end may end from `lower + length_lower` to `upper + length_upper`.
"""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.chunks import RAW_END_TIME, has_column
from cepctl.schema import LENGTH_LOWER, LENGTH_UPPER, TICK_MAX


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
