"""Lines that stand before the header of a table and are no part of it: a banner, a comment, a line of a log.

A table begins with its header, unless its first line names no columns of events and a later one does.  That
line must be a whole header by itself, and most of the rows below it must have as many values as it has names,
digits among those of the time: only then nothing is guessed.  Rows alone never make a header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cepctl.io.contract.reader import ColumnMap
from cepctl.io.source.text_encoding import decoded
from cepctl.io.tabular.composed import composed_of
from cepctl.io.tabular.header import DELIMITERS, delimiter_of, header_names, is_cut, names_events
from cepctl.io.tabular.known_tables import MOST_LINES_BEFORE, TOLD_BY, first_rows, with_unnamed
from cepctl.io.tabular.mapping import mapping_of

BEFORE_HEADER = "the line stands before the header of the table"
_MARK = "\ufeff"
# A date or a time of day has as many; ticks may have one.
_DIGITS = (4, 1)
_LINES_LOOKED_AT = 64
# Numbers with the signs between them, names of months, and short words such as T, PM and CEST.
_TIME = re.compile(r"(?:[\d\s:.,/+-]|(?:[A-Z][A-Za-z]{0,8}|am|pm)(?![A-Za-z]))+")
_TICKS = re.compile(r"\s*[-+]?\d+(?:\.\d+)?\s*")
_TO_THE_SECOND = re.compile(r"\d:\d\d:\d\d$")
_FRACTION = re.compile(r"(?:\d{3}|\d{6})(?!\d)")
_TIMES = ("time", "lower", "upper", "pmf")
# What separates values, a name that a table of events must have, and again what separates values.
_NAMED = re.compile(
    r'(?:^|[,;|\t])[ "\ufeff]*(?:event_type|'
    + "|".join(map(re.escape, sorted(TOLD_BY)))
    + r')[ "]*(?:$|[,;|\t\r])',
    re.ASCII,
)


def lines_before_header(head: bytes, format_name: str, mapping: ColumnMap) -> int:
    r"""How many lines stand before the header of a table that begins so; 0 where none do, or it has none.

    Examples
    --------
    >>> table = b"event_type,time\nA,2026-06-14\n"
    >>> [lines_before_header(text, "csv", ()) for text in (table, b"a banner\n" + table, b"A,B\n1,2\n")]
    [0, 1, 0]
    """
    lines = decoded(head).split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]
    headers = [
        (place, names)
        for place, line in enumerate(lines[: MOST_LINES_BEFORE + 1])
        if _may_name(line, mapping) and (names := _names_of_events(line, format_name, mapping)) is not None
    ]
    if all(place == 0 for place, _ in headers):
        return 0
    for digits in _DIGITS:
        for place, names in headers:
            delimiter = delimiter_of(_unmarked(lines[place]), format_name, mapping)
            if _are_rows("\n".join(lines[place + 1 :]), names, delimiter, mapping, digits):
                return place
    return 0


def _may_name(line: str, mapping: ColumnMap) -> bool:
    """Whether a line has a name that a table of events must have: told at a glance, for most have none."""
    if not mapping:
        return _NAMED.search(line) is not None
    return any(part.strip() in line for _, column in mapping for part in re.split(r"[+|]", column))


def _names_of_events(line: str, format_name: str, mapping: ColumnMap) -> list[str] | None:
    """The columns that a line names, where they are those of a table of events; else None."""
    line = _unmarked(line)
    if not any(sign in line for sign in DELIMITERS[format_name]):
        return None
    delimiter = delimiter_of(line, format_name, mapping)
    names = header_names(line, delimiter)
    return names if names_events(names, mapping) and not is_cut(line, delimiter) else None


def _unmarked(line: str) -> str:
    return line.lstrip(_MARK).rstrip("\r")


def _are_rows(text: str, names: Sequence[str], delimiter: str, mapping: ColumnMap, digits: int) -> bool:
    """Whether most of the first rows have a value for each name, and a time with so many digits."""
    count = len(with_unnamed([*names], text))
    timed = _places_of_times(names, mapping)
    rows = [row for row in first_rows(text, delimiter) if any(map(str.strip, row))]
    fitting = [row for row in rows if len(row) == count and not row[0].startswith("{")]
    timely = [row for row in fitting if any(_is_time(row[at], digits) for at in timed)]
    return 2 * len(timely) > len(rows) and not cuts_times(text, delimiter)


def cuts_times(text: str, delimiter: str) -> bool:
    """Whether in most of the first lines a delimiter may be the comma of a fraction: those of a log then."""
    rows = (
        [row for row in first_rows(text, delimiter) if any(map(str.strip, row))] if delimiter == "," else []
    )
    return 2 * sum(any(map(_is_cut_time, row, row[1:])) for row in rows) > len(rows)


def _places_of_times(names: Sequence[str], mapping: ColumnMap) -> list[int]:
    fields = dict(mapping_of(names, mapping))
    columns: set[str] = set()
    for field in _TIMES:
        column = fields.get(field, field)
        parts = composed_of(field, column)
        columns.update((column,) if parts is None else parts.columns)
    return [place for place, name in enumerate(names) if name in columns]


def _is_time(value: str, digits: int) -> bool:
    if digits == 1 and _TICKS.fullmatch(value):
        return True
    return sum(map(str.isdigit, value)) >= _DIGITS[0] and _TIME.fullmatch(value) is not None


def _is_cut_time(value: str, behind: str) -> bool:
    """Whether the comma between two values may be that of a fraction of a second."""
    return _TO_THE_SECOND.search(value) is not None and _FRACTION.match(behind) is not None
