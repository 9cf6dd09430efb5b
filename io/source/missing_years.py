"""The year of times that have none: counted on from when a log begins, or back from when it ended.

    known                                            the log
    --epoch                                          begins on that day
    a date in the name, as rotated logs have it      ended on that day
    a date in a line of it, that of its first day    begins on that day
    a date in the name of a neighbour of the set     begins as near as can be to that day
    when the file was last changed                   ended on that day

A log that ended on a day began in the last year in which none of its first days comes after that one, so that
December stands in the year before January.  Zones may differ, so each of these may be a day off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import PurePosixPath

import numpy as np

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions
from cepctl.numeric.arrays import Flags, Numbers

_EPOCH = date(1970, 1, 1)
_DAY_MICROS = 86_400_000_000
DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)(?!\d)")


MonthDay = tuple[int, int]


@dataclass(frozen=True)
class YearRule:
    """How years are found: from the day `first` on, but not after the day `last`; days since 1970."""

    how: str
    first: int
    last: int | None = None

    def days(self, month: Numbers, day: Numbers) -> tuple[Numbers, Flags]:
        """Days since 1970 of days without years, and whether there is such a day."""
        pairs, place = np.unique(month * 32 + day, return_inverse=True)
        known = [self._day(int(pair) // 32, int(pair) % 32) for pair in pairs]
        days = np.array([0 if each is None else each for each in known], np.int64)
        usable = np.array([each is not None for each in known], np.bool_)
        return days[place], usable[place]

    def _day(self, month: int, day: int) -> int | None:
        found = self.date_of(month, day)
        return None if found is None else _number(found)

    def date_of(self, month: int, day: int) -> date | None:
        """The date of a day without a year; None where no such year is near."""
        begin = (_EPOCH + timedelta(days=self.first)).year
        days = [
            found for year in range(begin - 1, begin + 2) if (found := _date(year, month, day)) is not None
        ]
        after = next((found for found in days if _number(found) >= self.first - 1), None)
        if after is None or self.last is None or _number(after) <= self.last + 1:
            return after
        return next((found for found in reversed(days) if _number(found) <= (self.last or 0) + 1), None)


def year_rule(
    source: str, options: ReadOptions, example: str, days: Sequence[MonthDay], dates: Sequence[int] = ()
) -> YearRule:
    """How the years of a log are found; `example` is a time in it, `days` are the first days.

    `dates` are those that its first lines tell, in days since 1970; only one of its first day, about, counts.

    Raises
    ------
    LogFormatError
        If nothing tells when the log was written.
    """
    if options.epoch is not None:
        return YearRule("", options.epoch // _DAY_MICROS)
    dated = day_in_name(source)
    if dated is not None:
        return YearRule(
            f"counted back from the date in its name, {_text(dated)}", _beginning(days, dated), dated
        )
    for day in dates:
        first = _date((_EPOCH + timedelta(days=day)).year, *days[0]) if days else None
        if first is not None and abs(_number(first) - day) <= 1:
            return YearRule(f"counted on from the date in one of its lines, {_text(day)}", _number(first))
    near = None if options.neighbour is None or not days else day_in_name(options.neighbour)
    if near is not None:
        begin = _nearest(days[0], near)
        name = PurePosixPath(options.neighbour or "").name
        return YearRule(f"counted on from {_text(begin)}, near the date of its neighbour {name}", begin)
    if options.modified is not None:
        last = options.modified // _DAY_MICROS
        return YearRule(
            f"counted back from when it was last changed, {_text(last)}", _beginning(days, last), last
        )
    begins = f"{days[0][0]:02}-{days[0][1]:02}" if days else "MM-DD"
    raise LogFormatError(
        f"{source}: the time '{example}' has no year; say on which day the log begins: --epoch YEAR-{begins}"
    )


def _beginning(days: Sequence[MonthDay], last: int) -> int:
    """The day on which a log began whose first days these are, and that ended on a day."""
    end = (_EPOCH + timedelta(days=last)).year
    for year in range(end + 1, end - 3, -1):
        first = next((found for day in days if (found := _date(year, *day)) is not None), None)
        if first is None:
            continue
        rule = YearRule("", _number(first))
        reached = [found for day in days if (found := rule.date_of(*day)) is not None]
        if all(_number(found) <= last + 1 for found in reached):
            return _number(first)
    return last


def _nearest(day: MonthDay, near: int) -> int:
    """The date of a day without a year that is nearest to a date."""
    year = (_EPOCH + timedelta(days=near)).year
    found = (_date(each, *day) for each in range(year - 4, year + 5))
    return min(
        (_number(each) for each in found if each is not None), key=lambda each: abs(each - near), default=near
    )


def years_note(rule: YearRule) -> str:
    """What is said of times whose years were counted, with a place for their number."""
    return (
        f"times without a year, whose years were {rule.how}: {{:,}}; --epoch YEAR-MM-DD "
        "says on which day the log begins"
    )


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _number(day: date) -> int:
    return (day - _EPOCH).days


def _text(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def day_in_name(source: str) -> int | None:
    """The date in the name of a file, in days since 1970; None where there is none."""
    for year, month, day in DATE.findall(PurePosixPath(source).name):
        found = _date(int(year), int(month), int(day))
        if found is not None:
            return _number(found)
    return None
