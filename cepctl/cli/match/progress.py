"""How far a run is, on one line of a terminal that is rewritten and gone at the end."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cepctl.cli.output.notices import in_json
from cepctl.terminal import unguarded, visible

if TYPE_CHECKING:
    from cepctl.engines.runners.progress import Progress

_ERASE_LINE = "\r\x1b[K"


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[Progress]:
    """The progress of one run; it is shown where standard error is a terminal."""
    from cepctl.engines.kernels.announcing import kernels_told
    from cepctl.engines.runners.progress import Progress

    if quiet or in_json() or not sys.stderr.isatty():
        yield Progress()
        return

    terminal = unguarded(sys.stderr)

    def tell(line: str) -> None:
        width = shutil.get_terminal_size().columns
        terminal.write(_ERASE_LINE + visible(line)[: width - 1])
        terminal.flush()

    progress = Progress(tell)
    try:
        with kernels_told(progress.compiling), progress.watching_compiler():
            yield progress
    finally:
        terminal.write(_ERASE_LINE)
        terminal.flush()
