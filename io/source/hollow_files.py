"""Text files that hold next to nothing: a line, and gigabytes of NUL bytes behind it.

A file that was made longer than what was written to it, or copied with its holes, has NUL bytes where
nothing was written.  Readers leave these out, but to read them takes as long as to read a log of that size.
So of a very large file some places are looked at first.
"""

from __future__ import annotations

from pathlib import Path

HOLLOW_BYTES = 4 << 30
"""Shorter files are read, whatever they hold."""
_PLACES, _LOOK_BYTES = 16, 1 << 16


def hollow(path: Path, size: int, name: str) -> str | None:
    """Why a large file of text is not read, which has NUL bytes nearly everywhere; None of any other file."""
    if size < HOLLOW_BYTES:
        return None
    try:
        with path.open("rb") as file:
            head = file.read(_LOOK_BYTES)
            line = head.partition(b"\n")[0]
            if b"\0" in line or not line.isascii():
                return None  # not text; what is compressed ends in no NUL bytes
            empty = 0
            for place in range(1, _PLACES + 1):
                file.seek(size * place // (_PLACES + 1))
                empty += not file.read(_LOOK_BYTES).strip(b"\0")
    except OSError:
        return None  # reading it will say what is wrong
    if empty < _PLACES - 1:
        return None
    return (
        f"{name}: its {size:,} bytes are NUL bytes nearly everywhere, as of a file that was made longer than "
        "what was written to it; read what there is: tr -d '\\0' < FILE > NEW, or head -c BYTES FILE > NEW"
    )
