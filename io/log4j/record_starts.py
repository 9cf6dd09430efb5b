"""Where the records of a log begin whose lines may go on: in one of log4j at a time, a level and a logger."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from cepctl.io.contract.line_records import Passage, Passages, RecordCut
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.log4j.layouts import find_headers
from cepctl.io.log4j.lines import BLOCK_BYTES, cut_line, mended
from cepctl.io.log4j.records import ORPHANS, line_bounds
from cepctl.io.source.plain_lines import CountedLines
from cepctl.io.source.streams import empty_lines
from cepctl.numeric.arrays import Numbers

_PIECE_BYTES = 4 << 20
_TAIL_BYTES = 1 << 20


BeginningLines = Callable[[bytes, Numbers, Numbers], Numbers]
"""Which lines of a block begin records; where each line begins and ends is given."""


def header_lines(block: bytes, starts: Numbers, ends: Numbers) -> Numbers:
    """Lines with the header of log4j."""
    return find_headers(block, starts, ends).line


@dataclass(frozen=True)
class LogRecords:
    """LineRecords of a log, whose reader numbers what begins with a line that `find` finds."""

    find: BeginningLines = header_lines
    forms: tuple[tuple[str, str], ...] = ()
    header: bytes = b""
    counted_by_reader: bool = True
    unnumbered: str = ORPHANS

    def scan(self, stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passages:
        passage = _scanned(stream, start, stop, self.find, first=first)
        return passage, passage

    def counter(self) -> CountedLines:
        return CountedLines()

    def whole(self, part: IO[bytes], begin: int, ended: int) -> int:
        """Up to where the last record begins: until the next has begun, more lines may belong to it."""
        size = _TAIL_BYTES
        while True:
            start = max(ended - size, 0)
            part.seek(begin + start)
            text = part.read(ended - start)
            if start:
                cut = text.find(b"\n") + 1
                start, text = start + cut, text[cut:]
            if text:
                starts, ends = line_bounds(text)
                lines = self.find(text, starts, ends)
                if len(lines):
                    return start + int(starts[lines[-1]])
            if size >= ended:
                return 0
            size *= 2


def log_records(head: bytes, options: ReadOptions) -> LogRecords:
    """As `LogFormat.lines` wants it: however the log begins."""
    return LogRecords()


def _scanned(stream: IO[bytes], start: int, stop: int, find: BeginningLines, *, first: bool) -> Passage:
    records = lines = 0
    cut = None
    ignored = ReadReport()
    for place, text in _whole_lines(stream, start, stop, first=first):
        if empty := empty_lines(text):
            lines += empty
            continue
        starts, _ = line_bounds(text)
        found = mended(text, ignored)
        headers = find(found, *line_bounds(found))
        # The first record of the file is not a place to cut.
        here = headers[starts[headers] + place > start]
        if cut is None and len(here):
            line = int(here[0])
            cut = RecordCut(place + int(starts[line]), records + len(headers) - len(here), lines + line)
        records += len(headers)
        lines += len(starts)
    return Passage(records, lines, cut)


def _whole_lines(stream: IO[bytes], start: int, stop: int, *, first: bool) -> Iterator[tuple[int, bytes]]:
    """Lines that begin behind byte `start`, the `first` at it, up to one that begins at `stop`.

    Yields where some of them begin, and their text; long ones are cut as the reader cuts them.
    """
    lines = _StreamLines(stream, start)
    if not first and not lines.skip_line(stop):
        return
    while lines.place <= stop and (text := lines.take(stop)):
        yield text


@dataclass
class _StreamLines:
    """Lines of a stream from byte `place` on."""

    stream: IO[bytes]
    place: int
    _text: bytes = field(default=b"")

    def __post_init__(self) -> None:
        self.stream.seek(self.place)

    def _more(self) -> bool:
        piece = self.stream.read(_PIECE_BYTES)
        self._text += piece
        return bool(piece)

    def skip_line(self, stop: int) -> bool:
        """Go behind the next newline; False where none stands before `stop`."""
        while (end := self._text.find(b"\n")) < 0:
            self.place += len(self._text)
            self._text = b""
            if self.place >= stop or not self._more():
                return False
        self.place, self._text = self.place + end + 1, self._text[end + 1 :]
        return self.place <= stop

    def take(self, stop: int) -> tuple[int, bytes] | None:
        """Some lines, up to that which begins at `stop` or holds it."""
        while self._text.find(b"\n", 0, BLOCK_BYTES) < 0:
            if len(self._text) >= BLOCK_BYTES:
                place, line = self.place, cut_line(self._text) + b"\n"
                self.skip_line(sys.maxsize)
                return place, line
            if not self._more():
                break
        place, text = self.place, self._text
        if not text:
            return None
        end = text.find(b"\n", max(stop - place, 0))
        last = (end if end >= 0 else text.rfind(b"\n")) + 1 or len(text)
        self.place, self._text = place + last, text[last:]
        taken = text[:last]
        return place, taken if taken.endswith(b"\n") else taken + b"\n"
