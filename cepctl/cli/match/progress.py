"""How far a run is, on one line of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cepctl.cli.output.terminal_line import terminal_line

if TYPE_CHECKING:
    from cepctl.engines.runners.progress import RunProgress


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[RunProgress]:
    """The progress of one run; it is shown where standard error is a terminal."""
    from cepctl.engines.kernels.beside import hearing_of_kernels
    from cepctl.engines.runners.progress import RunProgress

    with terminal_line(quiet=quiet) as tell:
        progress = RunProgress(tell)
        if tell is None:
            yield progress
            return
        with hearing_of_kernels(progress.compiling), progress.watching_compiler():
            yield progress
