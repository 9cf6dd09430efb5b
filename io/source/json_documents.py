r"""Concatenated JSON objects, read as a stream: large arrays in them come element by element.

A file of such documents is neither JSON lines nor an array: objects follow each other, as a rule
over many lines each.  Memory holds one element of a streamed array and the other members of one
document at a time.

Behind damage, reading goes on at the next line that begins with `{`, where printed documents begin.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from cepctl.io.contract.reader import ReadReport, Reject

LONGEST_VALUE = 1 << 27
_FIRST_READ = 1 << 16
_BLANK = re.compile(r"[ \t\n\r]*")
_DOCUMENT_ON_A_LINE = "\n{"
_REPLACEMENT = "\ufffd"
# A number, a literal or an escape that the end of the text cuts is shorter than this.
_LONGEST_CUT_TOKEN = 16
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Element:
    """An element of a streamed array, the member `key` of a document whose `members` are those so far."""

    key: str
    value: Any
    members: dict[str, Any]


@dataclass(frozen=True)
class Document:
    """A document that ended, or that damage ended: its members but the streamed.

    `whole` says that it ended by itself; `line` is the line on which it begins; `missing` are the
    streamed arrays that a whole document does not have.
    """

    line: int
    members: dict[str, Any]
    whole: bool = True
    missing: tuple[str, ...] = ()


class _DamagedError(ValueError):
    """The text is not JSON where the reader stands."""


@dataclass
class _Text:
    """The text of the file from where the reader stands to what was read of it."""

    chunks: Iterator[bytes]
    report: ReadReport
    text: str = ""
    position: int = 0
    lines_before: int = 0
    counted: int = 0
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8-sig")("replace")
    )

    def line(self) -> int:
        """The line on which the reader stands."""
        self._count(self.position)
        return self.lines_before + 1

    def _count(self, place: int) -> None:
        """Count the lines before a place, those between it and the last such place alone."""
        if place > self.counted:
            self.lines_before += self.text.count("\n", self.counted, place)
            self.counted = place

    def more(self) -> bool:
        """Read as much again as there is; false at the end of the file."""
        done = max(self.position - 1, 0)
        self._count(done)
        self.text, self.position, self.counted = self.text[done:], self.position - done, self.counted - done
        wanted = max(len(self.text), _FIRST_READ)
        if wanted > LONGEST_VALUE:
            raise _DamagedError("a value of more than 128 MB")
        pieces: list[str] = []
        for chunk in self.chunks:
            pieces.append(self._decoded(chunk))
            wanted -= len(chunk)
            if wanted <= 0:
                break
        self.text += "".join(pieces)
        return bool(pieces)

    def _decoded(self, chunk: bytes) -> str:
        text = self.decoder.decode(chunk)
        note = "bytes that are not UTF-8 were replaced"
        if _REPLACEMENT in text and _REPLACEMENT.encode() not in chunk and note not in self.report.warnings:
            self.report.warnings.append(note)
        return text

    def at_end(self) -> bool:
        """Go over blanks; whether nothing follows them."""
        while True:
            blank = _BLANK.match(self.text, self.position)
            assert blank is not None
            self.position = blank.end()
            if self.position < len(self.text):
                return False
            if not self.more():
                return True

    def next_of(self, expected: str) -> str:
        """Take the next character that is not blank, one of those expected."""
        found = self.peek()
        if found not in expected:
            raise _DamagedError(f"'{found}' where one of {' '.join(expected)} was expected")
        self.position += 1
        return found

    def peek(self) -> str:
        """The next character that is not blank."""
        if self.at_end():
            raise _DamagedError("the document is cut short")
        return self.text[self.position]

    def value(self) -> Any:
        """Take a whole JSON value; where there is none, stay in front of it."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.position)
            except json.JSONDecodeError as problem:
                cut = problem.pos >= len(self.text) - _LONGEST_CUT_TOKEN
                if (cut or problem.msg.startswith("Unterminated string")) and self.more():
                    continue
                raise _DamagedError(problem.msg) from problem
            except RecursionError as problem:
                raise _DamagedError("nested too deeply") from problem
            except ValueError as problem:
                raise _DamagedError(f"no number: {problem}") from problem
            # A number that ends with the text may go on after it.
            if end == len(self.text) and self.more():
                continue
            self.position = end
            return value

    def skip_to_document(self) -> bool:
        """Go on to the next line that begins with `{`; false when there is none."""
        start = max(self.position - 1, 0)
        while (found := self.text.find(_DOCUMENT_ON_A_LINE, start)) < 0:
            self.position = len(self.text)
            if not self.more():
                return False
            start = 0
        self.position = found + 1
        return True


@dataclass
class _Documents:
    """The documents of a text; `names` are the members of the current one that began so far."""

    text: _Text
    streamed: Collection[str]
    members: dict[str, Any] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def elements(self) -> Iterator[Element]:
        """Read one document: the elements of its streamed arrays now, the rest into `members`."""
        self.members, self.names = {}, []
        self.text.next_of("{")
        if self.text.peek() == "}":
            self.text.next_of("}")
            return
        while True:
            name = self._name()
            if name in self.streamed and self.text.peek() == "[":
                yield from self._array(name)
            else:
                self.members[name] = self.text.value()
            if self.text.next_of(",}") == "}":
                return

    def _name(self) -> str:
        if self.text.peek() != '"':
            raise _DamagedError("not the name of a member")
        name = str(self.text.value())
        self.text.next_of(":")
        self.names.append(name)
        return name

    def _array(self, name: str) -> Iterator[Element]:
        self.text.next_of("[")
        if self.text.peek() == "]":
            self.text.next_of("]")
            return
        while True:
            yield Element(name, self.text.value(), self.members)
            if self.text.next_of(",]") == "]":
                return


def read_documents(
    chunks: Iterable[bytes], streamed: Collection[str], source: str, report: ReadReport
) -> Iterator[Element | Document]:
    """The documents of a file, each after the elements of its arrays called `streamed`.

    Damage is one reject, with the line on which its document begins; what was read of it is kept.
    """
    text = _Text(iter(chunks), report)
    documents = _Documents(text, streamed)
    while not text.at_end():
        line = text.line()
        try:
            yield from documents.elements()
        except _DamagedError as problem:
            report.records += 1
            cause = "damaged or cut JSON, kept as far as it goes"
            report.rejects.append(Reject(source, line, cause, str(problem)))
            if documents.members:
                yield Document(line, documents.members, whole=False)
            if not text.skip_to_document():
                return
        else:
            missing = tuple(name for name in streamed if name not in documents.names)
            yield Document(line, documents.members, missing=missing)


def first_members(head: bytes, streamed: Collection[str]) -> frozenset[str]:
    """The names of the members of the first document, as far as the beginning of its file shows them."""
    text = _Text(iter([head]), ReadReport())
    documents = _Documents(text, streamed)
    try:
        for _ in documents.elements():
            pass
    except _DamagedError:
        pass
    return frozenset(documents.names)
