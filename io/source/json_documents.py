r"""Concatenated JSON objects, read as a stream: large arrays in them come element by element.

A file of such documents is neither JSON lines nor an array: objects follow each other, as a rule
over many lines each.  Memory holds one element of a streamed array and the other members of one
document at a time.

Behind damage, reading goes on at the next record (json_recovery.py), where the reader can tell records, or at
the next line that begins with `{`, where printed documents begin.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.contract.unicode_text import NOT_UNICODE
from cepctl.io.source.json_recovery import DAMAGED, Records, RecordSearch
from cepctl.io.source.json_text import DamagedError, JsonText, NotUnicodeValueError

NESTED = "an array stands where a record should: its elements are read"
_SHOWN = 1_000
ELEMENTS = "[]"
"""The member that an array at the outside of a file is read as."""


@dataclass(frozen=True)
class Element:
    """An element of a streamed array, the member `key` of a document whose `members` are those so far.

    `line` is the line on which it ends.
    """

    key: str
    value: Any
    members: dict[str, Any]
    line: int | None = None


@dataclass(frozen=True)
class JsonDocument:
    """A document that ended, or that damage ended: its members but the streamed.

    `whole` says that it ended by itself; `line` is the line on which it begins; `missing` are the
    streamed arrays that a whole document does not have; `hidden` is how many records stand in members that
    are none of them, by their sign (json_recovery.py).
    """

    line: int
    members: dict[str, Any]
    whole: bool = True
    missing: tuple[str, ...] = ()
    hidden: int = 0


@dataclass
class _Documents:
    """The documents of a text; `names` are the members of the current one that began so far."""

    text: JsonText
    streamed: Collection[str]
    source: str
    report: ReadReport
    records: Records | None = None
    members: dict[str, Any] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    hidden: int = 0

    def elements(self) -> Iterator[Element]:
        """Read one document: the elements of its streamed arrays now, the rest into `members`."""
        self.members, self.names, self.hidden = {}, [], 0
        ends = False
        try:
            self.text.next_of("{")
            if self.text.peek() == "}":
                self.text.next_of("}")
                return
        except DamagedError as problem:
            ends = yield from self._records_behind(problem)
        while not ends:
            try:
                yield from self._member()
                ends = self.text.next_of(",}") == "}"
            except DamagedError as problem:
                ends = yield from self._records_behind(problem)

    def _member(self) -> Iterator[Element]:
        try:
            name = self._name()
            if name in self.streamed and self.text.peek() == "[":
                self.text.next_of("[")
                yield from self._array(name)
            else:
                self.members[name] = self.text.value()
                self._count_hidden()
        except NotUnicodeValueError as problem:
            self._leave_out(problem)

    def _records_behind(self, problem: DamagedError) -> Generator[Element, None, bool]:
        """The records behind damage outside of arrays; returns whether the document ends with their array."""
        if self.records is None or isinstance(problem, _ToldError):
            raise problem
        name = next(iter(self.streamed))
        name = yield from self._behind_damage(name, problem)
        self.names.append(name)
        if self.text.next_of(",]") == ",":
            yield from self._elements(name)
        return self.text.next_of(",}") == "}"

    def _count_hidden(self) -> None:
        self.hidden += self._records_in(self.text.begun, self.text.position)

    def _records_in(self, begin: int, end: int) -> int:
        """How many records stand in a part of the text, by their sign."""
        return 0 if self.records is None else self.text.text.count(self.records.sign, begin, end)

    def _leave_out(self, problem: NotUnicodeValueError) -> None:
        """Go on behind a member whose value, or whose name, is not Unicode: all records in it are lost."""
        line, lost = self.text.line(), self._records_in(self.text.position, problem.end)
        self.text.position = problem.end
        if self.text.peek() == ":":
            self.text.next_of(":")
            self.text.value()
            lost += self._records_in(self.text.begun, self.text.position)
        count = max(lost, 1)
        self.report.records += count
        self.report.rejects.append(
            Reject(self.source, line, NOT_UNICODE, repr(problem.value)[:_SHOWN], count)
        )

    def _name(self) -> str:
        if self.text.peek() != '"':
            raise DamagedError("not the name of a member")
        name = str(self.text.value())
        self.text.next_of(":")
        self.names.append(name)
        return name

    def _array(self, name: str) -> Iterator[Element]:
        if self.text.peek() == "]":
            self.text.next_of("]")
        else:
            yield from self._elements(name)

    def _elements(self, name: str) -> Iterator[Element]:
        """The elements of an array from the next one on, to the end of the array."""
        while True:
            try:
                element = Element(name, self.text.value(), self.members, self.text.line())
            except DamagedError as problem:
                name = yield from self._behind_damage(name, problem)
            else:
                yield element
            try:
                ends = self.text.next_of(",]") == "]"
            except DamagedError as problem:
                name = yield from self._behind_damage(name, problem)
                ends = self.text.next_of(",]") == "]"
            if ends:
                return

    def _behind_damage(self, name: str, problem: DamagedError) -> Generator[Element, None, str]:
        """The records behind damage, until an array goes on; returns which."""
        if self.records is None:
            raise problem
        search = RecordSearch(self.text, self.records, name, self.source, self.report)
        found = search.run(problem, self.names[0] if self.names else "")
        while True:
            try:
                record = next(found)
            except StopIteration as end:
                if not end.value:
                    raise _ToldError("") from problem
                return name
            name = record.key
            yield Element(name, record.value, self.members, self.text.line())


class _ToldError(DamagedError):
    """Damage that has been told of, behind which the document does not go on."""


def read_documents(
    chunks: Iterable[bytes],
    streamed: Collection[str],
    source: str,
    report: ReadReport,
    records: Records | None = None,
) -> Iterator[Element | JsonDocument]:
    """The documents of a file, each after the elements of its arrays called `streamed`.

    Damage is one reject, with its line (where no `records` are told, the line on which its document begins);
    what was read of the document is kept.
    """
    text = JsonText(iter(chunks), report)
    documents = _Documents(text, streamed, source, report, records)
    while not text.at_end():
        line = text.line()
        try:
            yield from documents.elements()
        except DamagedError as problem:
            if not isinstance(problem, _ToldError):
                report.records += 1
                cause = NOT_UNICODE if isinstance(problem, NotUnicodeValueError) else DAMAGED
                report.rejects.append(Reject(source, line, cause, str(problem)))
            if documents.members:
                yield JsonDocument(line, documents.members, whole=False, hidden=documents.hidden)
            if not text.skip_to_document():
                return
        else:
            missing = tuple(name for name in streamed if name not in documents.names)
            yield JsonDocument(line, documents.members, missing=missing, hidden=documents.hidden)


def flat_elements(element: Element, source: str, report: ReadReport) -> Iterator[Element]:
    """An element; where a stray bracket made an array of several, these, and the bracket is told.

    For formats in which no record is an array.
    """
    if not isinstance(element.value, list):
        yield element
        return
    report.records += 1
    report.rejects.append(Reject(source, element.line, NESTED, ""))
    for value in element.value:
        yield replace(element, value=value)


def first_members(head: bytes, streamed: Collection[str]) -> frozenset[str]:
    """The names of the members of the first document, as far as the beginning of its file shows them."""
    report = ReadReport()
    text = JsonText(iter([head]), report)
    documents = _Documents(text, streamed, "", report)
    try:
        for _ in documents.elements():
            pass
    except DamagedError:
        pass
    return frozenset(documents.names)


def as_documents(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The text; where it is an array, that array as the member ELEMENTS of a document."""
    outside = b""
    started = False
    for chunk in chunks:
        if not started and chunk.strip():
            started = True
            if chunk.lstrip().startswith(b"["):
                outside = b"}"
                yield b'{"' + ELEMENTS.encode() + b'":'
        yield chunk
    if outside:
        yield outside
