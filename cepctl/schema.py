"""What events, their times and the metadata of their files are called and counted in.

Everything that reads, writes or matches events agrees on this page, and on the types of columns in
event_table.py.  Ticks are signed 64-bit counts of the time unit since the Unix epoch, UTC; both ends of an
interval are included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Literal

from cepctl.errors import UncertaintyModelError
from cepctl.numeric.exact_numbers import exact_number

# The time of an interval event's end as the log gave it; only in datasets where some event has one.
END_TIME = "end_time"
# What interval events may have besides: the mass of the end (null: uniform), and the bounds of the length
# (null: 0 and unbounded); each only in datasets where some event has one.
END_PMF, LENGTH_LOWER, LENGTH_UPPER = "end_pmf", "length_lower", "length_upper"
# The clock that stamped an event, null for none; only in datasets where some event has one.
CLOCK = "clock"
# In plain event files: the offset of the event's clock, `lo:hi:p|lo:hi:p`.
CLOCK_OFFSET = "clock_offset"
ATTRIBUTE_PREFIX = "attr:"
# When a record came to whoever collected it; an attribute like any other.
ARRIVAL = "arrival"
# Where an event came from: its source, and the number of its record there; of these only the first is a
# column of every event table.
SOURCE, RECORD = "source", "record"
# Who wrote an event, and along what, where that is not its record; in datasets whose writers are known.
WRITER, ALONG = "writer", "writer:along"
# Behind the name of a writer the ends of whose records are in order, not their beginnings; behind this, how
# often it has begun.
OF_ENDS = " ends"
NAMES_OF_ENDS = rf"{OF_ENDS}(?: #\d+)?$"
IN_WRITTEN_ORDER = f"SEQ(* x, * y) IF x.{WRITER} = y.{WRITER} AND x.{RECORD} < y.{RECORD}"
"""What is given of the events of a writer."""
IN_ORDER_ALONG = f"SEQ(* x, * y) IF x.{WRITER} = y.{WRITER} AND x.`{ALONG}` < y.`{ALONG}`"
"""The same where something else than records tells the order."""
WRITTEN_ORDERS = (IN_WRITTEN_ORDER, IN_ORDER_ALONG)
OF_WRITERS = "records of one writer are in the order in which it wrote them; --no-writer leaves that out"
"""What these say, for people."""

# Keys of the Parquet file metadata (values UTF-8 text; counts as a JSON object).
META_TIME_UNIT = b"cepctl.time_unit"
META_VERSION = b"cepctl.version"
META_MODEL = b"cepctl.uncertainty_model"
META_TYPE_COUNTS = b"cepctl.event_type_counts"
META_CLOCKS = b"cepctl.clocks"
META_CLOCK_TIES = b"cepctl.clock_ties"
META_CLOCK_RECORDS = b"cepctl.clock_records"
META_GIVEN = b"cepctl.given"
META_ASSUMED_ORDER = b"cepctl.assumed_order"
META_WRITTEN_UNITS = b"cepctl.written_units"
META_LAWS = b"cepctl.laws"
META_OBSERVED = b"cepctl.observed"
META_LEFT_BEHIND = b"cepctl.left_behind"
META_TEMPLATES = b"cepctl.templates"
META_LAYOUTS = b"cepctl.layouts"

TICK_MIN = -(2**63)
TICK_MAX = 2**63 - 1
"""What 64 bits hold: sums of ticks saturate there, which no event reaches."""
EARLIEST_TICK = -(2**62)
LATEST_TICK = 2**62
"""Where time begins and ends for events."""

MICROSECONDS: dict[str, int | Fraction] = {
    "ns": Fraction(1, 1_000),
    "nanosecond": Fraction(1, 1_000),
    "nanoseconds": Fraction(1, 1_000),
    "us": 1,
    "microsecond": 1,
    "microseconds": 1,
    "ms": 1_000,
    "millisecond": 1_000,
    "milliseconds": 1_000,
    "s": 1_000_000,
    "sec": 1_000_000,
    "second": 1_000_000,
    "seconds": 1_000_000,
    "min": 60_000_000,
    "minute": 60_000_000,
    "minutes": 60_000_000,
    "h": 3_600_000_000,
    "hour": 3_600_000_000,
    "hours": 3_600_000_000,
    "d": 86_400_000_000,
    "day": 86_400_000_000,
    "days": 86_400_000_000,
    "w": 604_800_000_000,
    "week": 604_800_000_000,
    "weeks": 604_800_000_000,
}

_UNITS_ELSEWHERE = {"m": "min", "mn": "min", "msec": "ms", "usec": "us", "nsec": "ns"}
"""Units as other tools write them: `m` is nearer to `ms` by its letters alone."""
_PER_MICROSECOND = 1_000
_SHOWN = 60
_DURATION = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


def unit_hint(unit: str, names: Iterable[str] = MICROSECONDS) -> str:
    """The tail of a message about a unit that is none: the nearest one, or nothing.

    Examples
    --------
    >>> unit_hint("m"), unit_hint("hrs"), unit_hint("parsec")
    ("; did you mean 'min'?", "; did you mean 'hours'?", "; did you mean 'sec'?")
    """
    from difflib import get_close_matches

    meant = _UNITS_ELSEWHERE.get(unit.lower())
    near = [meant] if meant else get_close_matches(unit.lower(), names, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def parse_duration(text: str) -> Fraction:
    """Length of time in microseconds, from text such as `15 s`, `0.5 s` or `1 day`.

    Raises
    ------
    UncertaintyModelError
        If the text is not a number followed by a known unit.

    Examples
    --------
    >>> parse_duration("0.5 s")
    Fraction(500000, 1)
    """
    found = _DURATION.fullmatch(text)
    if not found or found[2].lower() not in MICROSECONDS:
        raise UncertaintyModelError(
            f"'{text[:_SHOWN]}' is not a duration; write a number and a unit, such as '15 s' "
            f"(units: ns, us, ms, s, min, h, day, week){unit_hint(found[2]) if found else ''}"
        )
    try:
        return exact_number(found[1]) * MICROSECONDS[found[2].lower()]
    except ValueError as problem:
        raise UncertaintyModelError(f"that is not a duration: {problem}") from None


@dataclass(frozen=True)
class TimeUnit:
    """How long one tick is: microseconds, whole or so many thousandths, which are nanoseconds.

    Columns of instants are counted in the `resolution` of the unit, which is microseconds for all ticks that
    are whole ones: so only finer ticks have the shorter range of nanoseconds in 64 bits.

    Examples
    --------
    >>> TimeUnit.parse("1 ms"), str(TimeUnit(15_000_000)), str(TimeUnit.parse("100 ns"))
    (TimeUnit(microseconds=1000), '15 s', '100 ns')
    """

    microseconds: int | Fraction = 1_000

    @classmethod
    def parse(cls, text: str) -> TimeUnit:
        """Read `1 ms` or `ms` and the like; raises UncertaintyModelError unless whole nanoseconds > 0."""
        unit = text.strip().lower()
        length = Fraction(MICROSECONDS[unit]) if unit in MICROSECONDS else parse_duration(text)
        if (length * _PER_MICROSECOND).denominator != 1 or length <= 0:
            raise UncertaintyModelError(f"time unit '{text}' must be a positive whole number of nanoseconds")
        return cls(int(length) if length.denominator == 1 else length)

    @property
    def nanoseconds(self) -> int:
        """Nanoseconds in one tick."""
        return int(self.microseconds * _PER_MICROSECOND)

    @property
    def resolution(self) -> Literal["us", "ns"]:
        """What columns of instants count beside ticks of this length."""
        return "us" if self.nanoseconds % _PER_MICROSECOND == 0 else "ns"

    @property
    def per_microsecond(self) -> int:
        """How many of its `resolution` make a microsecond."""
        return 1 if self.resolution == "us" else _PER_MICROSECOND

    @property
    def counts(self) -> int:
        """How many of its `resolution` make a tick."""
        return self.nanoseconds * self.per_microsecond // _PER_MICROSECOND

    def __str__(self) -> str:
        for name in ("day", "h", "min", "s", "ms", "us"):
            if self.microseconds % MICROSECONDS[name] == 0:
                return f"{self.microseconds // MICROSECONDS[name]} {name}"
        return f"{self.nanoseconds} ns"


MILLISECOND = TimeUnit(1_000)
MICROSECOND = TimeUnit(1)
NANOSECOND = TimeUnit(Fraction(1, 1_000))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def tick_text(tick: int, unit: TimeUnit) -> str:
    """A tick as ISO 8601 in UTC with the digits of its unit; bare where the calendar does not reach.

    Examples
    --------
    >>> tick_text(1_500, MILLISECOND), tick_text(2**62, MILLISECOND)
    ('1970-01-01T00:00:01.500Z', 'tick 4611686018427387904')
    >>> tick_text(1_500, NANOSECOND)
    '1970-01-01T00:00:00.000001500Z'
    """
    digits = next(digits for digits in (0, 3, 6, 9) if unit.nanoseconds % 10 ** (9 - digits) == 0)
    seconds, rest = divmod(tick * unit.nanoseconds, 10**9)
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return f"tick {tick}"
    fraction = f".{rest:09}"[: digits + 1] if digits else ""
    return moment.isoformat(timespec="seconds").replace("+00:00", f"{fraction}Z")


@dataclass(frozen=True)
class Observed:
    """Everything that happened before `until`, in microseconds since 1970, is among the events.

    Where that is None it is the end of the last event, less the `grace` in which records may still be on
    their way, in microseconds.

    Examples
    --------
    >>> Observed(grace=Fraction(10_000_000)).last_tick(60_000, TimeUnit.parse("1 ms"))
    50000
    >>> Observed(until=30_000_000).last_tick(60_000, TimeUnit.parse("1 ms"))
    29999
    """

    until: int | None = None
    grace: Fraction = Fraction(0)

    def last_tick(self, latest: int, unit: TimeUnit) -> int:
        """The last tick of which everything is known, where `latest` is that of the last event."""
        if self.until is not None:
            return int(Fraction(self.until) // unit.microseconds) - 1
        return latest - int(-(-self.grace // unit.microseconds))
