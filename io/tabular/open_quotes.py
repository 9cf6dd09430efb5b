"""Rows that a quote swallows which damage has opened: they are read, and the row with the quote is none.

A quote before a value takes all rows up to the next quote into that value.  What tells it from a value of
several lines are these lines: where each is a row, with as many delimiters as the header, the quote is
damage, and where a quarter of them are and no quote closes it.  So is the last of them a row, if the quote
that would close the value begins another one.  Its line is then handed on as one that is no row.  Only
stretches of lines with an odd number of quotes are looked at: all others begin and end outside of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

import numpy as np

from cepctl.io.source.byte_stream import ByteStream
from cepctl.io.source.quoted_lines import QuotedLines

_BLOCK_BYTES = 4 << 20
_LONGEST_LOOK = 1 << 20
# With one delimiter alone, lines of text look like rows: so many of them do not.
_FEWEST_OF_PAIRS = 3
# A file with more is not damaged, but of another kind.
_MOST_MENDED = 1_000
_NO_ROW = b"?\n"
_STRETCH_BYTES = 1 << 16
_DAMAGED, _WAITS, _WHOLE = "damaged", "waits for its end", "whole"


class OpenQuotes(ByteStream):
    """The rows of a delimited text of so many columns; `mended` are lines, from 0, that became no rows.

    `breaks` tells how many line breaks have been read of the stream.
    """

    def __init__(self, stream: IO[bytes], delimiter: str, columns: int, breaks: Callable[[], int]) -> None:
        super().__init__()
        self.mended: set[int] = set()
        self._stream = stream
        self._delimiter = delimiter.encode()
        self._columns = columns
        self._held = b""
        self._ready = b""
        self._breaks = breaks

    def next_bytes(self, size: int) -> bytes:
        while not self._ready:
            piece = self._stream.read(_BLOCK_BYTES)
            self._ready = self._judged(self._held + piece, last=not piece)
            if not piece and not self._ready:
                return b""
        part, self._ready = self._ready[:size], self._ready[size:]
        return part

    def _judged(self, text: bytes, *, last: bool) -> bytes:
        """What of the text can be handed on; what may lie inside of quotes waits."""
        self._held = b""
        pieces: list[bytes] = []
        while self._columns > 1 and len(self.mended) < _MOST_MENDED:
            odd = _odd_stretch(text)
            if odd is None or (b"\n" not in text and not last):
                break
            pieces.append(text[:odd])
            text = text[odd:]
            begin, end, verdict = self._first_suspect(
                text[:_LONGEST_LOOK], last and len(text) <= _LONGEST_LOOK
            )
            pieces.append(text[:begin])
            if verdict == _WAITS:
                self._held = text[begin:]
                return b"".join(pieces)
            if verdict == _DAMAGED:
                self.mended.add(self._breaks() - text.count(b"\n", begin))
                pieces.append(_NO_ROW)
            else:
                pieces.append(text[begin:end])
            text = text[end:]
        # The last line may go on.
        whole = len(text) if last else text.rfind(b"\n") + 1 or (len(text) > _LONGEST_LOOK) * len(text)
        pieces.append(text[:whole])
        self._held = text[whole:]
        return b"".join(pieces)

    def _first_suspect(self, text: bytes, last: bool) -> tuple[int, int, str]:
        """The first line whose quote swallows rows: its begin, its end, and what is known of it."""
        ends = QuotedLines(self._delimiter[0]).add(text)
        inside, places = ends.inside, ends.place
        if not len(places) and not last and len(text) < _LONGEST_LOOK:
            return 0, 0, _WAITS
        edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
        for first, stop in edges.reshape(-1, 2).tolist():
            begin = int(places[first - 1]) + 1 if first else 0
            end = int(places[first]) + 1
            rows = text[end : int(places[stop - 1]) + 1].split(b"\n")[:-1]
            if stop < len(places):
                rows += self._opened_again(text[int(places[stop - 1]) + 1 : int(places[stop])])
            open_still = stop == len(places) and (last or len(text) - begin >= _LONGEST_LOOK)
            if self._are_rows(rows, open_still):
                return begin, end, _DAMAGED
            if stop == len(places) and not last and len(text) - begin < _LONGEST_LOOK:
                return begin, end, _WAITS
        outside = np.flatnonzero(~inside)
        safe = int(places[outside[-1]]) + 1 if len(outside) else len(text)
        return safe, safe, _WHOLE

    def _opened_again(self, line: bytes) -> list[bytes]:
        """The line that ends what is quoted, where its quote begins a value: no value has text behind one."""
        before, quote, behind = line.partition(b'"')
        begins = not before or before.endswith(self._delimiter)
        return (
            [line]
            if quote and begins and behind.rstrip(b"\r")[:1] not in (b"", b'"', self._delimiter)
            else []
        )

    def _are_rows(self, lines: list[bytes], open_still: bool) -> bool:
        """Whether all lines are, or a quarter of them where no quote ever closes what was opened before."""
        fewest = _FEWEST_OF_PAIRS if self._columns == 2 else 1
        fitting = sum(line.count(self._delimiter) == self._columns - 1 for line in lines)
        return len(lines) >= fewest and (4 if open_still else 1) * fitting >= len(lines)


def _odd_stretch(text: bytes) -> int | None:
    """Where the first stretch of lines with an odd number of quotes begins; a short text is one."""
    if len(text) <= _STRETCH_BYTES:
        return 0 if b'"' in text else None
    begin, is_quote = 0, np.frombuffer(text, np.uint8) == ord('"')
    while begin < len(text):
        end = text.rfind(b"\n", begin, begin + _STRETCH_BYTES) + 1 or text.find(b"\n", begin) + 1 or len(text)
        if np.count_nonzero(is_quote[begin:end]) % 2:
            return begin
        begin = end
    return None
