"""Text of plain event files as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any, cast

_BLOCK_BYTES = 4 << 20


def decoded(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", errors="replace")
    return head.decode("utf-8-sig", errors="replace")


def utf8_stream(stream: IO[bytes]) -> IO[bytes]:
    """The same text in UTF-8 without byte order mark."""
    buffered = (
        stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))
    )
    head = buffered.peek(3)[:3]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.BufferedReader(_Recoded(buffered))
    if head == codecs.BOM_UTF8:
        buffered.read(3)
    return buffered


class _Recoded(io.RawIOBase):
    """UTF-16 text as UTF-8 bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            raw = self._stream.read(_BLOCK_BYTES)
            self._ready = self._decoder.decode(raw, final=not raw).encode()
            if not raw and not self._ready:
                return 0
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
