"""From the columns of a plain event file to a batch of raw events: times, intervals, histograms.

A plain file names its columns as the event table does.  `lower`, `upper`, `end_lower` and `end_upper`
hold ticks when they are integers and written times otherwise; `time` and `end_time` hold written times, or
numbers (instants.py); `pmf` is `lo:hi:p|lo:hi:p` in ticks.  A row that gives no usable interval is
rejected with its line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Clocks
from cepctl.errors import LogFormatError
from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.natural_columns import with_mixtures
from cepctl.io.contract.reader import (
    END_FOLD,
    END_GRAIN,
    END_NANOS,
    END_SPAN,
    FOLD,
    GRAIN,
    NANOS,
    NO_TIME,
    SPAN,
    SPAN_TYPE,
    ColumnMap,
    ReadOptions,
    ReadReport,
    Reject,
    beyond_time,
)
from cepctl.io.tabular.clock_columns import NOT_AN_OFFSET, GivenClocks, given_clocks
from cepctl.io.tabular.composed import columns_meant, composed_of, with_composed
from cepctl.io.tabular.histograms import Histograms, histograms, spanned_by
from cepctl.io.tabular.instants import NO_UNIT, ReadContext, WrittenInstants, instants, ticks
from cepctl.io.tabular.mapping import RESERVED, raw_name
from cepctl.io.tabular.plain_values import blanks, simple
from cepctl.numeric.arrays import Causes, Flags, Numbers
from cepctl.schema import (
    CLOCK,
    CLOCK_OFFSET,
    EARLIEST_TICK,
    END_PMF,
    END_TIME,
    LATEST_TICK,
    LENGTH_LOWER,
    LENGTH_UPPER,
)

_NO_LENGTH = "{} is not a number of ticks, 0 or more"
_MISFIT = "{} is a number of another size than the first of its column; --epoch-unit names the unit of all"


@dataclass(frozen=True)
class BlockRows:
    """Columns of one block of a plain file, with the number and line of every row.

    `numbers` counts the records of the file from 1; `lines` is None where rows have no lines.  `raw`
    gives the text of a row, by its place in the block, where the file is text; `mixed` names the kinds
    of values that were made text; `clocks` are those whose offsets the file says in its metadata.
    """

    columns: Mapping[str, pa.Array]
    numbers: Numbers
    lines: Numbers | None
    raw: Callable[[int], bytes] | None = None
    mixed: Mapping[str, str | None] = field(default_factory=dict)
    clocks: Clocks = field(default_factory=dict)

    def place(self, row: int, source: str) -> str:
        """Where a row stands, for people."""
        if self.lines is None:
            return f"{source}, record {int(self.numbers[row])}"
        return f"{source}:{int(self.lines[row])}"

    def text(self, place: int) -> str | bytes:
        """A row as the file has it; as JSON where it is not text, or the text is no longer known."""
        text = b"" if self.raw is None else self.raw(place)
        if text:
            return text
        values = {name: _python_value(column[place]) for name, column in self.columns.items()}
        known = {name: value for name, value in values.items() if value is not None}
        return json.dumps(known, default=str, ensure_ascii=False)


def _python_value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):  # Python's calendar has no such time
        return scalar.cast(pa.string()).as_py()


def raw_batch(rows: BlockRows, source: str, options: ReadOptions, report: ReadReport) -> pa.RecordBatch:
    """Turn one block of rows into raw events (io/contract/reader.py), rejecting the rows that cannot be."""
    rows = _with_composed(rows, options.columns)
    count = len(rows.numbers)
    report.records += count
    read = ReadContext(options, report, lambda row: rows.place(row, source))
    causes: Causes = np.full(count, None, dtype=object)
    types = _texts(rows.columns["event_type"], "event_type", source)
    _mark(causes, _flags(pc.fill_null(pc.equal(types, ""), True)), "no event type")

    pmf = histograms(rows.columns.get("pmf"), count)
    _mark(causes, pmf.broken, "pmf is not a list of lo:hi:p whose p sum to 1")
    clocks = given_clocks(rows.columns, rows.clocks, count, read.place)
    lower, upper, has_lower, has_upper = _intervals(rows, pmf, clocks, causes, read)

    given = has_lower & has_upper
    time = instants(rows.columns.get("time"), "time", given, read)
    _mark(causes, has_lower ^ has_upper, "lower without upper, or one of them unreadable")
    _mark(causes, given & (lower > upper), "lower is after upper")
    _mark(causes, given & _beyond(lower, upper), beyond_time(read.unit))
    _mark(causes, time.misfits, _MISFIT.format("time"))
    _mark(causes, ~given & _no_ticks_of_time(time, read), beyond_time(read.unit))
    _mark_problems(causes, time, ~given)
    _mark(causes, ~given & ~time.known, NO_TIME)
    ends = _given_ends(rows, given, clocks, causes, read)

    columns: dict[str, pa.Array] = {
        "number": pa.array(rows.numbers),
        "event_id": _given_ids(rows.columns.get("event_id"), count, source),
        "event_type": types,
        "time": pa.array(time.microseconds, mask=~time.known).cast(TIME_TYPE),
        "zone_seconds": _zones(rows, time),
        "before": pa.array(np.zeros(count, np.int64)),
        "after": pa.array(np.zeros(count, np.int64)),
        GRAIN: _grain(time, given, options),
        **_where_any(NANOS, time.nanos),
        **_where_any(FOLD, time.fold),
        **_spans(SPAN, time, ~given),
        "lower": pa.array(lower, mask=~given),
        "upper": pa.array(upper, mask=~given),
        "pmf": pmf.column(),
        **ends.columns(),
        **_written_ends(rows, ends.times, options),
    }
    if clocks is not None:
        columns |= {CLOCK: clocks.names, CLOCK_OFFSET: clocks.offsets}
    for name, column in rows.columns.items():
        if name not in RESERVED and name != "zone_seconds":
            columns[name] = column
    mixed = {name: kinds for name, kinds in rows.mixed.items() if name not in RESERVED}
    batch = with_mixtures(pa.RecordBatch.from_pydict(columns), mixed)
    return _without_rejects(batch, causes, rows, source, report)


def _with_composed(rows: BlockRows, mapping: ColumnMap) -> BlockRows:
    """Rows with the fields that a mapping composes of several columns."""
    if all(composed_of(*pair) is None for pair in mapping):
        return rows
    names = {name: raw_name(name, mapping) for name in columns_meant(mapping)}
    return replace(rows, columns=with_composed(rows.columns, mapping, names))


@dataclass(frozen=True)
class _Ends:
    """When events end: written times, and ticks with which rows have them, by the name of their column.

    The bounds of their lengths stand among the ticks; `pmf` are the masses of ends.
    """

    times: WrittenInstants
    ticks: Mapping[str, tuple[Numbers, Flags]]
    pmf: Histograms | None = None

    def columns(self) -> dict[str, pa.Array]:
        columns = {name: pa.array(end, mask=~known) for name, (end, known) in self.ticks.items()}
        if self.pmf is not None:
            columns[END_PMF] = self.pmf.column()
        return columns


def _given_ends(
    rows: BlockRows, given: Flags, clocks: GivenClocks | None, causes: Causes, read: ReadContext
) -> _Ends:
    """The ends that the rows have, those that cannot be marked."""
    times = instants(rows.columns.get(END_TIME), END_TIME, given, read)
    if END_TIME in rows.columns:
        _mark(causes, times.misfits, _MISFIT.format(END_TIME))
        _mark(causes, _no_ticks_of_time(times, read), beyond_time(read.unit))
        unreadable = ~times.known & ~blanks(simple(rows.columns[END_TIME]))
        _mark_problems(causes, times, unreadable)
        _mark(causes, unreadable, "end_time is not a time")
    ends: dict[str, tuple[Numbers, Flags]] = {
        name: ticks(rows.columns[name], name, len(causes), read)
        for name in ("end_lower", "end_upper")
        if name in rows.columns
    }
    ends, pmf = _with_histograms(rows, ends, clocks, causes, read)
    if len(ends) == 2:
        (first, has_first), (last, has_last) = ends["end_lower"], ends["end_upper"]
        empty = (has_first ^ has_last) | (has_first & (first > last))
        _mark(causes, empty, "end_lower and end_upper are not an interval")
    for end, known in ends.values():
        _mark(causes, known & _beyond(end, end), beyond_time(read.unit))
    for name in (LENGTH_LOWER, LENGTH_UPPER):
        if name in rows.columns:
            ends[name] = ticks(rows.columns[name], name, len(causes), read)
            unreadable = ~ends[name][1] & ~blanks(simple(rows.columns[name]))
            _mark(causes, unreadable | (ends[name][1] & (ends[name][0] < 0)), _NO_LENGTH.format(name))
    return _Ends(times, ends, pmf)


def _with_histograms(
    rows: BlockRows,
    ends: dict[str, tuple[Numbers, Flags]],
    clocks: GivenClocks | None,
    causes: Causes,
    read: ReadContext,
) -> tuple[dict[str, tuple[Numbers, Flags]], Histograms | None]:
    """The ends, also those that histograms span, and these; None where the file has none."""
    if not ends and END_PMF not in rows.columns:
        return ends, None
    count = len(causes)
    pmf = histograms(rows.columns.get(END_PMF), count)
    _mark(causes, pmf.broken, "end_pmf is not a list of lo:hi:p whose p sum to 1")
    nothing = (np.zeros(count, np.int64), np.zeros(count, np.bool_))
    written = [ends.get(name, nothing) for name in ("end_lower", "end_upper")]
    lower, upper, has_lower, has_upper = _spanned(pmf, _OF_END, written, clocks, causes, read)
    found = {"end_lower": (lower, has_lower), "end_upper": (upper, has_upper)}
    return found, pmf if END_PMF in rows.columns else None


def _written_ends(rows: BlockRows, times: WrittenInstants, options: ReadOptions) -> dict[str, pa.Array]:
    """The columns of the written times at which events end, where the file has any."""
    if END_TIME not in rows.columns:
        return {}
    columns = {
        END_TIME: pa.array(times.microseconds, mask=~times.known).cast(TIME_TYPE),
        END_GRAIN: _grain(times, np.zeros(len(times.known), np.bool_), options),
        **_where_any(END_NANOS, times.nanos),
        **_where_any(END_FOLD, times.fold),
        **_spans(END_SPAN, times, times.known),
    }
    if "zone_seconds" not in rows.columns:
        columns["end_zone_seconds"] = pa.array(times.zone_seconds, pa.int32(), mask=~times.known)
    return columns


def _intervals(
    rows: BlockRows,
    pmf: Histograms,
    clocks: GivenClocks | None,
    causes: Causes,
    read: ReadContext,
) -> tuple[Numbers, Numbers, Flags, Flags]:
    """`lower` and `upper`, and which rows have them: as given, or spanned by histograms."""
    count = len(causes)
    written = [ticks(rows.columns.get(name), name, count, read) for name in ("lower", "upper")]
    if clocks is not None:
        _mark(causes, clocks.broken, NOT_AN_OFFSET)
    return _spanned(pmf, _OF_START, written, clocks, causes, read)


@dataclass(frozen=True)
class _Named:
    """What messages call an interval and its columns."""

    what: str
    columns: tuple[str, str, str]


_OF_START = _Named("the event", ("lower", "upper", "pmf"))
_OF_END = _Named("the end of the event", ("end_lower", "end_upper", END_PMF))


def _spanned(
    pmf: Histograms,
    named: _Named,
    written: Sequence[tuple[Numbers, Flags]],
    clocks: GivenClocks | None,
    causes: Causes,
    read: ReadContext,
) -> tuple[Numbers, Numbers, Flags, Flags]:
    """All ticks of an endpoint: as `written`, or what a histogram and the offset of the clock span.

    A histogram is that of the own part.
    """
    (lower, has_lower), (upper, has_upper) = written
    if clocks is None:
        return spanned_by(pmf, lower, upper, has_lower, has_upper, causes, named.columns)
    clocks.refuse_empty(named.what, lower, upper, has_lower & has_upper, read.place)
    # Beyond the ends of time stays beyond.
    lower, upper = (np.clip(each, EARLIEST_TICK - 1, LATEST_TICK + 1) for each in (lower, upper))
    lower, upper = lower - clocks.first, upper - clocks.last
    own = spanned_by(pmf, lower, upper, has_lower, has_upper, causes, named.columns)
    return own[0] + clocks.first, own[1] + clocks.last, own[2], own[3]


def _grain(time: WrittenInstants, given: Flags, options: ReadOptions) -> pa.Array:
    """The units that times are written to, of rows that are given no interval, unless all are exact."""
    return pa.array(time.grain, mask=given | (time.grain == NO_UNIT) | options.exact_times)


def _where_any(name: str, values: Numbers) -> dict[str, pa.Array]:
    """A column of what few times have, such as nanoseconds beyond microseconds, where some has it."""
    return {name: pa.array(values)} if values.any() else {}


def _zones(rows: BlockRows, time: WrittenInstants) -> pa.Array:
    """Offsets from UTC; a part of a dataset gives them, since its times have lost their zone."""
    if "zone_seconds" in rows.columns:
        return pc.fill_null(rows.columns["zone_seconds"], 0).cast(pa.int32())
    return pa.array(time.zone_seconds, pa.int32())


def _flags(column: pa.Array) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(bool)
    return found


def _mark(causes: Causes, bad: Flags, cause: str) -> None:
    """Note why rows are bad; the first cause of a row stands."""
    for row in np.flatnonzero(bad):
        causes[row] = causes[row] or cause


def _spans(name: str, times: WrittenInstants, rows: Flags) -> dict[str, pa.Array]:
    """The column of the instants that times are, whose numbers are coarser than times."""
    if times.width is None:
        return {}
    wide = rows & times.known & (times.width > 0)
    counted = times.nanos[wide]
    before, after = times.width[wide] // 2, (times.width[wide] - 1) // 2
    ends: list[pa.Array] = []
    for reach in (counted - before, counted + after):
        ends += [pa.array(times.microseconds[wide] + reach // 1_000), pa.array(reach % 1_000)]
    ones = pa.array(np.ones(len(counted)))
    buckets = pa.StructArray.from_arrays(
        [*ends, ones, pa.nulls(len(counted), pa.float64())], fields=list(SPAN_TYPE.value_type)
    )
    offsets = np.concatenate([[0], np.cumsum(wide)]).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(offsets), buckets, type=SPAN_TYPE, mask=pa.array(~wide))
    return {name: lists}


def _mark_problems(causes: Causes, times: WrittenInstants, rows: Flags) -> None:
    """Note of these rows why what is written there is no time."""
    for row, problem in times.problems.items():
        if rows[row]:
            causes[row] = causes[row] or problem


def _beyond(lower: Numbers, upper: Numbers) -> Flags:
    """Rows with a tick that lies beyond the ends of time."""
    return np.asarray((lower < EARLIEST_TICK) | (upper > LATEST_TICK))


def _no_ticks_of_time(time: WrittenInstants, read: ReadContext) -> Flags:
    """Rows whose raw time lies beyond the ends of time."""
    tick = time.ticks(read.unit)
    return time.beyond | (time.known & _beyond(tick, tick))


def _texts(column: pa.Array, name: str, source: str) -> pa.Array:
    try:
        return simple(column).cast(pa.string())
    except pa.ArrowException as problem:
        raise LogFormatError(
            f"{source}: the values of the column for {name} are of type {column.type} and not all text; say "
            f"which column it is: --map {name}=COLUMN"
        ) from problem


def _given_ids(column: pa.Array | None, count: int, source: str) -> pa.Array:
    if column is None:
        return pa.nulls(count, pa.string())
    ids = _texts(column, "event_id", source)
    return pc.if_else(pc.equal(ids, ""), pa.scalar(None, pa.string()), ids)


def _without_rejects(
    batch: pa.RecordBatch,
    causes: Causes,
    rows: BlockRows,
    source: str,
    report: ReadReport,
) -> pa.RecordBatch:
    if not any(causes):
        return batch
    bad = np.array([cause is not None for cause in causes], dtype=np.bool_)
    for row in np.flatnonzero(bad):
        line = None if rows.lines is None else int(rows.lines[row])
        report.rejects.append(Reject(source, line, causes[row], rows.text(int(row))))
    return batch.filter(pa.array(~bad))
