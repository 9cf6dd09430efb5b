"""Where the rows of a delimited file end: at line ends outside of quotes.

Whether a block of the file begins inside of quotes is not known before the blocks before it are; so both
cases are told (io/contract/line_records.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

import numpy as np

from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES
from cepctl.io.contract.line_records import LONGEST_ROW, UNCUT, Passage, Passages, RecordCut
from cepctl.io.source.quoted_lines import LineEnds, QuotedLines
from cepctl.io.source.streams import empty_lines

_PIECE_BYTES = 1 << 20
_LOOK_AHEAD = 4_096


@dataclass(frozen=True)
class DelimitedRows:
    """LineRecords of a file with this header line, a delimiter of one byte, and rows numbered from 1."""

    header: bytes
    delimiter: int
    counted_by_reader: bool = False
    unnumbered: str = ""
    forms: tuple[tuple[str, str], ...] = ()

    @property
    def _is_wide(self) -> bool:
        """Whether the header may name so many columns that the file is read in another way (wide.py)."""
        return not self.header.endswith(b"\n") or self.header.count(self.delimiter) >= MOST_ATTRIBUTES

    def scan(self, stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passages:
        return UNCUT if self._is_wide else _scanned(stream, self.delimiter, start, stop)

    def counter(self) -> RowCounter:
        return RowCounter(QuotedLines(self.delimiter))

    def whole(self, part: IO[bytes], begin: int, ended: int) -> int:
        return ended


@dataclass
class RowCounter:
    """Counts the rows that have ended; `whole` is where the last did."""

    lines: QuotedLines
    ended: int = 0
    whole: int = 0

    def add(self, piece: bytes) -> None:
        found = self.lines.add(piece)
        rows = found.place[~found.inside & ~found.alone]
        self.ended += len(rows)
        self.whole = int(rows[-1]) + 1 if len(rows) else self.whole


@dataclass
class _EndedRows:
    """The rows that end in a block, for one of the two cases."""

    records: int = 0
    breaks: int = 0
    cut: RecordCut | None = None
    first: int = -1
    last: int = -1
    whole: bool = False

    def add(self, ends: LineEnds, start: int, *, other: bool) -> None:
        inside = ends.inside ^ (~ends.settled & other)
        rows = start + ends.place[~inside]
        self.whole |= bool(np.any(ends.alone & ~inside))
        breaks = start + ends.place[inside & ~ends.alone]
        if len(rows):
            if self.cut is None:
                before = self.breaks + int(np.searchsorted(breaks, rows[0]))
                self.cut = RecordCut(int(rows[0]) + 1, 1, before + 1)
                self.first = self.last = int(rows[0])
            longest = int(np.diff(rows, prepend=self.last).max())
            self.whole |= longest > LONGEST_ROW
            self.last = int(rows[-1])
        self.records += len(rows)
        self.breaks += len(breaks)

    def passage(self, *, ends_inside: bool) -> Passage:
        ends = (self.first, self.last) if self.records else None
        return Passage(self.records, self.records + self.breaks, self.cut, ends_inside, ends, self.whole)


def _scanned(stream: IO[bytes], delimiter: int, start: int, stop: int) -> Passages:
    stream.seek(start - 1)
    previous = stream.read(1)
    place = start
    if previous == b'"':
        # The block before has the whole of a run of quotes.
        place += _quotes(stream, stop - start)
    lines = QuotedLines(delimiter, b'"'[0] if place > start else previous[0])
    begin, outside, inside = place, _EndedRows(), _EndedRows()

    def note(ends: LineEnds) -> None:
        outside.add(ends, begin, other=False)
        inside.add(ends, begin, other=True)

    stream.seek(place)
    last = waiting = b""
    while place < stop and (piece := stream.read(min(_PIECE_BYTES, stop - place))):
        if len(piece) == _PIECE_BYTES and empty_lines(piece):
            # Each part would take the beginning of a long gap as rows; the whole file has one beginning.
            return UNCUT
        place, last = place + len(piece), piece[-1:]
        # What ends with a line mostly ends outside of quotes, which is told faster.
        ended = piece.rfind(b"\n") + 1 or len(piece)
        note(lines.add(waiting + piece[:ended]))
        waiting = piece[ended:]
        if lines.held > LONGEST_ROW:
            return UNCUT
    note(lines.add(waiting))
    if last == b'"':
        more = _quotes(stream, LONGEST_ROW)
        if more == LONGEST_ROW:
            return UNCUT
        note(lines.add(b'"' * more))
        stream.seek(place + more)
    note(lines.finish(stream.read(1)))
    return (
        outside.passage(ends_inside=lines.inside),
        inside.passage(ends_inside=lines.inside ^ (not lines.settled)),
    )


def _quotes(stream: IO[bytes], most: int) -> int:
    """How many of the next bytes, up to `most`, are quotes in a row."""
    count = 0
    while count < most and (piece := stream.read(min(_LOOK_AHEAD, most - count))):
        quotes = len(piece) - len(piece.lstrip(b'"'))
        count += quotes
        if quotes < len(piece):
            break
    return count
