"""The times of syslog, of which the old ones have no year: one at a time, or a column of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from cepctl.io.contract.local_instants import Instants, instants_of_shaped
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.shaped_times import ShapedTimes, shaped_times
from cepctl.io.contract.times import LogTime, log_time, named_zone, read_time, with_nanos
from cepctl.io.source.missing_years import MonthDay, YearRule, year_rule, years_note
from cepctl.io.source.text_encoding import decoded

OLD_SHAPE = "bbb ee HH:MM:SS"
"""Of times without a year."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FRACTION = re.compile(r"[.,](\d{1,9})", re.ASCII)
_MICRO_DIGITS, _DAY_MICROS = 6, 86_400_000_000
_DAY_SIGNS = len("bbb ee")
_DAY_OF_LINE = re.compile(
    r"^(?:<\d{1,3}>)?(([A-Z][a-z]{2} {1,2}\d{1,2}) \d\d:\d\d:\d\d(?:[.,]\d+)?)", re.ASCII | re.MULTILINE
)


@dataclass
class StampReader:
    """Reads the times of one file; io/source/missing_years.py tells the year where it is not written.

    `first_days` are those, and `first_time` is the time, without a year, that its first lines begin with.
    """

    source: str
    options: ReadOptions
    report: ReadReport
    first_days: Sequence[MonthDay] = ()
    first_time: str = ""
    _years: YearRule | None = None
    _zone: ZoneInfo | None = field(init=False)
    _days: dict[str, date | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._zone = named_zone(self.options.time_zone)

    def written(self, text: str) -> LogTime | None:
        """A time as ISO 8601 has it."""
        return read_time(text.replace(",", "."), self._zone)

    def without_zone(self, day: str, year: str | None, clock: str) -> LogTime | None:
        """A time such as `Jun 14`, 2026 or None, and `15:16:01`.

        Raises
        ------
        LogFormatError
            If there is no year, and nothing tells it.
        """
        if year is None:
            self._count_back(day, clock)
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

    def columns(self, texts: pa.Array, shape: str | None) -> tuple[ShapedTimes, Instants, str]:
        """Many times, of ISO 8601 or of a shape without a year, as instants; and what is said of each.

        Raises
        ------
        LogFormatError
            If there is no year, and nothing tells it.
        """
        times, note = shaped_times(texts, shape), ""
        if shape is not None and times.read.any():
            first = texts[int(np.argmax(times.read))].as_py()
            rule = self._rule(first[:_DAY_SIGNS], first[_DAY_SIGNS + 1 :])
            days, known = rule.days(times.month, times.day)
            local = np.where(known, days, 0) * _DAY_MICROS + times.local
            times, note = replace(times, local=local, read=times.read & known), _note(rule)
        return times, instants_of_shaped(times, self._zone), note

    def _rule(self, day: str, clock: str) -> YearRule:
        if self._years is None:
            days = self.first_days or [_month_day(day)]
            example = self.first_time or f"{day} {clock}"
            self._years = year_rule(self.source, self.options, example, days)
        return self._years

    def _count_back(self, day: str, clock: str) -> None:
        if note := _note(self._rule(day, clock)):
            self.report.notes[note] += 1

    def _day(self, day: str, year: str | None) -> date | None:
        month, number = day.split()
        if month not in _MONTHS:
            return None
        if year is not None:
            return _date(int(year), _MONTHS.index(month) + 1, int(number))
        assert self._years is not None, "a time without a year was seen"
        return self._years.date_of(_MONTHS.index(month) + 1, int(number))


def _note(rule: YearRule) -> str:
    return years_note(rule) if rule.how else ""


def stamps_of(head: bytes, source: str, options: ReadOptions, report: ReadReport) -> StampReader:
    """Reads the times of a file that begins so.

    Raises
    ------
    UsageError
        If the zone of the user does not exist.
    """
    found = _DAY_OF_LINE.findall(decoded(head))
    days = [_month_day(day) for day in dict.fromkeys(day for _, day in found)]
    return StampReader(source, options, report, days, found[0][0] if found else "")


def _month_day(day: str) -> MonthDay:
    month, number = day.split()
    return (_MONTHS.index(month) + 1 if month in _MONTHS else 1), int(number)


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
