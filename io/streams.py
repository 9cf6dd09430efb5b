"""Bytes of an open log, read so that damage at the end loses nothing before it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

CHUNK_BYTES = 1 << 16


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


def split_lines(chunks: Chunks) -> Iterator[bytes]:
    """The lines of the stream without their newline, however long; the last may be cut short."""
    pieces: list[bytes] = []
    for chunk in chunks:
        head, *rest = chunk.split(b"\n")
        pieces.append(head)
        for line in rest:
            yield b"".join(pieces)
            pieces = [line]
    if any(pieces):
        yield b"".join(pieces)
