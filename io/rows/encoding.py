"""Collapsed matches as text, Parquet or Arrow: what a match prints or writes.

The columns are those of RETURN, `confidence`, `start`, `end` and `match`; JSON, Parquet and Arrow have the
signature as nested lists too.  Times are ISO 8601 in UTC with as many digits as the unit has, or ticks; in
Parquet and Arrow they are timestamps.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.concurrency import in_turn, usable_cores
from cepctl.errors import UsageError
from cepctl.io.rows.columns import answer_first
from cepctl.io.rows.forms import FORMS, ROWS_OF_GROUP, Encoded, RowForm
from cepctl.schema import TimeUnit

TimeFormat = Literal["iso", "ticks"]
_ROWS_AT_ONCE = 1 << 18
Block: TypeAlias = pa.Table | Callable[[], pa.Table]
"""Rows, or what makes them."""
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
    that RETURN gives are those of the log, with all their digits, whatever `times` says.

    Raises
    ------
    UsageError
        If a tick lies beyond the calendar and `times` is iso.
    """
    if times == "iso":
        absences = [_OPEN_UNTIL] if _OPEN_UNTIL in matches.column_names else []
        for name in ("start", "end", *absences, *ticks):
            at = matches.column_names.index(name)
            instants = _instants(matches.column(name), unit)
            matches = matches.set_column(at, name, instants)
    if not typed:
        for at, field in enumerate(matches.schema):
            if pa.types.is_timestamp(field.type):
                matches = matches.set_column(at, field.name, _text(matches.column(at)))
    return answer_first(matches)


_OPEN_UNTIL = "open_until"
# What instants are counted in, and its nanoseconds.
_RESOLUTIONS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def _instants(ticks: pa.ChunkedArray, unit: TimeUnit) -> pa.ChunkedArray:
    resolution, length = next(each for each in _RESOLUTIONS if unit.nanoseconds % each[1] == 0)
    try:
        return pc.multiply_checked(ticks, unit.nanoseconds // length).cast(pa.timestamp(resolution, "UTC"))
    except pa.ArrowInvalid:
        raise UsageError(_BEYOND) from None


def _text(instants: pa.ChunkedArray) -> pa.ChunkedArray:
    # Arrow looks UTC up in its calendar of zones for each value; without a zone it is ten times as fast.
    local = instants.cast(pa.timestamp(instants.type.unit))
    ends = pc.min_max(local)
    if any(_OUT_OF_RANGE in (ends[end].cast(pa.string()).as_py() or "") for end in ("min", "max")):
        raise UsageError(_BEYOND)
    return pa.chunked_array([_iso(chunk) for chunk in local.cast(pa.string()).chunks], pa.string())


def _iso(texts: pa.StringArray) -> pa.StringArray:
    """`2024-05-01 10:00:00` as `2024-05-01T10:00:00Z`: columns of bytes where all have the same form."""
    alike = _alike_bytes(texts)
    at = len("2024-05-01")
    if alike is None or alike.shape[1] <= at or (alike[:, at] != ord(" ")).any():
        return pc.binary_join_element_wise(pc.replace_substring(texts, " ", "T"), "Z", "")
    count, width = alike.shape
    longer = np.empty((count, width + 1), np.uint8)
    longer[:, :width] = alike
    longer[:, at], longer[:, width] = ord("T"), ord("Z")
    offsets = np.arange(0, (count + 1) * (width + 1), width + 1, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(longer))


def _alike_bytes(texts: pa.StringArray) -> npt.NDArray[np.uint8] | None:
    """The bytes of texts of one length, shape (n, bytes); None where one is null or has another length."""
    count, (_, begins_held, held) = len(texts), texts.buffers()
    if not count or texts.null_count or held is None:
        return None
    begins = np.frombuffer(begins_held, np.int32)[texts.offset : texts.offset + count + 1]
    width = int(begins[1] - begins[0])
    if (np.diff(begins) != width).any():
        return None
    return np.frombuffer(held, np.uint8)[begins[0] : begins[-1]].reshape(count, width)


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
    blocks: Iterable[Block],
    form: str,
    shown: Callable[[pa.Table], pa.Table] = lambda block: block,
    *,
    empty_header: bool = True,
    header: bool = True,
    threads: int | None = None,
    rows_of_group: int = ROWS_OF_GROUP,
) -> Iterator[Encoded]:
    """Blocks of rows, each as `shown`, as bytes in a form that is written row by row, piece by piece.

    How the rows are cut into blocks, and how many threads make and show them (None: one for each core),
    changes no byte; there is one block at least.  `empty_header`: CSV has its header also where there are no
    rows.  Without `header` it never has one.  Of Parquet and Arrow `rows_of_group` are held at once.
    """
    threads = usable_cores() if threads is None else threads
    written = FORMS[form]
    if written.opened is not None:
        tables = in_turn((partial(_shown, part, shown) for part in _parts(blocks)), threads)
        yield from _grouped(tables, written.opened, rows_of_group)
        return
    pieces = in_turn((partial(_text_piece, part, shown, written) for part in _parts(blocks)), threads)
    if written.array:
        yield from _one_array(pieces)
        return
    begun = not header
    for piece in pieces:
        if not begun and (piece.rows or empty_header):
            begun = True
            if piece.header:
                yield piece.header
        if piece.rows:
            yield piece.text


def _parts(blocks: Iterable[Block]) -> Iterator[Callable[[], pa.Table]]:
    """What makes the blocks, those that are there already some rows at a time."""
    for block in blocks:
        if isinstance(block, pa.Table):
            for start in range(0, max(block.num_rows, 1), _ROWS_AT_ONCE):
                yield partial(block.slice, start, _ROWS_AT_ONCE)
        else:
            yield block


def _shown(made: Callable[[], pa.Table], shown: Callable[[pa.Table], pa.Table]) -> pa.Table:
    return shown(made())


@dataclass(frozen=True)
class _TextPiece:
    """Some rows as text, and the header that would stand above them."""

    rows: int
    header: Encoded
    text: Encoded


def _text_piece(
    made: Callable[[], pa.Table],
    shown: Callable[[pa.Table], pa.Table],
    form: RowForm,
) -> _TextPiece:
    assert form.text is not None
    rows = shown(made())
    if not form.nested and "signature" in rows.column_names:
        rows = rows.drop_columns(["signature"])
    frame = _frame(rows)
    return _TextPiece(rows.num_rows, form.text(frame.clear(), True), form.text(frame, False))


def _one_array(pieces: Iterable[_TextPiece]) -> Iterator[bytes]:
    """Lines of JSON as one array."""
    opening = b"["
    for piece in pieces:
        if piece.rows:
            # A line break in a text is written as an escape, so that each one ends a row.
            yield opening + bytes(piece.text).rstrip(b"\n").replace(b"\n", b",\n")
            opening = b",\n"
    yield b"[]\n" if opening == b"[" else b"]\n"


def compressed(pieces: Iterable[Encoded], codec: str) -> Iterator[bytes]:
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


def _grouped(blocks: Iterable[pa.Table], opened: Callable[..., Any], rows: int) -> Iterator[bytes]:
    """Groups of always the same number of rows, each written as it is full."""
    sink = _Pieces()
    writer = None
    for group in _regrouped(blocks, rows):
        if writer is None:
            writer = opened(sink, group.schema)
        writer.write_table(group)
        del group
        yield from sink.taken()
    if writer is not None:
        writer.close()
    yield from sink.taken()


def _regrouped(blocks: Iterable[pa.Table], size: int) -> Iterator[pa.Table]:
    """Rows in blocks of `size`, the last one smaller; each column is one array."""
    held: list[pa.Table] = []
    count = 0
    first = True
    for block in blocks:
        held.append(block)
        count += block.num_rows
        while count >= size:
            count -= size
            last = held.pop()
            rest = last.slice(last.num_rows - count)
            held.append(last.slice(0, last.num_rows - count))
            del last
            yield _in_one(held)
            first = False
            held.append(rest)
    if count or first:
        yield _in_one(held)


def _in_one(held: list[pa.Table]) -> pa.Table:
    """The tables as one, which they are taken for column by column; the list is empty then."""
    schema = held[0].schema
    columns = [[chunk for table in held for chunk in table.column(at).chunks] for at in range(len(schema))]
    held.clear()
    arrays: list[pa.ChunkedArray] = []
    while columns:
        arrays.append(pa.chunked_array(columns.pop(0), schema.field(len(arrays)).type).combine_chunks())
    return pa.Table.from_arrays(arrays, schema=schema)


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


def _frame(matches: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(matches)
    assert isinstance(frame, pl.DataFrame)
    return frame
