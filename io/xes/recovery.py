"""Damaged or unusual XES, read by libxml2 as far as it goes; damage goes to the report.

It takes over from the place where expat stopped (expat_parser.py), or reads the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from lxml import etree

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import Reject
from cepctl.io.source.xml_mending import LOST, DocumentShape, Lost, Mending
from cepctl.io.source.xml_stream import Elements, XmlDocument, local_name
from cepctl.io.xes.attributes import EVENT, TRACE, attribute_values
from cepctl.io.xes.traces import CASE_PREFIX, OpenTrace, Traces

# Events are read once their trace is complete, or this many of them are, or the file has gone on so far.
_WAITING_EVENTS = 500
_WAITING_BYTES = 8 << 20
_CARRIED = object()
_SHAPE = DocumentShape({"log": 0, TRACE: 1}, frozenset({EVENT}), recovers=True)


def recover(traces: Traces, document: XmlDocument, before: bytes) -> Iterator[None]:
    """Add the events of what is left of a log, pausing whenever some have been added.

    `traces`: where the events go.  If a trace is open, it is the last one begun in `before`.  `document`: the
    log, of which some may have been read.  `before`: bytes to read before those that the document has left.

    Raises
    ------
    LogFormatError
        If the document is not XML, or has another root than `log`.
    """
    mending = Mending(_SHAPE, partial(_reject_lost, traces, document))
    elements = Elements(document.prolog, (f"{{*}}{EVENT}", f"{{*}}{TRACE}"), ("end",), mending=mending)
    tree = _Tree(traces, document)
    for element in _ended_elements(elements, document, before):
        kind = local_name(element.tag)
        tree.know_open_trace(element)
        if kind == TRACE:
            tree.trace_ended(element)
        elif kind != EVENT:
            tree.read_waiting()
        elif not tree.event_ended(element):
            continue
        yield
    _report_damage(elements, document, traces, tree.last_rejected)


class _Tree:
    """The elements that have ended and wait to be read.

    Attributes
    ----------
    last_rejected
        The number of the last event that was rejected, the first being 1; 0 where none was.
    """

    def __init__(self, traces: Traces, document: XmlDocument) -> None:
        self._traces = traces
        self._document = document
        self.last_rejected = 0
        self._read = 0
        self._waiting: list[Any] = []
        self._read_at = 0
        # The element of the open trace; None where that stands for events outside of traces.
        carried = traces.trace is not None and traces.trace.attributes is not None
        self._element: Any = _CARRIED if carried else None

    def know_open_trace(self, element: Any) -> None:
        """Find the trace that was open from the beginning, by any element: from now on it grows here."""
        trace = self._traces.trace
        if trace is not None and self._element is _CARRIED:
            self._element = next(element.getroottree().getroot().iterchildren(f"{{*}}{TRACE}"))
            trace.attributes = partial(attribute_values, self._element, CASE_PREFIX)

    def event_ended(self, element: Any) -> bool:
        """Let the event wait; returns whether those that wait were read."""
        self._waiting.append(element)
        far = self._document.chunks.read_bytes - self._read_at > _WAITING_BYTES
        if len(self._waiting) < _WAITING_EVENTS and not far:
            return False
        self.read_waiting()
        return True

    def trace_ended(self, element: Any) -> None:
        self.read_waiting(element)
        self._trace_of(element)
        self._traces.finish_trace()
        _drop(element)

    def read_waiting(self, ended: Any = None) -> None:
        """Read the events that wait; those of a trace that has ended are dropped with it."""
        for element in self._waiting:
            parent = element.getparent()
            cause = self._traces.add(self._trace_of(parent), attribute_values(element))
            self._read += 1
            if cause is not None:
                self.last_rejected = self._read
                text = etree.tostring(element, encoding="unicode", with_tail=False)
                self._traces.reject(cause, element.sourceline + self._document.blank_lines, text)
            if ended is None or parent is not ended:
                _drop(element)
        self._waiting.clear()
        self._read_at = self._document.chunks.read_bytes

    def _trace_of(self, element: Any) -> OpenTrace:
        """The open trace of this element; one for all the events that the log holds directly."""
        owner = element if element is not None and local_name(element.tag) == TRACE else None
        trace = self._traces.trace
        if trace is None or self._element is not owner:
            attributes = None if owner is None else partial(attribute_values, owner, CASE_PREFIX)
            trace = self._traces.open(attributes)
            self._element = owner
        return trace


def _drop(element: Any) -> None:
    """Forget an element that has ended, as far as the parser allows.

    It may still stand inside the parent, but never inside an element before this one.
    """
    previous = element.getprevious()
    element.clear()
    if previous is not None and isinstance(previous.tag, str) and local_name(previous.tag) in (EVENT, TRACE):
        element.getparent().remove(previous)


def _ended_elements(elements: Elements, document: XmlDocument, before: bytes) -> Iterator[Any]:
    """Every event and trace element once it is complete; at last the root, if there is one."""
    for data in chain([before], document):
        for _, element in elements.feed(data):
            yield element
    if not document.prolog.seen:
        return
    for _, element in elements.close():
        yield element
    _refuse_other_root(elements, document.prolog.place)
    yield elements.root


def _refuse_other_root(elements: Elements, source: str) -> None:
    root, problem = elements.root, elements.unreadable
    if problem is not None:
        raise LogFormatError(f"{source}:{problem.line}: {problem.message}")
    if root is None or local_name(root.tag) != "log":
        found = (
            "there is no root element" if root is None else f"the root element is <{local_name(root.tag)}>"
        )
        raise LogFormatError(f"{source}: not XES: {found}, a <log> was expected")


def _reject_lost(traces: Traces, document: XmlDocument, lost: Lost) -> None:
    line = lost.line + document.blank_lines
    traces.report.rejects.append(Reject(traces.source, line, LOST, lost.raw, lost.records))


def _report_damage(elements: Elements, document: XmlDocument, traces: Traces, last_rejected: int) -> None:
    # Only now: events are numbered by the records before them that were read, however they are parsed.
    traces.report.records += elements.lost_records
    damage = document.chunks.damage
    if damage is None:
        elements.tell_damage(traces.report, traces.source, document.blank_lines, last_rejected)
        return
    complaint = elements.complaint
    more = f" (and {complaint.count - 1} more complaints)" if complaint and complaint.count > 1 else ""
    traces.report.records += 1
    at = complaint.line + document.blank_lines if complaint else None
    traces.report.rejects.append(Reject(traces.source, at, "truncated input", f"{damage}{more}"))
