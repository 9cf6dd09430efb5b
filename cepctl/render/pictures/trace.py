"""Matches as a trace for Perfetto and chrome://tracing.

Each match is a process, named by its ids and its confidence; its first thread shows the range of the
match, each further thread one event: its uncertainty interval, nested in it the part that the event can
use, and the raw time as an instant.  With GROUP BY each key is one, named by what it is and its probability;
its first thread shows from when to when its matches can be, the others the events of the best of them.

Format: "Trace Event Format" (Duffy and others, Google, 2016), JSON object format: complete events (X) and
instants (i) with times in microseconds, metadata events (M) for names and order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import UsageError
from cepctl.io.rows.encoding import presented
from cepctl.plan.plan import CONFIDENCE_ERROR
from cepctl.render.pictures.matched_events import MatchedEvents
from cepctl.render.pictures.records import EventRecord, event_records, plain, variables
from cepctl.schema import (
    MICROSECOND,
    NANOSECOND,
    TICK_MAX,
    TICK_MIN,
    TimeUnit,
    tick_text,
)

_ROWS_AT_ONCE = 1_000
_PER_MICROSECOND = 1_000

TraceEvent = dict[str, Any]
Lane = tuple[int, int]
"""Number of a match or key, and of a lane in it, both from 1: `pid` and `tid` of the trace."""


def trace_pieces(found: MatchedEvents, keys: pa.Table | None = None) -> Iterator[bytes]:
    """The trace as bytes, piece by piece.

    `found`: the matches that are drawn.  `keys`: rows of `cepctl.engines.rows.groups.group_schema`, which are
    drawn instead; `found` then are the best matches of those that have one, in the same order.

    Raises
    ------
    UsageError
        If an event lies beyond what a trace viewer can hold.
    """
    _require_range(found, keys)
    yield b'{"displayTimeUnit":"ms","traceEvents":['
    events, lanes = event_records(found), variables(found.plan)
    drawn = _best_of(keys) if keys is not None else iter(range(found.matches.num_rows))
    for number, row in enumerate(_plain_rows(found.matches if keys is None else keys, found.plan.time_unit)):
        titled = _match(row) if keys is None else _key(row, [each.name for each in found.plan.returns])
        pieces = [*_track(titled, number, found.plan.time_unit)]
        match = next(drawn)
        if match is not None:
            pieces += _events(found, match, number, titled.measured, events, lanes)
        text = ",\n".join(_encoded(each) for each in pieces)
        yield f"{',' if number else ''}\n{text}".encode()
    yield b"\n]}\n"


@dataclass(frozen=True)
class _Titled:
    """A match or a key: what its track is called, its ticks, what is known of it, and of each event of it."""

    kind: str
    name: str
    ticks: tuple[int, int]
    details: dict[str, Any]
    measured: dict[str, Any]


def _require_range(found: MatchedEvents, keys: pa.Table | None) -> None:
    # Viewers hold times as 64-bit nanoseconds.
    length = found.plan.time_unit.nanoseconds
    ticks = [pc.min(found.events.column("lower")).as_py(), pc.max(found.events.column("upper")).as_py()]
    if keys is not None:
        ticks += [pc.min(keys.column("start")).as_py(), pc.max(keys.column("end")).as_py()]
    for tick in (*ticks, *(bar.end_upper for bar in found.bars.values())):
        if tick is not None and not TICK_MIN <= tick * length <= TICK_MAX - length:
            raise UsageError(
                f"an event lies at {tick_text(tick, found.plan.time_unit)}, but a trace holds only the years "
                "1678 to 2262; choose another --format"
            )


def _plain_rows(rows: pa.Table, unit: TimeUnit) -> Iterator[dict[str, Any]]:
    """Rows with times of RETURN as text; `start` and `end` stay ticks."""
    for first in range(0, rows.num_rows, _ROWS_AT_ONCE):
        some = presented(rows.slice(first, _ROWS_AT_ONCE), unit, "ticks").drop_columns(["signature"])
        yield from some.to_pylist()


def _best_of(keys: pa.Table) -> Iterator[int | None]:
    """The number of the best match of each key; None where it is not known."""
    number = count()
    return (next(number) if known else None for known in keys.column("signature").is_valid().to_pylist())


def _match(row: dict[str, Any]) -> _Titled:
    match, ticks = row.pop("match"), (row.pop("start"), row.pop("end"))
    given = {key: plain(value) for key, value in row.items()}
    measured = {key: row[key] for key in ("confidence", CONFIDENCE_ERROR) if key in row}
    return _Titled("match", f"{row['confidence']:.6g}  {match}", ticks, {"match": match, **given}, measured)


def _key(row: dict[str, Any], names: list[str]) -> _Titled:
    ticks, occurrence = (row.pop("start"), row.pop("end")), row["occurrence"]
    key = ", ".join("null" if row[name] is None else str(row[name]) for name in names) or "all events"
    name = f"{'unknown' if occurrence is None else format(occurrence, '.6g')}  {key}"
    values = {name: plain(value) for name, value in row.items()}
    return _Titled("key", name, ticks, values, {"confidence": row["confidence"]})


def _track(titled: _Titled, number: int, unit: TimeUnit) -> Iterator[TraceEvent]:
    lane = (number + 1, 1)
    yield _metadata("process_name", lane, name=titled.name)
    yield _metadata("process_sort_index", lane, sort_index=number + 1)
    yield from _lane(lane, titled.kind)
    yield _complete(titled.kind, titled.kind, lane, titled.ticks, unit, titled.details)


def _events(
    found: MatchedEvents,
    match: int,
    number: int,
    measured: dict[str, Any],
    events: list[EventRecord],
    lanes: list[list[str]],
) -> Iterator[TraceEvent]:
    """The events of a match, in lanes of the track with this number."""
    names = lanes[found.valid.alternatives[match]]
    first, beyond = found.bound.offsets[match : match + 2].tolist()
    for thread, entry in enumerate(range(first, beyond), 2):
        event = events[found.bound.rows[entry]]
        valid = (int(found.valid.lower[entry]), int(found.valid.upper[entry]))
        yield from _lane((number + 1, thread), f"{names[found.bound.places[entry]]}: {event.event_id}")
        yield from _event(event, valid, (number + 1, thread), found.plan.time_unit, measured)


def _event(
    event: EventRecord, valid: tuple[int, int], lane: Lane, unit: TimeUnit, measured: dict[str, Any]
) -> Iterator[TraceEvent]:
    arguments: dict[str, Any] = {
        "id": event.event_id,
        "type": event.event_type,
        **measured,
        "raw_time": _raw_text(event.time),
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
            "raw_end_time": _raw_text(ended),
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
    ended = None if event.bar is None else event.bar.end_time
    for name, time in (("raw time", event.time), ("raw end", ended)):
        if time is not None:
            yield {
                "ph": "i",
                "s": "t",
                "name": name,
                "cat": name,
                "pid": lane[0],
                "tid": lane[1],
                "ts": _microseconds(time),
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
        "ts": _microseconds(ticks[0] * unit.nanoseconds),
        "dur": _microseconds((ticks[1] - ticks[0] + 1) * unit.nanoseconds),
        "args": arguments,
    }


def _raw_text(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    micros, finer = divmod(nanoseconds, _PER_MICROSECOND)
    return tick_text(nanoseconds, NANOSECOND) if finer else tick_text(micros, MICROSECOND)


def _microseconds(nanoseconds: int) -> int | Decimal:
    """Microseconds, in which traces are written; no double holds all digits of a date to the nanosecond."""
    micros, finer = divmod(nanoseconds, _PER_MICROSECOND)
    return Decimal(nanoseconds).scaleb(-3) if finer else micros


def _encoded(event: TraceEvent) -> str:
    """JSON of an event, decimals with all their digits."""
    exact = {name: value for name, value in event.items() if isinstance(value, Decimal)}
    rest = {name: value for name, value in event.items() if name not in exact}
    text = json.dumps(rest, separators=(",", ":"))
    return "".join([text[:-1], *(f',"{name}":{value:f}' for name, value in exact.items()), "}"])
