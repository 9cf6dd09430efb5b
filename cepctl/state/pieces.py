"""The new part of a log that grows, up to the last record that is certainly whole.

    format        a record is whole when                       its number counts
    csv, tsv      a line ends outside of quotes                rows behind the header
    jsonl         a line ends                                  lines
    log4j         the next record has begun: until then        records
                  more lines may belong to it

The part of a delimited file gets the header of the file, so that it can be read as a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cepctl.io.log4j.layouts import find_headers
from cepctl.io.log4j.records import line_bounds
from cepctl.io.record_starts import LINE_FORMATS
from cepctl.io.tabular.header import DELIMITERS, delimiter_of, first_line
from cepctl.io.tabular.mapping import ColumnMap
from cepctl.io.tabular.quoted_lines import QuotedLines
from cepctl.state.sources import PRINT_BYTES, digest

RECORDS_COUNTED_BY_READER = frozenset({"log4j"})
_BLOCK_BYTES = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Cut:
    """What was taken of a log: bytes, records (0 where the reader counts them), and the print of its end."""

    bytes_taken: int
    records: int
    tail: str
    tail_bytes: int
    rest: bool


def grows_by_lines(format_name: str, head: bytes) -> bool:
    """Whether a log of this format, which begins so, can be read part by part."""
    return format_name in LINE_FORMATS and not head.startswith(_UTF16)


def header_of(format_name: str, head: bytes) -> bytes:
    """What has to stand before each part of a log that begins so: the first line of a delimited file."""
    return head[: head.find(b"\n") + 1] if format_name in DELIMITERS else b""


def take_part(
    format_name: str, stream: IO[bytes], header: bytes, mapping: ColumnMap, target: Path, *, to_the_end: bool
) -> Cut:
    """Copy the whole records that a stream still holds behind `header` into a file.

    `to_the_end` takes the last record too, whole or not: nothing more will come.
    """
    quoted = None
    if format_name in DELIMITERS:
        quoted = QuotedLines(ord(delimiter_of(first_line(header), format_name, mapping)))
    counter = _Lines(quoted)
    with target.open("w+b") as part:
        part.write(header)
        while block := stream.read(_BLOCK_BYTES):
            part.write(block)
            counter.add(block)
        size = part.tell() - len(header)
        taken, records = counter.whole, counter.ended
        if format_name == "log4j" and not to_the_end:
            taken = _last_record(part, len(header), taken)
        if to_the_end:
            records += size > taken
            taken = size
        tail_bytes = min(taken, PRINT_BYTES)
        part.seek(len(header) + taken - tail_bytes)
        tail = digest(part.read(tail_bytes))
        part.truncate(len(header) + taken)
    counted = 0 if format_name in RECORDS_COUNTED_BY_READER else records
    return Cut(taken, counted, tail, tail_bytes, size > taken)


@dataclass
class _Lines:
    """Counts the lines that have ended, where `quoted` outside of quotes; `whole` is where the last did."""

    quoted: QuotedLines | None
    ended: int = 0
    whole: int = 0
    _seen: int = 0

    def add(self, block: bytes) -> None:
        if self.quoted is None:
            self.ended += block.count(b"\n")
            self.whole = self._seen + block.rfind(b"\n") + 1 if b"\n" in block else self.whole
        else:
            found = self.quoted.add(block)
            rows = found.place[~found.inside & ~found.alone]
            self.ended += len(rows)
            self.whole = int(rows[-1]) + 1 if len(rows) else self.whole
        self._seen += len(block)


def _last_record(part: IO[bytes], begin: int, whole: int) -> int:
    """Where the last record of the lines begins; 0 where none does, and nothing can be taken."""
    size = _BLOCK_BYTES
    while True:
        start = max(whole - size, 0)
        part.seek(begin + start)
        text = part.read(whole - start)
        if start:
            cut = text.find(b"\n") + 1
            start, text = start + cut, text[cut:]
        if text:
            starts, ends = line_bounds(text)
            lines = find_headers(text, starts, ends).line
            if len(lines):
                return start + int(starts[lines[-1]])
        if size >= whole:
            return 0
        size *= 2
