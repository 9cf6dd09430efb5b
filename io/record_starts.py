"""Where a file of a line format can be cut: one pass over each of its blocks, all blocks at once.

    format      a record begins behind                          its number counts
    csv, tsv    a line end outside of quotes                    rows behind the header
    jsonl       a line end                                      lines
    log4j       a line end, with time, level and logger         such lines

What stands in a block is told without the blocks before it: for a delimited file for both cases, that the
block begins outside of quotes and inside of them; which of them is true shows when the blocks are put
together.  A file is cut at the first record that begins behind the first byte of each block but the first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from cepctl.io.contract.reader import ReadReport
from cepctl.io.log4j.layouts import find_headers
from cepctl.io.log4j.lines import BLOCK_BYTES, cut_line, mended
from cepctl.io.log4j.records import line_bounds
from cepctl.io.source.long_gaps import empty_lines
from cepctl.io.tabular.header import DELIMITERS
from cepctl.io.tabular.quoted_lines import LineEnds, QuotedLines

LINE_FORMATS = frozenset({*DELIMITERS, "jsonl", "log4j"})
LONGEST_ROW = 1 << 20
"""A delimited file with longer rows is not cut: its reader may or may not bear them, by where they stand."""
_PIECE_BYTES = 4 << 20
_LOOK_AHEAD = 4_096
_ASCII = 0x80


@dataclass(frozen=True)
class Cut:
    """A place where a record begins, and how many records and lines stand before it."""

    place: int
    records: int
    lines: int


@dataclass(frozen=True)
class Passage:
    """What a block holds.

    Attributes
    ----------
    records, lines
        How many begin in it, counted at the line ends before them.
    cut
        The first record that begins in it, with what the block holds before; None where none does.
    ends_inside
        Whether the block ends inside of quotes.
    ends
        The first and the last end of a row in it; None where there is none, or they do not matter.
    whole
        Whether something in it forbids to cut the file.
    """

    records: int = 0
    lines: int = 0
    cut: Cut | None = None
    ends_inside: bool = False
    ends: tuple[int, int] | None = None
    whole: bool = False


_UNCUT = Passage(whole=True)
Passages = tuple[Passage, Passage]
"""What a block holds when it begins outside of quotes, and when it begins inside."""


def scan_block(
    stream: IO[bytes], format_name: str, delimiter: str, start: int, stop: int, *, first: bool
) -> Passages:
    """Tell what stands in bytes `start` .. `stop` - 1 of an open file; with the `first` the records begin.

    `delimiter` is what separates the values of a delimited file.
    """
    if format_name in DELIMITERS:
        return _scan_rows(stream, ord(delimiter), start, stop)
    if format_name == "jsonl":
        passage = _scan_lines(stream, start, stop)
    else:
        passage = _scan_log(stream, start, stop, first=first)
    return passage, passage


def cuts(blocks: Sequence[Passages], begin: int, end: int) -> tuple[Cut, ...] | None:
    """Where a file can be cut, with all records and lines before; None where it must not be.

    `begin` is where its records begin, `end` how long it is.
    """
    found: list[Cut] = []
    records = lines = 0
    inside, row, rows = False, begin, False
    for number, block in enumerate(blocks):
        passage = block[inside]
        if passage.whole or (passage.ends and passage.ends[0] - row > LONGEST_ROW):
            return None
        if number and passage.cut and passage.cut.place < end:
            found.append(Cut(passage.cut.place, records + passage.cut.records, lines + passage.cut.lines))
        records, lines, inside = records + passage.records, lines + passage.lines, passage.ends_inside
        if passage.ends:
            row, rows = passage.ends[1] + 1, True
    if rows and (inside or end - row > LONGEST_ROW):
        return None
    return tuple(found)


@dataclass
class _Rows:
    """The rows that end in a block, for one of the two cases."""

    records: int = 0
    breaks: int = 0
    cut: Cut | None = None
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
                self.cut = Cut(int(rows[0]) + 1, 1, before + 1)
                self.first = self.last = int(rows[0])
            longest = int(np.diff(rows, prepend=self.last).max())
            self.whole |= longest > LONGEST_ROW
            self.last = int(rows[-1])
        self.records += len(rows)
        self.breaks += len(breaks)

    def passage(self, *, ends_inside: bool) -> Passage:
        ends = (self.first, self.last) if self.records else None
        return Passage(self.records, self.records + self.breaks, self.cut, ends_inside, ends, self.whole)


def _scan_rows(stream: IO[bytes], delimiter: int, start: int, stop: int) -> Passages:
    stream.seek(start - 1)
    previous = stream.read(1)
    place = start
    if previous == b'"':
        # The block before has the whole of a run of quotes.
        place += _quotes(stream, stop - start)
    lines = QuotedLines(delimiter, b'"'[0] if place > start else previous[0])
    begin, outside, inside = place, _Rows(), _Rows()

    def note(ends: LineEnds) -> None:
        outside.add(ends, begin, other=False)
        inside.add(ends, begin, other=True)

    stream.seek(place)
    last = b""
    while place < stop and (piece := stream.read(min(_PIECE_BYTES, stop - place))):
        if len(piece) == _PIECE_BYTES and empty_lines(piece):
            # Each part would take the beginning of a long gap as rows; the whole file has one beginning.
            return _UNCUT, _UNCUT
        place, last = place + len(piece), piece[-1:]
        note(lines.add(piece))
        if lines.held > LONGEST_ROW:
            return _UNCUT, _UNCUT
    if last == b'"':
        more = _quotes(stream, LONGEST_ROW)
        if more == LONGEST_ROW:
            return _UNCUT, _UNCUT
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


def _scan_lines(stream: IO[bytes], start: int, stop: int) -> Passage:
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
                cut = Cut(place + int(ends[plain[0]]) + 1, before, before)
        lines += empty_lines(piece) or piece.count(b"\n")
        place += len(piece)
    return Passage(lines, lines, cut)


def _scan_log(stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passage:
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
