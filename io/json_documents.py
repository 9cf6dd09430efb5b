"""Concatenated JSON objects, read as a stream: large arrays in them come element by element.

A file of such documents is neither JSON lines nor an array: objects follow each other, as a rule
over many lines each.  Memory holds one element of a streamed array and the other members of one
document at a time.

Behind damage, reading goes on at the next line that begins with `{`, where printed documents begin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import ijson
from ijson.common import ObjectBuilder

from cepctl.io.reading import ReadReport, Reject
from cepctl.io.streams import Chunks

BOM = b"\xef\xbb\xbf"

_DAMAGE = (ijson.JSONError, ValueError, ArithmeticError)
_OPENING = frozenset({"start_map", "start_array"})
_CLOSING = frozenset({"end_map", "end_array"})


@dataclass(frozen=True)
class Element:
    """An element of a streamed array, the member `key` of a document whose `members` are those so far."""

    key: str
    value: Any
    members: dict[str, Any]


@dataclass(frozen=True)
class Document:
    """A document that ended, or that damage ended: the line it begins on, its members but the streamed.

    What is no object has no members.
    """

    line: int
    members: dict[str, Any]


@dataclass
class _Reading:
    """Where in the documents the parser stands."""

    streamed: Collection[str]
    depth: int = 0
    is_object: bool = True
    line: int = 1
    key: str = ""
    members: dict[str, Any] = field(default_factory=dict)
    builder: ObjectBuilder | None = None
    built_at: int = 0

    def take(self, event: str, value: Any, line: int) -> Element | Document | None:
        """What is complete with this event of the parser."""
        if self.depth == 0 and event not in _CLOSING:
            self.line, self.key, self.members = line, "", {}
            self.is_object = event == "start_map"
        if isinstance(value, Decimal):
            value = float(value)
        if event in _CLOSING:
            self.depth -= 1
        complete = self._complete(event, value) if self.is_object else self._stray(event)
        if event in _OPENING:
            self.depth += 1
        return complete

    def _stray(self, event: str) -> Document | None:
        return Document(self.line, {}) if self.depth == 0 and event not in _OPENING else None

    def _complete(self, event: str, value: Any) -> Element | Document | None:
        if self.builder is not None:
            self.builder.event(event, value)
            if event in _OPENING or self.depth > self.built_at:
                return None
            built, self.builder = self.builder.value, None
            return self._member(built)
        if self.depth == 1 and event == "map_key":
            self.key = value
        elif event == "end_map" and self.depth == 0:
            return Document(self.line, self.members)
        elif event in _OPENING and self._holds_value():
            self.builder, self.built_at = ObjectBuilder(), self.depth
            self.builder.event(event, value)
        elif event not in _OPENING and event not in _CLOSING:
            return self._member(value)
        return None

    def _holds_value(self) -> bool:
        """Whether what opens here is a value of its own: a member, or an element of a streamed array."""
        return self.depth == 2 or (self.depth == 1 and self.key not in self.streamed)

    def _member(self, value: Any) -> Element | None:
        if self.key in self.streamed and self.depth == 2:
            return Element(self.key, value, self.members)
        self.members[self.key] = value
        return None

    def given_up(self) -> Document | None:
        """The document that damage ended, so far as it was read."""
        inside, self.depth, self.builder = self.depth > 0, 0, None
        return Document(self.line, self.members) if inside and self.members else None


def read_documents(
    chunks: Chunks, streamed: Collection[str], source: str, report: ReadReport
) -> Iterator[Element | Document]:
    """The documents of a file, each behind the elements of its arrays called `streamed`.

    Damage is one reject, with the line on which its document begins; what was read of it is kept.
    """
    reading = _Reading(streamed)
    parser: _Parser | None = _Parser()
    line = 1
    for first, segment in _segments(chunks):
        begin = line + segment.startswith(b"\n")
        if first and parser is None:
            parser = _Parser()
        if parser is not None:
            inside = reading.depth > 0
            found, parser = _fed(parser, segment, reading, begin, source, report)
            yield from found
            if parser is None and first and inside:
                # The document before was cut short: this one may be whole.
                found, parser = _fed(_Parser(), segment, reading, begin, source, report)
                yield from found
        line += segment.count(b"\n")
    if parser is not None:
        yield from _fed(parser, None, reading, line, source, report)[0]


class _Parser:
    """ijson's push parser: bytes in, events out; damage is answered with the complaint."""

    def __init__(self) -> None:
        self.events: Any = ijson.sendable_list()
        self._parser = ijson.basic_parse_coro(self.events, multiple_values=True)
        self._blank = True

    def feed(self, data: bytes | None) -> str | None:
        """Collect the events in the data; None says that nothing follows."""
        self._blank = self._blank and not (data or b"").strip()
        try:
            if data is not None:
                self._parser.send(data)
            elif not self._blank:
                self._parser.close()
        except _DAMAGE as problem:
            said = problem.args[0] if problem.args else ""
            text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
            return text.split("\n")[0]
        return None


def _fed(
    parser: _Parser, data: bytes | None, reading: _Reading, line: int, source: str, report: ReadReport
) -> tuple[list[Element | Document], _Parser | None]:
    """What the data completes, and the parser where it can go on."""
    complaint = parser.feed(data)
    taken = (reading.take(event, value, line) for event, value in parser.events)
    found = [part for part in taken if part is not None]
    del parser.events[:]
    if complaint is None:
        return found, parser
    return [*found, *_damaged(reading, line, complaint, source, report)], None


def _damaged(
    reading: _Reading, line: int, complaint: str, source: str, report: ReadReport
) -> Iterable[Document]:
    place = reading.line if reading.depth > 0 else line
    report.records += 1
    report.rejects.append(Reject(source, place, "damaged or cut JSON, kept so far as it goes", complaint))
    document = reading.given_up()
    return [] if document is None else [document]


def _segments(chunks: Chunks) -> Iterator[tuple[bool, bytes]]:
    r"""The bytes of the file, cut where a line begins with `{`; each with whether it begins so."""
    held, begins = b"", True
    for chunk in chunks:
        data = held + chunk
        held = b""
        if begins:
            data = data.removeprefix(BOM)
        if data.endswith(b"\n"):
            data, held = data[:-1], b"\n"
        first, *others = data.split(b"\n{")
        if first:
            yield begins, first
        begins = False
        for other in others:
            yield True, b"\n{" + other
    if held:
        yield False, held


def first_members(head: bytes, streamed: Collection[str]) -> frozenset[str]:
    """The names of the members of the first document, as far as the beginning of its file shows them."""
    if not head.removeprefix(BOM).lstrip().startswith(b"{"):
        return frozenset()
    reading, parser = _Reading(streamed), _Parser()
    parser.feed(head.removeprefix(BOM))
    names = set()
    for event, value in parser.events:
        if isinstance(reading.take(event, value, 1), Document):
            break
        names.add(reading.key)
    return frozenset(names)
