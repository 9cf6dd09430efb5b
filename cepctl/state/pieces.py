"""The new part of a log that grows, up to the last record that is certainly whole.

When a record is whole is told by its format (io/contract/line_records.py).  A part gets the header of the
log, so that it can be read as a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cepctl.io.contract.line_records import LineRecords
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import ColumnMap
from cepctl.state.sources import PRINT_BYTES, digest

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


def records_of(known: LogFormat, head: bytes, columns: ColumnMap) -> LineRecords | None:
    """How a log of this format that begins so falls into records; None: it is read as a whole."""
    return None if known.lines is None or head.startswith(_UTF16) else known.lines(head, columns)


def take_part(records: LineRecords, stream: IO[bytes], target: Path, *, to_the_end: bool) -> Cut:
    """Copy the whole records that a stream still holds after the header into a file.

    `to_the_end` takes the last record too, whole or not: nothing more will come.
    """
    header, counter = records.header, records.counter()
    with target.open("w+b") as part:
        part.write(header)
        while block := stream.read(_BLOCK_BYTES):
            part.write(block)
            counter.add(block)
        size = part.tell() - len(header)
        if to_the_end:
            taken, counted = size, counter.ended + (size > counter.whole)
        else:
            taken, counted = records.whole(part, len(header), counter.whole), counter.ended
        tail_bytes = min(taken, PRINT_BYTES)
        part.seek(len(header) + taken - tail_bytes)
        tail = digest(part.read(tail_bytes))
        part.truncate(len(header) + taken)
    return Cut(taken, 0 if records.counted_by_reader else counted, tail, tail_bytes, size > taken)
