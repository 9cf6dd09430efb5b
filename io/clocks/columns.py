"""Logs whose lines are columns between blanks: those of chrony and ntpd.

A line that cannot be read is refused with the first cause that applies, never in silence; lines that begin
with neither a digit nor a blank are the banners that chrony writes in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO

import numpy as np
import polars as pl

from cepctl.io.clocks.blocks import blocks
from cepctl.io.clocks.contract import Account, ClockRows
from cepctl.io.clocks.decimals import LARGEST, LAST_INSTANT, Nanoseconds, nanoseconds
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.text_encoding import decoded
from cepctl.numeric.arrays import Flags, Numbers

NOT_COLUMNS = "not a line of this log: {} columns"
BAD_TIME = "a time that no calendar has"
FUTURE = "a day in the future; mend the number of the day (MJD)"
BAD_ESTIMATE = "an estimate that is not a number"
BAD_BOUND = "a bound that is 0, negative, 2^32 ns or not a number"
BAD_DEVIATION = (
    "a standard deviation that is 0, negative, 2^32 ns or not a number: the row is kept without it"
)

_WRAPPED = 2**32
_SECOND, _MILLION = 10**9, 10**6
_MJD_OF_1970 = 40_587
_DAY_SECONDS = 86_400
_LAST_MILLISECOND = LAST_INSTANT // _MILLION
_LINES_LOOKED_AT = 40


@dataclass
class Fields:
    """The columns of some lines with as many columns, and which lines are refused so far, and why.

    `cells` are lists of texts, `lines` the numbers of the lines.
    """

    cells: pl.Series
    lines: Numbers
    account: Account
    refused: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.refused = np.zeros(len(self.lines), np.bool_)

    def __len__(self) -> int:
        return len(self.lines)

    def text(self, column: int) -> pl.Series:
        """The texts of a column, numbered from 1 as in the manuals."""
        return self.cells.list.get(column - 1)

    def refuse(self, bad: Flags, cause: str) -> None:
        """Refuse lines, for a cause that is told of those which are not refused yet."""
        self.account.refuse(cause, self.lines[bad & ~self.refused].tolist())
        self.refused = self.refused | bad

    def estimate(self, column: int) -> Nanoseconds:
        """A column of seconds; lines where it is not a number are refused."""
        found = nanoseconds(self.text(column))
        self.refuse(~found.known | (np.abs(found.floors) > LARGEST), BAD_ESTIMATE)
        return found

    def bound(self, column: int) -> Numbers:
        """A column of positive seconds, rounded up; lines where it is none are refused."""
        found = nanoseconds(self.text(column))
        self.refuse(~is_usable(found), BAD_BOUND)
        return found.up

    def part(self, column: int) -> Nanoseconds:
        """A column of seconds, part of a bound; lines where it is negative or not a number are refused."""
        found = nanoseconds(self.text(column))
        self.refuse(~found.known | (found.floors < 0) | (found.floors > LARGEST), BAD_BOUND)
        return found

    def deviation(self, column: int) -> pl.Series:
        """A column of standard deviations, null where it is not positive, which is said."""
        found = nanoseconds(self.text(column))
        usable = is_usable(found)
        self.account.refuse(BAD_DEVIATION, self.lines[~usable & ~self.refused].tolist())
        return known_where(found.up, usable)

    def calendar(self) -> Numbers:
        """The instants that the first two columns write, date and time in UTC; lines without are refused."""
        written = self.text(1) + " " + self.text(2)
        leap = written.str.ends_with(":60").to_numpy()
        instants = (
            written.str.replace(":60$", ":59")
            .str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False, time_unit="ms")
            .cast(pl.Int64)
        )
        millis = instants.fill_null(-1).to_numpy()
        self.refuse((millis < 0) | (millis > _LAST_MILLISECOND), BAD_TIME)
        return np.asarray(np.where(self.refused, 0, millis) * _MILLION + leap * _SECOND, np.int64)

    def julian(self) -> Numbers:
        """The instants of a modified Julian day and a second of it, in UTC; lines without are refused."""
        days = self.text(1).cast(pl.Int64, strict=False).fill_null(-1).to_numpy()
        seconds = nanoseconds(self.text(2))
        unusable = ~seconds.known | (seconds.floors < 0) | (seconds.floors >= (_DAY_SECONDS + 1) * _SECOND)
        self.refuse(unusable | (days < _MJD_OF_1970), BAD_TIME)
        today = (datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
        since_1970 = days - _MJD_OF_1970
        self.refuse(since_1970 > today + 1, FUTURE)
        return np.where(self.refused, 0, since_1970) * _DAY_SECONDS * _SECOND + np.where(
            self.refused, 0, seconds.floors
        )

    def kept(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of lines that were not refused."""
        return rows.filter(pl.Series(~self.refused))


def is_usable(found: Nanoseconds) -> Flags:
    """Which values can be a bound or a standard deviation."""
    above = (found.floors > 0) | ((found.floors == 0) & ~found.exact)
    believed = (found.floors != _WRAPPED) & (found.floors <= LARGEST)
    return np.asarray(found.known & above & believed, np.bool_)


def known_where(values: Numbers, known: Flags) -> pl.Series:
    """Values, null where they are not known."""
    return pl.select(pl.when(pl.Series(known)).then(pl.Series(values))).to_series()


RowsOf = Callable[[Fields], pl.DataFrame]


@dataclass(frozen=True)
class ColumnLog:
    """A log of columns: how many its lines have, and how they become rows."""

    kind: str
    widths: frozenset[int]
    fits: Callable[[list[str]], bool]
    rows: RowsOf

    def recognises(self, head: bytes) -> bool:
        """Whether most of the first lines, without banners, are of this log."""
        lines = decoded(head).split("\n")[:-1][:_LINES_LOOKED_AT]
        known = [self.fits(line.split()) for line in lines if line.strip(" \t\r\0") and not _is_banner(line)]
        return 2 * sum(known) > len(known)

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, account: Account
    ) -> Iterator[ClockRows]:
        """The rows of the log."""
        for block in blocks(stream, source, account):
            numbered = block.numbered().filter(~pl.col("text").str.contains(r"^\s*[=A-Za-z]"))
            cells = _cells(numbered["text"])
            widths = cells.list.len().to_numpy()
            lines = numbered["line"].to_numpy()
            found = []
            for width in np.unique(widths).tolist():
                own = widths == width
                if width not in self.widths:
                    account.refuse(NOT_COLUMNS.format(width), lines[own].tolist())
                    continue
                fields = Fields(cells.filter(pl.Series(own)), lines[own], account)
                found.append(fields.kept(self.rows(fields)))
            if found:
                rows = pl.concat(found)
                yield ClockRows(self.kind, rows.sort("line") if len(found) > 1 else rows)


def _cells(lines: pl.Series) -> pl.Series:
    """The texts between blanks of each line."""
    narrow = lines.str.strip_chars(" \t\r\0").str.replace_all("\t", " ", literal=True)
    while narrow.str.contains("  ", literal=True).any():
        narrow = narrow.str.replace_all("  ", " ", literal=True)
    return narrow.str.split(" ")


def _is_banner(line: str) -> bool:
    return line.lstrip()[:1] == "=" or line.lstrip()[:1].isalpha()
