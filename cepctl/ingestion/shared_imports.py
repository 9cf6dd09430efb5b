"""What children would import, each for itself, is imported once, before they are forked.

Files are surveyed in children and read in others: what a format needs would be imported by all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import pyarrow as pa

from cepctl.errors import CepctlError
from cepctl.ingestion.task import ReadTask
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.formats import format_named, known_formats
from cepctl.io.source.first_lines import HEAD_BYTES
from cepctl.runners.apart import can_fork

_OF_ARRAYS = "numpy.ma"
"""PyArrow imports it with the first array of NumPy that it is given."""
_OF_LINES = "polars"
"""It parses the lines that processes append, and their messages."""


def import_for_children(tasks: Sequence[ReadTask]) -> None:
    """Import what the format of the first file needs; all files are on this machine.

    What cannot be read, or is packed, is left to the children.
    """
    first = next((task for task in tasks if task.file.left_out is None and task.file.size), None)
    if first is None or not can_fork():
        return
    known: LogFormat | None = None
    with suppress(CepctlError, OSError, pa.ArrowInvalid):
        known = _format_of(first)
    import_module(_OF_ARRAYS)
    if known is not None and (known.appended or known.messages is not None):
        import_module(_OF_LINES)


def _format_of(task: ReadTask) -> LogFormat | None:
    if task.input_format is not None:
        return format_named(task.input_format)
    filesystem, path = task.file.location.resolve()
    with filesystem.open_input_stream(path, compression=None) as file:
        head = file.read(HEAD_BYTES)
    return next((known for known in known_formats() if known.reader.recognises(head)), None)
