"""The dates of times that are written without one, or without all of it.

    what is written          the date
    seconds since a start    that of --epoch, which is that start
    a time of day            of the first that of --epoch, else the one in the name of the file; each midnight
                             that is passed is a day more
    a day without a year     as io/source/missing_years.py has it

Without an answer the file is refused with a date to try.  A time of day that goes back by more than
LATEST is one of the next day, one that goes back by less is out of order, and one that goes on by nearly a
day is a late one of the day before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.lines.local_times import WrittenTexts
from cepctl.io.lines.recognition import LineLayout, sample_lines, times_in
from cepctl.io.source.first_lines import HEAD_BYTES
from cepctl.io.source.missing_years import YearRule, day_in_name, year_rule, years_note
from cepctl.numeric.arrays import Flags, Numbers

_SECOND, _DAY = 1_000_000, 86_400_000_000
LATEST = 65 * 60 * _SECOND
"""As far as an hour that happens twice goes back, and a bit."""
_DAYS = (
    "times of day, on days counted on from the date in the name of the file, {day}: {{:,}}; "
    "--epoch YEAR-MM-DD says on which day the log begins"
)
_NEXT_DAY = "times of day that go back by more than an hour, taken for those of the next day: {:,}"
_OUT_OF_ORDER = "times of day that go back by an hour or less, taken for those of the same day: {:,}"


@dataclass
class Dates:
    """The dates of the times of one log, told in the order of its records.

    `clock` is the last time of day, in microseconds since the midnight before the first.
    """

    source: str
    options: ReadOptions
    report: ReadReport
    layout: LineLayout
    clock: int | None = None
    years: YearRule | None = None

    def local(self, times: WrittenTexts) -> tuple[Numbers, Flags]:
        """Microseconds since 1970 on the clock of the log, and which there are."""
        stamp = self.layout.stamp
        if stamp.is_uptime:
            return times.local + (self.options.epoch or 0), times.usable
        if not stamp.has_day:
            return self._on_days(times), times.usable
        if stamp.has_year or not len(times.local):
            return times.local, times.usable
        if self.years is None:
            first = [*dict.fromkeys(zip(times.month.tolist(), times.day.tolist(), strict=True))]
            begin = f"{first[0][0]:02}-{first[0][1]:02}"
            self.years = year_rule(self.source, self.options, begin, first, self.layout.dates)
        if self.years.how:
            self.report.notes[years_note(self.years)] += int(times.usable.sum())
        days, known = self.years.days(times.month, times.day)
        return days * _DAY + times.local, times.usable & known

    def _on_days(self, times: WrittenTexts) -> Numbers:
        begin = day_in_name(self.source) if self.options.epoch is None else self.options.epoch // _DAY
        clock = times.local[times.usable]
        if begin is None or not len(clock):
            return times.local
        before = int(clock[0]) if self.clock is None else self.clock
        steps = np.diff(clock, prepend=[before % _DAY])
        forward = (steps + LATEST) % _DAY - LATEST
        counted = before + np.cumsum(forward)
        if self.options.epoch is None:
            said = _DAYS.format(day=_text(begin))
            self.report.notes[said] += len(clock)
        for note, count in (
            (_NEXT_DAY, int(((steps < 0) & (forward > 0)).sum())),
            (_OUT_OF_ORDER, int((forward < 0).sum())),
        ):
            if count:
                self.report.notes[note] += count
        self.clock = int(counted[-1])
        local = times.local.copy()
        local[times.usable] = counted + begin * _DAY
        return local


def asked_date(head: bytes, source: str, layout: LineLayout, options: ReadOptions) -> str | None:
    """What is asked where a log that begins so does not tell when its times were; None where it does."""
    stamp = layout.stamp
    if options.epoch is not None or (stamp.has_day and not stamp.is_uptime):
        return None
    if not stamp.is_uptime and day_in_name(source) is not None:
        return None
    times = times_in(sample_lines(head, most=None), stamp)
    # Of a log that was seen to its end the last line may have been written when the file was last changed.
    changed = options.modified if len(head) < HEAD_BYTES else None
    if stamp.is_uptime:
        return _asked_start([f"{each['U']}.{each['f']}" for each in times], changed)
    return _asked_day(
        times[0][0].lstrip("[(<"), layout, options.modified if changed is None else _began(times, changed)
    )


def _asked_start(times: Sequence[str], changed: int | None) -> str:
    option = (
        f"its lines begin with seconds since the program that wrote it began ('{times[0]}'), without a date; "
        "say when that was: --epoch"
    )
    if changed is None:
        return f"{option} YEAR-MM-DDThh:mm:ss"
    began = (changed - int(float(times[-1]) * _SECOND)) // _SECOND
    said = datetime.fromtimestamp(began, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{option} {said} if its last line was written when the file was last changed"


def _asked_day(time: str, layout: LineLayout, began: int | None) -> str:
    option = (
        f"its lines begin with times of day ('{time}'), without a date; "
        "say on which day the log begins: --epoch"
    )
    if layout.dates:
        return f"{option} {_text(layout.dates[0])} if that date, which one of its lines has, is its day"
    if began is None:
        return f"{option} YEAR-MM-DD"
    return f"{option} {_text(began // _DAY)} if its last line was written when the file was last changed"


def _began(times: Sequence[re.Match[str]], changed: int) -> int:
    """When the first of these times of day was, if the last of them was when the file was changed."""
    clock = [_DAY // 24 * _hour(each) for each in times]
    passed = sum(later < earlier - LATEST for earlier, later in pairwise(clock))
    return changed - passed * _DAY


def _hour(time: re.Match[str]) -> int:
    hour, half = int(time["H"]), time.groupdict().get("p")
    return hour if half is None else hour % 12 + 12 * (half.lower() == "pm")


def _text(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
