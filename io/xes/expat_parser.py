"""Whole and regular XES, read by expat, several times faster than libxml2 builds a tree of it.

What is not well-formed, not of the shape below, or might mean something else to libxml2, is left to
that parser from the last element on that was complete (recovery.py), so that a damaged log gives the
same events and the same report whoever met the damage.

    log      attributes and other elements, which are skipped; traces; events
    trace    attributes of different keys, then events
    event    attributes of different keys, at least one

    UTF-8, ISO-8859-1 or ASCII; no document type, no processing instruction, no namespace prefix
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from sys import intern
from xml.etree.ElementTree import Element, SubElement
from xml.parsers import expat

from cepctl.io.contract.natural_columns import Value
from cepctl.io.source.xml_stream import XmlDocument, comment_of_lines, complains
from cepctl.io.xes.attributes import (
    EVENT,
    NUMBER_KINDS,
    TEXT_KINDS,
    TRACE,
    attribute_pairs,
    nested_pair,
    typed_value,
)
from cepctl.io.xes.traces import CASE_PREFIX, OpenTrace, Traces

_ENCODINGS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})
_UTF16 = (b"\xfe\xff", b"\xff\xfe", b"\0", b"<\0")
# What is nested deeper, or takes more bytes without coming to an end, is not regular.
_DEEPEST = 100
_MOST_BYTES = 16 << 20
# In place of the depth at which attributes stand: there are none.
_NOWHERE = 0
# The same in a trace that has events: there are none, but more events.
_BEFORE_EVENT = -1

_Started = Callable[[str, list[str]], None]
_Ended = Callable[[str], None]


class _IrregularError(Exception):
    """The log is not of the shape that is read here."""


def read_regular(traces: Traces, document: XmlDocument) -> Generator[None, None, bytes | None]:
    """Add the events of a log while it is regular, pausing after every piece of it.

    Returns
    -------
    None if all was read.  Otherwise what another parser needs before the pieces that the document has
    left, to go on where this one stopped: the beginnings of all elements that are open, each on its line.
    """
    log = _RegularLog(traces, document)
    for data in document:
        if not log.parse(data):
            return log.rest()
        yield
    return None if not document.prolog.seen or log.parse(b"", last=True) else log.rest()


class _RegularLog:
    """One log in the hands of expat, with its bytes from the last complete element on."""

    def __init__(self, traces: Traces, document: XmlDocument) -> None:
        self._traces = traces
        self._document = document
        self._kept = _KeptBytes()
        self._encoding = "utf-8"
        # What stands before the first element of the log; what the open trace has before its first event.
        self._head: bytes | None = None
        self._case: dict[str, Value] = {}
        self._trace_head = b""
        self._trace_begin = 0
        self._trace_line: int | None = None
        # Whether a trace is open; it is that of `_traces` as soon as it has an event.
        self._in_trace = False
        self._trace: OpenTrace | None = None
        # Attributes of the open event or trace; one with a structure, and at which depth it stands.
        self._values: dict[str, Value] = {}
        self._nodes: list[Element] = []
        self._nodes_at = _NOWHERE
        self._parser = self._new_parser()

    def parse(self, data: bytes, *, last: bool = False) -> bool:
        """Read on; returns whether all was regular so far."""
        self._kept.content += data
        if self._head is None and self._kept.content.startswith(_UTF16):
            return False
        try:
            self._parser.Parse(data, last)
        except (expat.ExpatError, _IrregularError):
            return False
        self._forget()
        return len(self._kept.content) <= _MOST_BYTES

    def rest(self) -> bytes:
        """The beginnings of what is open, each on its line, and the bytes from there on."""
        self._forget()
        pieces = [] if self._head is None else [self._head]
        if self._trace is not None:
            pieces += [comment_of_lines((self._trace_line or 0) - _line_after(pieces)), self._trace_head]
        return b"".join(
            [*pieces, comment_of_lines(self._kept.line - _line_after(pieces)), self._kept.content]
        )

    def _forget(self) -> None:
        if self._trace is not None and self._trace_line is None:
            self._trace_line = self._kept.line_of(self._trace_begin)
        self._kept.forget()

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.ordered_attributes = True
        parser.XmlDeclHandler = self._declared
        parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = _irregular
        parser.StartElementHandler, parser.EndElementHandler = self._tag_handlers(parser)
        return parser

    def _tag_handlers(self, parser: expat.XMLParserType) -> tuple[_Started, _Ended]:
        """What expat calls for every tag: the most frequent ones are dealt with here, the others below."""
        # One text for each key instead of one for each attribute: later look-ups compare no characters.
        kept, values = self._kept, self._values
        depth, attributes_at = 0, _NOWHERE

        def started(tag: str, attributes: list[str]) -> None:
            nonlocal depth, attributes_at, values
            depth += 1
            if depth == attributes_at and len(attributes) == 4:
                first, key, second, value = attributes
                if first == "key" and second == "value" and key not in values:
                    if tag in TEXT_KINDS:
                        values[intern(key)] = value
                        return
                    if tag in NUMBER_KINDS:
                        values[intern(key)] = typed_value(tag, value)
                        return
            elif attributes_at == _BEFORE_EVENT and tag == EVENT and not attributes:
                kept.start = kept.opening = parser.CurrentByteIndex
                kept.closing = None
                attributes_at = 4
                return
            attributes_at = self._started(depth, attributes_at, tag, attributes)
            values = self._values

        def ended(_: str) -> None:
            nonlocal depth, attributes_at, values
            depth -= 1
            if depth == attributes_at - 1:
                return
            if depth == 2 and attributes_at == 4:
                self._event_ended()
                attributes_at = _BEFORE_EVENT
            else:
                attributes_at = self._ended(depth, attributes_at)
            values = self._values

        return started, ended

    def _declared(self, version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = (encoding or "utf-8").lower()
        if version != "1.0" or self._encoding not in _ENCODINGS:
            raise _IrregularError

    def _started(self, depth: int, attributes_at: int, tag: str, attributes: list[str]) -> int:
        """Any other element; returns at which depth attributes stand from now on."""
        if depth == 1:
            if tag != "log":
                raise _IrregularError
            return _NOWHERE
        if attributes or tag not in (EVENT, TRACE):
            _require_plain(depth, tag, attributes)
        if self._nodes:
            self._nodes.append(_below(self._nodes[-1], tag, attributes))
            return _NOWHERE
        if depth == 2:
            return self._started_in_log(tag)
        if tag == EVENT and depth == 3 and self._in_trace:
            return self._event_started()
        if tag in (EVENT, TRACE) or attributes_at == _BEFORE_EVENT:
            raise _IrregularError
        if attributes_at != _NOWHERE:
            # Either it is an attribute, or it stands below a plain one.
            node = Element("")
            self._nodes, self._nodes_at = [node, _below(node, tag, attributes)], attributes_at
        return _NOWHERE

    def _started_in_log(self, tag: str) -> int:
        here = self._parser.CurrentByteIndex
        if self._head is None:
            head = self._kept.between(0, here)
            if complains(head):
                raise _IrregularError
            self._head = head
        self._kept.start = self._kept.opening = here
        self._kept.closing = None
        self._in_trace = tag == TRACE
        return 3 if tag in (EVENT, TRACE) else _NOWHERE

    def _event_started(self) -> int:
        """An event of a trace; before its first one ends, another parser starts with the trace."""
        here = self._kept.opening = self._parser.CurrentByteIndex
        if self._trace is None:
            self._trace_begin, self._trace_line = self._kept.start, None
            self._trace_head = self._kept.between(self._kept.start, here)
            self._case, self._values = self._values, {}
        else:
            self._kept.start = here
        self._kept.closing = None
        return 4

    def _ended(self, depth: int, attributes_at: int) -> int:
        """The end of any other element; returns at which depth attributes stand from now on."""
        if self._nodes:
            return self._ended_below_attribute(depth)
        if depth == 1:
            if self._in_trace:
                self._trace_ended()
            elif attributes_at == 3:
                self._event_ended()
            self._kept.closing = self._parser.CurrentByteIndex
        return _NOWHERE

    def _ended_below_attribute(self, depth: int) -> int:
        if depth >= self._nodes_at:
            self._nodes.pop()
            return _NOWHERE
        if len(self._nodes) == 1:
            pairs = [nested_pair(next(reversed(self._values)), self._nodes[0])]
        else:
            pairs = list(attribute_pairs(self._nodes[0]))
        if not self._values.keys().isdisjoint(dict(pairs)):
            raise _IrregularError
        self._values.update(pairs)
        self._nodes.clear()
        return self._nodes_at

    def _event_ended(self) -> None:
        if not self._values:
            raise _IrregularError
        self._kept.closing = self._parser.CurrentByteIndex
        cause = self._traces.add(self._trace or self._first_in_trace(), self._values)
        self._values = {}
        if cause is not None:
            line = self._kept.opening_line() + self._document.blank_lines
            self._traces.reject(cause, line, self._kept.element().decode(self._encoding))

    def _first_in_trace(self) -> OpenTrace:
        """The trace of an event that is the first of its trace, or stands outside of traces."""
        if not self._in_trace:
            return self._traces.trace or self._traces.open(None)
        case = {intern(CASE_PREFIX + name): value for name, value in self._case.items()}
        self._trace = self._traces.open(lambda: case)
        return self._trace

    def _trace_ended(self) -> None:
        if self._trace is None:
            self._case, self._values = self._values, {}
            self._first_in_trace()
        self._traces.finish_trace()
        self._in_trace, self._trace = False, None


@dataclass
class _KeptBytes:
    """The bytes of the document from the last element on that is complete.

    Places are numbers of bytes in the document.

    Attributes
    ----------
    begin, line
        The place of the first byte kept, and its line.
    start
        Where another parser can go on, unless an element has ended since then.
    opening, closing
        Where the last element begins (None: no longer known), and where its end tag, if it has ended;
        an element of a single tag ends at `closing`.
    """

    content: bytearray = field(default_factory=bytearray)
    begin: int = 0
    line: int = 1
    start: int = 0
    opening: int | None = None
    closing: int | None = None

    def between(self, first: int, end: int) -> bytes:
        return bytes(self.content[first - self.begin : end - self.begin])

    def line_of(self, place: int) -> int:
        return self.line + self.content.count(b"\n", 0, place - self.begin)

    def opening_line(self) -> int:
        """The line on which the first tag of the last element ends, which is how libxml2 counts."""
        tag_end = self.content.index(b">", (self.opening or 0) - self.begin)
        return self.line_of(tag_end + self.begin)

    def element(self) -> bytes:
        """The element that ended last."""
        return self.between(self.opening or 0, self._after_closing())

    def forget(self) -> None:
        """Let go of what is complete."""
        if self.closing is not None:
            self.start, self.opening, self.closing = self._after_closing(), None, None
        self.line = self.line_of(self.start)
        del self.content[: self.start - self.begin]
        self.begin = self.start

    def _after_closing(self) -> int:
        end = (self.closing or 0) - self.begin
        if self.opening is not None:
            begin = self.opening - self.begin
            if self.content.find(b"<", begin + 1, end) < 0 and self.content.endswith(b"/>", begin, end):
                return end + self.begin
        return self.content.index(b">", end) + 1 + self.begin


def _require_plain(depth: int, tag: str, attributes: Sequence[str]) -> None:
    """Refuse names that mean something else with namespaces, which are not looked at here."""
    if depth > _DEEPEST:
        raise _IrregularError
    for name in (tag, *attributes[::2]):
        if ":" in name or name == "xmlns":
            raise _IrregularError


def _below(parent: Element, tag: str, attributes: Sequence[str]) -> Element:
    return SubElement(parent, tag, dict(zip(attributes[::2], attributes[1::2], strict=True)))


def _irregular(*_: object) -> None:
    raise _IrregularError


def _line_after(pieces: Sequence[bytes]) -> int:
    return 1 + sum(piece.count(b"\n") for piece in pieces)
