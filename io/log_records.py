"""Records of a log4j log: a header line, and the lines behind it up to the next header.

Continuation lines (stack traces) belong to the message of the record before them.  What stands
before the first record belongs to none and is rejected.  A record of more than LONGEST_RECORD bytes
is cut there, so memory is bounded whatever a log holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.log_layouts import Headers, Integers, find_headers, texts
from cepctl.io.log_lines import LONGEST_RECORD, cut_before, line_blocks
from cepctl.io.reading import ReadReport, Reject

_CUT = f"records of more than {LONGEST_RECORD:,} bytes, of which the rest was left out: {{:,}}"
_SHOWN = 4_096


@dataclass(frozen=True)
class Records:
    """Records in file order; `line` is the number of the header's line in the file, from 1.

    `headers.message` is meaningless here: `message` holds the messages, their lines joined by
    newlines, without blanks at the end.
    """

    headers: Headers
    line: Integers
    message: pa.Array

    def __len__(self) -> int:
        return len(self.line)


def read_records(stream: IO[bytes], source: str, report: ReadReport) -> Iterator[Records]:
    """Yield the records of a log, one batch per block of text.

    `report.records` counts them, with the reject for what stands before the first.
    """
    splitter = _Splitter(source, report)
    for block in line_blocks(stream, source, report):
        records = splitter.split(block)
        if records is not None:
            yield records
    last = splitter.finish()
    if last is not None:
        yield last


@dataclass
class _Splitter:
    """Splits blocks into records; the last record of a block waits for lines of the next."""

    source: str
    report: ReadReport
    _open: bytes = b""
    _open_line: int = 1
    _next_line: int = 1
    _cut: bool = False
    _orphans: list[bytes] = field(default_factory=list)

    def split(self, block: bytes) -> Records | None:
        """The records that end in this block."""
        if not block:
            return None
        waiting, waiting_line, block_line = self._open, self._open_line, self._next_line
        cut_before_now = self._cut
        self._next_line += block.count(b"\n")
        text = waiting + block
        starts, ends = line_bounds(text)
        headers = find_headers(text, starts, ends)
        behind = waiting.count(b"\n")
        number = np.where(headers.line < behind, waiting_line, block_line + headers.line - behind)
        if not len(headers.line):
            self._orphan(block)
            return None
        first = int(starts[headers.line[0]])
        if first:
            self._orphan(text[:first])
        self._open_line = int(number[-1])
        begin = starts[headers.line]
        goes_on = len(begin) == 1 and cut_before_now
        self._keep_open(text[int(begin[-1]) :], counted=goes_on)
        return self._records(text, headers, number, begin, len(begin) - 1, first_counted=cut_before_now)

    def finish(self) -> Records | None:
        """The record that was still open."""
        if self._orphans:
            self.report.records += 1
            raw = b"".join(self._orphans)[:_SHOWN]
            self.report.rejects.append(Reject(self.source, 1, "before the first record of the log", raw))
        if not self._open:
            return None
        starts, ends = line_bounds(self._open)
        headers = find_headers(self._open, starts[:1], ends[:1])
        number = np.array([self._open_line], np.int64)
        return self._records(self._open, headers, number, starts[:1], 1, first_counted=self._cut)

    def _keep_open(self, text: bytes, *, counted: bool) -> None:
        self._open, self._cut = text, counted
        if len(text) > LONGEST_RECORD:
            self._note_cut(0 if counted else 1)
            self._open, self._cut = text[: cut_before(text, LONGEST_RECORD - 1)] + b"\n", True

    def _note_cut(self, records: int) -> None:
        if records:
            self.report.notes[_CUT] += records

    def _orphan(self, text: bytes) -> None:
        if sum(map(len, self._orphans)) < _SHOWN:
            self._orphans.append(text[:_SHOWN])

    def _records(
        self,
        text: bytes,
        headers: Headers,
        number: Integers,
        begin: Integers,
        stop: int,
        *,
        first_counted: bool,
    ) -> Records | None:
        if not stop:
            return None
        message = headers.message[:stop]
        end = np.maximum(np.append(begin[1:], len(text))[:stop] - 1, message)
        long = np.flatnonzero(end - begin[:stop] > LONGEST_RECORD)
        for place in long:
            start = int(begin[place])
            end[place] = start + cut_before(text[start : int(end[place])], LONGEST_RECORD)
        self._note_cut(len(long) - (first_counted and 0 in long))
        self.report.records += stop
        messages = pc.utf8_rtrim_whitespace(texts(text, message, end))
        return Records(_first(headers, stop), number[:stop], messages)


def line_bounds(text: bytes) -> tuple[Integers, Integers]:
    """Where the lines begin and end, newlines left out."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]), ends


def _first(headers: Headers, count: int) -> Headers:
    return Headers(
        headers.line[:count],
        headers.message[:count],
        headers.local[:count],
        headers.usable[:count],
        headers.precision[:count],
        headers.level[:count],
        headers.thread[:count],
        headers.logger[:count],
    )
