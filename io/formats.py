"""The known log formats, and how a file is opened and its format recognised from its content.

A file name says nothing: compression is recognised from the magic bytes, the format from the first
64 KiB after decompression.  A damaged compressed file is read up to the damage.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import importlib
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any, cast

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.clues import clue_to, piped_text
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.archives import (
    TAR_HEAD_BYTES,
    XZ_MAGIC,
    ZIP_MAGICS,
    Member,
    TarStream,
    XzStream,
    is_tar,
    tar_members,
    zip_members,
    zip_stream,
)
from cepctl.io.source.block_compression import LZ4_MAGIC, SNAPPY_MAGIC, lz4_stream, snappy_stream
from cepctl.io.source.colours import WithoutColours, has_colours
from cepctl.io.source.first_lines import HEAD_BYTES, sample_of, with_room
from cepctl.io.source.locations import FilePart, Location, PartBytes, RowGroupPart, first_line
from cepctl.io.trial import Trial, tried, yield_of

# Asked in this order: the first that recognises a file reads it.  Each is a LogFormat, or several of them,
# which says all that is known of a format beside its page and its tests.
FORMATS = (
    "cepctl.io.headed.log:FORMATS",
    "cepctl.io.tabular.files:FORMATS",
    "cepctl.io.hadoop.jhist:FORMAT",
    "cepctl.io.hadoop.jhist1:FORMAT",
    "cepctl.io.hadoop.rumen:FORMAT",
    "cepctl.io.hadoop.sls:FORMAT",
    "cepctl.io.ganglia.gmond_xml:FORMAT",
    "cepctl.io.ganglia.rrd_file:FORMAT",
    "cepctl.io.ganglia.rrd_dump:FORMAT",
    "cepctl.io.ocel.log:FORMAT",
    "cepctl.io.xes.log:FORMAT",
    "cepctl.io.spark_history.event_log:FORMAT",
    "cepctl.io.traces.otlp:FORMAT",
    "cepctl.io.traces.telemetry:FORMATS",
    "cepctl.io.traces.chrome:FORMAT",
    "cepctl.io.traces.jaeger:FORMAT",
    "cepctl.io.traces.zipkin:FORMAT",
    "cepctl.io.log4j.log:FORMAT",
    "cepctl.io.web.access:FORMAT",
    "cepctl.io.web.load_balancers:FORMAT",
    "cepctl.io.containers.lines:FORMATS",
    "cepctl.io.containers.compose:FORMAT",
    "cepctl.io.databases.slow_log:FORMAT",
    "cepctl.io.metrics.exposition:FORMAT",
    "cepctl.io.metrics.line_protocol:FORMAT",
    "cepctl.io.system.journal:FORMAT",
    "cepctl.io.system.syslog_lines:FORMAT",
    "cepctl.io.tabular.files:ANY_JSON",
    "cepctl.io.text.lines:FORMAT",
    "cepctl.io.lines.log:FORMAT",
)
_WITH_HEADER, _LATEST_HEADER = ("csv", "tsv", "w3c", "zeek"), 5
"""Tables that are told by their header, and the last line that is looked at for one."""
UNKNOWN = "of no known format (cepctl formats lists them)"
TIME = "time"
"""The group of a pattern that says when."""
_SMALL = 4_096
_MAGIC_BYTES = 8
_DAMAGE = (EOFError, zlib.error, OSError)


def known_formats() -> Iterator[LogFormat]:
    """All formats, in the order in which they are asked; each is imported when it is its turn."""
    for entry in FORMATS:
        yield from _declared(entry)


@functools.cache
def _declared(entry: str) -> tuple[LogFormat, ...]:
    """The formats of one entry; of many small files each looks them up."""
    module, _, attribute = entry.partition(":")
    declared = getattr(importlib.import_module(module), attribute)
    return declared if isinstance(declared, tuple) else (declared,)


@functools.cache
def format_named(name: str) -> LogFormat:
    """The format of this name; raises LogFormatError for an unknown one."""
    names = []
    for known in known_formats():
        if known.name == name:
            return known
        names.append(known.name)
    near = get_close_matches(name, names, 1)
    hint = f"did you mean '{near[0]}'?  " if near else ""
    raise LogFormatError(f"unknown format '{name}'; {hint}known: {', '.join(names)}")


def recognised_format(
    head: bytes, name: str, *, mapped: bool = False, patterned: bool = False, timed: bool = True
) -> LogFormat:
    """The format of the file with this head; raises LogFormatError when there is none.

    Where columns are `mapped`, a file that no reader knows may still be a plain one with other names: then
    those formats are asked from the last to the first.  Where the user has patterns (`patterned`), it may be
    one of lines that they fit; where they are `timed`, also one whose times they alone tell.  Last come the
    formats that take what is nothing else.
    """
    plain, texts, others, named = [], [], [], []
    for known in known_formats():
        if known.reader.recognises(head):
            return known
        if known.recognises_mapped is not None:
            plain.append((known, known.recognises_mapped))
        if known.recognises_patterned is not None and (timed or not known.timed_patterns):
            texts.append((known, known.recognises_patterned))
        if known.recognises_otherwise is not None:
            others.append((known, known.recognises_otherwise))
        if known.recognises_named is not None:
            named.append((known, known.recognises_named))
    for known, is_one in [*reversed(plain if mapped else []), *(texts if patterned else [])]:
        if is_one(head):
            return known
    _refuse_late_header(head, name)
    for known, is_one in others:
        if is_one(head):
            return known
    raise LogFormatError(f"{name}: {UNKNOWN}; {_remedy(head, [*reversed(plain)], named)}")


def _refuse_late_header(head: bytes, name: str) -> None:
    """Raise LogFormatError where lines stand before the header of a table: its rows are no lines of a log."""
    rest = head
    for line in range(2, _LATEST_HEADER + 1):
        rest = rest.partition(b"\n")[2]
        first = rest.partition(b"\n")[0].lower()
        if not first.startswith(b"#") and b"time" not in first:
            continue
        for known in map(format_named, _WITH_HEADER):
            if known.reader.recognises(rest):
                raise LogFormatError(
                    f"{name}: {UNKNOWN}; its line {line} begins a table ({known.name}), of which the lines "
                    f"before it are no part: tail -n +{line} FILE | cepctl ingest - -o EVENTS reads it"
                )


_Asked = Sequence[tuple[LogFormat, Callable[[bytes], bool]]]


def _remedy(head: bytes, plain: _Asked, named: _Asked) -> str:
    """What a file of no known format is, and the option that reads it, tried; else why there is none."""
    clue = clue_to(head)
    piped = piped_text(head)
    if piped is not None:
        yielded = _yield_of_text(piped[1])
        return f"{clue} (with it {yielded})" if yielded else clue
    near = next((known for known, is_one in plain if is_one(head)), None)
    trial = Trial(clue, useful=False) if near is None else tried(clue, near, head, ReadOptions())
    if trial.useful:
        return trial.message
    far = next((known for known, is_one in named if is_one(head)), None)
    if far is not None and (yielded := yield_of(far, head, ReadOptions())):
        option = f"--format {far.name} (--input-format in match)"
        return (
            f"its times stand far into its lines, or in few of them; {option} reads them: with it {yielded}"
        )
    return trial.message


def _yield_of_text(text: bytes) -> str:
    try:
        return yield_of(recognised_format(text, ""), text, ReadOptions())
    except LogFormatError:
        return ""


def format_of(head: bytes, name: str, chosen: str | None, options: ReadOptions | None = None) -> LogFormat:
    """The format that the user chose for a file, else the one that is recognised; raises as these do."""
    if chosen is not None:
        return format_named(chosen)
    read = options or ReadOptions()
    timed = any(TIME in pattern.attributes for pattern in read.patterns)
    patterned = bool(read.patterns) or read.keep_unmatched
    return recognised_format(
        head, name, mapped=bool(read.columns or read.column_names), patterned=patterned, timed=timed
    )


class _Bytes(io.RawIOBase):
    """Bytes of an Arrow file or a decompressor; damage ends the stream and is noted."""

    def __init__(self, inner: Any, name: str, *, compressed: bool) -> None:
        super().__init__()
        self._inner = inner
        self.label = name
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
            if not self._compressed:
                count = self._put(memoryview(buffer)[filled:])
            else:
                piece = self._piece(len(buffer) - filled)
                count = len(piece)
                buffer[filled : filled + count] = piece
            if not count:
                break
            filled += count
        return filled

    def _put(self, room: memoryview) -> int:
        try:
            return int(self._inner.readinto(room))
        except _DAMAGE as problem:
            raise LogFormatError(f"cannot read {self.label}: {problem}") from problem

    def _piece(self, size: int) -> bytes:
        try:
            return bytes(self._read(size))
        except _DAMAGE as problem:
            # A decompressor raises OSError without the number that the system always gives.
            if getattr(problem, "errno", None) is not None:
                raise LogFormatError(f"cannot read {self.label}: {problem}") from problem
            self.damage = str(problem) or "the compressed data ends too early"
            return b""


def _decompressed(file: pa.NativeFile, name: str) -> _Bytes:
    first = bytes(file.read(_MAGIC_BYTES))
    file.seek(0)
    magic = first[:4]
    if magic.startswith(b"\x1f\x8b"):
        return _Bytes(gzip.GzipFile(fileobj=cast(IO[bytes], file)), name, compressed=True)
    if magic == b"\x28\xb5\x2f\xfd":
        return _Bytes(pa.CompressedInputStream(file, "zstd"), name, compressed=True)
    if first.startswith(XZ_MAGIC):
        return _Bytes(XzStream(cast(IO[bytes], file)), name, compressed=True)
    if magic in ZIP_MAGICS:
        return _Bytes(zip_stream(cast(IO[bytes], file), name), name, compressed=True)
    if first == LZ4_MAGIC:
        return _Bytes(lz4_stream(cast(IO[bytes], file)), name, compressed=True)
    if first == SNAPPY_MAGIC:
        return _Bytes(snappy_stream(cast(IO[bytes], file)), name, compressed=True)
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
def open_log(location: Location, part: FilePart | RowGroupPart | None = None) -> Iterator[OpenLog]:
    """Open a file on any filesystem that Arrow knows, decompressing it on the way, or a part of a plain one.

    Row groups are told by what stands at the end of their file, so all of it is open.

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
        if not isinstance(part, FilePart):
            yield _opened(_decompressed(file, location.uri))
        else:
            yield _opened(_Bytes(PartBytes(file, part), location.uri, compressed=False))


@contextmanager
def open_members(location: Location) -> Iterator[Iterator[Member] | None]:
    """The files of an archive, one after the other; None where a file is no archive of several.

    Raises
    ------
    LogFormatError
        If the file cannot be opened.
    OSError, EOFError
        While they are taken, where it is damaged.
    """
    try:
        filesystem, path = location.resolve()
        file = filesystem.open_input_file(path)
    except (OSError, pa.ArrowInvalid) as problem:
        raise LogFormatError(f"cannot read {location.uri}: {first_line(problem)}") from problem
    with file:
        is_zip = bytes(file.read(4)) in ZIP_MAGICS
        file.seek(0)
        if is_zip:
            yield zip_members(cast(IO[bytes], file))
            return
        stream = io.BufferedReader(_decompressed(file, location.uri), HEAD_BYTES)
        yield tar_members(stream) if is_tar(stream.peek(TAR_HEAD_BYTES)) else None


@contextmanager
def open_bytes(data: bytes, name: str) -> Iterator[OpenLog]:
    """As `open_log`, of bytes that are there already."""
    with pa.BufferReader(data) as file:
        yield _opened(_decompressed(file, name))


def _opened(source: _Bytes) -> OpenLog:
    stream: io.BufferedReader = io.BufferedReader(source, HEAD_BYTES)
    head = stream.peek(HEAD_BYTES)
    if is_tar(head):
        inside = _Bytes(TarStream(stream, source.label), source.label, compressed=True)
        stream = io.BufferedReader(inside, HEAD_BYTES)
        return OpenLog(stream, stream.peek(HEAD_BYTES), inside)
    if has_colours(head):
        plain = io.BufferedReader(WithoutColours(stream), HEAD_BYTES)
        return OpenLog(plain, plain.peek(HEAD_BYTES), source)
    if (roomy := with_room(stream)) is not stream:
        behind = sample_of(roomy)
        return OpenLog(roomy, behind if behind != head and _is_unknown(head) else head, source)
    return OpenLog(stream, head, source)


def _is_unknown(head: bytes) -> bool:
    try:
        recognised_format(head, "")
    except LogFormatError:
        return True
    return False
