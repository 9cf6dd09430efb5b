"""A line of the terminal that says how far a command is; it is rewritten, and gone at the end."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cepctl.cli.output.notices import in_json
from cepctl.process.terminal import unguarded, visible

_ERASE_LINE = "\r\x1b[K"


@contextmanager
def terminal_line(*, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """What shows a line; None where nobody would see it, as standard error is no terminal."""
    if quiet or in_json() or not sys.stderr.isatty():
        yield None
        return
    terminal, shown = unguarded(sys.stderr), False

    def tell(line: str) -> None:
        nonlocal shown
        shown = True
        width = shutil.get_terminal_size().columns
        terminal.write(_ERASE_LINE + visible(line)[: width - 1])
        terminal.flush()

    try:
        yield tell
    finally:
        if shown:
            terminal.write(_ERASE_LINE)
            terminal.flush()


@contextmanager
def reading_shown(*, quiet: bool) -> Iterator[None]:
    """Show how far the reading of logs is, wherever the command reads some."""
    with terminal_line(quiet=quiet) as tell:
        if tell is None:
            yield
            return
        from cepctl.ingestion.progress import reading_told

        with reading_told(tell):
            yield
