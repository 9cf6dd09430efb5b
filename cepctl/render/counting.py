"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "event"), counted(2_000, "event")
    ('1 event', '2,000 events')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
