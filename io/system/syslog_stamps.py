"""The times of syslog: with a zone, or of a month and a day alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.contract.times import LogTime, log_time, named_zone, parse_time, with_nanos

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = datetime(1970, 1, 1)
_DAY = timedelta(days=1)
_FRACTION = re.compile(r"[.,](\d{1,9})", re.ASCII)
_MICRO_DIGITS = 6


@dataclass
class Stamps:
    """Reads the times of one file.

    A time without a year is the first such day that is not before the day at which the log begins; one day
    less, since the beginning is in UTC, and records need not be in order.
    """

    source: str
    options: ReadOptions
    _zone: ZoneInfo | None = field(init=False)
    _days: dict[str, date | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._zone = named_zone(self.options.time_zone)

    def written(self, text: str) -> LogTime | None:
        """A time as ISO 8601 has it."""
        return parse_time(text.replace(",", "."), self._zone)

    def without_zone(self, day: str, year: str | None, clock: str) -> LogTime | None:
        """A time such as `Jun 14`, 2026 or None, and `15:16:01`.

        Raises
        ------
        LogFormatError
            If there is neither a year nor a beginning of the log.
        """
        if year is None and self.options.epoch is None:
            month, number = day.split()
            known = f"{_MONTHS.index(month) + 1:02}-{int(number):02}" if month in _MONTHS else "01-01"
            raise LogFormatError(
                f"{self.source}: the time '{day} {clock}' has no year; say on which day the log begins: "
                f"--epoch YEAR-{known}"
            )
        key = f"{day} {year or ''}"
        if key not in self._days:
            self._days[key] = self._day(day, year)
        found = self._days[key]
        if found is None:
            return None
        fraction = _FRACTION.search(clock)
        micros = int(fraction[1][:_MICRO_DIGITS].ljust(_MICRO_DIGITS, "0")) if fraction else 0
        hour, minute, second = (int(part) for part in clock[:8].split(":"))
        leap = second == 60
        try:
            moment = datetime(
                found.year, found.month, found.day, hour, minute, 59 if leap else second, micros
            )
            time = log_time(moment + timedelta(seconds=leap), self._zone)
        except (ValueError, OverflowError):
            return None
        return None if time is None else with_nanos(time, clock)

    def _day(self, day: str, year: str | None) -> date | None:
        month, number = day.split()
        if month not in _MONTHS:
            return None
        if year is not None:
            return _date(int(year), _MONTHS.index(month) + 1, int(number))
        begin = (_EPOCH + timedelta(microseconds=self.options.epoch or 0)).date()
        for candidate in (begin.year - 1, begin.year, begin.year + 1):
            found = _date(candidate, _MONTHS.index(month) + 1, int(number))
            if found is not None and found >= begin - _DAY:
                return found
        return None


def precision_of(clock: str) -> int:
    """Microseconds that the last digit of a written time stands for.

    Examples
    --------
    >>> precision_of("15:16:01"), precision_of("15:16:01.250Z"), precision_of("15:16:01,123456789")
    (1000000, 1000, 1)
    """
    fraction = _FRACTION.search(clock)
    digits = min(len(fraction[1]), _MICRO_DIGITS) if fraction else 0
    return int(10 ** (_MICRO_DIGITS - digits))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
