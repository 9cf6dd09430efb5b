"""The text of a file of JSON, read piece by piece, and values in it."""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cepctl.io.contract.reader import ReadReport
from cepctl.io.contract.unicode_text import NOT_UNICODE, is_unicode

LONGEST_VALUE = 1 << 27
FIRST_READ = 1 << 16
DOCUMENT_ON_A_LINE = "\n{"
_BLANK = re.compile(r"[ \t\n\r]*")
_REPLACEMENT = "\ufffd"
# Half of a surrogate pair, or a whole one.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
# A number, a literal or an escape that the end of the text cuts is shorter than this.
_LONGEST_CUT_TOKEN = 16
# Characters of a level of nesting: of `{"a":`.
_FEWEST_OF_A_LEVEL = 5
_DECODER = json.JSONDecoder()


class DamagedError(ValueError):
    """The text is not JSON where the reader stands; `tried` characters told so."""

    def __init__(self, said: str, tried: int = 0) -> None:
        super().__init__(said)
        self.tried = tried


class NotUnicodeValueError(DamagedError):
    """The value where the reader stands, which ends at `end`, holds text that is not Unicode."""

    def __init__(self, value: Any, end: int) -> None:
        super().__init__(NOT_UNICODE)
        self.value = value
        self.end = end


@dataclass
class JsonText:
    """The text of the file from where the reader stands to what was read of it.

    Attributes
    ----------
    begun
        Where in the text the value begins that was taken last.
    dropped
        How many characters stand before the text.
    """

    chunks: Iterator[bytes]
    report: ReadReport
    text: str = ""
    position: int = 0
    begun: int = 0
    dropped: int = 0
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
        self.dropped += done
        self.text, self.position, self.counted = self.text[done:], self.position - done, self.counted - done
        wanted = max(len(self.text), FIRST_READ)
        if wanted > LONGEST_VALUE:
            raise DamagedError("a value of more than 128 MB")
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
            raise DamagedError(f"'{found}' where one of {' '.join(expected)} was expected")
        self.position += 1
        return found

    def peek(self) -> str:
        """The next character that is not blank."""
        if self.at_end():
            raise DamagedError("the document is cut short")
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
                raise DamagedError(problem.msg, max(problem.pos - self.position, 0)) from problem
            except RecursionError as problem:
                raise DamagedError(
                    "nested too deeply", _FEWEST_OF_A_LEVEL * sys.getrecursionlimit()
                ) from problem
            except ValueError as problem:
                raise DamagedError(f"no number: {problem}") from problem
            # A number that ends with the text may go on after it.
            if end == len(self.text) and self.more():
                continue
            if _HALF.search(self.text, self.position, end) and not is_unicode(value):
                raise NotUnicodeValueError(value, end)
            self.begun, self.position = self.position, end
            return value

    def peeked(self, place: int) -> Any:
        """The value of the member whose name ends at a place, as far as the text is there; else None."""
        colon = self.text.find(":", place)
        found = _BLANK.match(self.text, colon + 1)
        try:
            return _DECODER.raw_decode(self.text, found.end() if found else place)[0]
        except (ValueError, RecursionError):
            return None

    def skip_to_document(self) -> bool:
        """Go on to the next line that begins with `{`; false when there is none."""
        start = max(self.position - 1, 0)
        while (found := self.text.find(DOCUMENT_ON_A_LINE, start)) < 0:
            self.position = len(self.text)
            if not self.more():
                return False
            start = 0
        self.position = found + 1
        return True
