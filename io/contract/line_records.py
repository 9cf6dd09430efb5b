"""How a file of lines falls into records, so that it can be read part by part; and where it can be cut.

Such a file is cut in two ways: a large one into parts that several tasks read at once, and one that grows
behind the last record that is certainly whole.  Either way a part, with the header of the file before it, is
read as a file of its own, whose records are numbered on.

A large file is told apart block by block, all blocks at once.  What stands in a block is told without the
blocks before it: where quotes matter for both cases, that the block begins outside of quotes and inside of
them; which of them is true shows when the blocks are put together.  A file is cut at the first record that
begins behind the first byte of each block but the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Protocol

OPEN_QUOTE = "a quote is opened and not closed in this row"
"""The cause of rejects behind which rows are numbered by the whole file alone."""
LONGEST_ROW = 1 << 20
"""A file with longer rows is not cut: its reader may or may not bear them, by where they stand."""


@dataclass(frozen=True)
class RecordCut:
    """A place where a record begins, and how many records and lines stand before it."""

    place: int
    records: int
    lines: int


@dataclass(frozen=True)
class Passage:
    """What a block holds.

    Attributes
    ----------
    records, lines
        How many begin in it, counted at the line ends before them.
    cut
        The first record that begins in it, with what the block holds before; None where none does.
    ends_inside
        Whether the block ends inside of quotes.
    ends
        The first and the last end of a row in it; None where there is none, or they do not matter.
    whole
        Whether something in it forbids to cut the file.
    """

    records: int = 0
    lines: int = 0
    cut: RecordCut | None = None
    ends_inside: bool = False
    ends: tuple[int, int] | None = None
    whole: bool = False


Passages = tuple[Passage, Passage]
"""What a block holds when it begins outside of quotes, and when it begins inside."""
UNCUT: Passages = (Passage(whole=True), Passage(whole=True))
"""Of a file that must not be cut."""


class LineCounter(Protocol):
    """Counts what has `ended` of a text that comes piece by piece; `whole` is where the last of it did."""

    @property
    def ended(self) -> int: ...

    @property
    def whole(self) -> int: ...

    def add(self, piece: bytes) -> None:
        """Take the next bytes of the text, which begins behind the header."""


class LineRecords(Protocol):
    """How one file of lines falls into records; goes to workers, so it can be pickled."""

    @property
    def header(self) -> bytes:
        """What stands before the records, and has to stand before each part of them; may be empty."""

    @property
    def counted_by_reader(self) -> bool:
        """Whether only reading tells how many records there are: those that the reader reports."""

    @property
    def unnumbered(self) -> str:
        """The cause of rejects that such a reader reports as records, and does not number; empty: none."""

    @property
    def forms(self) -> tuple[tuple[str, str], ...]:
        """What all parts have to know to be read as the whole is (`ReadReport.time_forms`)."""

    def scan(self, stream: IO[bytes], start: int, stop: int, *, first: bool) -> Passages:
        """Tell what stands in bytes `start` .. `stop` - 1 of a file; the records begin with the `first`."""

    def counter(self) -> LineCounter:
        """A counter of lines or rows, which are records or parts of some."""

    def whole(self, part: IO[bytes], begin: int, ended: int) -> int:
        """How many bytes of a part are records that are certainly whole.

        The part begins at byte `begin` of its stream, and its last line ends after `ended` bytes.
        """


def cuts(blocks: Sequence[Passages], begin: int, end: int) -> tuple[RecordCut, ...] | None:
    """Where a file can be cut, with all records and lines before; None where it must not be.

    `begin` is where its records begin, `end` how long it is.
    """
    found: list[RecordCut] = []
    records = lines = 0
    inside, row, rows = False, begin, False
    for number, block in enumerate(blocks):
        passage = block[inside]
        if passage.whole or (passage.ends and passage.ends[0] - row > LONGEST_ROW):
            return None
        if number and passage.cut and passage.cut.place < end:
            found.append(
                RecordCut(passage.cut.place, records + passage.cut.records, lines + passage.cut.lines)
            )
        records, lines, inside = records + passage.records, lines + passage.lines, passage.ends_inside
        if passage.ends:
            row, rows = passage.ends[1] + 1, True
    if rows and (inside or end - row > LONGEST_ROW):
        return None
    return tuple(found)
