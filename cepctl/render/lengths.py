"""Lengths of time in ticks, as text to be read."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

from cepctl.schema import TimeUnit

_UNITS = (("s", 1_000_000), ("ms", 1_000), ("us", 1), ("ns", Fraction(1, 1_000)))
_HOUR = 3_600_000_000


def ticks_text(ticks: int, unit: TimeUnit) -> str:
    """A length of time in the largest unit up to seconds that it reaches, beyond an hour as a clock shows it.

    Examples
    --------
    >>> ticks_text(4_200, TimeUnit(1_000)), ticks_text(120, TimeUnit(60_000_000))
    ('4.2 s', '2:00:00')
    """
    microseconds = abs(ticks) * unit.microseconds
    sign = "-" if ticks < 0 else ""
    if microseconds >= _HOUR:
        try:
            return f"{sign}{timedelta(microseconds=float(microseconds))}"
        except OverflowError:
            return f"{ticks:,} ticks"
    name, size = next(((n, s) for n, s in _UNITS if microseconds >= s), _UNITS[1])
    return f"{sign}{float(microseconds / size):.9g} {name}"
