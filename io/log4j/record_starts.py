"""Where the records of a log4j log begin: at lines with a time, a level and a logger."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from cepctl.io.contract.line_records import Cut, Passage, Passages
from cepctl.io.contract.reader import ReadReport
from cepctl.io.log4j.layouts import find_headers
from cepctl.io.log4j.lines import BLOCK_BYTES, cut_line, mended
from cepctl.io.log4j.records import ORPHANS, line_bounds
from cepctl.io.source.long_gaps import empty_lines
from cepctl.io.source.plain_lines import CountedLines

_PIECE_BYTES = 4 << 20
_TAIL_BYTES = 1 << 20


@dataclass(frozen=True)
class LogRecords:
    """LineRecords of a log, whose reader numbers what begins with a header line."""

    header: bytes = b""
    counted_by_reader: bool = True
    unnumbered: str = ORPHANS

    def scan(self, stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passages:
        passage = _scanned(stream, start, stop, first=first)
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
                lines = find_headers(text, starts, ends).line
                if len(lines):
                    return start + int(starts[lines[-1]])
            if size >= ended:
                return 0
            size *= 2


def log_records(head: bytes, columns: Sequence[tuple[str, str]]) -> LogRecords:
    """As `LogFormat.lines` wants it: however the log begins."""
    return LogRecords()


def _scanned(stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passage:
    records = lines = 0
    cut = None
    ignored = ReadReport()
    for place, text in _whole_lines(stream, start, stop, first=first):
        if empty := empty_lines(text):
            lines += empty
            continue
        starts, _ = line_bounds(text)
        found = mended(text, ignored)
        headers = find_headers(found, *line_bounds(found)).line
        # The first record of the file is not a place to cut.
        here = headers[starts[headers] + place > start]
        if cut is None and len(here):
            line = int(here[0])
            cut = Cut(place + int(starts[line]), records + len(headers) - len(here), lines + line)
        records += len(headers)
        lines += len(starts)
    return Passage(records, lines, cut)


def _whole_lines(stream: IO[bytes], start: int, stop: int, *, first: bool) -> Iterator[tuple[int, bytes]]:
    """Lines that begin behind byte `start`, the `first` at it, up to one that begins at `stop`.

    Yields where some of them begin, and their text; long ones are cut as the reader cuts them.
    """
    lines = _Lines(stream, start)
    if not first and not lines.skip_line(stop):
        return
    while lines.place <= stop and (text := lines.take(stop)):
        yield text


@dataclass
class _Lines:
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
