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
from typing import IO, Any, NamedTuple, Protocol

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
# What Ganglia writes, all of it in capitals.
_WRITTEN = _NAMES | {
    "SLOPE",
    "DMAX",
    "SOURCE",
    "LOCALTIME",
    "LOCATION",
    "GMOND_STARTED",
    "TAGS",
    "OWNER",
    "LATLONG",
    "URL",
    "AUTHORITY",
}
# So many elements that have ended may stay in the tree of a poll beside each other.
_MOST_KEPT = 1_000
# Fixed, because a batch may hold no number, or no text, at all.
_TYPES = {
    "value": pa.float64(),
    "tmax": pa.int64(),
    "stale": pa.bool_(),
} | dict.fromkeys(("value_text", "units", "node", "node_raw", "ip", "cluster", "grid", "group"), pa.string())


class _Attributes(Protocol):
    """Attributes by name."""

    def get(self, name: str, /) -> str | None: ...


class _Place(NamedTuple):
    """What the elements around samples say: attributes of the host, and the names of the others."""

    host: Mapping[str, str]
    cluster: str | None
    grid: str | None

    @property
    def raw(self) -> str | None:
        return self.host.get("NAME") or self.host.get("IP")

    @property
    def polled(self) -> int | None:
        """When the host was polled, in seconds since the epoch."""
        reported, age = _seconds(self.host.get("REPORTED")), _seconds(self.host.get("TN"))
        return reported + age if reported and age is not None else None


class _Sample(NamedTuple):
    """One METRIC, all attribute names upper case; its element says the rest while it is at hand."""

    first_line: int
    metric: _Attributes
    place: _Place
    element: Any

    @property
    def line(self) -> int:
        return self.first_line + int(self.element.sourceline or 1) - 1

    @property
    def group(self) -> str | None:
        if not len(self.element):
            return None
        extra = map(_by_name, self.element.iter("EXTRA_ELEMENT"))
        return next((item.get("VAL") for item in extra if item.get("NAME") == "GROUP"), None)


@dataclass
class _Poll:
    """The parser of one poll, and where in the tree it stands."""

    line: int
    elements: Elements
    around: dict[str, list[dict[str, str]]] = field(
        default_factory=lambda: {"GRID": [], "CLUSTER": [], "HOST": []}
    )
    place: _Place | None = None
    summaries: int = 0
    strangers: int = 0
    kept: int = 0

    def feed(self, part: PollPart) -> Iterator[_Sample]:
        yield from self._samples(self.elements.feed(part.data))
        if part.ends:
            yield from self._samples(self.elements.close())

    def _samples(self, parsed: Iterator[tuple[str, Any]]) -> Iterator[_Sample]:
        for event, element in parsed:
            tag = element.tag
            if tag == "METRIC":
                if event == "start":
                    continue
                place = self.place = self.place or self._place()
                yield _Sample(self.line, _by_name(element), place, element)
            elif tag in self.around:
                self.place = None
                if event == "start":
                    self.around[tag].append(_attributes(element))
                    continue
                self.around[tag].pop()
            elif event == "start":
                continue
            else:
                self.summaries += 1
            self._forget(element, tag)

    def _place(self) -> _Place:
        inner = {tag: levels[-1] if levels else {} for tag, levels in self.around.items()}
        return _Place(inner["HOST"], inner["CLUSTER"].get("NAME"), inner["GRID"].get("NAME"))

    def _forget(self, element: Any, tag: str) -> None:
        """Drop an element that has ended, and now and then those before it; what is strange is counted."""
        if tag != "METRIC":
            self.strangers += _has_text(element.text) + sum(map(_is_strange, element))
        element.clear(keep_tail=True)
        self.kept += 1
        if self.kept < _MOST_KEPT:
            return
        self.kept = 0
        while (before := element.getprevious()) is not None:
            self.strangers += _is_strange(before)
            element.getparent().remove(before)


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
        events = _Events(source, rows, report)
        for sample in _samples(chunks, source, report):
            events.add(sample)
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


@dataclass
class _Events:
    """The samples that become events: those that no earlier poll shows."""

    source: str
    rows: EventBatches
    report: ReadReport
    _last_arrival: dict[tuple[str | None, str], int] = field(default_factory=dict)
    _place: _Place | None = None
    _polled: int | None = None
    _node: str | None = None

    def add(self, sample: _Sample) -> None:
        self.report.records += 1
        metric = sample.metric.get("NAME")
        if not metric:
            raw = str(_attributes(sample.element))[:200]
            self.report.rejects.append(Reject(self.source, sample.line, "no metric name", raw))
            return
        if sample.place is not self._place:
            self._enter(sample.place)
        age = _seconds(sample.metric.get("TN"))
        arrival = None if self._polled is None or age is None else self._polled - age
        if arrival is not None and 0 < arrival <= LAST_SECOND:
            known = self._last_arrival.get((self._node, metric))
            if known is not None and abs(arrival - known) <= REPEAT_SECONDS:
                self.report.skipped[REPEATED] += 1
                return
            self._last_arrival[self._node, metric] = arrival
        else:
            arrival = None
        tmax = _seconds(sample.metric.get("TMAX")) or None
        before = _BEFORE_ARRIVAL + (tmax or DEFAULT_TMAX_SECONDS) * _SECOND
        micros = None if arrival is None else arrival * _SECOND
        attributes = self._attributes(sample, metric, tmax, age)
        self.rows.add(metric, micros, attributes, before=before, after=_AFTER_ARRIVAL)

    def _enter(self, place: _Place) -> None:
        self._place, self._polled = place, place.polled
        self._node = node_name(place.raw, self.rows.options.drop_domain)

    def _attributes(
        self, sample: _Sample, metric: str, tmax: int | None, age: int | None
    ) -> dict[str, Value]:
        value, text = _value(sample.metric)
        place = sample.place
        return {
            "metric": metric,
            "value": value,
            "value_text": text,
            "units": (sample.metric.get("UNITS") or "").strip() or None,
            "node": self._node,
            "node_raw": place.raw,
            "ip": place.host.get("IP"),
            "cluster": place.cluster,
            "grid": place.grid,
            "group": sample.group,
            "tmax": tmax,
            "stale": None if tmax is None or age is None else age > tmax,
        }


def _value(metric: _Attributes) -> tuple[float | None, str | None]:
    """A number, or the text where it is none; NaN and infinities are text."""
    text = metric.get("VAL")
    if text is None or metric.get("TYPE") == "string":
        return None, text
    try:
        number = float(text)
    except ValueError:
        return None, text
    return (number, None) if math.isfinite(number) else (None, text)


def _by_name(element: Any) -> _Attributes:
    """Attributes of which few are looked at; the element knows them where all are as Ganglia writes them."""
    known: _Attributes = element if _WRITTEN.issuperset(element.keys()) else _attributes(element)
    return known


def _attributes(element: Any) -> dict[str, str]:
    """Attributes by upper-case name: some exporters write them in lower case."""
    names = element.keys()
    if len(names) <= _MOST_ATTRIBUTES:
        return {name.upper(): value for name, value in element.items()}
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
