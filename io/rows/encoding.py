"""Collapsed matches as text, Parquet or Arrow: what a match prints or writes.

The columns are those of RETURN, `confidence`, `start`, `end` and `match`; JSON, Parquet and Arrow have the
signature as nested lists too.  Times are ISO 8601 in UTC with as many digits as the unit has, or ticks; in
Parquet and Arrow they are timestamps.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl.errors import UsageError
from cepctl.io.rows.columns import answer_first
from cepctl.io.rows.forms import ROWS_OF_GROUP, TYPED_FORMS
from cepctl.schema import TimeUnit

RowFormat = Literal["csv", "tsv", "json", "jsonl", "md", "parquet", "arrow"]
TimeFormat = Literal["iso", "ticks"]
_ROWS_AT_ONCE = 200_000
_BYTES_AT_ONCE = 1 << 20
_OUT_OF_RANGE = "value out of range"  # what Arrow writes for years of more than 15 bits
_BEYOND = "a match lies beyond the years that ISO 8601 can write; use --time ticks"


def presented(
    matches: pa.Table,
    unit: TimeUnit,
    times: TimeFormat,
    *,
    ticks: Sequence[str] = (),
    typed: bool = False,
) -> pa.Table:
    """The rows as they are to be printed: the answer first, times as text, or timestamps where `typed`.

    Where `times` says so ticks stay numbers; `ticks` names columns of them beside `start` and `end`.  Times
    that RETURN gives are those of the log, in microseconds, whatever `times` says.

    Raises
    ------
    UsageError
        If a tick lies beyond the calendar and `times` is iso.
    """
    if times == "iso":
        for name in ("start", "end", *ticks):
            at = matches.column_names.index(name)
            instants = _instants(matches.column(name), unit)
            matches = matches.set_column(at, name, instants)
    if not typed:
        for at, field in enumerate(matches.schema):
            if pa.types.is_timestamp(field.type):
                matches = matches.set_column(at, field.name, _text(matches.column(at)))
    return answer_first(matches)


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


def require_calendar(start: int | None, end: int | None, unit: TimeUnit, times: TimeFormat) -> None:
    """Look whether rows that lie between two ticks can be written, before any is.

    Raises
    ------
    UsageError
        If a tick lies beyond the calendar and `times` is iso.
    """
    if times == "iso" and start is not None and end is not None:
        _text(_instants(pa.chunked_array([pa.array([start, end], pa.int64())]), unit))


def encoded_rows(
    blocks: Iterable[pa.Table],
    form: RowFormat,
    shown: Callable[[pa.Table], pa.Table] = lambda block: block,
    *,
    empty_header: bool = True,
    header: bool = True,
) -> Iterator[bytes]:
    """Blocks of rows, each as `shown`, as bytes, piece by piece.

    How the rows are cut into blocks changes no byte; there is one block at least.  `empty_header`:
    CSV has its header also where there are no rows.  Without `header` it never has one.
    """
    if form in TYPED_FORMS:
        yield from _grouped(blocks, shown, _parquet_writer if form == "parquet" else pa.ipc.new_file)
        return
    plain = _PLAIN.get(form)
    begun = plain is None or not header
    opening = b"["
    for block in blocks:
        for start in range(0, max(block.num_rows, 1), _ROWS_AT_ONCE):
            part = shown(block.slice(start, _ROWS_AT_ONCE))
            if plain is not None:
                part = part.drop_columns([name for name in ("signature",) if name in part.column_names])
                if not begun and (part.num_rows or empty_header):
                    begun = True
                    yield plain(part.slice(0, 0), True)
            if not part.num_rows:
                continue
            if plain is not None:
                yield plain(part, False)
            elif form == "jsonl":
                yield _frame(part).write_ndjson().encode()
            else:
                # A line break in a text is written as an escape, so that each one ends a row.
                yield opening + _frame(part).write_ndjson().encode().rstrip(b"\n").replace(b"\n", b",\n")
                opening = b",\n"
    if form == "json":
        yield b"[]\n" if opening == b"[" else b"]\n"


def compressed(pieces: Iterable[bytes], codec: str) -> Iterator[bytes]:
    """The pieces compressed; how they are cut changes no byte."""
    sink = _Pieces()
    with pa.CompressedOutputStream(pa.PythonFile(sink, "w"), codec) as stream:
        held = bytearray()
        for piece in pieces:
            held += piece
            whole = len(held) // _BYTES_AT_ONCE * _BYTES_AT_ONCE
            for start in range(0, whole, _BYTES_AT_ONCE):
                stream.write(bytes(held[start : start + _BYTES_AT_ONCE]))
            del held[:whole]
            yield from sink.taken()
        stream.write(bytes(held))
    yield from sink.taken()


def _grouped(
    blocks: Iterable[pa.Table], shown: Callable[[pa.Table], pa.Table], opened: Callable[..., Any]
) -> Iterator[bytes]:
    """Groups of always the same number of rows, each written as it is full."""
    sink = _Pieces()
    writer = None
    for group in _regrouped(blocks, ROWS_OF_GROUP):
        rows = shown(group).combine_chunks()
        if writer is None:
            writer = opened(sink, rows.schema)
        writer.write_table(rows)
        yield from sink.taken()
    if writer is not None:
        writer.close()
    yield from sink.taken()


def _parquet_writer(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(sink, schema, compression="zstd")


def _regrouped(blocks: Iterable[pa.Table], size: int) -> Iterator[pa.Table]:
    """The same rows in blocks of `size`, the last one smaller."""
    held: list[pa.Table] = []
    count = 0
    first = True
    for block in blocks:
        held.append(block)
        count += block.num_rows
        while count >= size:
            whole = pa.concat_tables(held)
            yield whole.slice(0, size)
            first = False
            held, count = [whole.slice(size)], count - size
    if count or first:
        yield pa.concat_tables(held)


class _Pieces(io.RawIOBase):
    """A file that keeps what is written only until it is taken."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, piece: Any) -> int:
        self._held.append(bytes(piece))
        self._at += len(self._held[-1])
        return len(self._held[-1])

    def taken(self) -> list[bytes]:
        """What was written since it was last asked for."""
        held, self._held = self._held, []
        return held


def _delimited(separator: str, matches: pa.Table, header: bool) -> bytes:
    return _frame(matches).write_csv(include_header=header, separator=separator).encode()


def _markdown(matches: pa.Table, header: bool) -> bytes:
    """Rows of a table of Markdown, numbers to the right; what would end a cell or begin HTML is escaped."""
    frame = _frame(matches)
    lines = []
    if header:
        rulers = ["---:" if kind.is_numeric() else "---" for kind in frame.dtypes]
        names = pl.DataFrame({str(at): [name] for at, name in enumerate(frame.columns)})
        lines = [*_markdown_rows(names), f"| {' | '.join(rulers)} |"]
    return "".join(f"{line}\n" for line in [*lines, *_markdown_rows(frame)]).encode()


def _markdown_rows(frame: pl.DataFrame) -> list[str]:
    texts = [pl.col(name).cast(pl.String).fill_null("") for name in frame.columns]
    whole = [each.str.replace_all(r"([|<])", r"\$1").str.replace_all(r"[\r\n]+", " ") for each in texts]
    joined = pl.concat_str(whole, separator=" | ")
    return frame.select(pl.format("| {} |", joined)).to_series().to_list()


_PLAIN: dict[str, Callable[[pa.Table, bool], bytes]] = {
    "csv": partial(_delimited, ","),
    "tsv": partial(_delimited, "\t"),
    "md": _markdown,
}


def _frame(matches: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(matches)
    assert isinstance(frame, pl.DataFrame)
    return frame
