"""The known log formats, and how a file is opened and its format told from its content.

A file name says nothing: compression is told from the magic bytes, the format from the first
64 KiB after decompression.  A damaged compressed file is read up to the damage.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any, cast

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import Reader
from cepctl.io.source.file_parts import FilePart, PartBytes
from cepctl.io.source.locations import Location, first_line
from cepctl.io.tabular.files import mapped_reader

HEAD_BYTES = 1 << 16

# Asked in this order: the first that recognises a file reads it.
_READERS = (
    "cepctl.io.ganglia.web_export:READERS",
    "cepctl.io.tabular.files:READERS",
    "cepctl.io.hadoop.jhist:HadoopJobHistory",
    "cepctl.io.hadoop.jhist1:HadoopOldJobHistory",
    "cepctl.io.hadoop.rumen:RumenTrace",
    "cepctl.io.hadoop.sls:SchedulerLoad",
    "cepctl.io.ganglia.gmond_xml:GangliaXml",
    "cepctl.io.ganglia.rrd_file:GangliaRrd",
    "cepctl.io.ganglia.rrd_dump:RrdDump",
    "cepctl.io.ganglia.rrd_fetch:RrdFetch",
    "cepctl.io.ganglia.rrd_xport:RrdXport",
    "cepctl.io.xes.log:XesLog",
    "cepctl.io.log4j.log:Log4jLog",
)
_SMALL = 4_096
_DAMAGE = (EOFError, zlib.error, OSError)


def known_readers() -> tuple[Reader, ...]:
    """All readers, in the order in which they are asked."""
    found: list[Reader] = []
    for entry in _READERS:
        module, _, attribute = entry.partition(":")
        entered = getattr(importlib.import_module(module), attribute)
        found.extend(entered if isinstance(entered, tuple) else (entered(),))
    return tuple(found)


def reader_named(name: str) -> Reader:
    """The reader of a format; raises LogFormatError for an unknown name."""
    readers = {reader.name: reader for reader in known_readers()}
    if name not in readers:
        near = get_close_matches(name, readers, 1)
        hint = f"did you mean '{near[0]}'?  " if near else ""
        raise LogFormatError(f"unknown format '{name}'; {hint}known: {', '.join(readers)}")
    return readers[name]


def recognised_reader(head: bytes, name: str, *, mapped: bool = False) -> Reader:
    """The reader of the file with this head; raises LogFormatError when there is none.

    Where columns are `mapped`, a file that no reader knows may still be a plain one with other names.
    """
    for reader in known_readers():
        if reader.recognises(head):
            return reader
    plain = mapped_reader(head) if mapped else None
    if plain is not None:
        return plain
    raise LogFormatError(
        f"{name}: of no known format (cepctl formats lists them); name its format (--format; "
        "--input-format in match) or its columns (--map), or leave the file out"
    )


class _Bytes(io.RawIOBase):
    """Bytes of an Arrow file or a decompressor; damage ends the stream and is noted."""

    def __init__(self, inner: Any, name: str, *, compressed: bool) -> None:
        super().__init__()
        self._inner = inner
        self._name = name
        self._compressed = compressed
        # Arrow's decompressors lose what they were asked for when they meet damage: ask for little.
        self._read = getattr(inner, "read1", inner.read)
        if compressed and not hasattr(inner, "read1"):
            self._read = lambda size: inner.read(min(size, _SMALL))
        self.damage: str | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return not self._compressed

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._inner.seek(offset, whence))

    def tell(self) -> int:
        return int(self._inner.tell())

    def readinto(self, buffer: Any) -> int:
        # Filled as far as it goes: the head must be whole for the format to be told from it.
        filled = 0
        while filled < len(buffer) and self.damage is None:
            piece = self._piece(len(buffer) - filled)
            if not piece:
                break
            buffer[filled : filled + len(piece)] = piece
            filled += len(piece)
        return filled

    def _piece(self, size: int) -> bytes:
        try:
            return bytes(self._read(size))
        except _DAMAGE as problem:
            # A decompressor raises OSError without the number that the system always gives.
            if not self._compressed or getattr(problem, "errno", None) is not None:
                raise LogFormatError(f"cannot read {self._name}: {problem}") from problem
            self.damage = str(problem) or "the compressed data ends too early"
            return b""


def _decompressed(file: pa.NativeFile, name: str) -> _Bytes:
    magic = bytes(file.read(4))
    file.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return _Bytes(gzip.GzipFile(fileobj=cast(IO[bytes], file)), name, compressed=True)
    if magic == b"\x28\xb5\x2f\xfd":
        return _Bytes(pa.CompressedInputStream(file, "zstd"), name, compressed=True)
    if magic.startswith(b"BZh"):
        return _Bytes(bz2.BZ2File(cast(IO[bytes], file)), name, compressed=True)
    return _Bytes(file, name, compressed=False)


@dataclass(frozen=True)
class OpenLog:
    """An open file: `stream` stands at its first byte, `head` is how it begins."""

    stream: IO[bytes]
    head: bytes
    source: _Bytes

    @property
    def damage(self) -> str | None:
        """Why reading stopped early, once it has; None for a whole file."""
        return self.source.damage


@contextmanager
def open_log(location: Location, part: FilePart | None = None) -> Iterator[OpenLog]:
    """Open a file on any filesystem that Arrow knows, decompressing it on the way, or a part of a plain one.

    Raises
    ------
    LogFormatError
        If the file cannot be opened.
    """
    try:
        filesystem, path = location.resolve()
        file = filesystem.open_input_file(path)
    except (OSError, pa.ArrowInvalid) as problem:
        raise LogFormatError(f"cannot read {location.uri}: {first_line(problem)}") from problem
    with file:
        if part is None:
            yield _opened(_decompressed(file, location.uri))
        else:
            yield _opened(_Bytes(PartBytes(file, part), location.uri, compressed=False))


@contextmanager
def open_bytes(data: bytes, name: str) -> Iterator[OpenLog]:
    """As `open_log`, of bytes that are there already."""
    with pa.BufferReader(data) as file:
        yield _opened(_decompressed(file, name))


def _opened(source: _Bytes) -> OpenLog:
    stream = io.BufferedReader(source, HEAD_BYTES)
    return OpenLog(stream, stream.peek(HEAD_BYTES), source)


def names_of(readers: Sequence[Reader]) -> str:
    """The names of formats with their descriptions, one per line, for help texts."""
    return "\n".join(f"{reader.name}: {reader.description}" for reader in readers)
