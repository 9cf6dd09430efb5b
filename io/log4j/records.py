"""Records of a log4j log: a header line, and the lines after it up to the next header.

Continuation lines (stack traces) belong to the message of the record before them.  What stands
before the first record belongs to none and is rejected.  A record of more than LONGEST_RECORD bytes
is cut there, so memory is bounded whatever a log holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.log4j.layouts import texts
from cepctl.io.log4j.lines import GAP_BYTES, LONGEST_RECORD, cut_before, cut_line, line_blocks
from cepctl.io.source.streams import LongGaps
from cepctl.numeric.arrays import Numbers

ORPHANS = "before the first record of the log"
_CUT = f"records of more than {LONGEST_RECORD:,} bytes, of which the rest was left out: {{:,}}"
_SHOWN = 4_096


class RecordBeginnings(Protocol):
    """The lines of a block that begin a record: their index in it, the byte at which each message begins."""

    @property
    def line(self) -> Numbers: ...

    @property
    def message(self) -> Numbers: ...

    def first(self, count: int) -> Any:
        """The first `count` of them, of the same class."""


B = TypeVar("B", bound=RecordBeginnings)
Find = Callable[[bytes, Numbers, Numbers], B]
"""Finds the lines [starts, ends) of a block (newlines left out) that begin a record."""


@dataclass(frozen=True)
class HeadedRecords(Generic[B]):
    """Records in file order; `line` is the number of the header's line in the file, from 1.

    `headers.message` is meaningless here: `message` holds the messages, their lines joined by
    newlines, without blanks at the end.
    """

    headers: B
    line: Numbers
    message: pa.Array

    def __len__(self) -> int:
        return len(self.line)


def read_records(
    stream: IO[bytes], source: str, report: ReadReport, find: Find[B]
) -> Iterator[HeadedRecords[B]]:
    """Yield the records of a log, one batch per block of text, as `find` tells where they begin.

    `report.records` counts them, with the reject for what stands before the first.
    """
    gaps = LongGaps(GAP_BYTES)
    splitter = _Splitter(source, report, find)
    blocks = line_blocks(stream, source, report, gaps)
    block = next(blocks, None)
    while block is not None:
        following = next(blocks, None)
        records = splitter.split(block, last=following is None)
        if records is not None:
            yield replace(records, line=records.line + gaps.left_out_before(records.line - 1))
        block = following
    splitter.reject_orphans()


@dataclass(frozen=True)
class _Headed(Generic[B]):
    """A text and the records that begin in it: the byte at which each does, and its line in the file."""

    text: bytes
    headers: B
    begin: Numbers
    line: Numbers


@dataclass
class _Splitter(Generic[B]):
    """Splits blocks into records; the last record of a block waits for lines of the next.

    `_cut` says that the waiting record was already cut, and counted as such.
    """

    source: str
    report: ReadReport
    find: Find[B]
    _waiting: bytes = b""
    _waiting_line: int = 1
    _next_line: int = 1
    _cut: bool = False
    _orphans: list[bytes] = field(default_factory=list)

    def split(self, block: bytes, *, last: bool) -> HeadedRecords[B] | None:
        """The records that end in this block, which ends with a newline."""
        found = self._headed(block)
        if found is None:
            return None
        self.reject_orphans()
        was_cut = self._cut
        if not last:
            self._let_wait(found, counted=was_cut and len(found.begin) == 1)
        return self._records(found, len(found.begin) - (not last), first_counted=was_cut)

    def reject_orphans(self) -> None:
        """Report the lines before the first record, if there were any."""
        if self._orphans:
            self.report.records += 1
            raw = b"".join(self._orphans)[:_SHOWN]
            self._orphans.clear()
            self.report.rejects.append(Reject(self.source, 1, ORPHANS, raw))

    def _headed(self, block: bytes) -> _Headed[B] | None:
        """What waits and the block, with the records that begin there; None when none does."""
        text = self._waiting + block
        starts, ends = line_bounds(text)
        headers = self.find(text, starts, ends)
        behind = self._waiting.count(b"\n")
        lines = np.where(headers.line < behind, self._waiting_line, self._next_line + headers.line - behind)
        self._next_line += block.count(b"\n")
        first = int(starts[headers.line[0]]) if len(headers.line) else len(text)
        if first and sum(map(len, self._orphans)) < _SHOWN:
            self._orphans.append(text[: min(first, _SHOWN)])
        return _Headed(text, headers, starts[headers.line], lines) if len(headers.line) else None

    def _let_wait(self, found: _Headed[B], *, counted: bool) -> None:
        rest = found.text[int(found.begin[-1]) :]
        self._waiting, self._waiting_line, self._cut = rest, int(found.line[-1]), counted
        if len(rest) > LONGEST_RECORD:
            self._note_cut(not counted)
            self._waiting, self._cut = cut_line(rest) + b"\n", True

    def _records(self, found: _Headed[B], count: int, *, first_counted: bool) -> HeadedRecords[B] | None:
        """The first `count` records, long ones cut; `first_counted` when the first was noted before."""
        if not count:
            return None
        begin, message = found.begin[:count], found.headers.message[:count]
        end = np.append(found.begin[1:], len(found.text))[:count] - 1
        long = np.flatnonzero(end - begin > LONGEST_RECORD)
        for record in long:
            whole = found.text[int(begin[record]) : int(end[record])]
            end[record] = begin[record] + cut_before(whole, LONGEST_RECORD)
        self._note_cut(len(long) - (first_counted and 0 in long))
        self.report.records += count
        messages = pc.utf8_rtrim_whitespace(texts(found.text, message, np.maximum(end, message)))
        return HeadedRecords(found.headers.first(count), found.line[:count], messages)

    def _note_cut(self, records: int) -> None:
        if records:
            self.report.notes[_CUT] += records


def line_bounds(text: bytes) -> tuple[Numbers, Numbers]:
    """Where the lines begin and end, newlines left out."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]), ends
