"""The header of a delimited file: the names of its columns, and what stands between them.

    format   between values
    csv      a comma, a semicolon or a bar
    tsv      a tab

Under a semicolon or a bar a comma may stand in a number; such a number stays text, and is counted.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

import pyarrow.compute as pc

from cepctl.io.contract.reader import ColumnMap, ReadReport
from cepctl.io.source.text_encoding import decoded
from cepctl.io.tabular.columns import BlockRows
from cepctl.io.tabular.mapping import RESERVED, composed_fields, has_events, mapping_of, raw_name

DELIMITERS = {"csv": ",;|", "tsv": "\t"}
_DECIMAL_COMMA = r"^\s*[+-]?\d+,\d+\s*$"
LINES_LOOKED_AT, _FEWEST_ROWS = 40, 5
_COMMAS = "numbers with a decimal comma, kept as text: {:,}"


def first_line(head: bytes) -> str:
    """The first line of a file that begins so."""
    return decoded(head).split("\n", 1)[0]


def first_lines(head: bytes, count: int) -> list[str]:
    """The first lines of a file that begins so, without blank ones and without the last, which may be cut."""
    lines = decoded(head).split("\n", count)
    whole = lines[:-1] if len(lines) > 1 else lines
    return [line for line in whole if line.strip()]


def has_rows(head: bytes, delimiter: str) -> bool:
    """Whether the lines below the first may be rows of it: of several one has as many delimiters, or more.

    Values may be of several lines, where they are in quotes.
    A line that is an object of JSON is no row, however many delimiters it has: a header may have strayed into
    a log of such lines.
    """
    first, *lines = decoded(head).split("\n")
    columns = first.count(delimiter)
    rows = [line.strip() for line in lines[:LINES_LOOKED_AT] if line.strip()]
    if len(rows) < _FEWEST_ROWS:
        return True
    others = [row for row in rows if not _is_object(row)]
    return any(row.count(delimiter) >= columns for row in others) or any(
        len(values) > columns and not values[0].startswith("{") for values in _rows(lines, delimiter)
    )


def _rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    """The values of each row that the lines make, with those of several lines."""
    with suppress(csv.Error):
        rows = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
        yield from filter(None, islice(rows, LINES_LOOKED_AT))


def _is_object(line: str) -> bool:
    return line.startswith('{"') and line.endswith("}")


def header_names(line: str, delimiter: str) -> list[str]:
    """The names in a header line, `columnN` for the N-th without one; none where it is not a line of names.

    Examples
    --------
    >>> header_names(",event_type,time", ",")
    ['column1', 'event_type', 'time']
    """
    try:
        fields = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [name.strip() or f"column{place}" for place, name in enumerate(fields, 1)]


def is_cut(line: str, delimiter: str) -> bool:
    """Whether a header line ends inside of a quoted name, which goes on in the next line."""
    try:
        next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter, strict=True), [])
    except csv.Error as problem:
        return "unexpected end of data" in str(problem)
    return False


def delimiter_of(line: str, format_name: str, mapping: ColumnMap) -> str:
    """What separates the values of a file with this header line.

    Of several that are possible the one under which the header names the columns of events, else the one
    that gives the most names.

    Examples
    --------
    >>> delimiter_of("event_type;time;a,b,c", "csv", ())
    ';'
    >>> delimiter_of("event_type,time,a;b;c;d;e", "csv", ()), delimiter_of("what", "csv", ())
    (',', ',')
    """
    possible = DELIMITERS[format_name]
    for delimiter in possible:
        if names_events(header_names(line, delimiter), mapping):
            return delimiter
    return max(possible, key=lambda delimiter: len(header_names(line, delimiter)))


def names_events(names: Sequence[str], mapping: ColumnMap) -> bool:
    """Whether a file with these columns can hold events."""
    mapping = mapping_of(names, mapping)
    composed = composed_fields(names, mapping)
    there = all(column in names or field in composed for field, column in mapping)
    return there and has_events([*(raw_name(name, mapping) for name in names), *composed])


def note_decimal_commas(rows: BlockRows, delimiter: str, report: ReadReport) -> None:
    """Count the attributes that are numbers with a decimal comma, where a comma separates nothing."""
    if delimiter == ",":
        return
    for name, column in rows.columns.items():
        if name not in RESERVED:
            found = pc.sum(pc.match_substring_regex(column, _DECIMAL_COMMA)).as_py()
            report.notes[_COMMAS] += int(found or 0)
