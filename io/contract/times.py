"""Times as logs write them, turned into microseconds since the epoch, UTC, and nanoseconds beyond them.

Reads ISO 8601 and what real logs make of it: blanks or slashes for separators, any number of
fraction digits (below a nanosecond they are cut off), offsets as +02:00, +0200, +02 or Z, words such
as EST (zone_words.py), 24:00 (the next midnight) and second 60 (the second after 59, as POSIX
counts).  Text that is none of these, `?` and empty text among them, is not a time.

A time without a zone is read in the zone that the user names.  Where its clocks are set back,
an hour happens twice: the time is then the earlier of two instants, and `fold` reaches to the later
one.  Where they are set forward, an hour does not exist: such a time is none, and neither is one
behind which a word stands that may be several zones; `read_time` says so.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cepctl.errors import UsageError
from cepctl.io.contract.zone_words import NO_WORDS, ZoneWords, doubt, zone_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH = _EPOCH.replace(tzinfo=None)
_MICROSECOND = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)

_LOOSE = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?"
    r"\s*([A-Za-z]{1,5}|[+-]\d{2}(?::?\d{2})?)?",
    re.ASCII,
)

# A group for each unit after the day: hours, minutes, seconds, fractions.
_UNITS = re.compile(
    r"\s*(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{8}|\d{4}-?W\d\d(?:-?\d)?)"
    r"(?:(?:[Tt]|\s+)(\d{1,2})(?::?(\d{2})(?::?(\d{2})([.,]\d)?)?)?)?",
    re.ASCII,
)
_BEYOND_MICROSECONDS = re.compile(r"[.,]\d{6}(\d{1,3})(\d*)", re.ASCII)
_USUAL_LENGTH = len("2026-06-14T08:15:04.123456Z")
_WHOLE_SECONDS = (len("2026-06-14T08:15:04Z"), len("2026-06-14T08:15:04+02:00"))
_HALVES = ("AM", "PM")
_GRAINS = (3_600_000_000, 60_000_000, 1_000_000, 0)

# Up to here a time is a date (9999-12-31); larger numbers in a log are damage.
LAST_SECOND = 253_402_300_799


class LogTime(NamedTuple):
    """A time read from a log.

    Attributes
    ----------
    micros
        Microseconds since the epoch, UTC; of an ambiguous time the earlier instant.
    zone_seconds
        Offset from UTC of the zone in which it was written.
    fold
        Microseconds from `micros` to the other instant that the text can mean; 0 as a rule.
    zone_given
        Whether the text itself names its zone.
    problem
        Why the text is no time although it is written like one; None as a rule.
    grain
        Microseconds of the unit that the text is written to, 0 where it has a fraction of a second.
    cut
        Whether the text has digits below the nanosecond, which are lost.
    nanos
        Nanoseconds beyond `micros`, 0 to 999.
    """

    micros: int
    zone_seconds: int
    fold: int = 0
    zone_given: bool = True
    problem: str | None = None
    grain: int = 0
    cut: bool = False
    nanos: int = 0


def named_zone(name: str | None) -> ZoneInfo | None:
    """The IANA zone called `name`, or None; raises UsageError when there is no such zone."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UsageError(f"unknown time zone '{name}'; use an IANA name such as Europe/Berlin") from None


def parse_time(text: str | None, zone: ZoneInfo | None = None, words: ZoneWords = NO_WORDS) -> LogTime | None:
    """Read one time; None when the text is not a usable time.

    `text`: the time as the log writes it.  `zone`: where a time without a zone was written; UTC when None.
    `words`: what the user says of words that name zones.

    Examples
    --------
    >>> parse_time("1970-01-01T02:00:00.5+02:00").micros
    500000
    >>> parse_time("1970/01/01 24:00").micros // 3_600_000_000
    24
    >>> parse_time("2015-10-25 02:30", ZoneInfo("Europe/Berlin")).fold // 3_600_000_000
    1
    >>> parse_time("?") is None
    True
    """
    time = read_time(text, zone, words)
    return None if time is None or time.problem is not None else time


def read_time(text: str | None, zone: ZoneInfo | None = None, words: ZoneWords = NO_WORDS) -> LogTime | None:
    """As `parse_time`; of a text that is written like a time and is none, the problem.

    Examples
    --------
    >>> read_time("2026-03-29 02:30", ZoneInfo("Europe/Berlin")).problem
    'the clocks of Europe/Berlin skipped this hour'
    """
    if text is None:
        return None
    time = usual_time(text)
    if time is not None:
        return time
    moment = _read(text.strip(), words)
    if isinstance(moment, str):
        return unreadable(moment)
    if moment is None or (time := log_time(moment, zone, written_grain(text))) is None:
        return None
    return with_nanos(time, text)


def why_no_time(text: str | None, zone: ZoneInfo | None, words: ZoneWords) -> str | None:
    """What is wrong with a text that is written like a time and is none; None where it is not like one."""
    time = read_time(text, zone, words)
    return None if time is None else time.problem


def unreadable(problem: str) -> LogTime:
    """What is written like a time and is none."""
    return LogTime(0, 0, problem=problem)


def with_nanos(time: LogTime, text: str) -> LogTime:
    """A time with the digits beyond the microsecond of the first fraction in its text.

    Examples
    --------
    >>> with_nanos(LogTime(0, 0), "15:16:01.0000005").nanos, with_nanos(LogTime(0, 0), "15:16:01").nanos
    (500, 0)
    """
    found = _BEYOND_MICROSECONDS.search(text)
    if found is None:
        return time
    return time._replace(nanos=int(found[1].ljust(3, "0")), cut=found[2].strip("0") != "")


def log_time(moment: datetime, zone: ZoneInfo | None, grain: int = 0) -> LogTime | None:
    """A date and time as it was written, in `zone` (UTC when None) where it has none of its own."""
    try:
        if isinstance(moment.tzinfo, ZoneInfo):
            time = _in_zone(moment.replace(tzinfo=None), moment.tzinfo)
            return time._replace(grain=grain, zone_given=True)
        offset = moment.utcoffset()
        if offset is None:
            return _in_zone(moment, zone)._replace(grain=grain)
        since, zone_seconds = moment - _EPOCH, offset.days * 86_400 + offset.seconds
        seconds = since.days * 86_400 + since.seconds
        return LogTime(seconds * 1_000_000 + since.microseconds, zone_seconds, grain=grain)
    except OverflowError:
        return None


def written_grain(text: str) -> int:
    """Microseconds of the unit that a time in ISO 8601 is written to, 0 where it has a fraction of a second.

    Examples
    --------
    >>> written_grain("2026-06-14T08:15:02Z"), written_grain("2026/06/14 08:15"), written_grain("20260614")
    (1000000, 60000000, 86400000000)
    >>> written_grain("2026-06-14T08:15:02,000+0200")
    0
    """
    found = _UNITS.match(text)
    last = found.lastindex if found is not None else None
    return 86_400_000_000 if last is None else _GRAINS[last - 1]


def usual_time(text: str) -> LogTime | None:
    """A time as most logs write it, with T and a zone at its end; None for any other text.

    What it reads, `parse_time` reads alike.
    """
    if text[10:11] != "T" or text[4] != "-":
        return None
    try:
        if text[-1] == "Z":
            since, zone_seconds = datetime.fromisoformat(text[:-1]) - _LOCAL_EPOCH, 0
        elif text[-6] in "+-" and text[-3] == ":":
            since, zone_seconds = datetime.fromisoformat(text[:-6]) - _LOCAL_EPOCH, _zone_seconds(text[-6:])
        else:
            return None
    except (ValueError, TypeError):
        return None
    seconds = since.days * 86_400 + since.seconds - zone_seconds
    if len(text) in _WHOLE_SECONDS and text[16] == ":" and text[19] in "Z+-":
        grain = 1_000_000
    else:
        grain = 0 if text[19:20] in (".", ",") else written_grain(text)
    micros = seconds * 1_000_000 + since.microseconds
    if len(text) > _USUAL_LENGTH and (finer := _BEYOND_MICROSECONDS.match(text, 19)) is not None:
        digits, lost = finer.groups()
        cut, nanos = lost.strip("0") != "", int(digits.ljust(3, "0"))
        return LogTime(micros, zone_seconds, 0, True, None, grain, cut, nanos)
    return LogTime(micros, zone_seconds, 0, True, None, grain)


@lru_cache(maxsize=4096)
def _zone_seconds(text: str) -> int:
    """The offset that the text names, in seconds; raises ValueError where it names none."""
    offset = datetime.fromisoformat(f"2000-01-01T00:00{text}").utcoffset() or timedelta()
    return offset // _SECOND


def _read(text: str, words: ZoneWords) -> datetime | str | None:
    """The date and time in the text, with its offset where one is written, or why the text is none."""
    basic = text[8:9] == "T" and text[:8].isdigit()
    if basic or (text[4:5] == "-" and text[10:11] in ("T", " ", "")):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    found = _LOOSE.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    micros = int((found[7] or "0")[:6].ljust(6, "0"))
    rolls_over = (hour == 24 and minute == second == micros == 0) or second == 60
    carry = timedelta(days=1) if hour == 24 else timedelta(seconds=1)
    if rolls_over:
        hour, second = hour % 24, min(second, 59)
    try:
        moment = datetime(year, month, day, hour, minute, second, micros)
        moment = moment + carry if rolls_over else moment
        if found[8] is not None and found[8].upper() in _HALVES:
            return None
        zone = _zone(found[8], moment, words)
        return zone if isinstance(zone, str) else moment.replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None


def _zone(text: str | None, moment: datetime, words: ZoneWords) -> tzinfo | str | None:
    """The zone that is written behind a moment, or why it is none."""
    if text is None:
        return None
    if text[0] not in "+-":
        return zone_of(text, moment, words) or doubt(text)
    digits = text[1:].replace(":", "").ljust(4, "0")
    shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-shift if text[0] == "-" else shift)


def _in_zone(moment: datetime, zone: ZoneInfo | None) -> LogTime:
    if zone is None:
        return LogTime((moment.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND, 0, zone_given=False)
    first = moment.replace(tzinfo=zone)
    before, after = first.utcoffset(), first.replace(fold=1).utcoffset()
    if before is None or after is None:  # pragma: no cover - a ZoneInfo always has an offset
        raise UsageError(f"time zone '{zone.key}' gives no offset for {moment}")
    micros = (moment - before - _LOCAL_EPOCH) // _MICROSECOND
    fold = max((before - after) // _MICROSECOND, 0)
    problem = skipped_by(zone.key) if before < after else None
    return LogTime(micros, before // _SECOND, fold, zone_given=False, problem=problem)


def skipped_by(zone: str) -> str:
    """Why a time in an hour that the clocks of a zone skipped is none."""
    return f"the clocks of {zone} skipped this hour"
