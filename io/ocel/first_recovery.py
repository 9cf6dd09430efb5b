"""OCEL 1.0 in JSON that is damaged, or names an event twice: its records one by one, wherever they stand.

There, events and objects are members of two objects, by their ids.  So a record is seen in text: an id, and
an object that has an activity or a type.  What is lost is counted by the words that each record has once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.contract.unicode_text import NOT_UNICODE, is_unicode
from cepctl.io.source.json_recovery import DAMAGED
from cepctl.io.source.text_encoding import BAD_UTF8

EVENTS, OBJECTS = "ocel:events", "ocel:objects"
ACTIVITY, TYPE, TIME = "ocel:activity", "ocel:type", "ocel:timestamp"
_SIGNS = tuple(f'"{name}"' for name in (TIME, TYPE))
_MEMBER = re.compile(r'"((?:[^"\\\n]|\\.){0,1000})"\s*:\s*(?=\{)')
_OTHERS = frozenset(("ocel:global-log", "ocel:global-event", "ocel:global-object"))
_SHOWN = 1_000
# How much may be read in vain, for each character that there is.
_MOST_IN_VAIN = 16


@dataclass(frozen=True)
class OcelMember:
    """A record: whether it stands for an event or an object, its id, its value, and its line."""

    key: str
    id: str
    value: dict[str, Any]
    line: int


def signs_in(data: bytes) -> int:
    """How many events the text announces."""
    return data.count(_SIGNS[0].encode())


@dataclass
class _Scan:
    text: str
    source: str
    report: ReadReport
    reported: int = 0
    _lines: int = 1
    _counted: int = 0
    _decoder: json.JSONDecoder = field(default_factory=json.JSONDecoder)

    def members(self) -> Iterator[OcelMember]:
        done, in_vain, found = 0, 0, _MEMBER.search(self.text)
        while found is not None and in_vain <= _MOST_IN_VAIN * len(self.text):
            key, place = found[1], found.end()
            if key in (EVENTS, OBJECTS):
                found = _MEMBER.search(self.text, place)
                continue
            try:
                value, end = self._decoder.raw_decode(self.text, place)
            except (ValueError, RecursionError) as problem:
                in_vain += getattr(problem, "pos", len(self.text)) - place
                found = _MEMBER.search(self.text, place)
                continue
            kind = EVENTS if ACTIVITY in value else OBJECTS if TYPE in value else None
            # One whose end is lost takes others in; also what is no record, of which one alone has a time.
            own = 0 if key in _OTHERS and kind != EVENTS else 1
            takes_others = self.text.count(_SIGNS[0], place, end) > own
            if takes_others or (kind is None and key not in _OTHERS):
                in_vain += end - place
                found = _MEMBER.search(self.text, place)
                continue
            self._lose(done, found.start())
            if kind is not None and key not in _OTHERS:
                yield from self._member(kind, found, value, end)
            done, found = end, _MEMBER.search(self.text, end)
        self._lose(done, len(self.text))

    def _member(
        self, kind: str, found: re.Match[str], value: dict[str, Any], end: int
    ) -> Iterator[OcelMember]:
        record_id = json.loads(f'"{found[1]}"', strict=False) if "\\" in found[1] else found[1]
        raw = self.text[found.start() : end]
        if r"\u" not in raw or is_unicode({record_id: value}):
            yield OcelMember(kind, record_id, value, self._line(found.start()))
        else:
            self._tell(found.start(), NOT_UNICODE, raw, 1)

    def _lose(self, begin: int, end: int) -> None:
        """Tell of the records that were passed between two places."""
        lost = sum(self.text.count(sign, begin, end) for sign in _SIGNS)
        if lost:
            self._tell(begin, DAMAGED, self.text[begin:end].strip(), lost)

    def _tell(self, place: int, cause: str, raw: str, records: int) -> None:
        self.reported += records
        self.report.records += records
        self.report.rejects.append(Reject(self.source, self._line(place), cause, raw[:_SHOWN], records))

    def _line(self, place: int) -> int:
        self._lines += self.text.count("\n", self._counted, place)
        self._counted = place
        return self._lines


def members_in(
    stream: IO[bytes], source: str, report: ReadReport, problems: Sequence[Reject]
) -> Iterator[OcelMember]:
    """The records of a text; damage counts in records, and as the `problems` where none of them is lost."""
    stream.seek(0)
    data = stream.read()
    text = data.decode("utf-8-sig", "replace")
    if "\ufffd" in text and "\ufffd".encode() not in data and BAD_UTF8 not in report.warnings:
        report.warnings.append(BAD_UTF8)
    scan = _Scan(text, source, report)
    yield from scan.members()
    if not scan.reported:
        report.records += sum(each.records for each in problems)
        report.rejects.extend(problems)
