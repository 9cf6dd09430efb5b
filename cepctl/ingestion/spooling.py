"""Standard input and pipes as files: a log is opened several times, and by several processes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from cepctl.datasets.stored import STANDARD_INPUT
from cepctl.io.source.locations import Location, is_stream


def spooled(paths: Sequence[str], scratch: Location) -> list[str]:
    """The paths, those that can be read once copied to files in a directory and named like them."""
    return [
        _copied(path, scratch, number) if path == STANDARD_INPUT or is_stream(path) else path
        for number, path in enumerate(dict.fromkeys(paths))
    ]


def _copied(path: str, scratch: Location, number: int) -> str:
    filesystem, directory = scratch.resolve()
    folder = f"{directory}/stream-{number}"
    filesystem.create_dir(folder)
    copy = f"{folder}/{_name(path)}"
    with ExitStack() as opened:
        source = sys.stdin.buffer if path == STANDARD_INPUT else opened.enter_context(Path(path).open("rb"))
        shutil.copyfileobj(source, opened.enter_context(filesystem.open_output_stream(copy)))
    return scratch.beside(copy).uri


def _name(path: str) -> str:
    """`stdin`, the name of a pipe, or fd63 for /dev/fd/63."""
    if path == STANDARD_INPUT:
        return "stdin"
    name = Path(path).name
    return f"fd{name}" if name.isdecimal() else name
