"""The values between rows and table: what the user chose, the rows of a host, the pieces of its readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from cepctl.numeric.arrays import Flags, Numbers

NONE = -1
"""A standard deviation or a bound that a row does not have."""
SECOND = 10**9
ROW, GAP, BEFORE, AFTER, STEPPED, HULL = range(6)
NOTES = ("row", "gap", "before", "after", "step", "hull")
"""What a piece lies at: the words of the column `note`, by their numbers."""


@dataclass(frozen=True)
class PieceChoices:
    """How pieces are made.

    Attributes
    ----------
    drift
        By how much a clock can gain or lose, in nanoseconds per second.
    hold
        How long before its first and after its last row something is said of a clock, in nanoseconds.
    """

    drift: int = 15_000
    hold: int = 3_600 * SECOND


@dataclass(frozen=True)
class HostRows:
    """The rows of a host in the order of its log, one element of each array per row; nanoseconds.

    `sd`, `since` and `around` are NONE where a row has none; `file` numbers the files that are read.  The
    clock was set at `step_times`, by `step_amounts`, as messages say.
    """

    time: Numbers
    ahead: Numbers
    sd: Numbers
    since: Numbers
    around: Numbers
    state: NDArray[np.uint8]
    file: Numbers
    line: Numbers
    step_times: Numbers
    step_amounts: Numbers

    def __len__(self) -> int:
        return len(self.time)

    @property
    def least(self) -> Numbers:
        """The least that the clock can really be ahead at each row."""
        return np.where(
            self.since != NONE, -np.maximum(self.since, np.abs(self.ahead)), self.ahead - self.around
        )

    @property
    def most(self) -> Numbers:
        """The most that the clock can really be ahead at each row."""
        return np.where(
            self.since != NONE, np.maximum(self.since, np.abs(self.ahead)), self.ahead + self.around
        )

    def only(self, kept: Flags | Numbers | slice) -> HostRows:
        """The rows that are kept, with all steps."""
        return replace(self, **{name: getattr(self, name)[kept] for name in _OF_ROWS})


_OF_ROWS = ("time", "ahead", "sd", "since", "around", "state", "file", "line")


def joined_rows(parts: Sequence[HostRows]) -> HostRows:
    """All rows of several parts, of which there is one at least."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _OF_ROWS}
    return replace(parts[0], **columns)


@dataclass(frozen=True)
class Pieces:
    """Pieces [start, stop) of the readings of one clock, one element of each array per piece; nanoseconds.

    The estimate goes from `ahead` to `ahead_to`, and what the clock is really ahead less the estimate lies in
    [low, high].  `sd` is NONE for none, and so are `file` and `line`.  A piece that `joins` belongs to the
    epoch of the one before it.
    """

    start: Numbers
    stop: Numbers
    ahead: Numbers
    ahead_to: Numbers
    low: Numbers
    high: Numbers
    sd: Numbers
    joins: Flags
    note: Numbers
    file: Numbers
    line: Numbers

    def __len__(self) -> int:
        return len(self.start)

    def taken(self, which: Numbers | Flags | slice) -> Pieces:
        """Some of the pieces, in the order of `which`."""
        return replace(self, **{name: getattr(self, name)[which] for name in OF_PIECES})

    @property
    def columns(self) -> tuple[Numbers, ...]:
        """The arrays, in the order of OF_PIECES."""
        return tuple(getattr(self, name) for name in OF_PIECES)


OF_PIECES = tuple(each.name for each in fields(Pieces))


def joined_pieces(parts: Sequence[Pieces]) -> Pieces:
    """All pieces of several parts, of which there is one at least."""
    columns = zip(*(part.columns for part in parts), strict=True)
    return replace(parts[0], **dict(zip(OF_PIECES, map(np.concatenate, columns), strict=True)))


def pieces_of(rows: Sequence[tuple[int, ...]]) -> Pieces:
    """Pieces from tuples in the order of OF_PIECES."""
    table = np.array([*rows], np.int64).reshape(-1, len(OF_PIECES)).T
    return pieces_from(table)


def pieces_from(table: Numbers) -> Pieces:
    """Pieces from an array of whole numbers, shape (fields, n), in the order of OF_PIECES."""
    columns = dict(zip(OF_PIECES, table, strict=True))
    joins = columns.pop("joins") != 0
    return Pieces(joins=joins, **columns)


def growth(length: Numbers, drift: int, parts: int = 1) -> Numbers:
    """What a drift makes of a length of time, over `parts`, rounded up; all in nanoseconds.

    Examples
    --------
    >>> growth(np.array([64_000_000_000, 1]), 15_000).tolist(), growth(np.array([64_000_000_001]), 15_000, 2)
    ([960000, 1], array([480001]))
    """
    whole = SECOND * parts
    seconds, rest = np.divmod(length, whole)
    return np.asarray(seconds * drift - (-rest * drift // whole), np.int64)
