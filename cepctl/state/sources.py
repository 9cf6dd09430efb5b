"""What is known of the inputs: how much of each file has been read, and how it is known again.

A file is known by content, not by name: by its first bytes and by those before the place up to which it was
read.  So a log that was renamed goes on where it stood, and one whose beginning has changed is noticed.  All
counts are of decompressed bytes: a log that was compressed after its rotation is the same log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cepctl.io.formats import OpenLog

PRINT_BYTES = 4_096
UNREADABLE = "unreadable"
"""Stands for the format of a file that could not be read: it is looked at again once it has changed."""
ARCHIVE = "archive"
"""Stands for the format of an archive of several logs, which have sources of their own."""
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Source:
    """What has been read of one input file.

    Attributes
    ----------
    uri, size, modified
        Where it was last seen, how large (bytes on disk) and from when (ns): if all are the same, and what
        is `on_disk`, nothing is new.
    on_disk
        Digest of the first and the last PRINT_BYTES as they lie on disk; empty where that is not known.
    base, generation
        Its name when it was first seen, and the how many-th file of that name it was.
    format, by_lines
        Its format, and whether it may grow; other files are read once, as a whole.
    offset, records
        Bytes read, and records in them.
    head, tail, tail_bytes
        Digests of the first PRINT_BYTES of what was read (of a whole file: of all), and of the last
        `tail_bytes`.
    rest
        Whether there are bytes after the last whole record, waiting for more.
    newest
        No event read of it has a larger `lower`; None where none was read at all.
    time_forms
        How its columns of times are read (ReadReport of io/contract), derived from what was read first.
    """

    uri: str
    size: int
    modified: int
    base: str
    generation: int = 1
    format: str = ""
    by_lines: bool = True
    offset: int = 0
    records: int = 0
    head: str = ""
    tail: str = ""
    tail_bytes: int = 0
    rest: bool = False
    newest: int | None = None
    on_disk: str = ""
    time_forms: dict[str, str] = field(default_factory=dict)

    @property
    def id_name(self) -> str:
        """What made-up ids of its events begin with."""
        return self.base if self.generation == 1 else f"{self.base}@{self.generation}"


def goes_on(log: OpenLog, source: Source) -> bool:
    """Whether a log, just opened, begins with what was read of a source; it is then positioned after that."""
    if print_of(log.head, source.offset) != source.head:
        return False
    passed_over(log.stream, source.offset - source.tail_bytes)
    tail = log.stream.read(source.tail_bytes)
    return len(tail) == source.tail_bytes and digest(tail) == source.tail


def print_of(head: bytes, offset: int) -> str:
    """Digest of the first bytes of a log that begins so and was read up to an offset."""
    return digest(head[: min(offset, PRINT_BYTES)])


def ends_on_disk(path: Path, size: int) -> str:
    """Digest of both ends of the first `size` bytes of a file on this machine; empty if it cannot be read.

    Size and time of a file can be the same though something else is in it.
    """
    try:
        with path.open("rb") as file:
            head = file.read(min(size, PRINT_BYTES))
            file.seek(max(size - PRINT_BYTES, 0))
            return digest(head + file.read(min(size, PRINT_BYTES)))
    except OSError:
        return ""


def whole_digest(log: OpenLog) -> str:
    """Digest of all bytes of a log, just opened."""
    state = hashlib.sha256()
    while piece := log.stream.read(_COPY_BYTES):
        state.update(piece)
    return state.hexdigest()


def kept_sources(sources: Iterable[Source], seen: set[str], watermark: int | None) -> tuple[Source, ...]:
    """The sources without those of files that are gone and all of whose events would be late now."""
    return tuple(
        source
        for source in sources
        if source.uri in seen or watermark is None or source.newest is None or source.newest >= watermark
    )


def next_generation(sources: Sequence[Source], base: str) -> int:
    """The number of one more file of this name."""
    read = (each for each in sources if each.base == base and each.format != UNREADABLE)
    return max((each.generation for each in read), default=0) + 1


def digest(data: bytes) -> str:
    """A short name for some bytes."""
    return hashlib.sha256(data).hexdigest()


def passed_over(stream: IO[bytes], size: int) -> None:
    """Move a stream that has just been opened past its first `size` bytes."""
    if stream.seekable():
        stream.seek(size)
        return
    while size > 0 and (piece := stream.read(min(size, _COPY_BYTES))):
        size -= len(piece)
