"""Matches as a table for people."""

from __future__ import annotations

import sys
from typing import TextIO

import pyarrow as pa
from rich.console import Console
from rich.markup import escape
from rich.table import Table

_PIPE_WIDTH = 200


def print_matches(matches: pa.Table, file: TextIO | None = None) -> None:
    """Print rows (times already as text) to a file, standard output by default."""
    file = file or sys.stdout
    console = Console(file=file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    names = [name for name in matches.column_names if name != "signature"]
    table = Table()
    for name in names:
        numeric = pa.types.is_integer(matches.field(name).type) or pa.types.is_floating(
            matches.field(name).type
        )
        table.add_column(escape(name), justify="right" if numeric else "left", overflow="fold")
    for row in matches.select(names).to_pylist():
        table.add_row(*(_cell(name, row[name]) for name in names))
    console.print(table)


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if name == "confidence" and isinstance(value, float):
        return f"{value:.6f}" if value >= 1e-6 else f"{value:.3g}"
    return escape(str(value))
