"""A stream of bytes that makes what is read of it piece by piece, and hands it over without a copy."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import Any


class ByteStream(io.RawIOBase):
    """A stream of which `next_bytes` says what comes next."""

    @abstractmethod
    def next_bytes(self, size: int) -> bytes:
        """At most so many bytes; none at the end alone."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.next_bytes(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def read(self, size: int = -1) -> bytes:
        """As every stream does, without a copy of what is read."""
        return (super().read(size) or b"") if size < 0 else self.next_bytes(size)
