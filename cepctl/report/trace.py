"""Matches as a trace for Perfetto and chrome://tracing.

Each match is a process, named by its ids and its confidence; its first thread shows the range of the
match, each further thread one event: its uncertainty interval, nested in it the part that the event can
use, and the raw time as an instant.

Format: "Trace Event Format" (Duffy and others, Google, 2016), JSON object format: complete events (X) and
instants (i) with times in microseconds, metadata events (M) for names and order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import UsageError
from cepctl.io.rows.encoding import presented
from cepctl.plan.plan import CONFIDENCE_ERROR
from cepctl.report.matched_events import MatchedEvents
from cepctl.report.records import EventRecord, Plain, event_records, plain, variables
from cepctl.schema import TICK_MAX, TICK_MIN, TimeUnit, tick_text

_NANOSECONDS = 1_000  # per microsecond: viewers hold times as 64-bit nanoseconds
_MATCHES_AT_ONCE = 1_000

TraceEvent = dict[str, Any]
Lane = tuple[int, int]
"""Number of a match and of a lane in it, both from 1: `pid` and `tid` of the trace."""


def trace_pieces(found: MatchedEvents) -> Iterator[bytes]:
    """The trace as bytes, piece by piece.

    Raises
    ------
    UsageError
        If an event lies beyond what a trace viewer can hold.
    """
    _require_range(found)
    yield b'{"displayTimeUnit":"ms","traceEvents":['
    events, lanes = event_records(found), variables(found.plan)
    for first in range(0, found.matches.num_rows, _MATCHES_AT_ONCE):
        rows = found.matches.slice(first, _MATCHES_AT_ONCE)
        for number, row in enumerate(_plain_rows(rows, found.plan.time_unit), first):
            names = lanes[found.valid.alternatives[number]]
            drawn = _match(found, number, row, events, names)
            text = ",\n".join(json.dumps(each, separators=(",", ":")) for each in drawn)
            yield f"{',' if number else ''}\n{text}".encode()
    yield b"\n]}\n"


def _require_range(found: MatchedEvents) -> None:
    length = found.plan.time_unit.microseconds * _NANOSECONDS
    ticks = [pc.min(found.events.column("lower")).as_py(), pc.max(found.events.column("upper")).as_py()]
    for tick in (*ticks, *(bar.end_upper for bar in found.bars.values())):
        if tick is not None and not TICK_MIN <= tick * length <= TICK_MAX - length:
            raise UsageError(
                f"an event lies at {tick_text(tick, found.plan.time_unit)}, but a trace holds only the years "
                "1678 to 2262; choose another --format"
            )


def _plain_rows(matches: pa.Table, unit: TimeUnit) -> list[dict[str, Plain]]:
    """Rows with times of RETURN as text; `start` and `end` stay ticks."""
    rows = presented(matches, unit, "ticks").drop_columns(["signature"])
    return [dict(row) for row in rows.to_pylist()]


def _match(
    found: MatchedEvents, number: int, row: dict[str, Any], events: list[EventRecord], names: list[str]
) -> Iterator[TraceEvent]:
    match, start, end = row.pop("match"), row.pop("start"), row.pop("end")
    lane, unit = (number + 1, 1), found.plan.time_unit
    yield _metadata("process_name", lane, name=f"{row['confidence']:.6g}  {match}")
    yield _metadata("process_sort_index", lane, sort_index=number + 1)
    yield from _lane(lane, "match")
    given = {key: plain(value) for key, value in row.items()}
    yield _complete("match", "match", lane, (start, end), unit, {"match": match, **given})
    measured = {key: row[key] for key in ("confidence", CONFIDENCE_ERROR) if key in row}
    first, beyond = found.bound.offsets[number : number + 2].tolist()
    for thread, entry in enumerate(range(first, beyond), 2):
        event = events[found.bound.rows[entry]]
        valid = (int(found.valid.lower[entry]), int(found.valid.upper[entry]))
        yield from _lane((number + 1, thread), f"{names[found.bound.places[entry]]}: {event.event_id}")
        yield from _event(event, valid, (number + 1, thread), unit, measured)


def _event(
    event: EventRecord, valid: tuple[int, int], lane: Lane, unit: TimeUnit, measured: dict[str, float]
) -> Iterator[TraceEvent]:
    arguments: dict[str, Any] = {
        "id": event.event_id,
        "type": event.event_type,
        **measured,
        "raw_time": None if event.time is None else tick_text(event.time, TimeUnit(1)),
        "lower": tick_text(event.lower, unit),
        "upper": tick_text(event.upper, unit),
        "valid_lower": tick_text(valid[0], unit),
        "valid_upper": tick_text(valid[1], unit),
        "source": event.source,
        "attributes": event.attributes,
    }
    if event.bar is not None:
        ended = event.bar.end_time
        arguments["upper"] = tick_text(event.bar.start_upper, unit)
        arguments |= {
            "raw_end_time": None if ended is None else tick_text(ended, TimeUnit(1)),
            "end_lower": tick_text(event.bar.end_lower, unit),
            "end_upper": tick_text(event.bar.end_upper, unit),
        }
    elif event.buckets is not None:
        arguments["histogram"] = [
            {"lower": tick_text(lo, unit), "upper": tick_text(hi, unit), "probability": p}
            for lo, hi, p in event.buckets
        ]
    yield _complete(event.event_type, "interval", lane, (event.lower, event.upper), unit, arguments)
    if valid != (event.lower, event.upper):
        yield _complete("valid", "valid interval", lane, valid, unit, {})
    if event.bar is not None and event.bar.start_upper <= event.bar.end_lower:
        certain = (event.bar.start_upper, event.bar.end_lower)
        yield _complete("certainly under way", "under way", lane, certain, unit, {})
    for name, time in (("raw time", event.time), ("raw end", event.bar and event.bar.end_time)):
        if time is not None:
            yield {
                "ph": "i",
                "s": "t",
                "name": name,
                "cat": name,
                "pid": lane[0],
                "tid": lane[1],
                "ts": time,
            }


def _lane(lane: Lane, name: str) -> Iterator[TraceEvent]:
    yield _metadata("thread_name", lane, name=name)
    yield _metadata("thread_sort_index", lane, sort_index=lane[1])


def _metadata(kind: str, lane: Lane, **arguments: str | int) -> TraceEvent:
    return {"ph": "M", "name": kind, "pid": lane[0], "tid": lane[1], "args": arguments}


def _complete(
    name: str,
    category: str,
    lane: Lane,
    ticks: tuple[int, int],
    unit: TimeUnit,
    arguments: dict[str, Any],
) -> TraceEvent:
    """Ticks of both ends included, so that one tick lasts as long as the unit."""
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": lane[0],
        "tid": lane[1],
        "ts": ticks[0] * unit.microseconds,
        "dur": (ticks[1] - ticks[0] + 1) * unit.microseconds,
        "args": arguments,
    }
