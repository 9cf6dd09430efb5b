"""Values from RRD files, the round-robin databases in which gmetad keeps every metric.

Cluster, host and metric come from the path (series.py), the finest known value of every span
from the archives, which rrd_layout.py finds among the bytes.
An archive is a ring: the row after the newest is the oldest, and the newest ends at the last update
rounded down to a whole row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO

import numpy as np
import pyarrow as pa

from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.ganglia.rrd_layout import (
    COOKIE,
    STAT_HEAD_BYTES,
    Archive,
    ArchiveHeader,
    Database,
    counts_of,
    database_of,
    finest_series,
    layout_of,
)
from cepctl.io.ganglia.series import EVENTS, STEP, SeriesEvents, columns_of_sources, origin_of
from cepctl.numeric.arrays import Numbers

_BLOCK_BYTES = 1 << 20


class GangliaRrd:
    """Reader of RRD files of gmetad, and of other programs."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the cookie."""
        return head.startswith(COOKIE)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the finest known values of every metric in the file, in order of time.

        Raises
        ------
        LogFormatError
            If the header is damaged, or of a machine whose layout is not known.
        """
        head = _read(stream, STAT_HEAD_BYTES)
        if not head:
            return
        layout = layout_of(head, source)
        size = counts_of(head, layout, source)[2]
        database = database_of(head + _read(stream, size - len(head)), layout, source)
        archives = list(_archives(stream, database, source, report))
        _say_future(archives, report)
        events = SeriesEvents(options)
        columns = columns_of_sources(database.sources, origin_of(source))
        for series in finest_series(archives, columns, source, report):
            yield from events.batches(series)


def _archives(stream: IO[bytes], database: Database, source: str, report: ReadReport) -> Iterator[Archive]:
    """The archives, as far as the file goes; rows that are missing at its end are one reject."""
    missing = 0
    for header in database.archives:
        row_bytes = 8 * len(database.sources)
        data = _read(stream, header.rows * row_bytes)
        rows = len(data) // row_bytes
        missing += header.rows - rows
        numbers = np.frombuffer(data, dtype=f"{database.layout.order}f8", count=rows * len(database.sources))
        stored = _oldest_first(header, rows)
        yield Archive(
            header.function,
            header.resolution,
            _stamps(header, stored, database.last),
            numbers.astype(np.float64).reshape(rows, len(database.sources))[stored],
        )
    if missing:
        report.records += missing
        cause = "the RRD file is cut short"
        report.rejects.append(Reject(source, None, cause, f"{missing:,} rows are missing", missing))


def _oldest_first(header: ArchiveHeader, rows: int) -> Numbers:
    """Places of the rows that the file holds (the first `rows`) in order of time."""
    turn = min(header.newest + 1, rows)
    return np.concatenate([np.arange(turn, rows), np.arange(turn)])


def _stamps(header: ArchiveHeader, stored: Numbers, last: int) -> Numbers:
    newest = last - last % header.resolution
    return newest - (header.newest - stored) % header.rows * header.resolution


def _say_future(archives: list[Archive], report: ReadReport) -> None:
    newest = max((int(archive.stamps[-1]) for archive in archives if len(archive.stamps)), default=0)
    if newest > time.time():
        moment = datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%d %H:%M:%S")
        report.warnings.append(f"the newest value is of {moment} UTC, which is in the future; it was kept")


def _read(stream: IO[bytes], size: int) -> bytes:
    """Up to `size` bytes, fewer at the end; asked for in blocks, since sizes come from the file."""
    pieces = []
    while size > 0 and (piece := stream.read(min(size, _BLOCK_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


FORMAT = LogFormat(
    name="rrd",
    description="RRD file (round-robin database) of Ganglia, of a 64-bit or 32-bit x86 machine",
    events=EVENTS,
    uncertainty=STEP,
    example=("(binary) a round-robin database; rrdtool info FILE describes it\n"),
    page="logs-ganglia.md",
    reader=GangliaRrd(),
    options={"drop_domain": "Ganglia"},
)
