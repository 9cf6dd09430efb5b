"""Files in which every line is a record: where they can be cut, and how many records they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

import numpy as np

from cepctl.io.contract.line_records import Passage, Passages, RecordCut
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.streams import empty_lines

_PIECE_BYTES = 4 << 20
_ASCII = 0x80


@dataclass(frozen=True)
class PlainLines:
    """LineRecords of a file without header whose reader numbers records by their lines, from 1."""

    header: bytes = b""
    counted_by_reader: bool = False
    unnumbered: str = ""
    forms: tuple[tuple[str, str], ...] = ()

    def scan(self, stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passages:
        stream.seek(start)
        place, lines, cut = start, 0, None
        while place < stop and (piece := stream.read(min(_PIECE_BYTES, stop - place))):
            if cut is None:
                following = piece[1:] + stream.read(1)
                stream.seek(place + len(piece))
                behind = np.frombuffer(following, np.uint8)
                ends = np.flatnonzero(np.frombuffer(piece, np.uint8)[: len(behind)] == ord("\n"))
                # A part that began with a byte order mark would lose it.
                plain = np.flatnonzero(behind[ends] < _ASCII)
                if len(plain):
                    before = lines + int(plain[0]) + 1
                    cut = RecordCut(place + int(ends[plain[0]]) + 1, before, before)
            lines += empty_lines(piece) or piece.count(b"\n")
            place += len(piece)
        passage = Passage(lines, lines, cut)
        return passage, passage

    def counter(self) -> CountedLines:
        return CountedLines()

    def whole(self, part: IO[bytes], begin: int, ended: int) -> int:
        return ended


@dataclass
class CountedLines:
    """Counts the lines that have ended; `whole` is where the last did."""

    ended: int = 0
    whole: int = 0
    _seen: int = 0

    def add(self, piece: bytes) -> None:
        self.ended += piece.count(b"\n")
        self.whole = self._seen + piece.rfind(b"\n") + 1 if b"\n" in piece else self.whole
        self._seen += len(piece)


def plain_lines(head: bytes, options: ReadOptions) -> PlainLines:
    """As `LogFormat.lines` wants it: every line is a record, however the file begins."""
    return PlainLines()
