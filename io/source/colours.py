r"""Text without the sequences by which a terminal shows colours, as logs have that were written for one.

Such a sequence is ESC [ with numbers and a letter, as in `ESC[1mbold ESC[0m`.
"""

from __future__ import annotations

import io
import re
from typing import IO, Any

_SEQUENCE = re.compile(rb"\x1b\[[0-9;]*[mK]")
_OPEN = re.compile(rb"\x1b(?:\[[0-9;?]{0,40})?\Z")
_LINES_LOOKED_AT, _FEWEST_SHARE = 40, 0.25
_PIECE_BYTES = 1 << 16


def has_colours(head: bytes) -> bool:
    """Whether a file that begins so is text of which a quarter of the first lines have colours."""
    if b"\x1b[" not in head or b"\0" in head:
        return False
    lines = [line for line in head.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT] if line.strip()]
    return sum(_SEQUENCE.search(line) is not None for line in lines) >= _FEWEST_SHARE * len(lines)


def without_colours(text: bytes) -> bytes:
    r"""A text without them.

    Examples
    --------
    >>> without_colours(b"\x1b[0m\x1b[32mready\x1b[0m")
    b'ready'
    """
    return _SEQUENCE.sub(b"", text)


class WithoutColours(io.RawIOBase):
    """A stream of text without them."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self._read = getattr(stream, "read1", stream.read)
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while piece := self._read(_PIECE_BYTES):
            text = self._waiting + piece
            cut = _OPEN.search(text)
            end = len(text) if cut is None else cut.start()
            self._waiting = text[end:]
            plain = without_colours(text[:end])
            if plain:
                return self._given(plain, buffer)
        rest, self._waiting = self._waiting, b""
        return self._given(rest, buffer)

    def _given(self, plain: bytes, buffer: Any) -> int:
        """Hand over what fits; the rest waits, without colours already."""
        size = min(len(buffer), len(plain))
        buffer[:size] = plain[:size]
        self._waiting = plain[size:] + self._waiting
        return size
