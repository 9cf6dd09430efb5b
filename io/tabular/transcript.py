"""The text of a delimited file as it was read, kept until its rows are judged.

The parser hands out columns; a row that is not an event is shown and written down as the file has it.  The
parser reads ahead on a thread of its own, by up to 128 MB; here it waits until its rows are judged.
"""

from __future__ import annotations

import io
import threading
from typing import IO, Any

import numpy as np

from cepctl.arrays import Numbers

_MOST_BYTES = 1 << 26
_AHEAD_BYTES = 12 << 20
_PATIENCE_SECONDS = 60.0


class Transcript(io.RawIOBase):
    """Bytes on their way to the parser, remembered by the numbers of their lines.

    Lines end with a newline character; in text that has none of these nothing is remembered.
    """

    def __init__(self, stream: IO[bytes], first_line: int) -> None:
        super().__init__()
        self._stream = stream
        self._text = b""
        self._first = first_line
        self._starts: Numbers | None = None
        self._forgetting = threading.Condition()
        self._patient = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._forgetting:
            # Where no row is judged for so long, the parser may need more to find one.
            if not self._forgetting.wait_for(self._may_read, _PATIENCE_SECONDS):
                self._patient = False
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        with self._forgetting:
            if len(self._text) + len(piece) <= _MOST_BYTES:
                self._text += piece
                self._starts = None
        return len(piece)

    def _may_read(self) -> bool:
        return not self._patient or len(self._text) < _AHEAD_BYTES

    def hurry(self) -> None:
        """Let the parser read on without waiting: nobody asks for its rows any more."""
        with self._forgetting:
            self._patient = False
            self._forgetting.notify_all()

    def lines(self, first: int, last: int) -> bytes:
        """The text of lines `first` .. `last` without its last line break; empty where it is not known."""
        with self._forgetting:
            starts = self._line_starts()
            begin, end = first - self._first, last - self._first + 1
            if begin < 0 or begin >= len(starts):
                return b""
            stop = int(starts[end]) if end < len(starts) else len(self._text)
            return self._text[int(starts[begin]) : stop].rstrip(b"\r\n")

    def forget_before(self, line: int) -> None:
        """Let go of the lines before this one."""
        with self._forgetting:
            starts = self._line_starts()
            place = min(line - self._first, len(starts) - 1)
            # Text without line ends is not forgotten, so there is nothing to wait for.
            self._patient = place > 0
            if place > 0:
                self._text = self._text[int(starts[place]) :]
                self._first += place
                self._starts = None
            self._forgetting.notify_all()

    def _line_starts(self) -> Numbers:
        if self._starts is None:
            breaks = np.flatnonzero(np.frombuffer(self._text, np.uint8) == ord("\n"))
            self._starts = np.concatenate([[0], breaks + 1]).astype(np.int64)
        return self._starts
