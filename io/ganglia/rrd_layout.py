"""How the bytes of an RRD file lie, which depends on the machine that wrote it.

rrdtool writes its C structures as they are in memory, so that a file shows the byte order of the
machine, how long its words are (`unsigned long`, time_t) and how it aligns double numbers:

    part         64 bits   32 bits   what                             (rrd_format.h of rrdtool 1.7)
    stat_head        128       112   cookie, version, float cookie, ds_cnt, rra_cnt, pdp_step
    ds_def           120       120   name[20], kind[20], 10 parameters; per data source
    rra_def          120       108   function[20], row_cnt, pdp_cnt, 10 parameters; per archive
    live_head         16         8   time of the last update; half of that before version 3
    pdp_prep         112       112   last value[30], 10 numbers; per data source
    cdp_prep          80        80   10 numbers; per archive and data source
    rra_ptr            8         4   the row that was written last; per archive
    values             8         8   per archive, row and data source

The float cookie, 8.642135E130, tells byte order and alignment from where it stands: byte 12 where
doubles are aligned to 4 bytes (32 bits, x86), byte 16 elsewhere.

Round-robin archives that overlap, reduced to the finest value that is known for each span of time.

A database keeps the same data several times, averaged over ever longer spans and for ever longer:

    finest    |..........................|xxxxxxxx|      24 h in rows of 15 s
    coarser   |............|xxxxxxxxxxxxxxxxxxxxxx|      a week in rows of 6 min
    coarsest  |xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx|      a year in rows of 1 day

A row of a coarser archive is kept where it begins before everything finer that is known, or ends after
it, and then describes only that part of its span which nothing finer describes.  An archive begins with
its first known value: rows that were never filled do not hide what coarser archives know.  Unknown
values further on stay unknown, because a coarser average says nothing of a span that it left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.ganglia.series import UNKNOWN, Columns, Origin, Series
from cepctl.numeric.arrays import Reals, Seconds

COOKIE = b"RRD\0"
FLOAT_COOKIE = 8.642135e130
VERSIONS = (b"0001", b"0002", b"0003", b"0004", b"0005")
STAT_HEAD_BYTES = 128
NAME_BYTES = 20
# Far above any real database; a count that asks for more is damage.
MOST_HEADER_BYTES = 16 << 20
MOST_VALUES = 1 << 25


@dataclass(frozen=True)
class RrdLayout:
    """Sizes and byte order; `order` is that of struct (`<` or `>`), `word` 4 or 8 bytes."""

    order: str
    word: int
    version: int

    def words(self, data: bytes, offset: int, count: int) -> tuple[int, ...]:
        kind = "q" if self.word == 8 else "i"
        return struct.unpack_from(f"{self.order}{count}{kind}", data, offset)

    @property
    def stat_head(self) -> int:
        return 128 if self.word == 8 else 112

    @property
    def rra_def(self) -> int:
        return 120 if self.word == 8 else 108

    @property
    def live_head(self) -> int:
        return self.word * (2 if self.version >= 3 else 1)


_DS_DEF, _PDP_PREP, _CDP_PREP = 120, 112, 80


@dataclass(frozen=True)
class ArchiveHeader:
    """One archive: its function, how many rows, seconds of a row, and the row written last."""

    function: str
    rows: int
    resolution: int
    newest: int


@dataclass(frozen=True)
class Database:
    """What the header of a file says; `last` is the epoch second of its last update."""

    layout: RrdLayout
    sources: tuple[str, ...]
    last: int
    archives: tuple[ArchiveHeader, ...]


def layout_of(head: bytes, source: str) -> RrdLayout:
    """Tell the layout from the first STAT_HEAD_BYTES of a file.

    Raises
    ------
    LogFormatError
        If this is not an RRD file, or one of a machine or version whose layout is not known.
    """
    if not head.startswith(COOKIE):
        raise LogFormatError(f"{source}: not an RRD file: it does not begin with the cookie 'RRD'")
    if len(head) < 112:
        raise LogFormatError(f"{source}: the header of the RRD file is cut short")
    version = head[4:8]
    if version not in VERSIONS:
        shown = version.decode("ascii", "replace")
        raise LogFormatError(
            f"{source}: RRD version '{shown}' is not known (known: 0001 to 0005); {_elsewhere(source)}"
        )
    for order in "<>":
        cookie = struct.pack(f"{order}d", FLOAT_COOKIE)
        if head[12:20] == cookie:
            return RrdLayout(order, 4, int(version))
        if head[16:24] == cookie:
            low, high = struct.unpack_from(f"{order}2I", head, 24)[:: 1 if order == "<" else -1]
            if low and not high:
                return RrdLayout(order, 8, int(version))
            raise LogFormatError(
                f"{source}: an RRD file of a 32-bit machine that aligns double numbers to 8 bytes, whose "
                f"layout is not read; {_elsewhere(source)}"
            )
    raise LogFormatError(
        f"{source}: the RRD file is damaged, or of a machine with other floating point numbers: its "
        f"float cookie is missing; {_elsewhere(source)}"
    )


def _elsewhere(source: str) -> str:
    return f"on the machine that wrote it, run: rrdtool dump {source} {source}.xml, and give the XML instead"


def counts_of(head: bytes, layout: RrdLayout, source: str) -> tuple[int, int, int]:
    """Numbers of data sources and of archives, and the bytes of the whole header.

    Raises
    ------
    LogFormatError
        If the numbers cannot be, so that nothing is allocated on their word.
    """
    sources, archives, _ = layout.words(head, 24 if layout.word == 8 else 20, 3)
    if sources <= 0 or archives <= 0:
        raise _damaged(source, f"{sources} data sources and {archives} archives")
    size = (
        layout.stat_head
        + sources * (_DS_DEF + _PDP_PREP)
        + archives * (layout.rra_def + layout.word)
        + layout.live_head
        + sources * archives * _CDP_PREP
    )
    if size > MOST_HEADER_BYTES:
        raise _damaged(source, f"{sources:,} data sources and {archives:,} archives")
    return sources, archives, size


def database_of(header: bytes, layout: RrdLayout, source: str) -> Database:
    """Read a whole header, of the size that `counts_of` gives.

    Raises
    ------
    LogFormatError
        If what it says cannot be.
    """
    source_count, archive_count, size = counts_of(header, layout, source)
    if len(header) < size:
        raise LogFormatError(f"{source}: the header of the RRD file is cut short")
    step = layout.words(header, 24 if layout.word == 8 else 20, 3)[2]
    sources_at = layout.stat_head
    archives_at = sources_at + source_count * _DS_DEF
    live_at = archives_at + archive_count * layout.rra_def
    (last,) = layout.words(header, live_at, 1)
    if not 0 <= last <= LAST_SECOND:
        raise _damaged(source, f"its last update at second {last}")
    newest = layout.words(header, size - archive_count * layout.word, archive_count)
    archives = tuple(
        _archive(header, archives_at + i * layout.rra_def, layout, step, newest[i], source)
        for i in range(archive_count)
    )
    if sum(archive.rows for archive in archives) * source_count > MOST_VALUES:
        rows = " + ".join(f"{archive.rows:,}" for archive in archives[:5])
        raise _damaged(source, f"archives of {rows} rows, more than {MOST_VALUES:,} values")
    return Database(
        layout,
        tuple(_name(header, sources_at + i * _DS_DEF) for i in range(source_count)),
        last,
        archives,
    )


def _archive(header: bytes, at: int, layout: RrdLayout, step: int, newest: int, source: str) -> ArchiveHeader:
    rows, steps = layout.words(header, at + (24 if layout.word == 8 else 20), 2)
    resolution = step * steps
    if rows <= 0 or steps <= 0 or step <= 0 or rows * resolution > LAST_SECOND:
        raise _damaged(source, f"an archive of {rows:,} rows of {steps:,} times {step:,} s")
    if not 0 <= newest < rows:
        raise _damaged(source, f"row {newest:,} as the newest of {rows:,}")
    return ArchiveHeader(_name(header, at), rows, resolution, newest)


def _name(header: bytes, at: int) -> str:
    return header[at : at + NAME_BYTES].partition(b"\0")[0].decode("utf-8", "replace")


def _damaged(source: str, said: str) -> LogFormatError:
    return LogFormatError(
        f"{source}: the RRD file is damaged, its header tells of {said}; restore the file, or leave it out"
    )


COVERED = "value that a finer archive has"
AVERAGE = "AVERAGE"
_OTHERS = frozenset(("MIN", "MAX", "LAST", "HWPREDICT", "MHWPREDICT", "SEASONAL", "FAILURES")) | {
    "DEVSEASONAL",
    "DEVPREDICT",
}
_NO_FUNCTION = "values of an archive whose function is damaged"


@dataclass(frozen=True)
class Archive:
    """One archive.

    Attributes
    ----------
    function
        How values are consolidated (AVERAGE, MAX, ...).
    resolution
        Seconds of a row.
    stamps
        Shape (n,), epoch seconds at which the rows end, increasing.
    values
        Shape (n, data sources); NaN is unknown.
    """

    function: str
    resolution: int
    stamps: Seconds
    values: Reals


def finest_series(
    archives: Iterable[Archive], columns: Columns, source: str, report: ReadReport
) -> Iterator[Series]:
    """The finest known values of every metric, the finest archive first; others are counted by cause.

    Archives of other functions than AVERAGE are counted and left out: a maximum is not a state.  Those of a
    function that no archive has are rejects.
    """
    averages = []
    for archive in archives:
        if archive.function == AVERAGE:
            averages.append(archive)
        else:
            left_out = len(archive.stamps) * len(columns.metrics)
            report.records += left_out
            if archive.function in _OTHERS:
                report.skipped[f"value of a {archive.function} archive"] += left_out
            elif left_out:
                report.rejects.append(Reject(source, None, _NO_FUNCTION, archive.function, left_out))
    averages.sort(key=lambda archive: archive.resolution)
    for column, origin, number in columns.metrics:
        pieces = list(_finest(averages, column, origin, number, report))
        if pieces:
            yield _joined(pieces)


def _finest(
    archives: Sequence[Archive], column: int, origin: Origin, number: int | None, report: ReadReport
) -> Iterator[Series]:
    first: int | None = None
    last = 0
    for archive in archives:
        stamps, values = archive.stamps, archive.values[:, column]
        begins = stamps - archive.resolution
        known = ~np.isnan(values)
        early = begins < first if first is not None else np.ones(len(stamps), dtype=np.bool_)
        late = ~early & (stamps > last)
        kept = known & (early | late)
        report.records += len(stamps)
        _count(report, COVERED, int((known & ~early & ~late).sum()))
        _count(report, UNKNOWN, int((~known).sum()))
        if not kept.any():
            continue
        yield Series(
            origin,
            stamps[kept],
            np.where(late, np.maximum(begins, last), begins)[kept],
            stamps[kept] if first is None else np.where(early, np.minimum(stamps, first), stamps)[kept],
            values[kept],
            np.full(int(kept.sum()), archive.resolution, dtype=np.int64),
            archive.values[kept, number] if number is not None else None,
        )
        earliest = int(begins[kept].min())
        first = earliest if first is None else min(first, earliest)
        last = max(last, int(stamps[-1]))


def _joined(pieces: Sequence[Series]) -> Series:
    """One series of all: many small ones cost more than one long one."""
    hosts = [piece.hosts for piece in pieces if piece.hosts is not None]
    return Series(
        pieces[0].origin,
        stamps=np.concatenate([piece.stamps for piece in pieces]),
        begins=np.concatenate([piece.begins for piece in pieces]),
        ends=np.concatenate([piece.ends for piece in pieces]),
        values=np.concatenate([piece.values for piece in pieces]),
        resolution=np.concatenate([piece.resolution for piece in pieces]),
        hosts=np.concatenate(hosts) if hosts else None,
    )


def _count(report: ReadReport, cause: str, count: int) -> None:
    if count:
        report.skipped[cause] += count
