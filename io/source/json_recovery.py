"""Records behind damage in JSON, told by their members, wherever in their document they stand.

Where an element of an array is damaged, each `{` from there on may begin a record: another element of the
array, or what the damaged one holds (a span of a trace, say).  As soon as one is an element whole, and an
array goes on behind it, the document is read on from there.  What is lost on the way is one reject, and
how many records these are is told by a sign that each has once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.contract.unicode_text import NOT_UNICODE
from cepctl.io.source.json_text import FIRST_READ, DamagedError, JsonText, NotUnicodeValueError

DAMAGED = "damaged or cut JSON, kept as far as it goes"
_MEMBER_BEFORE = re.compile(r'"([^"\\]{1,100})"\s*:\s*\Z')
_LOOKED_BACK = 200
_SHOWN = 1_000
# How much may be read in vain, for each character that there is.
_MOST_IN_VAIN = 64


@dataclass(frozen=True)
class FoundRecord:
    """Something to be read as an element of the array `key`.

    `whole` says that it is such an element as it stands; others are made of what one holds.
    """

    key: str
    value: Any
    whole: bool = True


@dataclass(frozen=True)
class Records:
    """How the records of a format are told in damaged text.

    Attributes
    ----------
    sign
        What stands once in every record, and nowhere else.
    found
        Of a value, the array in which it was looked for, and the members around: the record that it is or
        holds; None for any other.
    around
        Members beside records that `found` wants to know, where they precede these.
    behind
        One that follows them.
    """

    sign: str
    found: Callable[[Any, str, Mapping[str, Any]], FoundRecord | None]
    around: frozenset[str] = frozenset()
    behind: str = ""


@dataclass
class RecordSearch:
    """The search for records from the place on where an element is damaged.

    Attributes
    ----------
    lost
        How many signs of records were passed that are in no record found.
    """

    text: JsonText
    records: Records
    name: str
    source: str
    report: ReadReport
    lost: int = 0
    _line: int = 0
    _told: int = 0
    _in_vain: int = 0
    _around: dict[str, Any] = field(default_factory=dict)
    _behind: tuple[int, Any] = (-1, None)

    def __post_init__(self) -> None:
        self._line = self.text.line()

    def run(self, problem: DamagedError, begins: str) -> Generator[FoundRecord, None, bool]:
        """Give the records, the last of which may be one that an array goes on behind; returns whether.

        It ends before a line that begins a document, whose first member is called so.
        """
        goes_on = False
        while not goes_on and self._next_object() and not self._begins_document(begins):
            found = self._record()
            if found is not None:
                yield found
                goes_on = found.whole and self._array_goes_on()
            elif self._in_vain > _MOST_IN_VAIN * (self.text.dropped + len(self.text.text) + FIRST_READ):
                self._pass_all()
                break
        self._tell(problem)
        return goes_on

    def _next_object(self) -> bool:
        text = self.text
        while (found := text.text.find("{", text.position)) < 0:
            self._pass(len(text.text))
            if not text.more():
                return False
        self._pass(found)
        return True

    def _pass(self, place: int) -> None:
        """Go on to a place; the signs before it are lost."""
        self.lost += self.text.text.count(self.records.sign, self.text.position, place)
        self.text.position = place

    def _pass_all(self) -> None:
        self._pass(len(self.text.text))
        while self.text.more():
            self._pass(len(self.text.text))

    def _begins_document(self, first: str) -> bool:
        text, place = self.text, self.text.position
        if not first or text.text[max(place - 1, 0) : place] != "\n":
            return False
        begin = text.text[place + 1 : place + len(first) + _LOOKED_BACK].lstrip()
        return begin.startswith(f'"{first}"')

    def _record(self) -> FoundRecord | None:
        """The record that begins here, or None: then a step was made."""
        text = self.text
        before = _MEMBER_BEFORE.search(text.text, max(text.position - _LOOKED_BACK, 0), text.position)
        try:
            value = text.value()
        except NotUnicodeValueError as problem:
            raw = text.text[text.position : problem.end]
            if raw.count(self.records.sign) > 1 or self._found(problem.value) is None:
                # It may be one of the records in it alone.
                self._in_vain += len(raw)
                self._pass(text.position + 1)
                return None
            self._told += 1
            self.report.records += 1
            self.report.rejects.append(Reject(self.source, text.line(), NOT_UNICODE, raw[:_SHOWN]))
            text.position = problem.end
            return None
        except DamagedError as problem:
            self._in_vain += problem.tried
            self._pass(text.position + 1)
            return None
        if before is not None and before[1] in self.records.around:
            self._around[before[1]] = value
        holds = self.records.sign in text.text[text.begun : text.position]
        size, text.position = text.position - text.begun, text.begun
        # It may read ahead, which keeps what stands behind the position.
        found = self._found(value)
        if found is not None:
            text.position += size
        else:
            # What is no record may hold some.
            self._in_vain += size * holds
            self._pass(text.position + (1 if holds else size))
        return found

    def _found(self, value: Any) -> FoundRecord | None:
        if self.records.behind:
            self._around[self.records.behind] = self._member_behind()
        return self.records.found(value, self.name, self._around)

    def _member_behind(self) -> Any:
        """The member that follows the records, read ahead."""
        text, sign = self.text, f'"{self.records.behind}"'
        if self._behind[0] >= text.dropped + text.position:
            return self._behind[1]
        while (place := text.text.find(sign, text.position)) < 0:
            try:
                if not text.more():
                    return self._behind[1]
            except DamagedError:
                return self._behind[1]
        self._behind = text.dropped + place, text.peeked(place + len(sign))
        return self._behind[1]

    def _array_goes_on(self) -> bool:
        return not self.text.at_end() and self.text.text[self.text.position] in ",]"

    def _tell(self, problem: DamagedError) -> None:
        """Reject what is lost; where that was told one by one, nothing is left to say."""
        if self.lost or not self._told:
            count = max(self.lost, 1)
            self.report.records += count
            self.report.rejects.append(Reject(self.source, self._line, DAMAGED, str(problem), count))
