"""Damaged or unusual polls, read by libxml2 as far as it goes; damage goes to the report.

It takes over from the place where expat stopped (regular_polls.py), or reads the whole poll.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.ganglia.sample_columns import (
    PLACE_FIELDS,
    ROOT,
    SAMPLE_FIELDS,
    SUMMARIES,
    Place,
    Sample,
    SampleColumns,
    by_upper_name,
)
from cepctl.io.source.xml_mending import LOST, DocumentShape, Lost, Mending
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import Complaint, Elements

_TAGS = ("GRID", "CLUSTER", "HOST", "METRIC", "METRICS")
_SHAPE = DocumentShape(
    {ROOT: 0, "GRID": 1, "CLUSTER": 2, "HOST": 3},
    frozenset({"METRIC", *SUMMARIES}),
    nests=frozenset({"GRID"}),
)
_KNOWN = frozenset({*_TAGS, "HOSTS", "EXTRA_DATA"})
# What is read of an element; of one with more attributes than this only the first are looked at.
_NAMES = frozenset({*SAMPLE_FIELDS, *PLACE_FIELDS})
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
_STRANGE = "not an element that Ganglia writes, but one with a name"
_NAMED = re.compile(r"NAME\s*=", re.IGNORECASE)
# So many elements that have ended may stay in the tree of a poll beside each other.
_MOST_KEPT = 1_000
_Found = tuple[Place, tuple[Sample, str | None]]


class _Attributes(Protocol):
    """Attributes by name."""

    def get(self, name: str, /) -> str | None: ...


class RecoveredPoll:
    """The parser of one poll, and where in the tree it stands.

    Attributes
    ----------
    summaries
        How many summaries of metrics were passed over.
    strangers
        How many elements and texts Ganglia does not write, without a name: others are rejects.
    """

    def __init__(
        self, columns: SampleColumns, prolog: Prolog, report: ReadReport, source: str, line: int
    ) -> None:
        """A poll that begins on this line of the source; `prolog` checks its beginning."""
        self.summaries = self.strangers = 0
        self._columns, self._report = columns, report
        self._elements = Elements(prolog, _TAGS, ("start", "end"), mending=Mending(_SHAPE, self._reject_lost))
        self._source, self._line = source, line
        self._around: dict[str, list[dict[str, str]]] = {"GRID": [], "CLUSTER": [], "HOST": []}
        self._place: Place | None = None
        self._kept = 0

    @property
    def complaint(self) -> Complaint | None:
        """What is wrong with what was read so far, by its line in the file."""
        found = self._elements.complaint
        return found and replace(found, line=self._line + found.line - 1)

    def read(self, data: bytes, *, last: bool = False) -> None:
        """Read on, and take the samples that are complete.

        Raises
        ------
        LogFormatError
            If the poll declares entities, or has no root element within 1 MiB.
        """
        self._take(self._samples(self._elements.feed(data)))
        if last:
            self._take(self._samples(self._elements.close()))

    def _take(self, found: Iterator[_Found]) -> None:
        for place, samples in groupby(found, itemgetter(0)):
            self._columns.add(place, [sample for _, sample in samples])

    def _samples(self, parsed: Iterator[tuple[str, Any]]) -> Iterator[_Found]:
        for event, element in parsed:
            tag = element.tag
            if tag == "METRIC":
                if event == "start":
                    continue
                place = self._place = self._place or self._innermost()
                attributes = _by_name(element)
                sample: Any = tuple(map(attributes.get, SAMPLE_FIELDS))
                if sample[0]:
                    yield place, (sample, _group(element))
                else:
                    self._reject(element)
            elif tag in self._around:
                self._place = None
                if event == "start":
                    self._around[tag].append(_attributes(element))
                    continue
                self._around[tag].pop()
            elif event == "start":
                continue
            else:
                self.summaries += 1
            self._forget(element, tag)

    def _innermost(self) -> Place:
        inner = {tag: levels[-1] if levels else {} for tag, levels in self._around.items()}
        names = (inner[tag].get("NAME") for tag in ("CLUSTER", "GRID"))
        return Place(*map(inner["HOST"].get, PLACE_FIELDS), *names)

    def _reject_lost(self, lost: Lost) -> None:
        self._report.records += lost.records
        line = self._line + lost.line - 1
        self._report.rejects.append(Reject(self._source, line, LOST, lost.raw, lost.records))

    def _reject(self, element: Any, cause: str = "no metric name", text: str | None = None) -> None:
        line = self._line + int(element.sourceline or 1) - 1
        self._report.records += 1
        self._report.rejects.append(
            Reject(self._source, line, cause, text or str(_attributes(element))[:200])
        )

    def _forget(self, element: Any, tag: str) -> None:
        """Drop an element that has ended, and now and then those before it; what is strange is counted."""
        if tag != "METRIC":
            self._count_text(element.text, element)
            for child in element:
                self._count_strange(child)
        element.clear(keep_tail=True)
        self._kept += 1
        if self._kept < _MOST_KEPT:
            return
        self._kept = 0
        while (before := element.getprevious()) is not None:
            self._count_strange(before)
            element.getparent().remove(before)

    def _count_strange(self, element: Any) -> None:
        """Note that Ganglia never writes such an element, or the text after it."""
        if element.tag not in _KNOWN:
            if _attributes(element).get("NAME") is None:
                self.strangers += 1
            else:
                self._reject(element, _STRANGE)
        self._count_text(element.tail, element)

    def _count_text(self, text: str | None, near: Any) -> None:
        if text is None or text.isspace():
            return
        if _NAMED.search(text):
            self._reject(near, _STRANGE, text)
        else:
            self.strangers += 1


def _group(metric: Any) -> str | None:
    if not len(metric):
        return None
    extra = map(_by_name, metric.iter("EXTRA_ELEMENT"))
    return next((item.get("VAL") for item in extra if item.get("NAME") == "GROUP"), None)


def _by_name(element: Any) -> _Attributes:
    """Attributes of which few are looked at; the element knows them where all are as Ganglia writes them."""
    known: _Attributes = element if _WRITTEN.issuperset(element.keys()) else _attributes(element)
    return known


def _attributes(element: Any) -> dict[str, str]:
    """Attributes by upper-case name."""
    names = element.keys()
    if len(names) <= _MOST_ATTRIBUTES:
        return by_upper_name(element.items())
    # All values together would take time that grows with the square of their number.
    return {name.upper(): str(element.get(name)) for name in names if name.upper() in _NAMES}
