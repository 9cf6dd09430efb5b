"""Where the rows of a delimited file stand: their numbers and their lines, also after skipped rows.

The header, where there is one, is line 1; a row with quoted line breaks takes several lines; a row that the
parser skips, because it has too few or too many fields, has a number and lines, too.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from cepctl.numeric.arrays import Numbers


def _numbers() -> array[int]:
    return array("q")


@dataclass
class RowPlaces:
    """Places of the rows of one file, in the order of the file.

    Attributes
    ----------
    taken
        The number of the last row that the parser handed out.
    header
        How many lines stand before the first row.
    """

    taken: int = 0
    header: int = 1
    _skipped: array[int] = field(default_factory=_numbers)
    _breaks: array[int] = field(default_factory=_numbers)
    _breaks_before: int = 0

    def skip(self, number: int, breaks: int) -> None:
        """Note that the parser skips this row, which holds this many line breaks."""
        self._skipped.append(number)
        self._breaks.extend([number] * breaks)

    def take(self, count: int) -> Numbers:
        """Numbers of the next `count` rows that the parser hands out."""
        skipped = _sorted(self._skipped)
        passed = skipped[skipped > self.taken]
        numbers = self.taken + 1 + np.arange(count, dtype=np.int64)
        # The i-th skipped row pushes back every row that would have stood at or after it.
        threshold = passed - np.arange(len(passed))
        numbers += np.searchsorted(threshold, numbers, side="right")
        self.taken = int(numbers[-1]) if count else self.taken
        return numbers

    def note_breaks(self, numbers: Numbers, counts: Numbers) -> None:
        """Note that the rows with these numbers hold this many line breaks each."""
        self._breaks.frombytes(np.repeat(numbers, counts).astype(np.int64).tobytes())

    def lines(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """First and last lines of the rows with these numbers."""
        breaks = _sorted(self._breaks)
        first, last = (np.searchsorted(breaks, numbers, side=side) for side in ("left", "right"))
        before = self.header + self._breaks_before
        return numbers + before + first, numbers + before + last

    def skipped(self, upto: int | None) -> Numbers:
        """Numbers of the skipped rows that are not forgotten, up to this one; None for all."""
        numbers = _sorted(self._skipped)
        return numbers if upto is None else numbers[numbers <= upto]

    def forget(self, upto: int) -> int:
        """Let go of the rows up to this one; returns the line after them."""
        breaks, skipped = _sorted(self._breaks), _sorted(self._skipped)
        self._breaks_before += int(np.count_nonzero(breaks <= upto))
        self._breaks = array("q", breaks[breaks > upto].tobytes())
        self._skipped = array("q", skipped[skipped > upto].tobytes())
        return upto + 1 + self.header + self._breaks_before


def _sorted(numbers: array[int]) -> Numbers:
    return np.sort(np.array(numbers, dtype=np.int64))
