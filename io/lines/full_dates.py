"""The full dates that lines hold anywhere: what tells of which year, or of which day, all others are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

_FULL_DATE = re.compile(r"(?<![\d.-])((?:19|20)\d\d)[-/.](\d\d)[-/.](\d\d)(?![\d.-])", re.ASCII)
# As C writes it: Mon Dec 31 21:11:55 2011.
_NAMED_DATE = re.compile(
    r"\b([A-Z][a-z]{2}) +(\d{1,2}) \d\d:\d\d:\d\d (?:[A-Z]{1,5} )?((?:19|20)\d\d)\b", re.ASCII
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def dates_in(lines: Sequence[str]) -> tuple[int, ...]:
    """The days since 1970 of the full dates in lines, in their order: numbers, or with a name of a month."""
    days = []
    for line in lines:
        if (found := _FULL_DATE.search(line)) is not None:
            numbers = [*map(int, found.groups())]
        elif (found := _NAMED_DATE.search(line)) is not None and found[1] in _MONTHS:
            numbers = [int(found[3]), _MONTHS.index(found[1]) + 1, int(found[2])]
        else:
            continue
        try:
            days.append((date(*numbers) - date(1970, 1, 1)).days)
        except ValueError:
            continue  # no calendar has this day
    return tuple(dict.fromkeys(days))
