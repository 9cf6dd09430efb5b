"""The elements of a JSON array one by one, as far as the text is whole.

Exports are one JSON document each; where one is cut short, what stands before the cut is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cepctl.errors import LogFormatError

MOST_BYTES = 256 << 20
_BETWEEN = re.compile(r"[\s,]*")


@dataclass
class ArrayElements:
    """The elements of the array whose `[` stands just before `position` in the text.

    Attributes
    ----------
    damaged_line
        The line, from 1, at which the text is not JSON any more; None while all is well.
    """

    text: str
    position: int
    damaged_line: int | None = None

    def __iter__(self) -> Iterator[Any]:
        decoder = json.JSONDecoder()
        while True:
            found = _BETWEEN.match(self.text, self.position)
            start = found.end() if found else self.position
            if self.text.startswith("]", start):
                return
            try:
                element, self.position = decoder.raw_decode(self.text, start)
            except (ValueError, RecursionError):
                self.damaged_line = self.text.count("\n", 0, start) + 1
                return
            yield element


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
