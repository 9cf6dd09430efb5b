"""Numbers with their nouns."""

from __future__ import annotations


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
