"""Collapsed matches as text or Parquet: what a match prints or writes.

The columns are `match`, `start`, `end`, `confidence` and those of RETURN; JSONL and Parquet have the
signature as nested lists too.  Times are ISO 8601 in UTC with as many digits as the unit has, or ticks;
in Parquet they are timestamps.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Literal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl.errors import UsageError
from cepctl.schema import TimeUnit

RowFormat = Literal["csv", "jsonl", "parquet"]
TimeFormat = Literal["iso", "ticks"]
_ROWS_AT_ONCE = 200_000
_OUT_OF_RANGE = "value out of range"  # what Arrow writes for years of more than 15 bits
_BEYOND = "a match lies beyond the years that ISO 8601 can write; use --time ticks"


def presented(matches: pa.Table, unit: TimeUnit, times: TimeFormat, *, typed: bool = False) -> pa.Table:
    """The rows as they are to be printed: times are text, or timestamps where `typed`; ticks stay numbers.

    Times that RETURN gives are those of the log, in microseconds, whatever `times` says.

    Raises
    ------
    UsageError
        If a tick lies beyond the calendar and `times` is iso.
    """
    if times == "iso":
        for name in ("start", "end"):
            at = matches.column_names.index(name)
            instants = _instants(matches.column(name), unit)
            matches = matches.set_column(at, name, instants)
    if not typed:
        for at, field in enumerate(matches.schema):
            if pa.types.is_timestamp(field.type):
                matches = matches.set_column(at, field.name, _text(matches.column(at)))
    return matches


def _instants(ticks: pa.ChunkedArray, unit: TimeUnit) -> pa.ChunkedArray:
    resolution = "s" if unit.microseconds % 1_000_000 == 0 else "ms"
    if unit.microseconds % 1_000:
        resolution = "us"
    divisor = {"s": 1_000_000, "ms": 1_000, "us": 1}[resolution]
    try:
        return pc.multiply_checked(ticks, unit.microseconds // divisor).cast(pa.timestamp(resolution, "UTC"))
    except pa.ArrowInvalid:
        raise UsageError(_BEYOND) from None


def _text(instants: pa.ChunkedArray) -> pa.ChunkedArray:
    # Arrow looks UTC up in its calendar of zones for each value; without a zone it is ten times as fast.
    local = instants.cast(pa.timestamp(instants.type.unit))
    ends = pc.min_max(local)
    if any(_OUT_OF_RANGE in (ends[end].cast(pa.string()).as_py() or "") for end in ("min", "max")):
        raise UsageError(_BEYOND)
    date_and_time = pc.replace_substring(local.cast(pa.string()), " ", "T")
    return pc.binary_join_element_wise(date_and_time, "Z", "")


def encoded_rows(matches: pa.Table, form: RowFormat, *, header: bool = True) -> Iterator[bytes]:
    """The rows as bytes, piece by piece; `header` is for CSV."""
    if form == "parquet":
        sink = io.BytesIO()
        pq.write_table(matches, sink, compression="zstd")
        yield sink.getvalue()
        return
    if form == "csv":
        matches = matches.drop_columns(["signature"])
        if header:
            yield _csv(matches.slice(0, 0), header=True)
    for start in range(0, matches.num_rows, _ROWS_AT_ONCE):
        part = matches.slice(start, _ROWS_AT_ONCE)
        yield _csv(part, header=False) if form == "csv" else _frame(part).write_ndjson().encode()


def _csv(matches: pa.Table, *, header: bool) -> bytes:
    return _frame(matches).write_csv(include_header=header).encode()


def _frame(matches: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(matches)
    assert isinstance(frame, pl.DataFrame)
    return frame
