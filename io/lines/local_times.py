"""A column of written times as numbers, all texts of one shape at once.

The texts are cut out of a block of lines as a matrix of bytes.  Those in which digits, letters and signs
stand in the same places are of one shape: the first of them tells, by the layout of the file, which columns
are the year, the month and so on, and all are read from these columns.  A file has few shapes, so there is no
step per time.  What is written behind them, or the user, says in which zone they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from cepctl.io.contract.local_instants import Instants, instants, no_problems
from cepctl.io.contract.reader import ReadOptions, zones_said
from cepctl.io.contract.shaped_times import days_of
from cepctl.io.lines.months import month_numbers
from cepctl.io.lines.stamps import Stamp
from cepctl.numeric.arrays import Bytes, Causes, Flags, Numbers

_DAY, _SECOND = 86_400_000_000, 1_000_000
_MICRO_DIGITS, _NANO_DIGITS = 6, 9
_FIRST_OF_TWO_DIGITS = 1969
_TAI_AHEAD = 10
_UNITS = {10: 1_000_000, 13: 1_000, 16: 1}
_DIGIT, _LETTER, _ZERO = ord("0"), ord("a"), ord("0")
LONGEST_TIME = 64


@dataclass(frozen=True)
class WrittenTexts:
    """Times as they are written, one entry for each text.

    Attributes
    ----------
    local
        Microseconds since 1970-01-01T00:00 on the clock that wrote the time; of a time without a year, since
        the beginning of its year, day 1 of month 1; of a time of day since midnight; of one that counts from
        the beginning of the log, since that.
    month, day
        The day of a time without a year; 0 where there is a year.
    usable
        Whether there is such a day and such a time of day.
    precision
        Microseconds that the last digit stands for, at least one.
    zone_seconds
        The offset that is written; 0 where none is.
    zoned
        Whether the text itself names its zone, by an offset.
    word
        The word that names its zone, "" where none does.
    nanos
        Nanoseconds beyond `local`.
    cut
        Whether it has digits below the nanosecond that are not zero.
    """

    local: Numbers
    month: Numbers
    day: Numbers
    usable: Flags
    precision: Numbers
    zone_seconds: Numbers
    zoned: Flags
    word: Causes
    nanos: Numbers
    cut: Flags

    def first(self, count: int) -> WrittenTexts:
        """The first `count` of them."""
        return WrittenTexts(**{each.name: getattr(self, each.name)[:count] for each in fields(self)})


NO_TIMES = WrittenTexts(*(np.zeros(0, np.int64) for _ in fields(WrittenTexts)))  # type: ignore[arg-type]
"""The times of records where nobody wants them."""


def written_times(block: bytes, starts: Numbers, lengths: Numbers, stamp: Stamp) -> WrittenTexts:
    """The texts of `lengths` bytes from `starts` on, each of which fits the layout."""
    count = len(starts)
    found = WrittenTexts(
        local=np.zeros(count, np.int64),
        month=np.zeros(count, np.int64),
        day=np.zeros(count, np.int64),
        usable=np.zeros(count, np.bool_),
        precision=np.ones(count, np.int64),
        zone_seconds=np.zeros(count, np.int64),
        zoned=np.zeros(count, np.bool_),
        word=np.full(count, "", object),
        nanos=np.zeros(count, np.int64),
        cut=np.zeros(count, np.bool_),
    )
    if not count:
        return found
    width = int(min(lengths.max(), LONGEST_TIME))
    padded = np.frombuffer(block + bytes(width), np.uint8)
    texts = np.lib.stride_tricks.sliding_window_view(padded, width)[starts]
    texts[np.arange(width) >= lengths[:, None]] = 0
    if stamp.is_tai:
        _read_tai(texts, found)
        return found
    shapes = _SHAPE[texts]
    waiting = np.arange(count)
    while len(waiting):
        alike = (shapes[waiting] == shapes[waiting[0]]).all(axis=1)
        rows = waiting[alike]
        _read(texts[rows], rows, stamp, found)
        waiting = waiting[~alike]
    return found


def _shape_of_bytes() -> Bytes:
    shape = np.arange(256, dtype=np.uint8)
    shape[ord("0") : ord("9") + 1] = _DIGIT
    shape[ord("a") : ord("z") + 1] = _LETTER
    shape[ord("A") : ord("Z") + 1] = _LETTER
    return shape


_SHAPE = _shape_of_bytes()


def _read(texts: Bytes, rows: Numbers, stamp: Stamp, into: WrittenTexts) -> None:
    """Read times of one shape, shape (n, width), into their rows."""
    first = bytes(texts[0]).rstrip(b"\0").decode("ascii", "replace")
    match = stamp.compiled.fullmatch(first)
    if match is None:
        return
    parts = {name: match.span(name) for name, text in match.groupdict().items() if text is not None}

    def number(name: str, otherwise: int = 0) -> Numbers:
        if name not in parts:
            return np.full(len(rows), otherwise, np.int64)
        value = np.zeros(len(rows), np.int64)
        for column in range(*parts[name]):
            value = value * 10 + (texts[:, column].astype(np.int64) - _ZERO)
        return value

    micros, nanos, cut = _fraction(texts, parts)
    digits = parts["f"][1] - parts["f"][0] if "f" in parts else 0
    into.nanos[rows], into.cut[rows] = nanos, cut
    if "E" in parts:
        _read_epoch(number("E"), micros, digits, parts["E"], rows, into)
        return
    if "U" in parts:
        into.local[rows] = number("U") * _SECOND + micros
        into.usable[rows] = into.zoned[rows] = True
        into.precision[rows] = int(10 ** (_MICRO_DIGITS - min(digits, _MICRO_DIGITS)))
        return
    year = number("Y") if "Y" in parts else _full_year(number("y")) if "y" in parts else None
    month = month_numbers(texts, parts["b"]) if "b" in parts else number("m", 1)
    day = number("d")
    hour, minute, second = number("H"), number("M"), number("S")
    usable = (minute <= 59) & (second <= 60)
    if "p" in parts:
        afternoon = (texts[:, parts["p"][0]] | 32) == ord("p")
        usable &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * afternoon
    usable &= (hour <= 23) | ((hour == 24) & (minute == 0) & (second == 0) & (micros == 0))
    clock = (hour * 3600 + minute * 60 + second) * _SECOND + micros
    into.precision[rows] = _precision(parts, digits)
    if "z" in parts:
        into.zoned[rows] = True
        into.zone_seconds[rows] = _zone_seconds(texts, parts["z"])
    if "w" in parts:
        words, place = np.unique(texts[:, slice(*parts["w"])], axis=0, return_inverse=True)
        into.word[rows] = np.array([bytes(word).decode() for word in words], object)[place.ravel()]
    if "j" in parts and year is not None:
        days, known = days_of(year, month, np.ones_like(day))
        following = days_of(year + 1, month, np.ones_like(day))[0]
        nth = number("j")
        into.local[rows] = np.where(known, days + nth - 1, 0) * _DAY + clock
        into.usable[rows] = usable & known & (nth >= 1) & (nth <= following - days)
        return
    if "d" not in parts:
        into.local[rows], into.usable[rows] = clock, usable
        return
    days, known = days_of(year if year is not None else np.full(len(rows), 2000), month, day)
    into.local[rows] = np.where(known, days, 0) * _DAY * (year is not None) + clock
    if year is None:
        into.month[rows], into.day[rows] = month, day
    into.usable[rows] = usable & known


def _read_epoch(
    value: Numbers, micros: Numbers, digits: int, span: tuple[int, int], rows: Numbers, into: WrittenTexts
) -> None:
    length = span[1] - span[0]
    unit = _UNITS.get(length)
    if unit is None:
        into.local[rows], into.nanos[rows] = value // 1_000, value % 1_000
    else:
        into.local[rows] = value * unit + micros
        into.precision[rows] = max(unit // 10**digits, 1) if unit == _SECOND else unit
    into.usable[rows] = True
    into.zoned[rows] = True


def _read_tai(texts: Bytes, into: WrittenTexts) -> None:
    """Read labels of TAI64N, as multilog writes them: 10 s ahead of the clock, whatever leaps there were."""
    letters = (texts[:, 1:25] | 32).astype(np.int64)
    digits = np.where(
        letters > ord("9") | 32, letters - ord("a") + 10, texts[:, 1:25].astype(np.int64) - _ZERO
    )
    seconds = (digits[:, 1:16] * (16 ** np.arange(14, -1, -1, dtype=np.int64))).sum(axis=1)
    nanos = (digits[:, 16:24] * (16 ** np.arange(7, -1, -1, dtype=np.int64))).sum(axis=1)
    into.local[:] = (seconds - _TAI_AHEAD) * _SECOND + nanos // 1_000
    into.nanos[:] = nanos % 1_000
    into.usable[:] = nanos < 10**_NANO_DIGITS
    into.zoned[:] = True


def _fraction(texts: Bytes, parts: dict[str, tuple[int, int]]) -> tuple[Numbers, Numbers, Flags]:
    """Microseconds after the second, nanoseconds beyond them, and whether some digits below are lost."""
    start, end = parts.get("f", (0, 0))
    digits = [texts[:, place].astype(np.int64) - _ZERO for place in range(start, end)]
    digits += [np.zeros(len(texts), np.int64)] * (_NANO_DIGITS - len(digits))
    nanos = np.zeros(len(texts), np.int64)
    for digit in digits[:_NANO_DIGITS]:
        nanos = nanos * 10 + digit
    cut = np.zeros(len(texts), np.bool_)
    for digit in digits[_NANO_DIGITS:]:
        cut |= digit != 0
    return nanos // 1_000, nanos % 1_000, cut


def _precision(parts: dict[str, tuple[int, int]], digits: int) -> int:
    if "S" not in parts:
        return 60 * _SECOND
    return int(10 ** (_MICRO_DIGITS - min(digits, _MICRO_DIGITS)))


def _full_year(year: Numbers) -> Numbers:
    """The year that two digits mean: 1969 to 2068, as POSIX has it."""
    return np.where(year + 1900 >= _FIRST_OF_TWO_DIGITS, year + 1900, year + 2000)


def _zone_seconds(texts: Bytes, span: tuple[int, int]) -> Numbers:
    sign = texts[:, span[0]]
    if not set(np.unique(sign).tolist()) <= {ord("+"), ord("-")}:
        return np.zeros(len(texts), np.int64)
    digits = [column for column in range(span[0] + 1, span[1]) if texts[0, column] != ord(":")]
    values = [texts[:, column].astype(np.int64) - _ZERO for column in digits] + [
        np.zeros(len(texts), np.int64)
    ] * 2
    seconds = (values[0] * 10 + values[1]) * 3600 + (values[2] * 10 + values[3]) * 60
    return np.where(sign == ord("-"), -seconds, seconds)


def instants_of(local: Numbers, times: WrittenTexts, options: ReadOptions) -> Instants:
    """Instants of local times: by the offset or the word behind them, the others in the zone of the user."""
    count = len(local)
    found = Instants(
        local - times.zone_seconds * 1_000_000,
        times.zone_seconds.copy(),
        np.zeros(count, np.int64),
        no_problems(count),
    )
    zone, words = zones_said(options)
    worded = times.word != ""
    for word in ("", *np.unique(times.word[worded])):
        rows = np.flatnonzero(times.word == word if word else ~times.zoned & ~worded)
        own = instants(local[rows], zone, word, words)
        for every, some in (
            (found.micros, own.micros),
            (found.zone_seconds, own.zone_seconds),
            (found.fold, own.fold),
            (found.problems, own.problems),
        ):
            every[rows] = some
    return found
