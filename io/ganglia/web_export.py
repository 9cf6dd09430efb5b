"""Values from the graphs that ganglia-web exports, as CSV and as JSON.

    CSV     Timestamp,1-min,5-min        labels of the graph, often followed by blanks
            2012-10-13T13:12:45+00:00,0.46,NaN
    JSON    [{"ds_name": "a0", "cluster_name": "c", "host_name": "", "metric_name": "1-min ",
              "datapoints": [[0.46, 1350135165], ["NaN", 1350135180]]}, ...]

A label is the metric.  Host and cluster are those that the JSON names; an empty one, and always in CSV,
comes from the path of the file (series.py), but only where that has folders for both: graphs
are saved anywhere.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, Any

import numpy as np
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.log_format import WORDED, ZONELESS, LogFormat
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject, zones_said
from cepctl.io.contract.times import LogTime, parse_time, why_no_time
from cepctl.io.ganglia.json_arrays import DAMAGED, ArrayElements, Damaged, whole_text
from cepctl.io.ganglia.series import STEP, Columns, Origin, SeriesEvents, columns_of_labels, origin_of
from cepctl.io.ganglia.stamped_rows import StampedRows, stamp_of, value_of
from cepctl.io.source.streams import Chunks, LongGaps, ShortenedGaps
from cepctl.io.source.text_encoding import decoded, utf8_stream

_SECOND = 1_000_000
_LONGEST_LINE = 1 << 20
_HEADER = re.compile(r'"?Timestamp"?\s*,[^\n]*')
_JSON = re.compile(r"\s*\[\s*\{")
_POINTS = re.compile(r'"datapoints"\s*:\s*\[')
_POINT = re.compile(r'\[\s*(?:"NaN"|NaN|null|-?\d[\d.eE+-]*)\s*,\s*\d{1,15}\s*\]')
_FOLDERS_FOR_BOTH = 3


class GangliaWebCsv:
    """Reader of graphs that ganglia-web exported as CSV."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the first column's name, and a time and numbers in the first row."""
        header, _, rest = decoded(head).lstrip().partition("\n")
        if not _HEADER.fullmatch(header.strip()) or "event_type" in header:
            return False
        cells = rest.partition("\n")[0].split(",")
        if len(cells) < 2:
            return False
        values = [value_of(cell.strip() or None) for cell in cells[1:]]
        return parse_time(cells[0]) is not None and None not in values

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the known values, block by block; rows of another width, or with no time, are rejected.

        Raises
        ------
        LogFormatError
            If the first line does not begin with Timestamp.
        """
        zone, words = zones_said(options)
        gaps = LongGaps(_LONGEST_LINE)
        whole = io.BufferedReader(ShortenedGaps(utf8_stream(stream), gaps), _LONGEST_LINE)
        text = io.TextIOWrapper(whole, "utf-8", "replace", newline="")
        lines = _lines(text)
        header = _row(next(lines, None))
        if header is None:
            return
        if header[:1] != ["Timestamp"] or len(header) < 2:
            raise LogFormatError(
                f"{source}:1: a header 'Timestamp,LABEL,...' was expected; choose another --format if this "
                "is another kind of CSV"
            )
        columns = columns_of_labels(header[1:], _placed(source))
        rows = StampedRows(columns, SeriesEvents(options), report)
        for number, line in enumerate(lines, start=2):
            cells = _row(line)
            if cells and not _add_row(cells, len(header) - 1, parse_time(cells[0], zone, words), rows):
                report.records += 1
                problem = why_no_time(cells[0], zone, words)
                cause = problem or f"not a row of a time and {len(header) - 1} numbers"
                at = number + int(gaps.left_out_before(np.array([number - 1]))[0])
                report.rejects.append(Reject(source, at, cause, ",".join(cells)))
            if rows.full:
                yield from rows.take()
        yield from rows.take()


def _lines(text: IO[str]) -> Iterator[str]:
    """The lines of the text; of one that is too long the beginning, which is not a row then."""
    while line := text.readline(_LONGEST_LINE):
        yield line
        while len(line) == _LONGEST_LINE and not line.endswith("\n"):
            line = text.readline(_LONGEST_LINE)


def _row(line: str | None) -> list[str] | None:
    """The cells of a line, none of which holds a line break, so that a damaged quote costs its line alone.

    A field too long for a number is one that is refused later.
    """
    if line is None:
        return None
    try:
        return [cell.strip() for cell in next(csv.reader([line.replace("\0", "").rstrip("\r\n")]), [])]
    except csv.Error:
        return ["?"]


def _add_row(cells: list[str], width: int, moment: LogTime | None, rows: StampedRows) -> bool:
    values = [value_of(cell or None) for cell in cells[1:]]
    known = [value for value in values if value is not None]
    if moment is None or moment.micros <= 0 or moment.micros % _SECOND:
        return False
    if len(known) != len(values) or len(known) != width:
        return False
    rows.add(moment.micros // _SECOND, known, spread=moment.fold // _SECOND, zone=moment.zone_seconds)
    return True


class GangliaWebJson:
    """Reader of graphs that ganglia-web exported as JSON."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the members of the first object."""
        text = decoded(head)
        named = '"datapoints"' in text and ('"metric_name"' in text or '"ds_name"' in text)
        return named and _JSON.match(text) is not None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the known values, one metric after the other.

        Raises
        ------
        LogFormatError
            If the document is not an array.
        """
        text = whole_text(chain(Chunks(stream)), source)
        if not text.strip():
            return
        begin = text.find("[")
        if begin < 0 or text[:begin].strip():
            raise LogFormatError(
                f"{source}: an array of metrics was expected; choose another --format if this is another "
                "kind of JSON"
            )
        events = SeriesEvents(options)
        for element in ArrayElements(text, begin + 1, "{", _is_metric):
            if isinstance(element, Damaged):
                yield from _damaged_metric(element, source, events, report)
            else:
                yield from _metric(element, source, events, report)


def _is_metric(value: Any) -> bool:
    return isinstance(value, dict) and "datapoints" in value


def _damaged_metric(
    damaged: Damaged, source: str, events: SeriesEvents, report: ReadReport
) -> Iterator[pa.RecordBatch]:
    """The points of a metric that can be read; the others are one reject, counted by their brackets."""
    begin = _POINTS.search(damaged.text)
    points: list[Any] = []
    if begin is not None and damaged.cause == DAMAGED:
        try:
            element = json.loads(damaged.text[: begin.end()] + "]}")
        except (ValueError, RecursionError):
            begin = None
    if begin is not None and damaged.cause == DAMAGED:
        found = (_point(match[0]) for match in _POINT.finditer(damaged.text, begin.end()))
        points = [point for point in found if point is not None]
    lost = max(damaged.text.count("[") - len(points) - bool(points), 1)
    report.records += lost
    report.rejects.append(Reject(source, damaged.line, damaged.cause, damaged.text, lost))
    if points:
        yield from _metric({**element, "datapoints": points}, source, events, report)


def _point(text: str) -> Any:
    """A pair in damaged text; None where its numbers are none of JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _metric(element: Any, source: str, events: SeriesEvents, report: ReadReport) -> Iterator[pa.RecordBatch]:
    points = element.get("datapoints") if isinstance(element, dict) else None
    if not isinstance(points, list):
        shown = json.dumps(element)
        # Each point has brackets, and so has the list of them.
        lost = max(shown.count("[") - 1, 1)
        report.records += lost
        report.rejects.append(Reject(source, None, "no metric with datapoints", shown, lost))
        return
    origin = _named(element, _placed(source))
    rows = StampedRows(Columns(((0, origin, None),)), events, report)
    for point in points:
        pair = point if isinstance(point, list) and len(point) == 2 else [None, None]
        value, stamp = value_of(pair[0]), stamp_of(pair[1])
        if value is None or stamp is None:
            report.records += 1
            cause = "not a pair of a value and a time"
            report.rejects.append(Reject(source, None, cause, f"{origin.metric}: {json.dumps(point)}"))
        else:
            rows.add(stamp, [value])
        if rows.full:
            yield from rows.take()
    yield from rows.take()


def _named(element: dict[str, Any], placed: Origin) -> Origin:
    """The metric's own metadata, else what the path tells."""
    metric, source, host, cluster = (
        str(element.get(name) or "").strip()
        for name in ("metric_name", "ds_name", "host_name", "cluster_name")
    )
    return replace(
        placed,
        metric=metric or source or placed.metric,
        host=host or placed.host,
        cluster=cluster or placed.cluster,
    )


def _placed(source: str) -> Origin:
    origin = origin_of(source)
    if len(PurePosixPath(source).parts) >= _FOLDERS_FOR_BOTH:
        return origin
    return Origin(origin.metric)


_EVENTS = "one type per label of the graph; value, node, cluster, resolution"
FORMATS = (
    LogFormat(
        name="ganglia-csv",
        description="CSV that ganglia-web exports of a graph",
        events=_EVENTS,
        uncertainty=STEP,
        example=(
            "Timestamp,1-min,5-min\n"
            "2026-06-14T08:14:45+02:00,0.46,0.31\n"
            "2026-06-14T08:15:00+02:00,0.50,0.33\n"
        ),
        page="logs-ganglia.md",
        reader=GangliaWebCsv(),
        options={"time_zone": ZONELESS, "zone_words": WORDED, "drop_domain": "Ganglia"},
    ),
    LogFormat(
        name="ganglia-json",
        description="JSON that ganglia-web exports of a graph",
        events=_EVENTS,
        uncertainty=STEP,
        example=(
            '[{"ds_name":"sum","cluster_name":"c","host_name":"n7","metric_name":"load_one",'
            '"datapoints":[[0.46,1781417685],[0.5,1781417700]]}]\n'
        ),
        page="logs-ganglia.md",
        reader=GangliaWebJson(),
        options={"drop_domain": "Ganglia"},
    ),
)
