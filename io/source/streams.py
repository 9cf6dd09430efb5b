"""Bytes of an open log, read so that damage at the end loses nothing before it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.source.long_gaps import LongGaps, empty_lines

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
