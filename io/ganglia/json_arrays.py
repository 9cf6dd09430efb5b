"""The elements of a JSON array one by one, whole or damaged.

Exports are one JSON document each; where one is damaged or cut short, the other elements are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cepctl.errors import LogFormatError
from cepctl.io.contract.unicode_text import NOT_UNICODE, is_unicode
from cepctl.io.source.json_objects import may_hold_half_pairs

DAMAGED = "the JSON is damaged here"
CUT = "the JSON is cut short"
# Characters of a value that is nested too deeply, about.
_DEEP = 5_000
MOST_BYTES = 256 << 20
_BETWEEN = re.compile(r"[\s,]*")
_END = re.compile(r"\]\s*(?:\Z|[}\]]|,\s*[\"'{A-Za-z])")
_AFTER = re.compile(r"\s*[,\]]")
# How much may be read in vain behind damage, for each character that there is.
_MOST_IN_VAIN = 64
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Damaged:
    """What stands where elements should: its text, the line on which it begins, and what is wrong."""

    text: str
    line: int
    cause: str


@dataclass
class ArrayElements:
    """The elements of the array whose `[` stands just before `position` in the text.

    Behind damage it goes on with the next that begins with `opening` and is told by `is_element`.
    """

    text: str
    position: int
    opening: str
    is_element: Callable[[Any], bool]

    def __iter__(self) -> Iterator[Any]:
        while True:
            found = _BETWEEN.match(self.text, self.position)
            start = found.end() if found else self.position
            if self.text.startswith("]", start) and not self._goes_on(start):
                return
            element, end = self._decoded(start)
            if end < 0:
                end = self._next(start)
                if start == len(self.text):
                    yield self._damaged(start, end, CUT)
                    return
                element = self._damaged(start, end, DAMAGED)
            elif may_hold_half_pairs(self.text[start:end]) and not is_unicode(element):
                element = self._damaged(start, end, NOT_UNICODE)
            self.position = end
            yield element
            if end == len(self.text):
                return

    def _goes_on(self, place: int) -> bool:
        """Whether what follows the end of the array is what never does, another element say: it is none."""
        found = _BETWEEN.match(self.text, place + 1)
        if found is not None and "," in found[0] and self.text.startswith(self.opening, found.end()):
            return True
        return _END.match(self.text, place) is None

    def _damaged(self, start: int, end: int, cause: str) -> Damaged:
        return Damaged(self.text[start:end], self.text.count("\n", 0, start) + 1, cause)

    def _decoded(self, start: int) -> tuple[Any, int]:
        if not self.text.startswith(self.opening, start):
            return None, -1
        try:
            element, end = _DECODER.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return None, -1
        # Without its end, an element swallows those behind it.
        return element, -1 if isinstance(element, list) and not self.is_element(element) else end

    def _next(self, start: int) -> int:
        """Where the next element begins; the end of the text where there is none."""
        place, in_vain = start, 0
        while (place := self.text.find(self.opening, place + 1)) >= 0:
            try:
                element, end = _DECODER.raw_decode(self.text, place)
                in_vain += end - place
                if self.is_element(element) and _AFTER.match(self.text, end):
                    return place
            except json.JSONDecodeError as problem:
                in_vain += problem.pos - place
            except (ValueError, RecursionError):
                in_vain += _DEEP
            if in_vain > _MOST_IN_VAIN * len(self.text):
                break
        return len(self.text)


def whole_text(chunks: Iterable[bytes], source: str) -> str:
    """All text of a stream.

    Raises
    ------
    LogFormatError
        If it is larger than MOST_BYTES, which no export is.
    """
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            raise LogFormatError(
                f"{source}: an export of more than {MOST_BYTES >> 20} MiB is not read as one document; "
                "export a shorter span, or several files"
            )
    return _decoded(b"".join(pieces))


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")
