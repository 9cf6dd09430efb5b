"""Round-robin archives that overlap, reduced to the finest value that is known for each span of time.

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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Reals, Seconds
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ganglia.origin import Origin
from cepctl.io.ganglia.series import UNKNOWN, Columns, Series

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
