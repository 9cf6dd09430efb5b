"""What a log of a clock gives: rows of one form, with one sign, and an account of what it could not give.

A clock is ahead by what it shows too much: the true time is the reading less `ahead`.

    column   meaning
    host     whose clock it is; null where the log does not say
    time     the reading at which the row was written
    ahead    the estimate; of a row of the state STEP by how much the clock was set forward
    sd       standard deviation of the estimate, null for none
    since    |true ahead| is at most this since the row before, null for none
    around   the true ahead differs from the estimate by at most this at `time`, null for none
    state    one of the states below
    line     where the row stands, from 1

All but host, state and line are nanoseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import polars as pl

from cepctl.io.contract.reader import ReadOptions, ReadReport

SYNCHRONISED, UNSYNCHRONISED, UNLOCKED, JUMP, STEP = range(5)
"""The states of a row: with an estimate that holds; without; of a servo (linuxptp) that is not locked, or
that sets the clock next; a message that the clock was set."""

ROW_TYPES: dict[str, Any] = {
    "host": pl.String,
    "time": pl.Int64,
    "ahead": pl.Int64,
    "sd": pl.Int64,
    "since": pl.Int64,
    "around": pl.Int64,
    "state": pl.UInt8,
    "line": pl.Int64,
}
MESSAGES = "messages"
"""The kind of rows that tell of steps alone."""
_LINES_KEPT = 5


@dataclass(frozen=True)
class ClockRows:
    """Some rows of one kind, such as `tracking`, in the order of the log; columns of ROW_TYPES."""

    kind: str
    rows: pl.DataFrame


@dataclass
class Account:
    """What a log had beside its rows.

    Attributes
    ----------
    not_understood
        How many lines could not be read, by cause.
    lines
        The first of these lines, by cause.
    passed_over
        How many lines say nothing of this clock's error, by what they are.
    beyond_bound
        How many estimates lie outside of their own bound.
    report
        What the readers of times note.
    """

    not_understood: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=dict)
    passed_over: Counter[str] = field(default_factory=Counter)
    beyond_bound: Counter[int] = field(default_factory=Counter)
    report: ReadReport = field(default_factory=ReadReport)

    def refuse(self, cause: str, lines: list[int]) -> None:
        """These lines could not be read."""
        if lines:
            self.not_understood[cause] += len(lines)
            kept = self.lines.setdefault(cause, [])
            kept += lines[: _LINES_KEPT - len(kept)]


ReadRows = Callable[[IO[bytes], str, ReadOptions, Account], Iterator[ClockRows]]


@dataclass(frozen=True)
class ClockLog:
    """All that is known of one kind of log.

    Attributes
    ----------
    name
        Of the log, for people.
    daemon
        Who writes it.
    recognises
        Whether a log that begins so is of this kind.
    read
        Its rows, from an open stream, the name of the file, and how times are read.
    """

    name: str
    daemon: str
    recognises: Callable[[bytes], bool]
    read: ReadRows


def rows_of(columns: dict[str, Any], count: int) -> pl.DataFrame:
    """Rows from some of their columns; the others are null, and the state is SYNCHRONISED."""
    given = {"state": pl.repeat(SYNCHRONISED, count, dtype=pl.UInt8, eager=True), **columns}
    return pl.DataFrame(
        {
            name: pl.Series(name, given[name], dtype=kind)
            if name in given
            else pl.repeat(None, count, dtype=kind, eager=True).alias(name)
            for name, kind in ROW_TYPES.items()
        }
    )
