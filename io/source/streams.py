"""Bytes of an open log, read so that damage at the end loses nothing before it.

Of very long runs of empty lines a reader sees only the beginning.  A gigabyte of newlines is a small file
when compressed, and a row each to a parser.  What a reader does with a run of empty lines depends on its
length up to a bound at most: the longest row that its parser takes, the longest record that it keeps.  The
rest of a run is left out, and lines after it keep their numbers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.source.byte_stream import ByteStream
from cepctl.numeric.arrays import Numbers

_PIECE_BYTES = 1 << 18
_LINE_ENDS = {b"\n\n": 2, b"\r\n": 1, b"\n\r": 1}


def empty_lines(piece: bytes) -> int:
    r"""How many lines end in a piece that holds line ends alone, all LF or all CRLF; 0 for any other.

    Examples
    --------
    >>> empty_lines(b"\n\n\n\n"), empty_lines(b"\n\r\n\r"), empty_lines(b"\n \n\n"), empty_lines(b"\n")
    (4, 2, 0, 0)
    """
    # One comparison of memory tells whether every second byte is the same.
    if piece[:2] not in _LINE_ENDS or len(piece) % 2 or piece[2:] != piece[:-2]:
        return 0
    return len(piece) // 2 * _LINE_ENDS[piece[:2]]


@dataclass
class LongGaps:
    """The runs of empty lines in the pieces of a text, each kept up to this many bytes.

    Attributes
    ----------
    kept
        How many bytes of a run are kept at least.
    """

    kept: int
    _run: int = 0
    _phase: bytes = b""
    _lines: int = 0
    _behind: list[int] = field(default_factory=lambda: [0])
    _left_out: list[int] = field(default_factory=lambda: [0])

    def leaves_out(self, piece: bytes) -> bool:
        """Whether the next piece is to be left out, as one of a run that is long enough without it."""
        empty = empty_lines(piece)
        run = self._run if empty and piece[:2] == self._phase else 0
        self._run, self._phase = run + len(piece) if empty else 0, piece[:2]
        if not run or run < self.kept:
            self._lines += piece.count(b"\n")
            return False
        if self._behind[-1] != self._lines:
            self._behind.append(self._lines)
            self._left_out.append(self._left_out[-1])
        self._left_out[-1] += empty
        return True

    def left_out_before(self, lines: Numbers) -> Numbers:
        """How many lines are left out before each of these lines of what is kept, counted from 0."""
        place = np.searchsorted(np.array(self._behind), lines, side="right") - 1
        return np.array(self._left_out, dtype=np.int64)[place]


class ShortenedGaps(ByteStream):
    """A text without the rest of its long gaps."""

    def __init__(self, stream: IO[bytes], gaps: LongGaps) -> None:
        super().__init__()
        self._stream = stream
        self._gaps = gaps

    def next_bytes(self, size: int) -> bytes:
        kept, filled = list[bytes](), 0
        while filled < size and (piece := self._stream.read(min(_PIECE_BYTES, size - filled))):
            if not self._gaps.leaves_out(piece):
                kept.append(piece)
                filled += len(piece)
        return b"".join(kept)


CHUNK_BYTES = 1 << 16
LONGEST_LINE = 64 << 20
LONGEST_GAP = 1 << 20
TOO_LONG = f"the line is longer than {LONGEST_LINE >> 20} MiB"
_LINE = re.compile(rb"[^\n]+")


@dataclass
class Chunks:
    """The chunks of a stream; iteration ends where the stream ends or turns out damaged.

    Attributes
    ----------
    damage
        What the decompressor had to say when it could not go on; None while all is well.
    read_bytes
        How many bytes were handed over so far.
    """

    stream: IO[bytes]
    damage: str | None = None
    read_bytes: int = 0

    def __iter__(self) -> Iterator[bytes]:
        # read() would drop the bytes before the damage, read1() hands them over first.
        read = getattr(self.stream, "read1", self.stream.read)
        while True:
            try:
                chunk = read(CHUNK_BYTES)
            except (EOFError, zlib.error) as error:
                self.damage = str(error)
                return
            except OSError as error:
                # Decompressors raise it without the error number that the system always gives.
                if error.errno is not None:
                    raise
                self.damage = str(error)
                return
            if not chunk:
                return
            self.read_bytes += len(chunk)
            yield chunk

    def tell_damage(self, source: str, report: ReadReport, *, as_record: bool = True) -> None:
        """Reject the rest of a stream that turned out damaged, as one more record where that is counted."""
        if self.damage:
            report.records += as_record
            report.rejects.append(Reject(source, None, "truncated input", self.damage))


def numbered_lines(chunks: Iterable[bytes], longest_gap: int = LONGEST_GAP) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, without their newline, and their numbers from 1.

    Of a line longer than LONGEST_LINE only the beginning comes, a little too long; the last line may be cut
    short.  Empty lines cost no step each, so that there may be very many of them.  Those that are a lone
    carriage return come, but of a run of them no more than `longest_gap` bytes and a chunk.
    """
    number, open_line = 1, bytearray()
    gaps = LongGaps(longest_gap)
    for chunk in chunks:
        if gaps.leaves_out(chunk):
            number += empty_lines(chunk)
            continue
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        open_line += chunk[: first if first >= 0 else len(chunk)]
        del open_line[LONGEST_LINE + 1 :]
        if first < 0:
            continue
        if open_line:
            yield number, bytes(open_line)
        if b"\n\n" not in chunk and first < last:
            lines = chunk[first + 1 : last].split(b"\n")
            yield from enumerate(lines, number + 1)
            number += len(lines) + 1
            open_line = bytearray(chunk[last + 1 :])
            continue
        place = first
        for found in _LINE.finditer(chunk, first, last):
            number += chunk.count(b"\n", place, found.start())
            place = found.start()
            yield number, found.group()
        number += chunk.count(b"\n", place)
        open_line = bytearray(chunk[last + 1 :])
    if open_line:
        yield number, bytes(open_line)
