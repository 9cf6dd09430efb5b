"""Matches as a table for people.

Where a row does not fit the width, ids stand below each other and dates above their times of day.
"""

from __future__ import annotations

import io
import sys
from typing import TextIO

import pyarrow as pa
from rich.markup import escape
from rich.table import Table

from cepctl.render.console import SafeConsole

_PIPE_WIDTH = 200
_ANY_WIDTH = 1_000_000
_TIMES = ("start", "end")
_NARROW_TIME = len("09:01:29.552Z")


def print_matches(matches: pa.Table, file: TextIO | None = None) -> None:
    """Print rows (times already as text) to a file, standard output by default."""
    file = file or sys.stdout
    _print(matches, SafeConsole(file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False))


def matches_text(matches: pa.Table, width: int) -> str:
    """Rows (times already as text) as a table of so many columns, safe to be shown on a terminal."""
    held = io.StringIO()
    _print(matches, SafeConsole(held, for_terminal=True, force_terminal=False, width=width, highlight=False))
    return held.getvalue().rstrip("\n")


def _print(matches: pa.Table, console: SafeConsole) -> None:
    unlimited = console.options.update(max_width=_ANY_WIDTH)
    table = _table(matches, narrow=False)
    if console.measure(table, options=unlimited).maximum > console.width:
        table = _table(matches, narrow=True)
        if console.measure(table, options=unlimited).minimum > console.width:
            # Broken within times rather than cut off at the right.
            for column in table.columns:
                column.min_width = None
    console.print(table)


def _table(matches: pa.Table, *, narrow: bool) -> Table:
    names = [name for name in matches.column_names if name != "signature"]
    table = Table(show_lines=narrow)
    for name in names:
        kind = matches.field(name).type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        unbroken = _NARROW_TIME if narrow and name in _TIMES and not numeric else None
        if name == "confidence":
            unbroken = len(name)
        table.add_column(
            escape(name), justify="right" if numeric else "left", overflow="fold", min_width=unbroken
        )
    for row in matches.select(names).to_pylist():
        table.add_row(*(_cell(name, row[name], narrow=narrow) for name in names))
    return table


def _cell(name: str, value: object, *, narrow: bool) -> str:
    if value is None:
        return ""
    if name == "confidence" and isinstance(value, float):
        return f"{value:.6f}" if value >= 1e-6 else f"{value:.3g}"
    text = escape(str(value))
    if narrow and name == "match":
        return text.replace(" ", "\n")
    return text.replace("T", "\n", 1) if narrow and name in _TIMES else text
