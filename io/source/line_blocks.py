"""The text of a log of lines in blocks of whole lines, and what layouts find in all lines of one at once.

A layout is a regular expression that most lines of a log fit.  It is for lines as programs write them every
day; what it does not fit is read line by line.  Polars looks for it: where at each sign there is one way to
go on, that takes a small part of the time that the same expression takes in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from cepctl.io.source.streams import LONGEST_GAP, LONGEST_LINE, LongGaps, empty_lines
from cepctl.numeric.arrays import Numbers

BLOCK_BYTES = 1 << 21
BLANKS = b" \t\r\v\f\0"
"""What stands around a line and is no part of it."""
BLANK, SIGN, WORD = r"[\t\n\v\f\r ]", r"[^\t\n\v\f\r ]", r"[^\t\n\v\f\r ]+"
"""As layouts write what expressions of Python with re.ASCII write as `\\s`, `\\S` and `\\S+`."""
FEWEST_BYTES = 1 << 19
"""Of smaller blocks layouts tell nothing: lines are read one by one in less time than Polars is imported."""
_MOST_LINES = 20_000


def line_blocks(chunks: Iterable[bytes], block_bytes: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The number of the first line of each block, from 1, and its text; the last line may have no newline.

    Of a line longer than LONGEST_LINE only the beginning comes, a little too long.  Of runs of empty lines
    what is longer than LONGEST_GAP bytes is left out.
    """
    enough = BLOCK_BYTES if block_bytes is None else block_bytes
    number, size, open_bytes = 1, 0, 0
    waiting: list[bytes] = []
    gaps = LongGaps(LONGEST_GAP)
    for chunk in chunks:
        leaves_out = gaps.leaves_out(chunk)
        if not leaves_out:
            first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
            kept = chunk if open_bytes <= LONGEST_LINE else chunk[first:] if first >= 0 else b""
            waiting.append(kept)
            size += len(kept)
            open_bytes = len(chunk) - last - 1 if last >= 0 else open_bytes + len(kept)
        if size and (leaves_out or (size >= enough and last >= 0)):
            text = b"".join(waiting)
            whole = text.rfind(b"\n") + 1
            if whole:
                yield number, text[:whole]
                number += text.count(b"\n")
            waiting, size = [text[whole:]], len(text) - whole
        if leaves_out:
            number += empty_lines(chunk)
    if size:
        yield number, b"".join(waiting)


@dataclass(frozen=True)
class Lines:
    """Some lines of a block.

    Attributes
    ----------
    text
        The block.
    number
        The number of the first line.
    starts, ends
        The bytes at which each begins and ends, without its newline.
    """

    text: bytes
    number: int
    starts: Numbers
    ends: Numbers

    def __len__(self) -> int:
        return len(self.starts)

    def first(self, count: int) -> Lines:
        """The first `count` of them."""
        return Lines(self.text, self.number, self.starts[:count], self.ends[:count])

    def whole(self, row: int) -> bytes:
        """A line."""
        return self.text[self.starts[row] : self.ends[row]]

    def raw(self, row: int) -> bytes:
        """A line without blanks around it."""
        return self.whole(row).strip(BLANKS)

    def block(self) -> bytes:
        """All lines."""
        return self.text[int(self.starts[0]) : int(self.ends[-1]) + 1]

    def strings(self) -> pa.Array:
        """All lines as text, with their newlines; empty where one is not UTF-8."""
        text = self.block()
        if is_text(text):
            bounds = np.append(self.starts - self.starts[0], len(text))
            buffers = [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(text)]
            return pa.Array.from_buffers(pa.string(), len(self), buffers)
        lines = [self.whole(row) for row in range(len(self))]
        return pa.array([line if is_text(line) else b"" for line in lines], pa.binary()).cast(pa.string())


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def lines_of(number: int, text: bytes, most: int | None = None) -> Iterator[Lines]:
    """The lines of a block that begins with line `number`, at most so many at a time."""
    most = _MOST_LINES if most is None else most
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    starts = np.append(0, ends[:-1] + 1)
    for first in range(0, len(starts), most):
        some = slice(first, first + most)
        yield Lines(text, number + first, starts[some], ends[some])


Parsed = TypeVar("Parsed")
Groups = Mapping[str, pa.Array]
"""The named groups of a layout in the lines that fit it, as text; null where a group took no part."""


@dataclass(frozen=True)
class Layout(Generic[Parsed]):
    """How most lines of a log are written.

    Attributes
    ----------
    expression
        Fits a whole line without blanks around it; means the same to Python and to Polars.  In every line
        that fits a named group takes part.
    parse
        Makes of the groups what the reader of a format works with.
    """

    expression: str
    parse: Callable[[Groups], Parsed]


def are_many(lines: Lines) -> bool:
    """Whether the block of lines is one in which layouts are looked for."""
    return len(lines.text) >= FEWEST_BYTES


def parsed_by(
    layouts: Sequence[Layout[Parsed]], lines: Lines, blanks: bytes = BLANKS
) -> Iterator[tuple[Numbers, Parsed]]:
    """What lines are parsed to by the first layout that fits each, with their rows; other lines are in none.

    `blanks` stand around lines.
    """
    if not are_many(lines):
        return
    import polars as pl

    texts = pl.Series(lines.strings()).str.strip_chars(f"{blanks.decode()}\n")
    rows = np.arange(len(lines))
    for layout in layouts:
        found = texts.str.extract_groups(f"(?s)^(?:{layout.expression})$").struct.unnest()
        fits = found.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        if fits.any():
            fitting = found if fits.all() else found.filter(fits)
            groups = {each.name: each.to_arrow().cast(pa.string()) for each in fitting}
            yield rows[fits.to_numpy()], layout.parse(groups)
        if fits.all():
            return
        texts, rows = texts.filter(~fits), rows[~fits.to_numpy()]
