"""From the columns of a plain event file to a batch of raw events: times, intervals, histograms.

A plain file names its columns as the event table does.  `lower`, `upper`, `end_lower` and `end_upper`
hold ticks when they are integers and ISO 8601 otherwise; `time` and `end_time` may be either, too; `pmf` is
`lo:hi:p|lo:hi:p` in ticks.  A row that gives no usable interval is rejected with its line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.batches import with_mixtures
from cepctl.io.plain_histograms import Flags, Numbers, histograms, spanned_by
from cepctl.io.plain_mapping import RESERVED
from cepctl.io.plain_times import localised, parse_times
from cepctl.io.reading import BEYOND_TIME, NO_TIME, ReadOptions, ReadReport, Reject
from cepctl.schema import EARLIEST_TICK, END_TIME, LATEST_TICK, PMF_TYPE, TICK_MAX, TICK_MIN, TIME_TYPE

_INTEGER = r"^\s*[+-]?\d+\s*$"


@dataclass(frozen=True)
class Rows:
    """Columns of one block of a plain file, with the number and line of every row.

    `numbers` counts the records of the file from 1; `lines` is None where rows have no lines.  `raw`
    gives the text of a row, by its place in the block, where the file is text; `mixed` names the kinds
    of values that were made text.
    """

    columns: dict[str, pa.Array]
    numbers: Numbers
    lines: Numbers | None
    raw: Callable[[int], bytes] | None = None
    mixed: Mapping[str, str | None] = field(default_factory=dict)

    def text(self, place: int) -> str | bytes:
        """A row as the file has it; as JSON where it is no text, or the text is no longer known."""
        text = b"" if self.raw is None else self.raw(place)
        if text:
            return text
        values = {name: column[place].as_py() for name, column in self.columns.items()}
        known = {name: value for name, value in values.items() if value is not None}
        return json.dumps(known, default=str, ensure_ascii=False)


@dataclass(frozen=True)
class _Reading:
    """How a block is read, and where warnings go."""

    options: ReadOptions
    report: ReadReport

    @property
    def unit(self) -> int:
        """Microseconds in one tick."""
        return self.options.time_unit.microseconds


@dataclass
class Instants:
    """Times in epoch microseconds: `known` says which rows have one; zones as offsets from UTC.

    `beyond`: rows whose tick 64 bits of microseconds do not hold; they have no time.
    """

    microseconds: Numbers
    zone_seconds: Numbers
    after: Numbers
    known: Flags
    beyond: Flags


def raw_batch(rows: Rows, source: str, options: ReadOptions, report: ReadReport) -> pa.RecordBatch:
    """Turn one block of rows into raw events (io/reading.py), rejecting the rows that cannot be."""
    count = len(rows.numbers)
    report.records += count
    read = _Reading(options, report)
    causes: npt.NDArray[np.object_] = np.full(count, None, dtype=object)
    types = _simple(rows.columns["event_type"]).cast(pa.string())
    _mark(causes, _flags(pc.fill_null(pc.equal(types, ""), True)), "no event type")

    instants = _instants(rows.columns.get("time"), count, read)
    lower, has_lower = _ticks(rows.columns.get("lower"), count, read)
    upper, has_upper = _ticks(rows.columns.get("upper"), count, read)
    pmf = histograms(rows.columns.get("pmf"), count)
    _mark(causes, pmf.broken, "pmf is no list of lo:hi:p whose p sum to 1")
    lower, upper, has_lower, has_upper = spanned_by(pmf, lower, upper, has_lower, has_upper, causes)

    given = has_lower & has_upper
    _mark(causes, has_lower ^ has_upper, "lower without upper, or one of them unreadable")
    _mark(causes, given & (lower > upper), "lower is after upper")
    _mark(causes, given & _beyond(lower, upper), BEYOND_TIME)
    _mark(causes, ~given & _no_ticks_of_time(instants, read), BEYOND_TIME)
    _mark(causes, ~given & ~instants.known, NO_TIME)
    end_times = _instants(rows.columns.get(END_TIME), count, read)
    if END_TIME in rows.columns:
        _mark(causes, _no_ticks_of_time(end_times, read), BEYOND_TIME)
        unreadable = ~end_times.known & ~_blank(rows.columns[END_TIME])
        _mark(causes, unreadable, "end_time is no time")
    ends = {name: _ticks(rows.columns[name], count, read) for name in _ends(rows)}
    if len(ends) == 2:
        (first, has_first), (last, has_last) = ends["end_lower"], ends["end_upper"]
        _mark(
            causes, (has_first ^ has_last) | (has_first & (first > last)), "the interval of its end is none"
        )

    for ticks, known in ends.values():
        _mark(causes, known & _beyond(ticks, ticks), BEYOND_TIME)

    columns: dict[str, pa.Array] = {
        "number": pa.array(rows.numbers),
        "event_id": _given_ids(rows.columns.get("event_id"), count),
        "event_type": _renamed(types, options),
        "time": pa.array(instants.microseconds, mask=~instants.known).cast(TIME_TYPE),
        "zone_seconds": _zones(rows, instants),
        "before": pa.array(np.zeros(count, np.int64)),
        "after": pa.array(instants.after),
        "lower": pa.array(lower, mask=~given),
        "upper": pa.array(upper, mask=~given),
        "pmf": pa.array(pmf.buckets, PMF_TYPE),
    }
    for name, (ticks, known) in ends.items():
        columns[name] = pa.array(ticks, mask=~known)
    if END_TIME in rows.columns:
        columns[END_TIME] = pa.array(end_times.microseconds, mask=~end_times.known).cast(TIME_TYPE)
        columns["end_after"] = pa.array(end_times.after, mask=~end_times.known)
        if "zone_seconds" not in rows.columns:
            zones = pa.array(end_times.zone_seconds, pa.int32(), mask=~end_times.known)
            columns["end_zone_seconds"] = zones
    for name, column in rows.columns.items():
        if name not in RESERVED and name != "zone_seconds":
            columns[name] = column
    mixed = {name: kinds for name, kinds in rows.mixed.items() if name not in RESERVED}
    batch = with_mixtures(pa.RecordBatch.from_pydict(columns), mixed)
    return _without_rejects(batch, causes, rows, source, report)


def _ends(rows: Rows) -> list[str]:
    return [name for name in ("end_lower", "end_upper") if name in rows.columns]


def _zones(rows: Rows, instants: Instants) -> pa.Array:
    """Offsets from UTC; a part of a dataset gives them, since its times have lost their zone."""
    if "zone_seconds" in rows.columns:
        return pc.fill_null(rows.columns["zone_seconds"], 0).cast(pa.int32())
    return pa.array(instants.zone_seconds, pa.int32())


def _flags(column: pa.Array) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(bool)
    return found


def _mark(causes: npt.NDArray[np.object_], bad: Flags, cause: str) -> None:
    """Note why rows are bad; the first cause of a row stands."""
    for row in np.flatnonzero(bad):
        causes[row] = causes[row] or cause


def _beyond(lower: Numbers, upper: Numbers) -> Flags:
    """Rows with a tick that lies beyond the ends of time."""
    return np.asarray((lower < EARLIEST_TICK) | (upper > LATEST_TICK))


def _no_ticks_of_time(instants: Instants, read: _Reading) -> Flags:
    """Rows whose raw time lies beyond the ends of time."""
    ticks = instants.microseconds // read.unit
    return instants.beyond | (instants.known & _beyond(ticks, ticks))


def _given_ids(column: pa.Array | None, count: int) -> pa.Array:
    if column is None:
        return pa.nulls(count, pa.string())
    ids = _simple(column).cast(pa.string())
    return pc.if_else(pc.equal(ids, ""), pa.scalar(None, pa.string()), ids)


def _renamed(types: pa.Array, options: ReadOptions) -> pa.Array:
    for old, new in options.type_names:
        types = pc.if_else(pc.equal(types, old), new, types)
    return types


def _blank(column: pa.Array) -> Flags:
    """Rows that hold no value: null, or a string of blanks."""
    if pa.types.is_string(column.type):
        return _flags(pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), True))
    return _flags(column.is_null())


def _ticks(column: pa.Array | None, count: int, read: _Reading) -> tuple[Numbers, Flags]:
    """Ticks of a `lower` or `upper` column, and which rows have one."""
    if column is None or pa.types.is_null(column.type):
        return np.zeros(count, np.int64), np.zeros(count, np.bool_)
    column = _simple(column)
    if pa.types.is_integer(column.type):
        return _integers(column)
    instants = _instants(column, count, read)
    whole, is_tick = _whole_numbers(column)
    ticks = np.where(is_tick, whole, instants.microseconds // read.unit)
    return ticks, is_tick | instants.known


def _instants(column: pa.Array | None, count: int, read: _Reading) -> Instants:
    """Instants of a `time` column; an integer is a tick."""
    if column is None or pa.types.is_null(column.type):
        zeros = np.zeros(count, np.int64)
        return Instants(zeros, zeros, zeros, zeros.astype(np.bool_), zeros.astype(np.bool_))
    column = _simple(column)
    if pa.types.is_integer(column.type):
        ticks, known = _integers(column)
        return _from_ticks(ticks, known, read.unit)
    if pa.types.is_timestamp(column.type):
        return _from_timestamps(column, read)
    ticks, is_tick = _whole_numbers(column)
    if not pa.types.is_string(column.type):
        return _from_ticks(ticks, is_tick, read.unit)
    texts = pc.if_else(pa.array(is_tick | _blank(column)), pa.scalar(None, pa.string()), column)
    parsed = parse_times(texts, read.options.time_zone, read.report)
    counted = _from_ticks(ticks, is_tick, read.unit)
    known = _flags(parsed.time.is_valid())
    return Instants(
        np.where(is_tick, counted.microseconds, _filled(parsed.time.cast(pa.int64()))),
        np.where(is_tick, 0, _filled(parsed.zone_seconds)),
        np.where(is_tick, 0, _filled(parsed.after)),
        known | counted.known,
        counted.beyond,
    )


def _filled(column: pa.Array) -> Numbers:
    values: Numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return values


def _simple(column: pa.Array) -> pa.Array:
    """Dictionary, large-string and date columns in the plain type that holds the same values."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column.cast(TIME_TYPE) if pa.types.is_date(column.type) else column


def _integers(column: pa.Array) -> tuple[Numbers, Flags]:
    in_range = column
    if column.type == pa.uint64():
        in_range = pc.min_element_wise(column, pa.scalar(TICK_MAX, pa.uint64()), skip_nulls=False)
    return _filled(in_range.cast(pa.int64())), _flags(in_range.is_valid())


def _whole_numbers(column: pa.Array) -> tuple[Numbers, Flags]:
    """Rows of a string or float column that are whole numbers: ticks, which saturate at 64 bits."""
    if pa.types.is_floating(column.type):
        values = pc.fill_null(column, math.nan).to_numpy(zero_copy_only=False).astype(np.float64)
        whole = np.isfinite(values) & (np.floor(values) == values)
        inside = whole & (np.abs(values) < 2.0**63)
        ends = np.where(values > 0, TICK_MAX, TICK_MIN)
        return np.where(inside, np.where(inside, values, 0).astype(np.int64), ends * whole), whole
    if not pa.types.is_string(column.type):
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    matched = _flags(pc.fill_null(pc.match_substring_regex(column, _INTEGER), False))
    numbers, known = np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    for row in np.flatnonzero(matched) if not _fits(column, matched) else ():
        numbers[row], known[row] = _saturated(column[int(row)].as_py()), True
    if _fits(column, matched):
        texts = pc.utf8_ltrim(pc.utf8_trim_whitespace(column), characters="+")
        numbers = _filled(pc.if_else(pa.array(matched), texts, "0").cast(pa.int64()))
        known = matched
    return numbers, known


def _saturated(text: str) -> int:
    """A whole number, of however many digits, held to 64 bits."""
    digits = text.strip().lstrip("+-").lstrip("0") or "0"
    value = int(digits) if len(digits) < 20 else TICK_MAX + 1
    return max(-value, TICK_MIN) if text.strip().startswith("-") else min(value, TICK_MAX)


def _fits(column: pa.Array, matched: Flags) -> bool:
    """Whether all whole numbers are short enough that none can exceed 64 bits."""
    longest = pc.max(pc.utf8_length(pc.utf8_trim_whitespace(column.filter(pa.array(matched))))).as_py()
    return longest is None or longest <= 18


def _from_ticks(ticks: Numbers, known: Flags, unit: int) -> Instants:
    """Instants of ticks; one whose microseconds exceed 64 bits has none."""
    limit = (2**63 - 1) // unit
    inside = known & (ticks <= limit) & (ticks >= -limit)
    zeros = np.zeros(len(ticks), np.int64)
    return Instants(np.where(inside, ticks, 0) * unit, zeros, zeros, inside, known & ~inside)


def _from_timestamps(column: pa.Array, read: _Reading) -> Instants:
    """Arrow timestamps; those without a zone are in the zone of the options, else UTC."""
    after = np.zeros(len(column), np.int64)
    if column.type.tz is None:
        column, spread = localised(column, read.options.time_zone, read.report)
        after = _filled(spread)
    known = _flags(column.is_valid())
    exact = _filled(column.cast(TIME_TYPE, safe=False).cast(pa.int64()))
    shown = _filled(pc.local_timestamp(column).cast(pa.timestamp("us"), safe=False).cast(pa.int64()))
    zone_seconds = np.where(known, (shown - exact) // 1_000_000, 0)
    return Instants(exact, zone_seconds, np.where(known, after, 0), known, np.zeros(len(known), np.bool_))


def _without_rejects(
    batch: pa.RecordBatch,
    causes: npt.NDArray[np.object_],
    rows: Rows,
    source: str,
    report: ReadReport,
) -> pa.RecordBatch:
    bad = np.array([cause is not None for cause in causes], dtype=np.bool_)
    if not bad.any():
        return batch
    for row in np.flatnonzero(bad):
        line = None if rows.lines is None else int(rows.lines[row])
        report.rejects.append(Reject(source, line, causes[row], rows.text(int(row))))
    return batch.filter(pa.array(~bad))
