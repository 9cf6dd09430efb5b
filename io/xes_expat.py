"""Whole and regular XES, read by expat, several times faster than libxml2 builds a tree of it.

What is not well-formed, not of the shape below, or might mean something else to libxml2, is left to
that parser from the last element on that was complete (xes_recovery.py), so that a damaged log gives the
same events and the same report whoever met the damage.

    log      attributes and other elements, which are skipped; traces; events
    trace    attributes, then events
    event    attributes, at least one

    UTF-8, ISO-8859-1 or ASCII; no document type, no processing instruction, no namespace prefix
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from xml.etree.ElementTree import Element, SubElement
from xml.parsers import expat

from cepctl.io.batches import Value
from cepctl.io.xes_attributes import (
    EVENT,
    NUMBER_KINDS,
    TEXT_KINDS,
    TRACE,
    attribute_pairs,
    merged,
    nested_pair,
    typed_value,
)
from cepctl.io.xes_traces import CASE_PREFIX, OpenTrace, Traces
from cepctl.io.xml_source import Document, complains

_ENCODINGS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xfe\xff", b"\xff\xfe", b"\0", b"<\0")
# What is nested deeper, or takes more bytes without coming to an end, is not regular.
_DEEPEST = 100
_MOST_BYTES = 16 << 20
_LINES = 1 << 20
# In place of the depth at which attributes stand: there are none.
_NOWHERE = 0

_Started = Callable[[str, list[str]], None]
_Ended = Callable[[str], None]


class _IrregularError(Exception):
    """The log is not of the shape that is read here."""


def read_regular(traces: Traces, document: Document) -> Generator[None, None, bytes | None]:
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

    def __init__(self, traces: Traces, document: Document) -> None:
        self._traces = traces
        self._document = document
        self._kept = _KeptBytes()
        self._encoding = "utf-8"
        # What stands before the first element of the log; the open trace before its first event.
        self._head: bytes | None = None
        self._trace_head = b""
        self._trace_line = 0
        # The open trace, which is that of `_traces` once it has an event; the open event, by its line.
        self._in_trace = False
        self._trace: OpenTrace | None = None
        self._event: int | None = None
        # Attributes of the open event or trace, the depth they stand at, and the one that has a structure.
        self._pairs: list[tuple[str, Value]] = []
        self._case: dict[str, Value] = {}
        self._attributes_at = _NOWHERE
        self._nodes: list[Element] = []
        self._parser = self._new_parser()

    def parse(self, data: bytes, *, last: bool = False) -> bool:
        """Read on; returns whether all was regular so far."""
        self._kept.append(data)
        if self._head is None and self._kept.content.startswith(_UTF16):
            return False
        try:
            self._parser.Parse(data, last)
        except (expat.ExpatError, _IrregularError):
            return False
        self._kept.forget()
        return len(self._kept.content) <= _MOST_BYTES

    def rest(self) -> bytes:
        """The beginnings of what is open, each on its line, and the bytes from there on."""
        self._kept.forget()
        pieces = []
        if self._head is not None:
            pieces.append(self._head)
        if self._trace is not None:
            pieces += [*_lines(self._trace_line - _line_after(pieces)), self._trace_head]
        return b"".join([*pieces, *_lines(self._kept.line - _line_after(pieces)), self._kept.content])

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.ordered_attributes = True
        parser.XmlDeclHandler = self._declared
        parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = _irregular
        parser.StartElementHandler, parser.EndElementHandler = self._tag_handlers()
        return parser

    def _tag_handlers(self) -> tuple[_Started, _Ended]:
        """What expat calls for every tag: attributes of one value are taken here, the rest below."""
        take, started_otherwise, ended_otherwise = self._pairs.append, self._started, self._ended
        depth, attributes_at = 0, _NOWHERE

        def started(tag: str, attributes: list[str]) -> None:
            nonlocal depth, attributes_at
            depth += 1
            if depth == attributes_at and len(attributes) == 4:
                first, key, second, value = attributes
                if first == "key" and second == "value":
                    if tag in TEXT_KINDS:
                        take((key, value))
                        return
                    if tag in NUMBER_KINDS:
                        take((key, typed_value(tag, value)))
                        return
            attributes_at = started_otherwise(depth, tag, attributes)

        def ended(_: str) -> None:
            nonlocal depth, attributes_at
            depth -= 1
            if depth != attributes_at - 1:
                attributes_at = ended_otherwise(depth)

        return started, ended

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = (encoding or "utf-8").lower()
        marked = self._kept.content.startswith(_UTF8_MARK)
        if self._encoding not in _ENCODINGS or (marked and self._encoding != "utf-8"):
            raise _IrregularError

    def _started(self, depth: int, tag: str, attributes: list[str]) -> int:
        """An element other than a plain attribute; returns at which depth attributes stand from now on."""
        if depth == 1:
            if tag != "log":
                raise _IrregularError
            return _NOWHERE
        _require_plain(depth, tag, attributes)
        if self._nodes:
            self._nodes.append(_below(self._nodes[-1], tag, attributes))
        elif depth == 2:
            self._started_in_log(tag)
        elif tag == EVENT and self._in_trace and depth == 3:
            self._event_started()
        elif tag in (EVENT, TRACE):
            raise _IrregularError
        elif self._attributes_at:
            # Either it is the attribute, or it stands below a plain one.
            node = Element("")
            self._nodes = [node, _below(node, tag, attributes)]
        elif self._in_trace:
            raise _IrregularError
        return _NOWHERE if self._nodes else self._attributes_at

    def _started_in_log(self, tag: str) -> None:
        here, line = self._parser.CurrentByteIndex, self._parser.CurrentLineNumber
        if self._head is None:
            self._head = self._kept.between(0, here)
            if complains(self._head):
                self._head = None
                raise _IrregularError
        self._kept.opened(here, line, start=True)
        if tag == TRACE:
            self._in_trace, self._trace_line, self._attributes_at = True, line, 3
        elif tag == EVENT:
            self._event, self._attributes_at = line, 3

    def _event_started(self) -> None:
        here, self._event = self._parser.CurrentByteIndex, self._parser.CurrentLineNumber
        if self._trace is None:
            self._case_known()
            self._trace_head = self._kept.from_start(here)
        self._kept.opened(here, self._event, start=self._trace is not None)
        self._attributes_at = 4

    def _case_known(self) -> None:
        self._case = merged([(CASE_PREFIX + name, value) for name, value in self._pairs])
        self._pairs.clear()

    def _ended(self, depth: int) -> int:
        """The end of something other than a plain attribute; returns what `_started` returns."""
        if self._nodes:
            return self._ended_below_attribute(depth)
        if self._event is not None:
            self._event_ended()
        elif depth == 1:
            self._kept.closing = self._parser.CurrentByteIndex
            if self._in_trace:
                self._trace_ended()
        return self._attributes_at

    def _ended_below_attribute(self, depth: int) -> int:
        if depth >= self._attributes_at:
            self._nodes.pop()
            return _NOWHERE
        if len(self._nodes) == 1:
            self._pairs.append(nested_pair(self._pairs[-1][0], self._nodes[0]))
        else:
            self._pairs += attribute_pairs(self._nodes[0])
        self._nodes.clear()
        return self._attributes_at

    def _event_ended(self) -> None:
        if not self._pairs:
            raise _IrregularError
        if not self._in_trace:
            trace = self._traces.trace or self._traces.open(None)
        elif self._trace is None:
            trace = self._trace = self._traces.open(partial(dict, self._case))
        else:
            trace = self._trace
        self._kept.closing = self._parser.CurrentByteIndex
        cause = self._traces.add(trace, merged(self._pairs))
        if cause is not None:
            text = self._kept.element().decode(self._encoding)
            self._traces.reject(cause, (self._event or 0) + self._document.blank_lines, text)
        self._pairs.clear()
        self._event, self._attributes_at = None, _NOWHERE

    def _trace_ended(self) -> None:
        if self._trace is None:
            self._case_known()
            self._traces.open(partial(dict, self._case))
        self._traces.finish_trace()
        self._in_trace, self._trace, self._attributes_at = False, None, _NOWHERE


@dataclass
class _KeptBytes:
    """The bytes of the document from the last element on that is complete.

    Places are numbers of bytes in the document.

    Attributes
    ----------
    begin
        The place of the first byte kept.
    start, line
        Where another parser can go on, and on which line, unless an element has ended since then.
    opening, closing
        Where the last element begins (None: no longer known), and where its end tag, if it has ended;
        one without an end tag ends at `closing`.
    """

    content: bytearray = field(default_factory=bytearray)
    begin: int = 0
    start: int = 0
    line: int = 1
    opening: int | None = None
    closing: int | None = None

    def append(self, data: bytes) -> None:
        self.content += data

    def between(self, first: int, end: int) -> bytes:
        return bytes(self.content[first - self.begin : end - self.begin])

    def from_start(self, end: int) -> bytes:
        """The bytes from where another parser would go on."""
        return self.between(self.start, end)

    def element(self) -> bytes:
        """The element that ended last."""
        return self.between(self.opening or 0, self._after_closing())

    def opened(self, here: int, line: int, *, start: bool) -> None:
        """An element begins here; another parser can `start` with it, or only with what it stands in."""
        self.opening, self.closing = here, None
        if start:
            self.start, self.line = here, line

    def forget(self) -> None:
        """Let go of what is complete."""
        if self.closing is not None:
            end = self._after_closing()
            self.line += self.content.count(b"\n", self.start - self.begin, end - self.begin)
            self.start, self.opening, self.closing = end, None, None
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
    """Names that mean the same with and without namespaces, in every edition of XML."""
    if depth > _DEEPEST:
        raise _IrregularError
    for name in (tag, *attributes[::2]):
        if ":" in name or name == "xmlns" or not name.isascii():
            raise _IrregularError


def _below(parent: Element, tag: str, attributes: Sequence[str]) -> Element:
    return SubElement(parent, tag, dict(zip(attributes[::2], attributes[1::2], strict=True)))


def _irregular(*_: object) -> None:
    raise _IrregularError


def _line_after(pieces: Sequence[bytes]) -> int:
    return 1 + sum(piece.count(b"\n") for piece in pieces)


def _lines(count: int) -> list[bytes]:
    """So many lines that hold nothing: comments, which may be long together, but not one by one."""
    return [b"<!--" + b"\n" * min(_LINES, count - done) + b"-->" for done in range(0, count, _LINES)]
