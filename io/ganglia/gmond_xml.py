"""Samples from the XML that Ganglia's gmond and gmetad serve, one event per sample.

The event type is the metric's name.  Numbers stand in `value`, anything else in `value_text`;
`node`, `cluster` and `grid` say where (the innermost grid).  `stale` is true where the sample
was older than its TMAX when it was polled.  Summaries (METRICS) have no time and are skipped.

When a sample arrived
    t = HOST.REPORTED + HOST.TN - METRIC.TN, in whole seconds.  All three are rounded down, so
    the sample arrived somewhere in (t - 1 s, t + 2 s].
What its interval is by default
    [t - 1 s - TMAX, t + 2 s]: the state that the sample describes began after the collection
    before it, which was at most TMAX ago.  A missing TMAX counts as 60 s, as gmetric has it.

The same sample shows in several polls, its t shifted by at most 2 s: within a file the reader
keeps the one polled first, `drop_repeated_samples` does the same for samples of many files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.log_format import LogFormat, Repeats
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.ganglia.polls import PollPart, poll_parts
from cepctl.io.source.streams import Chunks
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import Elements

REPEAT_SECONDS = 2
REPEATED = "repeated sample"
DEFAULT_TMAX_SECONDS = 60
_SECOND = 1_000_000
_BEFORE_ARRIVAL = 1 * _SECOND
_AFTER_ARRIVAL = 2 * _SECOND

_TAGS = ("GRID", "CLUSTER", "HOST", "METRIC", "METRICS")
_KNOWN = frozenset({*_TAGS, "HOSTS", "EXTRA_DATA"})
_STRANGERS = "elements and texts that Ganglia does not write, left out with what is in them: {:,}"
# What is read of an element; of one with more attributes than this only the first are looked at.
_NAMES = frozenset({"NAME", "VAL", "TYPE", "UNITS", "TN", "TMAX", "REPORTED", "IP"})
_MOST_ATTRIBUTES = 100
# So many elements that have ended may stay in the tree of a poll beside each other.
_MOST_KEPT = 1_000
# Fixed, because a batch may hold no number, or no text, at all.
_TYPES = {
    "value": pa.float64(),
    "tmax": pa.int64(),
    "stale": pa.bool_(),
} | dict.fromkeys(("value_text", "units", "node", "node_raw", "ip", "cluster", "grid", "group"), pa.string())


@dataclass(frozen=True)
class _Sample:
    """One METRIC with the attributes of the elements around it, all attribute names upper case."""

    line: int
    metric: Mapping[str, str]
    host: Mapping[str, str]
    cluster: str | None
    grid: str | None
    group: str | None

    def arrival_seconds(self) -> int | None:
        parts = (self.host.get("REPORTED"), self.host.get("TN"), self.metric.get("TN"))
        reported, host_age, metric_age = (_seconds(text) for text in parts)
        if not reported or host_age is None or metric_age is None:
            return None
        arrival = reported + host_age - metric_age
        return arrival if 0 < arrival <= LAST_SECOND else None


@dataclass
class _Poll:
    """The parser of one poll, and where in the tree it stands."""

    line: int
    elements: Elements
    around: dict[str, list[dict[str, str]]] = field(
        default_factory=lambda: {"GRID": [], "CLUSTER": [], "HOST": []}
    )
    summaries: int = 0
    strangers: int = 0
    kept: int = 0

    def feed(self, part: PollPart) -> Iterator[_Sample]:
        yield from self._samples(self.elements.feed(part.data))
        if part.ends:
            yield from self._samples(self.elements.close())

    def _samples(self, parsed: Iterator[tuple[str, Any]]) -> Iterator[_Sample]:
        for event, element in parsed:
            if event == "start":
                if element.tag in self.around:
                    self.around[element.tag].append(_attributes(element))
                continue
            if element.tag in self.around:
                self.around[element.tag].pop()
            elif element.tag == "METRIC":
                yield self._sample(element)
            else:
                self.summaries += 1
            self._forget(element)

    def _forget(self, element: Any) -> None:
        """Drop an element that has ended, and now and then those before it; what is strange is counted."""
        if element.tag != "METRIC":
            self.strangers += _has_text(element.text) + sum(map(_is_strange, element))
        element.clear(keep_tail=True)
        self.kept += 1
        if self.kept < _MOST_KEPT:
            return
        self.kept = 0
        while (before := element.getprevious()) is not None:
            self.strangers += _is_strange(before)
            element.getparent().remove(before)

    def _sample(self, element: Any) -> _Sample:
        extra = (_attributes(child) for child in element.iter("EXTRA_ELEMENT"))
        inner = {tag: levels[-1] if levels else {} for tag, levels in self.around.items()}
        return _Sample(
            line=self.line + int(element.sourceline or 1) - 1,
            metric=_attributes(element),
            host=inner["HOST"],
            cluster=inner["CLUSTER"].get("NAME"),
            grid=inner["GRID"].get("NAME"),
            group=next((item.get("VAL") for item in extra if item.get("NAME") == "GROUP"), None),
        )


class GangliaXml:
    """Reader of recorded polls of gmond and gmetad."""

    def recognises(self, head: bytes) -> bool:
        """Tell from the root element or the document type, whatever stands before them."""
        return b"<GANGLIA_XML" in head or b"<!DOCTYPE GANGLIA_XML" in head

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the samples of one file in the order of its polls, without repetitions.

        Raises
        ------
        LogFormatError
            If the file holds bytes but no poll, or a poll declares XML entities.
        """
        chunks = Chunks(stream)
        rows = EventBatches(options, types=_TYPES)
        last_arrival: dict[tuple[str | None, str], int] = {}
        for sample in _samples(chunks, source, report):
            _add_sample(sample, source, rows, last_arrival, report)
            if rows.full:
                yield rows.take()
        if len(rows):
            yield rows.take()
        if chunks.damage:
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _samples(chunks: Chunks, source: str, report: ReadReport) -> Iterator[_Sample]:
    poll: _Poll | None = None
    for part in poll_parts(chunks):
        if part.begins:
            prolog = Prolog("GANGLIA_XML", f"{source}:{part.line}")
            poll = _Poll(part.line, Elements(prolog, _TAGS, ("start", "end")))
        if poll is None:  # pragma: no cover - the first part of a recording begins a poll
            continue
        yield from poll.feed(part)
        if part.ends:
            _finish(poll, part, source, report)
    if poll is None and chunks.read_bytes:
        raise LogFormatError(
            f"{source}: no Ganglia poll in it: a <GANGLIA_XML> element was expected; "
            "choose another --format if this is another kind of log"
        )


def _finish(poll: _Poll, part: PollPart, source: str, report: ReadReport) -> None:
    if poll.summaries:
        report.skipped["METRICS summary"] += poll.summaries
    if poll.strangers:
        report.notes[_STRANGERS] += poll.strangers
    complaint = poll.elements.complaint
    if not part.complete:
        line = part.line + part.data.count(b"\n")
        report.records += 1
        report.rejects.append(Reject(source, line, "truncated poll", "the samples before it were kept"))
    elif complaint and not report.warnings:
        in_file = replace(complaint, line=poll.line + complaint.line - 1)
        report.warnings.append(in_file.warning)


def _add_sample(
    sample: _Sample,
    source: str,
    rows: EventBatches,
    last_arrival: dict[tuple[str | None, str], int],
    report: ReadReport,
) -> None:
    report.records += 1
    metric = sample.metric.get("NAME")
    if not metric:
        report.rejects.append(Reject(source, sample.line, "no metric name", str(dict(sample.metric))[:200]))
        return
    raw = sample.host.get("NAME") or sample.host.get("IP")
    node = node_name(raw, rows.options.drop_domain)
    arrival = sample.arrival_seconds()
    if arrival is not None:
        known = last_arrival.get((node, metric))
        if known is not None and abs(arrival - known) <= REPEAT_SECONDS:
            report.skipped[REPEATED] += 1
            return
        last_arrival[node, metric] = arrival
    tmax = _seconds(sample.metric.get("TMAX")) or None
    age = _seconds(sample.metric.get("TN"))
    value, text = _value(sample.metric)
    attributes: dict[str, Value] = {
        "metric": metric,
        "value": value,
        "value_text": text,
        "units": (sample.metric.get("UNITS") or "").strip() or None,
        "node": node,
        "node_raw": raw,
        "ip": sample.host.get("IP"),
        "cluster": sample.cluster,
        "grid": sample.grid,
        "group": sample.group,
        "tmax": tmax,
        "stale": None if tmax is None or age is None else age > tmax,
    }
    before = _BEFORE_ARRIVAL + (tmax or DEFAULT_TMAX_SECONDS) * _SECOND
    micros = None if arrival is None else arrival * _SECOND
    rows.add(metric, micros, attributes, before=before, after=_AFTER_ARRIVAL)


def _value(metric: Mapping[str, str]) -> tuple[float | None, str | None]:
    """A number, or the text where it is none; NaN and infinities are text."""
    text = metric.get("VAL")
    if text is None or metric.get("TYPE") == "string":
        return None, text
    try:
        number = float(text)
    except ValueError:
        return None, text
    return (number, None) if math.isfinite(number) else (None, text)


def _attributes(element: Any) -> dict[str, str]:
    """Attributes by upper-case name: some exporters write them in lower case."""
    names = element.keys()
    if len(names) <= _MOST_ATTRIBUTES:
        return {str(name).upper(): str(value) for name, value in element.attrib.items()}
    # All values together would take time that grows with the square of their number.
    return {name.upper(): str(element.get(name)) for name in names if name.upper() in _NAMES}


def _is_strange(element: Any) -> bool:
    """Whether Ganglia never writes such an element, or the text after it."""
    return element.tag not in _KNOWN or _has_text(element.tail)


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace()


def _seconds(text: str | None) -> int | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return int(seconds) if abs(seconds) <= LAST_SECOND else None


def drop_repeated_samples(table: pa.Table) -> tuple[pa.Table, int]:
    """Keep one event of every sample that several polls show.

    Parameters
    ----------
    table
        Events of Ganglia files with the columns `node`, `metric` and `time`; samples of one
        node and metric must not be spread over several calls.  A row in which one of the three
        is null is kept.

    Returns
    -------
    table, dropped
        The rows that stay, in their order, and how many went.  Of samples of one node and
        metric whose times are at most 2 s from one that stays, only the earliest stays (of
        equal times the one that stands first).
    """
    keys = [table.column(name).combine_chunks() for name in ("node", "metric", "time")]
    numbered = pa.table(
        {
            "node": keys[0].dictionary_encode().indices,
            "metric": keys[1].dictionary_encode().indices,
            "time": keys[2].cast(pa.int64()),
            "row": pa.array(np.arange(table.num_rows)),
        }
    ).drop_null()
    order = numbered.sort_by([(name, "ascending") for name in ("node", "metric", "time", "row")])
    keep = np.ones(table.num_rows, dtype=bool)
    kept: tuple[int, int, int] | None = None
    for node, metric, time, row in zip(*(order.column(i).to_pylist() for i in range(4)), strict=True):
        repeated = (
            kept is not None and (node, metric) == kept[:2] and time - kept[2] <= REPEAT_SECONDS * _SECOND
        )
        if repeated:
            keep[row] = False
        else:
            kept = (node, metric, time)
    return table.filter(pa.array(keep)), int(table.num_rows - keep.sum())


FORMAT = LogFormat(
    name="ganglia",
    description="Ganglia XML of gmond or gmetad, one or more polls",
    events="one type per metric (cpu_user, load_one, ...); value, node, cluster",
    uncertainty="from TMAX before the sample arrived to 2 s after",
    example=(
        '<GANGLIA_XML VERSION="3.7" SOURCE="gmond">\n'
        '<CLUSTER NAME="c" LOCALTIME="1781417704"><HOST NAME="n7" REPORTED="1781417701" TN="3" TMAX="20">\n'
        '<METRIC NAME="load_one" VAL="0.46" TYPE="float" TN="12" TMAX="70"/>\n'
        "</HOST></CLUSTER></GANGLIA_XML>\n"
    ),
    page="logs-ganglia.md",
    reader=GangliaXml(),
    options={"drop_domain": "Ganglia"},
    repeats=Repeats(("node", "metric", "time"), drop_repeated_samples, REPEATED),
)
