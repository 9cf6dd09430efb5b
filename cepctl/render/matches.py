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

from cepctl.plan.plan import EXPECTED_ERROR, OCCURRENCE_ERROR
from cepctl.render.console import SafeConsole
from cepctl.render.counting import percent

_PIPE_WIDTH = 200
_ANY_WIDTH = 1_000_000
_TIMES = ("start", "end")
_NARROW_TIME = len("09:01:29.552Z")
_BAR = 10
_UNBROKEN = {"confidence": len("confidence"), "occurrence": _BAR + len(" 84.98 %")}


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
    ascii_only = console.options.ascii_only
    table = _table(matches, narrow=False, ascii_only=ascii_only)
    if console.measure(table, options=unlimited).maximum > console.width:
        table = _table(matches, narrow=True, ascii_only=ascii_only)
        if console.measure(table, options=unlimited).minimum > console.width:
            # Broken within times rather than cut off at the right.
            for column in table.columns:
                column.min_width = None
    console.print(table)


def _table(matches: pa.Table, *, narrow: bool, ascii_only: bool) -> Table:
    names = [name for name in matches.column_names if name != "signature"]
    table = Table(show_lines=narrow)
    for name in names:
        kind = matches.field(name).type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        unbroken = _NARROW_TIME if narrow and name in _TIMES and not numeric else None
        if name in _UNBROKEN and numeric:
            unbroken = _UNBROKEN[name]
        table.add_column(
            escape(name), justify="right" if numeric else "left", overflow="fold", min_width=unbroken
        )
    for row in matches.select(names).to_pylist():
        table.add_row(*(_cell(name, row[name], narrow=narrow, ascii_only=ascii_only) for name in names))
    return table


def _cell(name: str, value: object, *, narrow: bool, ascii_only: bool) -> str:
    if value is None:
        return ""
    if name == "occurrence" and isinstance(value, float):
        return f"{_bar(value, '#' if ascii_only else '█')} {percent(value):>6}"
    if name in ("expected", EXPECTED_ERROR, OCCURRENCE_ERROR) and isinstance(value, float):
        return f"{value:.3g}"
    if name == "confidence" and isinstance(value, float):
        return f"{value:.6f}" if value >= 1e-6 else f"{value:.3g}"
    text = escape(str(value))
    if narrow and name == "match":
        return text.replace(" ", "\n")
    return text.replace("T", "\n", 1) if narrow and name in _TIMES else text


def _bar(share: float, full: str) -> str:
    """A bar of a share of 1; any share is worth a mark."""
    marks = min(max(round(share * _BAR), 1), _BAR)
    return full * marks + " " * (_BAR - marks)
