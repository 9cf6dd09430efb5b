"""Values from what `rrdtool xport` prints, as JSON (also that of old versions) or as XML.

    start, step    stamp of the first row and the distance of rows; `--showtime` repeats every stamp
    legend         one label per column: the metric, unless it is empty or `sum`
    data           rows of numbers; null and NaN are unknown

Cluster, host and the metric of an empty label come from the path of the file (series.py).
rrdtool before 1.5 prints JSON with bare names and single quotes, which is read as it is meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.ganglia.json_arrays import CUT, ArrayElements, Damaged, whole_text
from cepctl.io.ganglia.series import STEP, SeriesEvents, columns_of_labels, origin_of
from cepctl.io.ganglia.stamped_rows import StampedRows, stamp_of, value_of
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_mending import LOST, Lost, Mending, Shape
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import BLANK, Elements, without_comments

_LEGEND = re.compile(r"""["']?legend["']?\s*:\s*\[""")
_LABEL = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*,?""")
_LABELS_END = re.compile(r"\s*\]")
_START = re.compile(r"""["']?start["']?\s*:\s*["']?(\d{1,15})""")
_LAST = re.compile(r"""["']?\bend["']?\s*:\s*["']?(\d{1,15})""")
_STEP = re.compile(r"""["']?step["']?\s*:\s*["']?(\d{1,15})""")
_SHAPE = Shape({"xport": 0, "data": 1}, frozenset({"row"}), placeholder=b"<row/>")
_TAGS = ("start", "step", "end", "entry", "row", "xport")
_DATA = re.compile(r"""["']?data["']?\s*:\s*\[""")
_MEMBERS = tuple(
    re.compile(rb"[\"']?\b%s[\"']?\s*:" % name) for name in (b"meta", b"start", b"step", b"legend")
)
TRUNCATED = "truncated export"
_ESCAPED = re.compile(r"\\(.)")
_XML = re.compile(rb"(?:<\?xml[^>]*>\s*)?<xport[\s>]")


@dataclass(frozen=True)
class _Meta:
    """What an export says of its rows."""

    start: int
    step: int
    labels: tuple[str, ...]
    end: int | None = None

    @property
    def rows(self) -> int | None:
        """How many rows there are from the first to the last; None where that is not said."""
        whole = self.end is not None and self.end >= self.start and self.step
        return (self.end - self.start) // self.step + 1 if self.end is not None and whole else None


@dataclass(frozen=True)
class _Row:
    """One row of an export as it stands there, and its line where that is known."""

    meta: _Meta
    line: int | None
    cells: Any


class RrdXport:
    """Reader of what `rrdtool xport` printed."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the root element, or from the members of the object."""
        text = head.lstrip(BLANK)
        if text.startswith(b"{"):
            # As keys, bare or quoted: the words alone stand in many documents.
            return all(member.search(text) for member in _MEMBERS)
        return _XML.match(without_comments(head).lstrip(BLANK)) is not None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the known values, block by block; rows of another width are rejected.

        Raises
        ------
        LogFormatError
            If the document does not say when its rows begin and how far apart they are, or declares
            XML entities.
        """
        pieces = Chunks(stream)
        first = next(iter(pieces), b"")
        if not first:
            return
        chunks = chain([first], pieces)
        is_xml = first.lstrip(BLANK).startswith(b"<")
        read = _xml_rows(chunks, source, report) if is_xml else _json_rows(chunks, source, report)
        # Whether one is missing before them tells the times of all.
        rows = list(read)
        offset = _missing(rows, source, report)
        waiting: StampedRows | None = None
        for number, row in enumerate(rows):
            if waiting is None:
                columns = columns_of_labels(row.meta.labels, origin_of(source))
                waiting = StampedRows(columns, SeriesEvents(options), report, row.meta.step)
            parsed = _stamped(row, number + min(offset, 0))
            if parsed is None:
                report.records += 1
                cause = f"not a row of {len(row.meta.labels)} numbers"
                report.rejects.append(Reject(source, row.line, cause, str(row.cells)))
            else:
                told = len(row.cells) > len(row.meta.labels)
                waiting.add(*parsed, spread=0 if told else abs(offset) * row.meta.step)
            if waiting.full:
                yield from waiting.take()
        if waiting is not None:
            yield from waiting.take()


def _stamped(row: _Row, number: int) -> tuple[int, list[float]] | None:
    """Stamp and values; a cell more than there are labels is the stamp."""
    if not isinstance(row.cells, list):
        return None
    told = len(row.cells) == len(row.meta.labels) + 1
    stamp = stamp_of(row.cells[0] if told else row.meta.start + number * row.meta.step)
    values = [value_of(cell) for cell in row.cells[1 if told else 0 :]]
    known = [value for value in values if value is not None]
    fits = stamp is not None and len(known) == len(values) == len(row.meta.labels)
    return (stamp, known) if fits and stamp is not None else None


def _missing(rows: Sequence[_Row], source: str, report: ReadReport) -> int:
    """How many rows are missing, less than 0 where there are more than the export says; it is told.

    Which, nothing tells: all that do not have their own time are as uncertain as that.
    """
    told = rows[0].meta.rows if rows else None
    cut = any(reject.cause == TRUNCATED for reject in report.rejects)
    if told is None or cut or told == len(rows):
        return 0
    missing = told - len(rows)
    # A damaged start, or end, tells nothing of rows.
    count = abs(missing) if missing <= len(rows) else 1
    wrong = "missing" if missing > 0 else "too many"
    cause = (
        f"rows are {wrong}: the export says {told:,}, and has {len(rows):,}; times that do not stand in rows "
        "are as uncertain as that"
    )
    report.records += count
    report.rejects.append(Reject(source, None, cause, "", count))
    return missing


def _meta(start: object, step: object, labels: Sequence[object], source: str, end: object = None) -> _Meta:
    first, apart = stamp_of(start), stamp_of(step)
    if first is None or apart is None or not labels:
        raise LogFormatError(
            f"{source}: the export does not say its start, its step and the legend of its columns (found "
            f"{start!s:.40}, {step!s:.40} and {len(labels)} labels); export it again with rrdtool xport"
        )
    return _Meta(first, apart, tuple(str(label) for label in labels), stamp_of(end))


# --- JSON ---------------------------------------------------------------------------------


def _json_rows(chunks: Iterable[bytes], source: str, report: ReadReport) -> Iterator[_Row]:
    text = whole_text(chunks, source)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        yield from _loose_rows(text, source, report)
        return
    members: dict[str, Any] = document if isinstance(document, dict) else {}
    meta, data = members.get("meta"), members.get("data")
    said: dict[str, Any] = meta if isinstance(meta, dict) else {}
    labels = said.get("legend")
    named = labels if isinstance(labels, list) else []
    told = _meta(said.get("start"), said.get("step"), named, source, said.get("end"))
    if not isinstance(data, list):
        raise LogFormatError(f"{source}: the export has no rows: a list called data was expected")
    for cells in data:
        yield _Row(told, None, cells)


def _loose_rows(text: str, source: str, report: ReadReport) -> Iterator[_Row]:
    """The rows of a document that is cut short, or has bare names and single quotes."""
    labels, end = _legend(text)
    begin = None if labels is None else _DATA.search(text, end)
    if labels is None or begin is None:
        raise LogFormatError(
            f"{source}: not JSON of rrdtool xport: a legend and data were expected; export it again, or "
            "choose another --format"
        )
    numbers = [name.search(text, 0, begin.start()) for name in (_START, _STEP, _LAST)]
    start, step, last = (found[1] if found else None for found in numbers)
    # Of what was cut off, no row before is uncertain.
    told = _meta(start, step, labels, source, last if text.rstrip().endswith("}") else None)
    for cells in ArrayElements(text, begin.end(), "[", _is_row):
        if not isinstance(cells, Damaged):
            yield _Row(told, None, cells)
        elif cells.cause == CUT:
            report.records += 1
            report.rejects.append(Reject(source, cells.line, CUT, "the rows before it were kept"))
        else:
            # Rows are counted to tell their times.
            rows = cells.text.count("[") or int(re.search(r"\d", cells.text) is not None)
            for _ in range(rows):
                yield _Row(told, cells.line, cells.text)
            if not rows:
                report.records += 1
                report.rejects.append(Reject(source, cells.line, cells.cause, cells.text))


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(cell, list) for cell in value)


def _legend(text: str) -> tuple[list[str] | None, int]:
    """The labels of the legend, and where it ends; None where there is no whole one."""
    found = _LEGEND.search(text)
    if found is None:
        return None, 0
    labels, place = [], found.end()
    while label := _LABEL.match(text, place):
        labels.append(_ESCAPED.sub(r"\1", label[1][1:-1]))
        place = label.end()
    end = _LABELS_END.match(text, place)
    return (None, 0) if end is None else (labels, end.end())


# --- XML ----------------------------------------------------------------------------------


def _xml_rows(chunks: Iterable[bytes], source: str, report: ReadReport) -> Iterator[_Row]:

    def reject_lost(lost: Lost) -> None:
        report.records += lost.records
        report.rejects.append(Reject(source, lost.line, LOST, lost.raw, lost.records))

    mending = Mending(_SHAPE, reject_lost)
    prolog = Prolog("xport", source)
    elements = Elements(prolog, _TAGS, ("end",), mending=mending)
    said: dict[str, str] = {}
    labels: list[str] = []
    told: _Meta | None = None
    whole = False
    parsed = chain(chain.from_iterable(map(elements.feed, chunks)), elements.close())
    for _, element in parsed:
        whole = whole or element.tag == "xport"
        if element.tag == "entry":
            labels.append(element.text or "")
        elif element.tag == "row":
            told = told or _meta(said.get("start"), said.get("step"), labels, source, said.get("end"))
            cells = [(child.text or "").strip() for child in element if child.tag in ("t", "v")]
            yield _Row(told, int(element.sourceline or 0), cells)
            _forget(element)
        elif element.tag in ("start", "step", "end"):
            said[element.tag] = element.text or ""
    if not prolog.passed:
        raise LogFormatError(f"{source}: no <xport> element in it; choose another --format")
    if not whole:
        report.records += 1
        report.rejects.append(Reject(source, None, TRUNCATED, "the rows before it were kept"))
    elif elements.complaint:
        report.warnings.append(elements.complaint.warning)


def _forget(row: Any) -> None:
    row.clear(keep_tail=False)
    while (before := row.getprevious()) is not None:
        row.getparent().remove(before)


FORMAT = LogFormat(
    name="rrd-xport",
    description="JSON or XML that rrdtool xport prints",
    events="one type per label of the legend; value, node, cluster, resolution",
    uncertainty=STEP,
    example=(
        '{ "about": "RRDtool graph JSON output",\n'
        '  "meta": { "start": 1781417685, "end": 1781417700, "step": 15, "legend": [ "load_one" ] },\n'
        '  "data": [ [ 4.6e-01 ], [ 5.0e-01 ] ] }\n'
    ),
    page="logs-ganglia.md",
    reader=RrdXport(),
    options={"drop_domain": "Ganglia"},
)
