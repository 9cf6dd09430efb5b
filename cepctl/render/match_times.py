"""How the times of one match are written: ticks, or ISO 8601, without the date where all times share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cepctl.schema import MICROSECOND, MILLISECOND, NANOSECOND, TimeUnit, tick_text

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.shown import EventShown, OneMatch, TickSpan

_DATE = len("2026-03-03T")

Times = Literal["iso", "ticks"]


class MatchTimes:
    """Ticks, or ISO 8601, without the date where all times share it, unless they are to be `dated`."""

    def __init__(self, match: OneMatch, times: Times, *, dated: bool = False) -> None:
        self.unit: TimeUnit = match.plan.time_unit
        self.times = times
        shown = [*(each.event for each in match.members), *(each.event for each in match.rivals)]
        ticks = [tick for each in shown for tick in (each.lower, each.upper)]
        ticks += [each.upper for member in match.members if (each := member.event.until) is not None]
        usable = [each for each in match.members if each.valid_lower <= each.valid_upper]
        ticks += [tick for each in usable for tick in (each.valid_lower, each.valid_upper)]
        self.one_day = not dated and times == "iso" and len({self.full(tick)[:_DATE] for tick in ticks}) == 1

    def full(self, tick: int) -> str:
        """With its date."""
        return str(tick) if self.times == "ticks" else tick_text(tick, self.unit)

    def short(self, tick: int) -> str:
        """Without the date where all times share it."""
        return self.full(tick)[_DATE:] if self.one_day else self.full(tick)

    def interval(self, lower: int, upper: int) -> str:
        """Of an event at one tick."""
        if lower > upper:
            return "none"
        return self.short(lower) if lower == upper else f"{self.short(lower)} .. {self.short(upper)}"

    def lasting(self, lower: int, upper: int, end: TickSpan | None) -> str:
        """Of an event that may last."""
        start = self.interval(lower, upper)
        return (
            start if end is None or lower > upper else f"{start} until {self.interval(end.lower, end.upper)}"
        )

    def raw_times(self, event: EventShown) -> str:
        """As the source has them."""
        end = "" if event.until is None else self._raw(event.raw_end_nanoseconds)
        return self._raw(event.raw_nanoseconds) + (f" until {end}" if end else "")

    def _raw(self, nanoseconds: int | None) -> str:
        if nanoseconds is None:
            return ""
        if self.times == "ticks":
            return str(nanoseconds // self.unit.nanoseconds)
        units = (unit for unit in (MILLISECOND, MICROSECOND) if nanoseconds % unit.nanoseconds == 0)
        precise = next(units, NANOSECOND)
        text = tick_text(nanoseconds // precise.nanoseconds, precise)
        return text[_DATE:] if self.one_day else text
