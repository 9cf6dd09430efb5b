"""Rich on a terminal that logs cannot command: what is drawn may have colours, what is told has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from cepctl.process.terminal import on_one_line, unguarded, visible


class SafeTable(Table):
    """A table no cell of which ends its line, as what a log says can."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row, with line ends written out."""
        super().add_row(*map(of_one_line, cells), **options)


def of_one_line(cell: RenderableType | None) -> RenderableType | None:
    """A text with its line ends written out; anything else as it is."""
    if isinstance(cell, str):
        return on_one_line(cell)
    if isinstance(cell, Text) and cell.plain != on_one_line(cell.plain):
        return Text(on_one_line(cell.plain), cell.style, no_wrap=cell.no_wrap, overflow=cell.overflow)
    return cell


class SafeConsole(Console):
    """A console that shows the control characters of texts where its file is for a terminal, or is one."""

    def __init__(self, file: IO[str], *, for_terminal: bool = False, **options: Any) -> None:
        # In a notebook Rich would show what is printed to a file instead of writing it there.
        super().__init__(file=unguarded(file), force_jupyter=False, **options)
        self._shows_controls = for_terminal or file.isatty()

    def render_str(self, text: str, **options: Any) -> Text:
        """The text before it is measured, so that columns are as wide as what is shown."""
        return super().render_str(visible(text) if self._shows_controls else text, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces that are drawn, also those that never were plain texts."""
        for piece in super().render(renderable, options):
            if self._shows_controls and not piece.control and not piece.text.isprintable():
                yield piece._replace(text=visible(piece.text))
            else:
                yield piece
