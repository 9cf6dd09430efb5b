"""Pages of tables and lines, as wide as the terminal, or of a fixed width where there is none."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TextIO

from rich.table import Table
from rich.text import Text

from cepctl.render.console import SafeConsole, SafeTable, of_one_line


def page_width(file: TextIO, piped: int) -> int:
    """Columns of a page on this file; `piped` where it is not a terminal."""
    return SafeConsole(file).width if file.isatty() else piped


def print_page(parts: Iterable[Table | Text | str], file: TextIO, width: int) -> None:
    """Print tables and lines; lines may be wider than the page, and nothing is read as markup.

    Where the file is not a terminal, no line ends in blanks.
    """
    target = file if file.isatty() else io.StringIO()
    console = SafeConsole(target, width=width, highlight=False, markup=False)
    for part in parts:
        console.print(
            of_one_line(part) if isinstance(part, Text) else part, soft_wrap=not isinstance(part, Table)
        )
    if isinstance(target, io.StringIO):
        file.writelines(f"{line.rstrip()}\n" for line in target.getvalue().splitlines())


def plain_table(*names: str, numbers: Iterable[str] = ()) -> Table:
    """A table without lines; `numbers` names the columns that stand to the right."""
    table = SafeTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in names:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return table
