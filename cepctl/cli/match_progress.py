"""How far a run is, on one line of a terminal that is rewritten and gone at the end."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cepctl.cli.notices import in_json

if TYPE_CHECKING:
    from cepctl.engines.progress import Progress

_ERASE_LINE = "\r\x1b[K"


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[Progress]:
    """The progress of one run; it is shown where standard error is a terminal."""
    from cepctl.engines.progress import Progress

    if quiet or in_json() or not sys.stderr.isatty():
        yield Progress()
        return

    def tell(line: str) -> None:
        width = shutil.get_terminal_size().columns
        sys.stderr.write(_ERASE_LINE + line[: width - 1])
        sys.stderr.flush()

    try:
        yield Progress(tell)
    finally:
        sys.stderr.write(_ERASE_LINE)
        sys.stderr.flush()
