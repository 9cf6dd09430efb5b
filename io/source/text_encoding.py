"""Text of plain event files as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any, cast

BAD_UTF8 = "some text is not valid UTF-8; the bad bytes were replaced"
_BLOCK_BYTES = 4 << 20
_PEEKED_BYTES = 1 << 16
_REPLACEMENT = "\ufffd".encode()


def decoded(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", errors="replace")
    return head.decode("utf-8-sig", errors="replace")


def utf8_stream(stream: IO[bytes]) -> io.BufferedReader:
    """A text in UTF-8 without byte order mark; of which 64 KiB can be peeked at."""
    raw = cast(io.RawIOBase, stream)
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(raw, _PEEKED_BYTES)
    head = buffered.peek(3)[:3]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.BufferedReader(Recoded(buffered, "utf-16"), _PEEKED_BYTES)
    if head == codecs.BOM_UTF8:
        buffered.read(3)
    return buffered


class Recoded(io.RawIOBase):
    """Text in any encoding as valid UTF-8, after `mark`; bytes that are not text become U+FFFD.

    Attributes
    ----------
    replaced
        Whether there were such bytes so far (of UTF-8 text; other encodings are not watched).
    """

    def __init__(self, stream: IO[bytes], encoding: str, mark: bytes = b"") -> None:
        super().__init__()
        self._stream = stream
        self._is_utf8 = codecs.lookup(encoding).name == "utf-8"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._ready = mark
        self._tail = b""
        self._balance = 0

    @property
    def replaced(self) -> bool:
        return self._balance > 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            raw = self._stream.read(_BLOCK_BYTES)
            if self._is_utf8 and raw.isascii() and raw and not self._decoder.getstate()[0]:
                self._ready, self._tail = raw, b""
                break
            self._ready = self._decoder.decode(raw, final=not raw).encode()
            # The text may hold the very sign of replacement: only what is new was replaced.
            written = (self._tail + raw).count(_REPLACEMENT)
            self._balance += self._ready.count(_REPLACEMENT) - written
            self._tail = raw[1 - len(_REPLACEMENT) :]
            if not raw and not self._ready:
                return 0
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
