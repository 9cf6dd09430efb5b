"""Matches as a table for people: a line for each row, the answer first, ids short.

Where a terminal is too narrow, dates that all times share go below the table, then the ids and the times give
way, which a line below says; only where that is not enough are cells broken.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

import pyarrow as pa
from rich.box import HORIZONTALS
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from cepctl.numeric.lengths import span_text
from cepctl.plan.plan import EXPECTED_ERROR, OCCURRENCE_ERROR
from cepctl.plan.returned_items import LEAST, MOST
from cepctl.process.terminal import visible
from cepctl.render.console import SafeConsole, SafeTable
from cepctl.render.counting import percent
from cepctl.render.short_ids import short_ids

_ANY_WIDTH = 1_000_000
_GAP = 2
_TIMES = ("start", "end")
_IDS = ("match", "best")
_GIVE_WAY = ("match", "best", "end", "start")
_BAR = 10
_COLOURS = ((0.9, "bold green"), (0.5, "green"), (0.1, "yellow"), (0.0, "dim"))
"""The colour of a probability: that of the first bound that it reaches."""


@dataclass(frozen=True)
class _TableLayout:
    """Columns of cells as they are shown, and what is told below them.

    `legends` say what short ids stand for, `date` that of all times, `hidden` which columns have given way.
    """

    columns: dict[str, list[str]]
    legends: dict[str, str]
    date: str | None = None
    hidden: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Terminal columns of the table."""
        widths = [max(map(_cell_width, [name, *cells])) for name, cells in self.columns.items()]
        return sum(widths) + _GAP * (len(widths) - 1)

    def notes(self) -> Iterator[str]:
        """The lines below the table."""
        yield from (f"{name}: {legend}" for name, legend in self.legends.items() if name in self.columns)
        times = [name for name in _TIMES if name in self.columns]
        if self.date is not None and times:
            yield f"{' and '.join(times)}: on {self.date}"
        if self.hidden:
            named = [name for name in ("confidence", *_TIMES, *_IDS) if name in self.hidden]
            yield f"no room for {', '.join(named)}: --columns {','.join(named)}, a file or a pipe shows more"


def print_matches(matches: pa.Table, file: TextIO | None = None, *, chosen: bool = False) -> None:
    """Print rows (times already as text) to a file, standard output by default.

    `chosen`: somebody has named these columns, and none of them gives way.
    """
    file = file or sys.stdout
    if file.isatty():
        _print(matches, SafeConsole(file, highlight=False, markup=False), chosen=chosen)
        return
    held = io.StringIO()
    _print(matches, SafeConsole(held, width=_ANY_WIDTH, highlight=False, markup=False), chosen=True)
    file.writelines(f"{line.rstrip()}\n" for line in held.getvalue().split("\n")[:-1])


def matches_text(matches: pa.Table, width: int) -> str:
    """Rows (times already as text) as a table of so many columns, safe to be shown on a terminal."""
    held = io.StringIO()
    console = SafeConsole(
        held, for_terminal=True, force_terminal=False, width=width, highlight=False, markup=False
    )
    _print(matches, console, chosen=False)
    return "\n".join(line.rstrip() for line in held.getvalue().rstrip("\n").split("\n"))


def _print(matches: pa.Table, console: SafeConsole, *, chosen: bool) -> None:
    names = [name for name in matches.column_names if name != "signature"]
    layout = _whole(matches, names, ascii_only=console.options.ascii_only)
    if layout.width > console.width:
        layout = _without_dates(layout)
    if layout.width > console.width and not chosen:
        layout = _without_columns(layout, console.width)
    numbers = {name for name in names if _is_number(matches.field(name).type)}
    console.print(_table(layout, matches, numbers, broken=layout.width > console.width))
    for note in layout.notes():
        console.print(Text(note, style="dim"), soft_wrap=True)


def _cell_width(cell: str) -> int:
    return max(map(cell_len, cell.splitlines()), default=0)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


# --- what is shown ------------------------------------------------------------------------


def _whole(matches: pa.Table, names: Sequence[str], *, ascii_only: bool) -> _TableLayout:
    """Every column, with short ids."""
    columns: dict[str, list[str]] = {}
    legends = {}
    for name in names:
        if (whole := _of_duration(name, names)) is not None:
            ends = (matches.column(f"{whole}{end}").to_pylist() for end in (LEAST, MOST))
            columns[whole] = [span_text(least, most) for least, most in zip(*ends, strict=True)]
            continue
        values = matches.column(name).to_pylist()
        cells = [visible(_cell(name, value, ascii_only=ascii_only)) for value in values]
        if name in _IDS and pa.types.is_string(matches.field(name).type):
            cells, legend = short_ids(cells)
            if legend is not None:
                legends[name] = legend
        columns[name] = cells
    return _TableLayout(columns, legends)


def _of_duration(name: str, names: Sequence[str]) -> str | None:
    """What a column is an end of, where both ends are there."""
    for end in (LEAST, MOST):
        whole = name.removesuffix(end)
        if whole != name and {f"{whole}{LEAST}", f"{whole}{MOST}"} <= {*names}:
            return whole
    return None


def _without_dates(layout: _TableLayout) -> _TableLayout:
    """Times without the date that they share."""
    times = [name for name in _TIMES if name in layout.columns]
    dates = {cell[: cell.find("T") + 1] for name in times for cell in layout.columns[name]}
    if len(dates) != 1 or not (date := dates.pop()):
        return layout
    shorter = {name: [cell.removeprefix(date) for cell in layout.columns[name]] for name in times}
    return replace(layout, columns={**layout.columns, **shorter}, date=date[:-1])


def _without_columns(layout: _TableLayout, width: int) -> _TableLayout:
    """Fewer columns, until the others fit."""
    # Of a group the confidence is only that of its best match.
    for name in (*_GIVE_WAY, *(["confidence"] if "occurrence" in layout.columns else [])):
        if name in layout.columns and layout.width > width:
            left = {each: cells for each, cells in layout.columns.items() if each != name}
            layout = replace(layout, columns=left, hidden=(*layout.hidden, name))
    return layout


def _cell(name: str, value: object, *, ascii_only: bool) -> str:
    if value is None:
        return ""
    if name == "occurrence" and isinstance(value, float):
        return f"{_bar(value, '#' if ascii_only else '█')} {percent(value):>6}"
    if name in ("expected", EXPECTED_ERROR, OCCURRENCE_ERROR) and isinstance(value, float):
        return f"{value:.3g}"
    if name == "confidence" and isinstance(value, float):
        return f"{value:.6f}" if value >= 1e-6 else f"{value:.3g}"
    return str(value)


def _bar(share: float, full: str) -> str:
    """A bar of a share of 1; any share is worth a mark."""
    marks = min(max(round(share * _BAR), 1), _BAR)
    return full * marks + " " * (_BAR - marks)


# --- how it is drawn ----------------------------------------------------------------------


def _table(layout: _TableLayout, matches: pa.Table, numbers: set[str], *, broken: bool) -> Table:
    """Lines between rows only where a row takes several."""
    table = SafeTable(
        box=HORIZONTALS if broken else None,
        show_lines=broken,
        pad_edge=False,
        padding=(0, _GAP if not broken else 1, 0, 0),
        header_style="bold",
    )
    for name, cells in layout.columns.items():
        unbroken = max(map(_cell_width, [name, *cells])) if name in ("confidence", "occurrence") else None
        table.add_column(
            Text(visible(name)),
            justify="right" if name in numbers else "left",
            overflow="fold",
            min_width=unbroken,
        )
    styles = {name: _styles(name, matches) for name in layout.columns}
    for row, line in enumerate(zip(*layout.columns.values(), strict=True)):
        table.add_row(
            *(
                Text(cell, style=styles[name][row] if styles[name] else "")
                for name, cell in zip(layout.columns, line, strict=True)
            )
        )
    return table


def _styles(name: str, matches: pa.Table) -> list[str]:
    """The style of each cell of a column; none where they have none."""
    if name in ("confidence", "occurrence"):
        return [_colour(value) for value in matches.column(name).to_pylist()]
    return ["dim"] * matches.num_rows if name in (*_IDS, *_TIMES) else []


def _colour(probability: object) -> str:
    if not isinstance(probability, float):
        return ""
    return next(colour for bound, colour in _COLOURS if probability >= bound)
