"""Matches in a cell of a notebook: a table that shows everywhere, and the page of `cepctl report` below it.

The page is a frame of its own, in which alone its program runs and its style holds; it asks no network, and
what comes out of logs is never read as markup.  Where notebooks run no programs, only the table is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from cepctl.errors import CepctlError
from cepctl.library.pages import first_page

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.library.matches import Matches

_FRAME_HEIGHT = 560


def matches_html(matches: Matches, rows: pa.Table) -> str:
    """The first rows of matches (times as text) as a table, and their timelines.

    Parameters
    ----------
    matches
        All of them.
    rows
        Those that are shown.
    """
    more = len(matches) - rows.num_rows
    parts = [f"<p>{escape(str(matches.summary))}</p>"]
    if rows.num_rows:
        parts += ["<table>", *_lines(rows), "</table>"]
        parts += [f"<p>... and {more:,} more rows</p>"] if more else []
        parts += _frame(matches, rows.num_rows)
    return "\n".join(parts)


def _lines(rows: pa.Table) -> Iterator[str]:
    names = [name for name in rows.column_names if name != "signature"]
    yield f"<thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in names)}</tr></thead>"
    for row in rows.select(names).to_pylist():
        cells = ("" if value is None else escape(str(value)) for value in row.values())
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _frame(matches: Matches, listed: int) -> list[str]:
    """The page in a frame; none where its events cannot be read any more, or its rows are of no events."""
    try:
        page = first_page(matches, listed)
    except (CepctlError, OSError):
        return []
    if page is None:
        return []
    return [
        f'<iframe sandbox="allow-scripts" title="Timelines of matches" srcdoc="{escape(page)}" '
        f'style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0"></iframe>'
    ]
