"""The text of a delimited file as it was read, kept until its rows are judged.

The parser hands out columns; a row that is not an event is shown and written down as the file has it.  The
parser reads ahead on a thread of its own, by up to 128 MB; here it waits until its rows are judged.
"""

from __future__ import annotations

import threading
from typing import IO, NamedTuple

import numpy as np

from cepctl.io.source.byte_stream import ByteStream
from cepctl.numeric.arrays import Numbers

_MOST_BYTES = 1 << 26
_AHEAD_BYTES = 12 << 20
_PATIENCE_SECONDS = 60.0


class _Piece(NamedTuple):
    """Text as it was read, and how many line breaks it has."""

    text: bytes
    breaks: int


class Transcript(ByteStream):
    """Bytes on their way to the parser, remembered by the numbers of their lines; `breaks` have come so far.

    Lines end with a newline character; in text that has none of these nothing is remembered.
    """

    def __init__(self, stream: IO[bytes], first_line: int) -> None:
        super().__init__()
        self.breaks = 0
        self._stream = stream
        self._pieces: list[_Piece] = []
        self._first = first_line
        self._whole: tuple[bytes, Numbers] | None = None
        self._forgetting = threading.Condition()
        self._patient = True

    def next_bytes(self, size: int) -> bytes:
        with self._forgetting:
            # Where no row is judged for so long, the parser may need more to find one.
            if not self._forgetting.wait_for(self._may_read, _PATIENCE_SECONDS):
                self._patient = False
        piece = self._stream.read(size)
        breaks = piece.count(b"\n")
        self.breaks += breaks
        with self._forgetting:
            if piece and self._size + len(piece) <= _MOST_BYTES:
                self._pieces.append(_Piece(piece, breaks))
                self._whole = None
        return piece

    @property
    def _size(self) -> int:
        return sum(len(piece.text) for piece in self._pieces)

    def _may_read(self) -> bool:
        return not self._patient or self._size < _AHEAD_BYTES

    def hurry(self) -> None:
        """Let the parser read on without waiting: nobody asks for its rows any more."""
        with self._forgetting:
            self._patient = False
            self._forgetting.notify_all()

    def lines(self, first: int, last: int) -> bytes:
        """The text of lines `first` .. `last` without its last line break; empty where it is not known."""
        with self._forgetting:
            text, starts = self._lines()
            begin, end = first - self._first, last - self._first + 1
            if begin < 0 or begin >= len(starts):
                return b""
            stop = int(starts[end]) if end < len(starts) else len(text)
            return text[int(starts[begin]) : stop].rstrip(b"\r\n")

    def forget_before(self, line: int) -> None:
        """Let go of the pieces all lines of which end before this one."""
        with self._forgetting:
            ended = np.cumsum([piece.breaks for piece in self._pieces], dtype=np.int64)
            count = int(np.searchsorted(ended, line - self._first, side="right"))
            # Text without line ends is not forgotten, so there is nothing to wait for.
            self._patient = bool(count and ended[count - 1])
            if self._patient:
                gone, self._pieces = self._pieces[:count], self._pieces[count:]
                # The line that goes on behind what is gone stays.
                begun: list[bytes] = []
                for piece in reversed(gone):
                    begun.insert(0, piece.text[piece.text.rfind(b"\n") + 1 :])
                    if piece.breaks:
                        break
                self._pieces.insert(0, _Piece(b"".join(begun), 0))
                self._first += int(ended[count - 1])
                self._whole = None
            self._forgetting.notify_all()

    def _lines(self) -> tuple[bytes, Numbers]:
        """What is remembered, and where each of its lines begins."""
        if self._whole is None:
            text = b"".join(piece.text for piece in self._pieces)
            breaks = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
            self._whole = text, np.concatenate([[0], breaks + 1]).astype(np.int64)
        return self._whole
