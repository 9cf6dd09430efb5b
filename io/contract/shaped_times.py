"""A column of times written in one shape, such as `14/Jun/2026:08:15:02 +0200`, as numbers, all at once.

A shape is a time with a letter for each sign that differs:

    YYYY mm bbb dd ee   year, month, month by its English name, day, day whose first digit may be a blank
    HH MM SS f          hour, minute, second, digits of a fraction
    zzzzz zzzzzz        offset: +hhmm, +hh:mm
    anything else       itself

What is not written so, sign by sign, and what no calendar has, is not read here: one time alone
(times.py) says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Bytes, Flags, Numbers

_DAY, _SECOND = 86_400_000_000, 1_000_000
_FIRST_YEAR, _LAST_YEAR = 1900, 9000
_LONGEST, _MOST_SHAPES = 40, 8
_MICRO_DIGITS, _NANO_DIGITS = 6, 9
_ZERO, _BLANK, _NINE = ord("0"), ord(" "), 9
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CODES = re.compile("Y+|m+|b+|d+|e+|H+|M+|S+|f+|z+")
_TAIL = re.compile(r"(?:([.,])(\d{1,9}))?(Z|[-+]\d\d:\d\d|[-+]\d{4})?", re.ASCII)
_ISO_DAY = "YYYY-mm-dd"


@dataclass(frozen=True)
class ShapedTimes:
    """Times of a column, one entry for each text.

    Attributes
    ----------
    read
        Which texts were read; of the others nothing is told.
    local
        Microseconds since 1970-01-01T00:00 on the clock that wrote the time; of a time without a year, since
        the beginning of its day.
    month, day
        Of a time without a year; else 0.
    zone_seconds, zoned
        The offset that is written, and whether one is.
    digits
        How many digits the fraction has.
    nanos
        Nanoseconds beyond `local`.
    """

    read: Flags
    local: Numbers
    month: Numbers
    day: Numbers
    zone_seconds: Numbers
    zoned: Flags
    digits: Numbers
    nanos: Numbers

    def where(self, rows: Flags) -> ShapedTimes:
        """Some of them."""
        return ShapedTimes(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})

    @property
    def precision(self) -> Numbers:
        """Microseconds that the last digit stands for, at least one."""
        return np.asarray(10 ** (_MICRO_DIGITS - np.minimum(self.digits, _MICRO_DIGITS)))

    @property
    def micros(self) -> Numbers:
        """Microseconds since the epoch, of a clock that is as its offset says."""
        return self.local - self.zone_seconds * _SECOND


def shaped_times(texts: pa.Array, shape: str | None = None) -> ShapedTimes:
    """The times in a column of text: of a shape, or of ISO 8601 with seconds; null is none.

    Behind the seconds may be a fraction, and an offset.

    Examples
    --------
    >>> shaped_times(pa.array(["14/Jun/2026:08:15:02 +0200"]), "dd/bbb/YYYY:HH:MM:SS zzzzz").micros.tolist()
    [1781417702000000]
    >>> found = shaped_times(pa.array(["2026-06-14T08:15:02.25Z", "2026-06-31T08:15:02Z", None]))
    >>> found.read.tolist(), found.precision.tolist()
    ([True, False, False], [10000, 1000000, 1000000])
    """
    count = len(texts)
    found = ShapedTimes(
        **{each.name: np.zeros(count, _TYPES.get(each.name, np.int64)) for each in fields(ShapedTimes)}
    )
    lengths = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    for length in np.flatnonzero(np.bincount(np.minimum(lengths, _LONGEST + 1), minlength=1)).tolist():
        if len(shape or _ISO_DAY) <= length <= _LONGEST:
            rows = np.flatnonzero(lengths == length)
            alike = texts if len(rows) == count else texts.take(pa.array(rows))
            _read_alike(_matrix(alike, length), rows, shape, found)
    return found


_TYPES: Mapping[str, Any] = {"read": np.bool_, "zoned": np.bool_}


def _matrix(texts: pa.Array, length: int) -> Bytes:
    """The bytes of texts of one length, shape (length, texts)."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :]
    data = np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[len(texts)]]
    return np.ascontiguousarray(data.reshape(len(texts), length).T)


def _read_alike(signs: Bytes, rows: Numbers, shape: str | None, into: ShapedTimes) -> None:
    """Read texts of one length into their rows, shape by shape."""
    for _ in range(_MOST_SHAPES):
        own = whole_shape(bytes(signs[:, 0]).decode("ascii", "replace"), shape)
        left = np.ones(len(rows), np.bool_) if own is None else ~_read(signs, rows, own, into)
        # The first may be none, as the 31st of June is.
        left[0] = False
        if not left.any():
            return
        signs, rows = signs[:, left], rows[left]


def whole_shape(text: str, shape: str | None = None) -> str | None:
    """The shape of a text that begins with a time of this shape, or of ISO 8601; None where it is none.

    Examples
    --------
    >>> whole_shape("2026-06-14 08:15:02,250+02:00"), whole_shape("2026-06-14T08:15Z")
    ('YYYY-mm-dd HH:MM:SS,fffzzzzzz', None)
    """
    if shape is None:
        sign = text[len(_ISO_DAY) : len(_ISO_DAY) + 1]
        if sign not in ("T", " "):
            return None
        shape = f"{_ISO_DAY}{sign}HH:MM:SS"
    tail = _TAIL.fullmatch(text, len(shape))
    if tail is None or len(text) < len(shape):
        return None
    point, fraction, zone = tail.groups("")
    return f"{shape}{point}{'f' * len(fraction)}{zone if zone == 'Z' else 'z' * len(zone)}"


@lru_cache(maxsize=64)
def _parts(shape: str) -> dict[str, slice]:
    return {found[0][0]: slice(*found.span()) for found in _CODES.finditer(shape)}


def _read(signs: Bytes, rows: Numbers, shape: str, into: ShapedTimes) -> Flags:
    """Read texts of one shape, `signs` of shape (length, texts), into their rows; returns which are of it."""
    parts, count = _parts(shape), len(rows)
    fits = np.ones(count, np.bool_)
    for place, wanted in enumerate(shape):
        if all(not (part.start <= place < part.stop) for part in parts.values()):
            fits &= signs[place] == ord(wanted)
    digits = {code: list(_digits(signs, code, part)) for code, part in parts.items() if code != "b"}
    for columns in digits.values():
        for column in columns:
            fits &= column <= _NINE

    def number(code: str) -> Numbers:
        value = np.zeros(count, np.int64)
        for column in digits.get(code, ()):
            value = value * 10 + column
        return value

    month = _months(signs[parts["b"]]) if "b" in parts else number("m")
    year = number("Y") if "Y" in parts else np.full(count, 2000)
    hour, minute, second = number("H"), number("M"), number("S")
    day = number("d") + number("e")
    days, known = days_of(year, month, day)
    fits &= known & (hour <= 23) & (minute <= 59) & (second <= 59)
    fits &= (year >= _FIRST_YEAR) & (year <= _LAST_YEAR)
    zone_seconds = np.zeros(count, np.int64)
    if "z" in parts:
        zone_seconds, is_offset = _offset(signs[parts["z"]], digits["z"])
        fits &= is_offset
    into.zone_seconds[rows] = zone_seconds
    into.zoned[rows] = "z" in parts or shape.endswith("Z")
    nanos = number("f") * 10 ** (_NANO_DIGITS - len(digits.get("f", ())))
    clock = (hour * 3600 + minute * 60 + second) * _SECOND + nanos // 1_000
    has_year = "Y" in parts
    into.local[rows] = days * _DAY * has_year + clock
    into.month[rows], into.day[rows] = month * (not has_year), day * (not has_year)
    into.nanos[rows], into.digits[rows] = nanos % 1_000, len(digits.get("f", ()))
    into.read[rows] = fits
    return fits


def _digits(signs: Bytes, code: str, part: slice) -> Iterator[Bytes]:
    """The digits of a part as numbers; what is none is beyond nine."""
    columns = signs[part]
    for place, column in enumerate(columns):
        if code == "z" and (place == 0 or (len(columns) == len("+hh:mm") and place == len("+hh"))):
            continue
        if code == "e" and place == 0:
            yield np.where(column == _BLANK, np.uint8(0), column - np.uint8(_ZERO))
        else:
            yield column - np.uint8(_ZERO)


def _offset(signs: Bytes, digits: list[Bytes]) -> tuple[Numbers, Flags]:
    """Seconds of an offset, shape (length, texts), and whether it is one."""
    first, second, third, fourth = (digit.astype(np.int64) for digit in digits)
    hours, minutes = first * 10 + second, third * 10 + fourth
    minus = signs[0] == ord("-")
    fits = (minus | (signs[0] == ord("+"))) & (hours <= 23) & (minutes <= 59)
    if len(signs) == len("+hh:mm"):
        fits &= signs[len("+hh")] == ord(":")
    seconds = hours * 3600 + minutes * 60
    return np.where(minus, -seconds, seconds), fits


def _months(signs: Bytes) -> Numbers:
    """Months by their English names, of three letters each; 0 for any other."""
    code = np.zeros(signs.shape[1], np.int64)
    for column in signs:
        code = code * 256 + column
    month = np.zeros(len(code), np.int64)
    for number, name in enumerate(_MONTHS, start=1):
        month[code == int.from_bytes(name.encode(), "big")] = number
    return month


def days_of(year: Numbers, month: Numbers, day: Numbers) -> tuple[Numbers, Flags]:
    """Days since 1970, and whether there is such a day."""
    possible = (month >= 1) & (month <= 12) & (year >= 1)
    months = (np.where(possible, year, 1970) - 1970) * 12 + np.where(possible, month, 1) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    following = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return first + day - 1, possible & (day >= 1) & (day <= following - first)
