"""What is new in the inputs since the last run, as files that an ingest can read.

a file that is known by its content    its new part, whatever it is called now
a file that is not                     all of it, up to the last whole record
a known file whose content changed     refused: what was read of it cannot be taken back

The new part of a log that grows, up to the last record that is certainly whole.

When a record is whole is told by its format (io/contract/line_records.py).  A part gets the header of the
log, so that it can be read as a file of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from cepctl.errors import JobError, LogFormatError
from cepctl.io.contract.line_records import LineRecords
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.formats import OpenLog, format_named, format_of, open_log
from cepctl.io.source.first_lines import HEAD_BYTES
from cepctl.io.source.locations import InputFile, Location
from cepctl.state.present import Seen, Unpacking, present_files
from cepctl.state.sources import (
    ARCHIVE,
    PRINT_BYTES,
    UNREADABLE,
    Source,
    digest,
    goes_on,
    next_generation,
    print_of,
    whole_digest,
)


@dataclass(frozen=True)
class Piece:
    """Something to ingest, and what is known of its source once that is done, but for records that a reader
    counts.  `before` is what was known of it, None for a file that was never seen; `records` says how a log
    falls into records, None for a file that is read as a whole.
    """

    file: InputFile
    source: Source
    before: Source | None = None
    records: LineRecords | None = None


@dataclass
class News:
    """What is new: pieces to read, sources without news, what cannot be read and why; `seen` are all URIs."""

    pieces: list[Piece] = field(default_factory=list)
    unchanged: list[Source] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class InputOptions:
    """How inputs are read: the format and what else the user chose, and where parts are put.

    `to_the_end` takes the last records too, whole or not; files in the directories `excluded` are not inputs.
    """

    scratch: Path
    input_format: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    to_the_end: bool = False
    excluded: tuple[Path, ...] = ()
    follow_links: bool = False


def look(paths: Sequence[str], known: Sequence[Source], options: InputOptions) -> News:
    """Find what is new in some inputs.

    Raises
    ------
    LogFormatError
        If an input cannot be read, or if what was read of one has changed.
    JobError
        If there is no room for what is new.
    """
    present = present_files(
        *(paths, known, Unpacking(options.scratch, with_rests=options.to_the_end)),
        excluded=options.excluded,
        follow_links=options.follow_links,
    )
    news = News(unchanged=present.known, seen={source.uri for source in present.known})
    free = {source.uri: source for source in known if source.uri not in news.seen}
    opened: list[Seen] = []
    for seen in present.files:
        news.seen.add(seen.uri)
        source = free.get(seen.uri)
        if seen.file.left_out is not None:
            _leave_out(news, seen, free.pop(seen.uri, None))
            continue
        if source is None or not seen.is_unchanged(source):
            opened.append(seen)
            continue
        del free[source.uri]
        source = replace(source, on_disk=seen.on_disk)
        if options.to_the_end and source.rest:
            _go_on(news, seen, source, options)
        else:
            news.unchanged.append(source)
    # First those that kept their names: a copy under another name is a log of its own.
    renamed = [seen for seen in opened if not _taken(news, seen, _at(free, seen), free, options)]
    fresh = [
        seen
        for seen in renamed
        if not any(_taken(news, seen, each, free, options) for each in [*free.values()])
    ]
    for seen in fresh:
        if (changed := free.get(seen.uri)) is not None:
            if changed.format not in (UNREADABLE, ARCHIVE):
                raise _changed(seen, changed)
            del free[changed.uri]
        _begin(news, seen, known, options)
    for gone in free.values():
        if gone.rest:
            news.left_out.append(f"{gone.uri} is gone, and with it its last record, which was not whole yet")
        news.unchanged.append(replace(gone, rest=False))
    return news


def _leave_out(news: News, seen: Seen, before: Source | None) -> None:
    """Tell once of what is not a file, as of a file that cannot be read."""
    assert seen.file.left_out is not None
    if before is None:
        news.left_out.append(seen.file.left_out)
    news.unchanged.append(
        before or Source(seen.uri, 0, 0, seen.file.name, format=UNREADABLE, by_lines=False, offset=1)
    )


def _at(free: dict[str, Source], seen: Seen) -> Source | None:
    return free.get(seen.uri)


def _taken(
    news: News, seen: Seen, source: Source | None, free: dict[str, Source], options: InputOptions
) -> bool:
    """Whether a file is this source; it is then read on."""
    if source is None or not source.offset:
        return False
    with open_log(seen.file.location) as log:
        if source.by_lines:
            same = goes_on(log, source)
        else:
            same = seen.size == source.size and whole_digest(log) == source.head
    if not same:
        return False
    del free[source.uri]
    renamed = seen.uri != source.uri
    # What was renamed is finished: its writer goes on in a new file.
    _go_on(news, seen, source, replace(options, to_the_end=options.to_the_end or renamed))
    return True


def _go_on(news: News, seen: Seen, source: Source, options: InputOptions) -> None:
    now = replace(source, uri=seen.uri, size=seen.size, modified=seen.modified, on_disk=seen.on_disk)
    if not source.by_lines:
        news.unchanged.append(now)
        return
    with open_log(seen.file.location) as log:
        goes_on(log, source)
        records = records_of(format_named(source.format), log.head, options.read)
        assert records is not None, "a source by lines is of a format of lines"
        _take(news, seen, now, records, log, options)


def _begin(news: News, seen: Seen, known: Sequence[Source], options: InputOptions) -> None:
    """Take a file that was never seen."""
    file = seen.file
    started = [*known, *(piece.source for piece in news.pieces)]
    generation = next_generation(started, file.name)
    source = Source(seen.uri, seen.size, seen.modified, file.name, generation, on_disk=seen.on_disk)
    with open_log(file.location) as log:
        if not log.head:
            return
        # Its writer has not even ended the first line, by which its format is told.
        unfinished = not options.to_the_end and b"\n" not in log.head and len(log.head) < HEAD_BYTES
        try:
            known_format = format_of(log.head, file.name, options.input_format, options.read)
        except LogFormatError as problem:
            if unfinished:
                return
            if not file.found:
                raise
            news.left_out.append(str(problem))
            news.unchanged.append(_whole(source, UNREADABLE, log))
            return
        records = records_of(known_format, log.head, options.read)
        if records is not None:
            if unfinished:
                return
            log.stream.read(len(records.header))
            begun = replace(source, format=known_format.name, offset=len(records.header))
            _take(news, seen, begun, records, log, options)
            return
        whole = _whole(source, known_format.name, log)
    news.pieces.append(Piece(replace(file, id_name=whole.id_name), whole))


def _whole(source: Source, format_name: str, log: OpenLog) -> Source:
    """A file that is read as a whole, or cannot be read; the log has just been opened."""
    return replace(
        source, format=format_name, by_lines=False, offset=max(source.size, 1), head=whole_digest(log)
    )


def _take(
    news: News, seen: Seen, source: Source, records: LineRecords, log: OpenLog, options: InputOptions
) -> None:
    """Take the new part of a log that stands where the source ends."""
    target = options.scratch / f"{len(news.pieces):06d}"
    try:
        cut = take_part(records, log.stream, target, to_the_end=options.to_the_end)
    except OSError as problem:
        raise JobError(f"cannot set aside the new part of {seen.file.name}: {problem.strerror}") from None
    if not cut.bytes_taken:
        target.unlink()
        if source.head:
            news.unchanged.append(replace(source, rest=cut.rest))
        return
    offset = source.offset + cut.bytes_taken
    after = replace(
        source,
        offset=offset,
        records=source.records + cut.records,
        head=print_of(log.head, offset),
        tail=cut.tail,
        tail_bytes=cut.tail_bytes,
        rest=cut.rest,
    )
    part = replace(
        seen.file,
        location=Location(str(target)),
        id_name=source.id_name,
        records_before=source.records,
        format=source.format,
        time_forms=tuple(source.time_forms.items()),
    )
    before = source if source.head else None
    news.pieces.append(Piece(part, after, before, records))


def _changed(seen: Seen, source: Source) -> LogFormatError:
    where = seen.uri
    if source.by_lines:
        return LogFormatError(
            f"{where}: the {source.offset:,} bytes that were read of it are no longer there; if it was "
            "rotated, name the older file too (such as app.log*), else give the new content another name"
        )
    return LogFormatError(
        f"{where} has changed since it was read, and a {source.format} file is read once, as a whole; put "
        "new events into a new file, or start a new state"
    )


_BLOCK_BYTES = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Cut:
    """What was taken of a log: bytes, records (0 where the reader counts them), and the print of its end."""

    bytes_taken: int
    records: int
    tail: str
    tail_bytes: int
    rest: bool


def records_of(known: LogFormat, head: bytes, options: ReadOptions) -> LineRecords | None:
    """How a log of this format that begins so falls into records; None: it is read as a whole."""
    return None if known.lines is None or head.startswith(_UTF16) else known.lines(head, options)


def take_part(records: LineRecords, stream: IO[bytes], target: Path, *, to_the_end: bool) -> Cut:
    """Copy the whole records that a stream still holds after the header into a file.

    `to_the_end` takes the last record too, whole or not: nothing more will come.
    """
    header, counter = records.header, records.counter()
    with target.open("w+b") as part:
        part.write(header)
        while block := stream.read(_BLOCK_BYTES):
            part.write(block)
            counter.add(block)
        size = part.tell() - len(header)
        if to_the_end:
            taken, counted = size, counter.ended + (size > counter.whole)
        else:
            taken, counted = records.whole(part, len(header), counter.whole), counter.ended
        tail_bytes = min(taken, PRINT_BYTES)
        part.seek(len(header) + taken - tail_bytes)
        tail = digest(part.read(tail_bytes))
        part.truncate(len(header) + taken)
    return Cut(taken, 0 if records.counted_by_reader else counted, tail, tail_bytes, size > taken)
