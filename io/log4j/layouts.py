"""Where a log4j record begins, and what stands before its message: time, level, thread, logger.

    layout      how a record begins
    container   2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.Some: message
    daemon      2015-10-18 18:01:47,978 INFO org.apache.hadoop.Some: message
    console     17/06/09 20:10:40 INFO mapred.JobClient: message
    old HDFS    081109 203615 148 INFO dfs.DataNode$PacketResponder: message

A dated line may have `.` for `,`, `T` for the blank, no milliseconds, or `(File.java:method(1)) -`
after the logger.  Years of two digits are those from 2000.  Times are found by their place in the
line, all lines of a block at once; the rest of the header by a regular expression that RE2 runs in
one pass over the header alone, but for threads whose name contains `]`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Bytes, Flags, Numbers

_DAY, _SECOND, _MILLISECOND = 86_400_000_000, 1_000_000, 1_000

_DIGIT = 1
_LONGEST_TIME = 24
_LONGEST_HEADER = 4_096


@dataclass(frozen=True)
class _Layout:
    """A time as it is written: places of its digits, and its precision in microseconds."""

    shape: str
    date: tuple[slice, slice, slice]
    clock: tuple[slice, slice, slice]
    millis: slice | None = None
    century: int = 0

    @property
    def length(self) -> int:
        return len(self.shape)


_DATE = (slice(0, 4), slice(5, 7), slice(8, 10))
_CLOCK = (slice(11, 13), slice(14, 16), slice(17, 19))
_LAYOUTS = (
    _Layout("0000-00-00 00:00:00,000 ", _DATE, _CLOCK, slice(20, 23)),
    _Layout("0000-00-00 00:00:00 ", _DATE, _CLOCK),
    _Layout(
        "00/00/00 00:00:00 ",
        (slice(0, 2), slice(3, 5), slice(6, 8)),
        (slice(9, 11), slice(12, 14), slice(15, 17)),
        century=2000,
    ),
    _Layout(
        "000000 000000 ",
        (slice(0, 2), slice(2, 4), slice(4, 6)),
        (slice(7, 9), slice(9, 11), slice(11, 13)),
        century=2000,
    ),
)
_NUMBERED_THREAD = len(_LAYOUTS) - 1

_LOGGER = r"(?P<logger>[^\s:\[\]()]+)(?::| \([^\s()]*(?:\([^\s()]*\))*\) -)(?: |\n|$)"
# RE2 needs no backtracking where every next byte decides; it then captures four groups at most.
_HEADER = r"^(?P<head> *(?P<level>[A-Z]+) +(?:\[(?P<thread>[^\]\n]*)\] +)?" + _LOGGER + ")"
_HEADER_BRACKETS = r"^(?P<head> *(?P<level>[A-Z]+) +\[(?P<thread>.*?)\] +" + _LOGGER + ")"
_HEADER_NUMBERED = r"^(?P<head>(?P<thread>[0-9]+) +(?P<level>[A-Z]+) +" + _LOGGER + ")"


@dataclass(frozen=True)
class Headers:
    """The lines of a block that begin a record, in order; one entry each.

    Attributes
    ----------
    line
        Index of the line in the block.
    message
        Byte of the block at which the message begins.
    local
        Microseconds since 1970-01-01T00:00 on the clock that wrote the time.
    usable
        Whether date and time of day exist in the calendar.
    precision
        Microseconds of the last digit that is written: 1,000 or 1,000,000.
    level, thread, logger
        Strings; the thread is null where none is written.
    """

    line: Numbers
    message: Numbers
    local: Numbers
    usable: Flags
    precision: Numbers
    level: pa.Array
    thread: pa.Array
    logger: pa.Array

    def first(self, count: int) -> Headers:
        """The first `count` of them."""
        return Headers(**{each.name: getattr(self, each.name)[:count] for each in fields(self)})


def find_headers(block: bytes, starts: Numbers, ends: Numbers) -> Headers:
    """The lines [starts, ends) of a block (newlines left out) that begin a record."""
    numbered, beginnings = _beginnings(block, starts)
    found = [
        headers
        for number, layout in enumerate(_LAYOUTS)
        if (headers := _of_layout(number, layout, block, numbered, beginnings, starts, ends)) is not None
    ]
    if not found:
        none = np.zeros(0, np.int64)
        empty = pa.nulls(0, pa.string())
        return Headers(none, none, none, none.astype(np.bool_), none, empty, empty, empty)
    if len(found) == 1:
        return found[0]
    return _in_order(found)


def texts(block: bytes, starts: Numbers, ends: Numbers) -> pa.Array:
    """The ranges [starts, ends) of a block of UTF-8, in order and disjoint, as strings."""
    if not len(starts):
        return pa.nulls(0, pa.string())
    bounds = np.column_stack([starts, ends]).ravel().astype(np.int32)
    every = pa.Array.from_buffers(
        pa.string(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(block)]
    )
    return every.take(pa.array(np.arange(0, len(bounds), 2)))


def _beginnings(block: bytes, starts: Numbers) -> tuple[Numbers, Bytes]:
    """The n lines that begin with a digit, and their first bytes.  Shapes (n), (n, 24)."""
    padded = np.frombuffer(block + bytes(_LONGEST_TIME), np.uint8)
    first = padded[starts]
    numbered = np.flatnonzero((first >= ord("0")) & (first <= ord("9")))
    return numbered, padded[starts[numbered, None] + np.arange(_LONGEST_TIME)]


def _kinds_of_bytes() -> Bytes:
    kinds = np.arange(256, dtype=np.uint8)
    kinds[ord("0") : ord("9") + 1] = _DIGIT
    kinds[ord(".")] = ord(",")
    kinds[ord("T")] = ord(" ")
    return kinds


_KINDS = _kinds_of_bytes()


def _of_layout(
    number: int,
    layout: _Layout,
    block: bytes,
    numbered: Numbers,
    beginnings: Bytes,
    starts: Numbers,
    ends: Numbers,
) -> Headers | None:
    shape = _KINDS[np.frombuffer(layout.shape.encode(), np.uint8)]
    fits = (_KINDS[beginnings[:, : layout.length]] == shape).all(axis=1)
    if not fits.any():
        return None
    timed, times = numbered[fits], beginnings[fits]
    rests = texts(block, starts[timed] + layout.length, ends[timed])
    header = _rest_of_headers(rests, numbered=number == _NUMBERED_THREAD)
    short = pc.less_equal(pc.binary_length(header.field("head")), _LONGEST_HEADER)
    known = np.flatnonzero(pc.and_(header.is_valid(), short).to_numpy(zero_copy_only=False))
    if not len(known):
        return None
    if len(known) < len(timed):
        header, timed, times = header.take(pa.array(known)), timed[known], times[known]
    head, level, thread, logger = (header.field(name) for name in ("head", "level", "thread", "logger"))
    local, usable = _local_times(layout, times - np.uint8(ord("0")))
    return Headers(
        line=timed,
        message=starts[timed] + layout.length + pc.binary_length(head).to_numpy().astype(np.int64),
        local=local,
        usable=usable,
        precision=np.full(len(timed), _MILLISECOND if layout.millis else _SECOND, np.int64),
        level=level,
        thread=pc.if_else(pc.equal(thread, ""), pa.scalar(None, pa.string()), thread),
        logger=logger,
    )


def _rest_of_headers(rests: pa.Array, *, numbered: bool) -> pa.StructArray:
    """Groups of the header after the time, null where there is none."""
    if numbered:
        return _groups(rests, _HEADER_NUMBERED)
    header = _groups(rests, _HEADER)
    missed = np.flatnonzero(header.is_null().to_numpy(zero_copy_only=False))
    if not len(missed):
        return header
    again = _groups(rests.take(pa.array(missed)), _HEADER_BRACKETS)
    places = np.arange(len(rests))
    places[missed] = len(rests) + np.arange(len(missed))
    return pa.concat_arrays([header, again]).take(pa.array(places))


def _groups(texts: pa.Array, regex: str) -> pa.StructArray:
    """The groups of the header, always in the same order of fields."""
    found = pc.extract_regex(texts, regex)
    valid = found.is_valid()
    names = ("head", "level", "thread", "logger")
    return pa.StructArray.from_arrays(
        [found.field(found.type.get_field_index(name)) for name in names], names, mask=pc.invert(valid)
    )


def _local_times(layout: _Layout, digits: Bytes) -> tuple[Numbers, Flags]:
    """Local time in microseconds, and where there is such a time; 60 s is the second after 59 s."""

    def number(place: slice) -> Numbers:
        value = np.zeros(len(digits), np.int64)
        for column in range(place.start, place.stop):
            value = value * 10 + digits[:, column]
        return value

    year, month, day = (number(place) for place in layout.date)
    hour, minute, second = (number(place) for place in layout.clock)
    year += layout.century
    month_known = (month >= 1) & (month <= 12) & (year >= 1)
    months = (year - 1970) * 12 + np.where(month_known, month, 1) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    next_first = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    clock = (hour * 3600 + minute * 60 + second) * _SECOND
    if layout.millis is not None:
        clock += number(layout.millis) * _MILLISECOND
    usable = month_known & (day >= 1) & (day <= next_first - first)
    usable &= (minute <= 59) & (second <= 60) & ((hour <= 23) | (clock == _DAY))
    return (first + day - 1) * _DAY + clock, usable


def _in_order(found: list[Headers]) -> Headers:
    """Headers of several layouts as one, in order of lines."""
    order = np.argsort(np.concatenate([headers.line for headers in found]), kind="stable")

    def numbers(name: str) -> npt.NDArray[np.generic]:
        joined: npt.NDArray[np.generic] = np.concatenate([getattr(headers, name) for headers in found])
        return joined[order]

    def strings(name: str) -> pa.Array:
        return pa.concat_arrays([getattr(headers, name) for headers in found]).take(pa.array(order))

    columns: dict[str, Any] = {
        **{name: numbers(name) for name in ("line", "message", "local", "usable", "precision")},
        **{name: strings(name) for name in ("level", "thread", "logger")},
    }
    return Headers(**columns)
