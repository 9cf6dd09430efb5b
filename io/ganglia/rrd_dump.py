"""Values from the XML that `rrdtool dump` writes: the way to read a database of another machine.

A dump holds what the database holds, archive by archive, and is read in the same way: the finest known
value of every span (rrd_layout.py).  A row tells its time in a comment before it; where comments
were stripped, rows are counted back from the last update, which the last row of every archive ends at,
rounded down to a whole row.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.ganglia.rrd_layout import MOST_VALUES, Archive, finest_series
from cepctl.io.ganglia.series import EVENTS, STEP, SeriesEvents, columns_of_sources, origin_of
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_mending import LOST, DocumentShape, Lost, Mending
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import BLANK, Elements, without_comments

NO_TIME = 0
_TIME = re.compile(r"/\s*(\d+)\s*$")
_ROOT = re.compile(rb"(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE\s+rrd\b[^>]*>\s*)?<rrd[\s>]")
_SHAPE = DocumentShape({"rrd": 0, "rra": 1, "database": 2}, frozenset({"row"}), placeholder=b"<row/>")
_TAGS = ("step", "lastupdate", "name", "cf", "pdp_per_row", "row", "rra", "rrd")


@dataclass
class _Dump:
    """What of a dump was read so far; `stamp` is the time that a comment gave for the next row."""

    source: str
    report: ReadReport
    step: int | None = None
    last: int | None = None
    names: list[str] = field(default_factory=list)
    archives: list[Archive] = field(default_factory=list)
    function: str = ""
    steps: int | None = None
    stamp: int = NO_TIME
    stamps: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))
    size: int = 0
    whole: bool = False

    def take(self, parsed: Iterator[tuple[str, Any]]) -> None:
        """Take in elements and comments that have ended."""
        for _, element in parsed:
            self._ended(element)
            _forget(element)

    def _ended(self, element: Any) -> None:
        tag, text = element.tag, (element.text or "").strip()
        if not isinstance(tag, str):
            found = _TIME.search(text)
            self.stamp = (_stamp_of(found[1]) or NO_TIME) if found else self.stamp
        elif tag == "row":
            self._row(element)
        elif tag == "step":
            self.step = _stamp_of(text)
        elif tag == "lastupdate":
            self.last = _stamp_of(text)
        elif tag == "name":
            self._name(text)
        elif tag == "cf":
            # Of an archive before it whose end is damaged.
            self.finish_archive()
            self.function = text
        elif tag == "pdp_per_row":
            self.steps = _stamp_of(text)
        elif tag == "rra":
            self.finish_archive()
        elif tag == "rrd":
            self.finish_archive()
            self.whole = True

    def _name(self, name: str) -> None:
        if self.stamps or self.size:
            raise LogFormatError(
                f"{self.source}: the data source '{name[:40]}' is named after the first row, so the dump is "
                "damaged; dump the database again"
            )
        self.names.append(name)

    def _row(self, element: Any) -> None:
        values = [_value_of((child.text or "").strip()) for child in element if child.tag == "v"]
        known = [value for value in values if value is not None]
        stamp, self.stamp = self.stamp, NO_TIME
        if len(known) != len(values) or len(known) != len(self.names):
            self.report.records += 1
            shown = " ".join(str(child.text) for child in element)
            self._reject(
                f"a row does not have {len(self.names)} numbers", int(element.sourceline or 0), shown
            )
            # A row that is counted back must keep its place.
            known = [float("nan")] * len(self.names)
        self.size += len(known)
        if self.size > MOST_VALUES:
            raise LogFormatError(
                f"{self.source}: more than {MOST_VALUES:,} values in one dump; export a shorter span with "
                "rrdtool fetch"
            )
        self.stamps.append(stamp)
        self.values.extend(known)

    def finish_archive(self) -> None:
        """The rows since the archive began as an archive; rows that have no time are rejected."""
        stamps = np.array(self.stamps, dtype=np.int64)
        values = np.array(self.values, dtype=np.float64)
        self.stamps, self.values = array("q"), array("d")
        if not len(values):
            return
        resolution = (self.step or 0) * (self.steps or 0)
        if not 0 < resolution * len(stamps) <= LAST_SECOND:
            raise LogFormatError(
                f"{self.source}: the dump tells no usable <step> and <pdp_per_row> before the rows of an "
                "archive; dump the database again"
            )
        values = values.reshape(len(stamps), len(self.names))
        if self.last is not None and not stamps.any():
            newest = self.last - self.last % resolution
            stamps = newest - np.arange(len(stamps), dtype=np.int64)[::-1] * resolution
        dated = stamps > NO_TIME
        missing = int((~dated).sum())
        if missing:
            self.report.records += missing
            shown = f"{missing:,} rows of an archive have no time"
            self.report.rejects.append(Reject(self.source, None, "no time", shown, missing))
        if dated.any():
            ordered = np.argsort(stamps[dated], kind="stable")
            self.archives.append(
                Archive(self.function, resolution, stamps[dated][ordered], values[dated][ordered])
            )

    def reject_lost(self, lost: Lost) -> None:
        self.report.records += lost.records
        self.report.rejects.append(Reject(self.source, lost.line, LOST, lost.raw, lost.records))

    def _reject(self, cause: str, line: int | None, text: str) -> None:
        self.report.rejects.append(Reject(self.source, line, cause, text))


class RrdDump:
    """Reader of what `rrdtool dump` wrote."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the root element."""
        return _ROOT.match(without_comments(head).lstrip(BLANK)) is not None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the finest known values of every metric in the dump, in order of time.

        Raises
        ------
        LogFormatError
            If the document declares XML entities, is not a dump, or lacks what dates its rows.
        """
        prolog = Prolog("rrd", source)
        dump = _Dump(source, report)
        mending = Mending(_SHAPE, dump.reject_lost)
        elements = Elements(prolog, _TAGS, ("end", "comment"), mending=mending, keep_comments=True)
        chunks = Chunks(stream)
        for chunk in chunks:
            dump.take(elements.feed(chunk))
        if not chunks.read_bytes:
            return
        if not prolog.passed:
            raise LogFormatError(f"{source}: no <rrd> element in it; choose another --format")
        dump.take(elements.close())
        _finish(dump, elements, report)
        columns = columns_of_sources(dump.names, origin_of(source))
        events = SeriesEvents(options)
        for series in finest_series(dump.archives, columns, source, report):
            yield from events.batches(series)


def _finish(dump: _Dump, elements: Elements, report: ReadReport) -> None:
    complaint = elements.complaint
    if not dump.whole:
        # Without times of their own, nothing tells how far the rows that are there lie from the last.
        dump.last = None
        dump.finish_archive()
        report.records += 1
        report.rejects.append(Reject(dump.source, None, "truncated dump", "the rows before it were kept"))
    elif complaint:
        report.warnings.append(complaint.warning)


def _forget(element: Any) -> None:
    """Drop what was read from the tree, which would grow with the file."""
    if element.tag not in ("row", "rra"):
        return
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


FORMAT = LogFormat(
    name="rrd-dump",
    description="XML that rrdtool dump writes",
    events=EVENTS,
    uncertainty=STEP,
    example=(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        "<rrd><version>0003</version><step>15</step><lastupdate>1781417700</lastupdate>\n"
        "<ds><name> sum </name><type> GAUGE </type></ds>\n"
        "<rra><cf>AVERAGE</cf><pdp_per_row>1</pdp_per_row><database>\n"
        "<!-- 2026-06-14 08:15:00 CEST / 1781417700 --> <row><v>4.6000000000e-01</v></row>\n"
        "</database></rra></rrd>\n"
    ),
    page="logs-ganglia.md",
    reader=RrdDump(),
    options={"drop_domain": "Ganglia"},
)


def _stamp_of(text: str | None) -> int | None:
    """A time as epoch seconds; None where it is no whole number, or no date of 1970 to 9999."""
    value = int(text) if text is not None and text.strip().isdecimal() and len(text) < 20 else 0
    return value if 0 < value <= LAST_SECOND else None


def _value_of(text: str) -> float | None:
    """A value as a number, NaN where it is unknown; None where it is neither.

    Examples
    --------
    >>> _value_of("4.6e-01"), _value_of("4,6e-01"), _value_of("-nan"), _value_of("?")
    (0.46, 0.46, nan, None)
    """
    try:
        # Some locales write numbers with a comma.
        return float(text.replace(",", "."))
    except ValueError:
        return None
