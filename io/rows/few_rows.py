"""A few plain rows as CSV or TSV without Polars, whose import takes as long as a probe of a sketch.

The bytes are those that Polars writes.  What the two might write in different ways is left to Polars: cells
that need quotes, and numbers that need an exponent.
"""

from __future__ import annotations

import re

import pyarrow as pa

_MOST = 1_000
_NEEDS_QUOTES = re.compile(r'[,"\t\r\n]')
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e15


def few_rows(rows: pa.Table, separator: str, *, header: bool) -> bytes | None:
    """The rows as text, a line each; None where they are many, or not plain."""
    if len(rows) > _MOST:
        return None
    columns = []
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        cells = _cells(column)
        if cells is None or not _is_plain(name):
            return None
        columns.append([name, *cells] if header else cells)
    return "".join(f"{separator.join(line)}\n" for line in zip(*columns, strict=True)).encode()


def _cells(column: pa.ChunkedArray) -> list[str] | None:
    """The cells of a column; None where one is not plain."""
    values = column.to_pylist()
    if pa.types.is_integer(column.type):
        return ["" if value is None else str(value) for value in values]
    if pa.types.is_float64(column.type):
        plain = all(value is None or _is_short(value) for value in values)
        return ["" if value is None else repr(value) for value in values] if plain else None
    if pa.types.is_string(column.type):
        plain = all(value is None or _is_plain(value) for value in values)
        return ["" if value is None else value for value in values] if plain else None
    return None


def _is_short(value: float) -> bool:
    return _LEAST_PLAIN <= abs(value) < _MOST_PLAIN


def _is_plain(text: str) -> bool:
    return bool(text) and _NEEDS_QUOTES.search(text) is None
