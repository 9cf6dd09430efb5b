"""Matches in a cell of a notebook: a table that shows everywhere, and the page of `cepctl report` below it.

The page is a frame of its own, in which alone its program runs and its style holds; it asks no network, and
what comes out of logs is never read as markup.  The frame is as high as its page says, and long words of the
table break, so that a cell scrolls in no direction.  Where notebooks run no programs, only the table is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from cepctl.library.pages import first_page
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.library.found import Found


_FRAME_HEIGHT = 560
"""Pixels, until the page has said how many it needs."""
_LONG_WORD = 24
_FITTING = """<script>
addEventListener("message", ({ data, source }) => {
  for (const frame of document.querySelectorAll("iframe[data-cepctl]"))
    if (frame.contentWindow === source && data?.cepctlHeight > 0)
      frame.style.height = `${data.cepctlHeight}px`;
});
</script>"""


def matches_html(found: Found, rows: pa.Table, *, drawn: bool) -> str:
    """The first rows of what was found (times as text) as a table, and their timelines.

    Parameters
    ----------
    found
        All of it.
    rows
        Those that are shown.
    drawn
        Whether events can be read, for the timelines.
    """
    more = found.summary.rows - rows.num_rows
    parts = [f"<p>{escape(str(found.summary))}</p>"]
    if rows.num_rows:
        parts += ["<table>", *_lines(rows), "</table>"]
        parts += [f"<p>... and {more:,} more rows</p>"] if more else []
        parts += _frame(found, rows.num_rows) if drawn else []
    return "\n".join(parts)


def _lines(rows: pa.Table) -> Iterator[str]:
    names = [name for name in rows.column_names if name != "signature"]
    yield f"<thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in names)}</tr></thead>"
    for row in rows.select(names).to_pylist():
        yield f"<tr>{''.join(_cell('' if value is None else str(value)) for value in row.values())}</tr>"


def _cell(text: str) -> str:
    breaks = max(map(len, text.split()), default=0) > _LONG_WORD
    style = ' style="overflow-wrap: anywhere"' if breaks else ""
    return f"<td{style}>{escape(text)}</td>"


def _frame(found: Found, listed: int) -> list[str]:
    """The page in a frame; none where its rows are of no events."""
    page = beside(SideFigure.TIMELINES, partial(first_page, found, listed), None)
    if page is None:
        return []
    return [
        _FITTING,
        f'<iframe data-cepctl sandbox="allow-scripts" title="Timelines of matches" srcdoc="{escape(page)}" '
        f'style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0"></iframe>',
    ]


def python_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as dicts; times to the nanosecond, of which Python has none, are numpy.datetime64 in UTC."""
    import pyarrow as pa

    finer = [each.name for each in table.schema if each.type == pa.timestamp("ns", "UTC")]
    rows: list[dict[str, Any]] = table.drop_columns(finer).to_pylist()
    if not finer:
        return rows
    times = {name: _times(table.column(name)) for name in finer}
    return [
        {name: times[name][number] if name in times else row[name] for name in table.column_names}
        for number, row in enumerate(rows)
    ]


def _times(column: pa.ChunkedArray) -> list[Any]:
    import pyarrow as pa

    values = column.cast(pa.timestamp("ns")).to_numpy()
    return [
        value if known else None for value, known in zip(values, column.is_valid().to_pylist(), strict=True)
    ]
