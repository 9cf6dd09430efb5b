"""Rich on a terminal that logs cannot command: what is drawn may have colours, what is told has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from cepctl.process.terminal import unguarded, visible


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
