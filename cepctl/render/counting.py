"""Numbers with their nouns, and lengths of time in ticks."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

from cepctl.schema import TimeUnit


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun; `plural` where that is not the noun with an s.

    Examples
    --------
    >>> counted(1, "event"), counted(2_000, "event")
    ('1 event', '2,000 events')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(probability: float) -> str:
    """A probability as a percentage of three digits; certain and nearly certain are told apart.

    Examples
    --------
    >>> percent(0.849842833), percent(1.0), percent(0.99999), percent(0.000021)
    ('85 %', '100 %', '>99.9 %', '0.0021 %')
    """
    shown = f"{100 * probability:.3g} %"
    return ">99.9 %" if shown == "100 %" and probability < 1.0 - 1e-9 else shown


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
