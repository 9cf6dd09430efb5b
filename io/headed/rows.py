r"""The values of the rows below a header in comments, a block of lines at once.

separator     values
a blank       what stands between blanks, or in quotes, where two quotes are one
tab, comma    what stands between them; of W3C logs also in quotes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.io.headed.header import ZEEK, CommentedHeader
from cepctl.numeric.arrays import Numbers

EXTRA = "extra"
_LINES_LOOKED_AT = 40
_WORDS = r'"(?:[^"]|"")*"|\S+'
_BETWEEN = r'(?:^|{0})(?:"(?:[^"]|"")*"|[^{0}]*)'


@dataclass(frozen=True)
class RowsBelow:
    """The rows of a block: their columns, the places of the lines that are rows, and of those that are none.

    `longer` is how many rows have more values than the header names.
    """

    columns: dict[str, pa.Array]
    places: Numbers
    short: Numbers
    longer: int


def separated_as(header: CommentedHeader, lines: Sequence[str]) -> str:
    """What stands between the values of rows, where most of the first say it otherwise than the header."""
    if header.kind == ZEEK:
        return header.separator
    first = lines[:_LINES_LOOKED_AT]
    tabs = sum(line.count("\t") + 1 == len(header.names) for line in first)
    return "\t" if 2 * tabs > len(first) else "," if header.separator == "," else " "


def rows_below(header: CommentedHeader, separator: str, lines: Sequence[str]) -> RowsBelow:
    """Take apart lines that are no comments; null where a row has no value."""
    texts = pl.Series("line", lines, dtype=pl.String)
    values = _values(header, separator, texts)
    names = header.names
    counts = values.list.len().to_numpy()
    fits = counts >= len(names)
    kept = values.filter(pl.Series(fits))
    columns = {
        name: _without_quotes(kept.list.get(place), header, separator) for place, name in enumerate(names)
    }
    longer = fits & (counts > len(names))
    if longer.any():
        rest = kept.list.slice(len(names)).list.join(" ")
        columns[EXTRA] = rest.set(rest == "", None)
    arrow = {name: column.to_arrow().cast(pa.string()) for name, column in columns.items()}
    return RowsBelow(arrow, np.flatnonzero(fits), np.flatnonzero(~fits), int(np.count_nonzero(longer)))


def _values(header: CommentedHeader, separator: str, texts: pl.Series) -> pl.Series:
    if separator == " ":
        return texts.str.extract_all(_WORDS)
    if header.kind == ZEEK or not texts.str.contains('"', literal=True).any():
        return texts.str.split(separator)
    found = texts.str.extract_all(_BETWEEN.format(separator))
    return found.list.eval(pl.element().str.strip_prefix(separator))


def _without_quotes(column: pl.Series, header: CommentedHeader, separator: str) -> pl.Series:
    if header.kind == ZEEK:
        empty = header.said.get("empty_field")
        column = column.set(column == header.unset, None)
        return column if empty is None else column.set(column == empty, "")
    quoted = column.str.starts_with('"') & column.str.ends_with('"') & (column.str.len_bytes() > 1)
    if quoted.any():
        bare = column.str.slice(1, column.str.len_chars() - 2).str.replace_all('""', '"', literal=True)
        column = bare.zip_with(quoted, column)
    return column.set((column == header.unset) | (column == ""), None)
