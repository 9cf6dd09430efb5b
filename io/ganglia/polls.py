"""The XML documents in a recording of Ganglia polls, one after the other.

A file may hold several polls, with whatever the recorder left between them: a telnet banner, an
HTTP header, `Connection closed by foreign host.`  A poll begins at `<?xml` (or, where that is
missing, at the document type or the root element) and ends at `</GANGLIA_XML>`; one that the
next poll interrupts, or the end of the file, is incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

_BEGIN = re.compile(rb"<\?xml|<!DOCTYPE\s+GANGLIA_XML|<GANGLIA_XML")
_END = re.compile(rb"</GANGLIA_XML\s*>|<\?xml")
# Bytes held back from every chunk, so that a marker which two chunks share is still found.
_MARKER_BYTES = 64


@dataclass(frozen=True)
class PollPart:
    """Some bytes of one poll.

    Attributes
    ----------
    data
        The bytes; the parts of a poll, joined, are the poll.
    line
        Line of the file at which `data` starts, from 1.
    begins, ends
        Whether a poll begins, or ends, with this part.
    complete
        Only where `ends`: whether the poll's root element was closed.
    """

    data: bytes
    line: int
    begins: bool = False
    ends: bool = False
    complete: bool = False


def poll_parts(chunks: Iterable[bytes]) -> Iterator[PollPart]:
    """Cut a recording into the parts of its polls, leaving out what stands between them."""
    buffer, line, inside = b"", 1, False
    for chunk, last in chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        buffer += chunk
        start = 0
        while marker := (_END if inside else _BEGIN).search(buffer, start):
            if not inside:
                line += buffer.count(b"\n", start, marker.start())
                part = PollPart(marker.group(), line, begins=True)
                start = marker.end()
            else:
                complete = marker.group().startswith(b"</")
                stop = marker.end() if complete else marker.start()
                part = PollPart(buffer[start:stop], line, ends=True, complete=complete)
                start = stop
            yield part
            line += part.data.count(b"\n")
            inside = not inside
        cut = len(buffer) if last else max(len(buffer) - _MARKER_BYTES, start)
        if inside and (cut > start or last):
            yield PollPart(buffer[start:cut], line, ends=last)
        line += buffer.count(b"\n", start, cut)
        buffer = buffer[cut:]
