"""Values from the text that `rrdtool fetch` prints.

                               sum

    1350135150: 4.6000000000e-01
    1350135165: nan

The first line names the data sources; cluster, host and metric come from the path of the file, as for
the database itself (series.py).  A locale may print a comma for the point.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.ganglia.series import EVENTS, STEP, SeriesEvents, columns_of_sources, origin_of
from cepctl.io.ganglia.stamped_rows import StampedRows, stamp_of, value_of
from cepctl.io.source.streams import Chunks, numbered_lines

_LONGEST_HEADER = 1 << 16
_NAME = re.compile(rb"[\w.-]{1,64}")
_LINES_LOOKED_AT = 10
_FIRST_ROW = re.compile(rb"\d{1,12}:(?:[^\S\n]+(?:-?nan|-?inf|-?\d+[.,]\d+e[+-]\d+))+\s", re.IGNORECASE)
_ROW = re.compile(rb"\s*(\d{1,12}):((?:\s+\S+)+)\s*")


class RrdFetch:
    """Reader of what `rrdtool fetch` printed."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the line of names, the empty line and the first rows."""
        names, _, rest = head.removeprefix(codecs.BOM_UTF8).partition(b"\n")
        empty, newline, rows = rest.partition(b"\n")
        named = names.split() and all(map(_NAME.fullmatch, names.split()))
        if not (named and newline) or empty.strip():
            return False
        lines = rows.lstrip().split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]
        fitting = sum(_FIRST_ROW.match(line + b"\n") is not None for line in lines)
        return bool(_FIRST_ROW.match(rows.lstrip())) or 2 * fitting > len(lines)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the known values, block by block; lines that are not rows are rejected.

        Raises
        ------
        LogFormatError
            If the file does not begin with the names of data sources.
        """
        lines = numbered_lines(Chunks(stream))
        number, header = next(((number, line) for number, line in lines if line.strip()), (0, b""))
        if not header:
            return
        if _ROW.fullmatch(header):
            raise LogFormatError(
                f"{source}:{number}: a line with the names of the data sources was expected before the "
                "first row; give what rrdtool fetch printed from its first line"
            )
        if len(header) > _LONGEST_HEADER:
            raise LogFormatError(
                f"{source}:{number}: the names of the data sources take more than {_LONGEST_HEADER:,} bytes; "
                "choose another --format"
            )
        names = header.decode("utf-8-sig", "replace").split()
        rows = StampedRows(columns_of_sources(names, origin_of(source)), SeriesEvents(options), report)
        for number, line in lines:
            row = _row(line, len(names))
            if row is not None:
                rows.add(*row)
            elif line.strip():
                report.records += 1
                report.rejects.append(Reject(source, number, "not a row of rrdtool fetch", line))
            if rows.full:
                yield from rows.take()
        yield from rows.take()


def _row(line: bytes, columns: int) -> tuple[int, list[float]] | None:
    found = _ROW.fullmatch(line)
    if found is None:
        return None
    stamp = stamp_of(found[1].decode())
    values = [value_of(text) for text in found[2].decode("utf-8", "replace").split()]
    known = [value for value in values if value is not None]
    return (stamp, known) if stamp is not None and len(known) == len(values) == columns else None


FORMAT = LogFormat(
    name="rrd-fetch",
    description="Text that rrdtool fetch prints",
    events=EVENTS,
    uncertainty=STEP,
    example=("                    sum\n\n1781417685: 4.6000000000e-01\n1781417700: 5.0000000000e-01\n"),
    page="logs-ganglia.md",
    reader=RrdFetch(),
    options={"drop_domain": "Ganglia"},
)
