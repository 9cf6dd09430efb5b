"""The names that a user gives the columns of tables without a header: those of another file, or a list."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from typing import IO

from cepctl.errors import LogFormatError, UsageError
from cepctl.io.source.locations import Location
from cepctl.io.tabular.header import DELIMITERS, first_line, header_names

_LONGEST_HEADER = 16 << 20


def columns_named(text: str) -> tuple[str, ...]:
    """The names that stand in the first line of a file, or in the text itself, divided by commas.

    Raises
    ------
    UsageError
        If there is no such file and the text is no list, or a name occurs twice.
    """
    head = _head_of(text)
    if head is None and "," not in text:
        raise UsageError(
            f"--columns-of '{text}' is neither a file whose first line names the columns, nor such names "
            "with commas between them"
        )
    line = text if head is None else first_line(head)
    possible = [header_names(line, delimiter) for delimiter in "".join(DELIMITERS.values())]
    names = max(possible, key=len)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--columns-of '{text}': two columns are called '{twice}'; each needs its own name")
    return tuple(names)


def _head_of(text: str) -> bytes | None:
    """How a file begins; None where there is none."""
    try:
        filesystem, path = Location.of(text).resolve()
        with filesystem.open_input_file(path) as file:
            stream: IO[bytes] = io.BufferedReader(file)
            return stream.readline(_LONGEST_HEADER)
    except (OSError, ValueError, LogFormatError):
        return None


def delimiter_of_rows(lines: Sequence[str], count: int, format_name: str, source: str) -> str:
    """What separates the values in a table without a header, most of whose first lines have so many.

    Raises
    ------
    LogFormatError
        If no delimiter gives as many.
    """
    counts = {
        delimiter: Counter(_values_in(line, delimiter) for line in lines)
        for delimiter in DELIMITERS[format_name]
    }
    best = max(counts, key=lambda delimiter: counts[delimiter][count])
    if not lines or counts[best][count]:
        return best
    most = max(_values_in(lines[0], delimiter) for delimiter in counts)
    raise LogFormatError(
        f"{source}:1: its first row has {most:,} values, and --columns-of names {count:,} columns"
    )


def _values_in(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0
