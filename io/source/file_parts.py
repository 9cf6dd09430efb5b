"""A part of a file, read as if it were a file of its own."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FilePart:
    """Bytes `start` .. `stop` - 1 of a file, with `header` before them."""

    start: int
    stop: int
    header: bytes = b""


class PartBytes(io.RawIOBase):
    """The bytes of a part of an open Arrow file.

    Parameters
    ----------
    file
        Stands anywhere; nobody else may read it meanwhile.
    """

    def __init__(self, file: Any, part: FilePart) -> None:
        super().__init__()
        self._file = file
        self._before = part.header
        self._left = part.stop - part.start
        file.seek(part.start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._before:
            piece, self._before = self._before[: len(buffer)], self._before[len(buffer) :]
        else:
            piece = bytes(self._file.read(min(len(buffer), self._left)))
            self._left -= len(piece)
        buffer[: len(piece)] = piece
        return len(piece)
