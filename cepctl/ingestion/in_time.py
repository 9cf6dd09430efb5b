"""Events of a chunk that have a place in time; the others are rejected."""

from __future__ import annotations

import functools
import json

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.chunks import is_attribute
from cepctl.ingestion.clocks import brings_clocks, own_parts
from cepctl.ingestion.lengths import ends_too_early
from cepctl.io.contract.reader import NO_TIME, ReadReport, Reject, beyond_time
from cepctl.schema import EARLIEST_TICK, LATEST_TICK, TimeUnit

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
