"""Sets of ticks, one for each of n matches, as two flat arrays; with sums and unions of such sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks


@dataclass(frozen=True)
class Segments:
    """Match i owns values[offsets[i]:offsets[i + 1]], sorted, each once."""

    offsets: Indexes
    values: Ticks

    @classmethod
    def of(cls, count: int, owner: Indexes, values: Ticks) -> Segments:
        """The sets of `count` matches from pairs of a match and a tick, in any order."""
        order = np.lexsort((values, owner))
        owner, values = owner[order], values[order]
        fresh = np.ones(len(values), dtype=bool)
        fresh[1:] = (owner[1:] != owner[:-1]) | (values[1:] != values[:-1])
        owner, values = owner[fresh], values[fresh]
        return cls(np.searchsorted(owner, np.arange(count + 1)), values)

    @property
    def owner(self) -> Indexes:
        """The match of every value."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def differences(self, other: Segments) -> tuple[Indexes, Ticks]:
        """All values of these less all of the others, match by match: the matches and the differences."""
        sizes = np.diff(other.offsets)[self.owner]
        total = np.concatenate([[0], np.cumsum(sizes)])
        mine = np.repeat(np.arange(len(self.values)), sizes)
        at = (
            np.arange(total[-1])
            - np.repeat(total[:-1], sizes)
            + np.repeat(other.offsets[:-1][self.owner], sizes)
        )
        return self.owner[mine], self.values[mine] - other.values[at]


def united(count: int, parts: Sequence[tuple[Indexes, Ticks]]) -> Segments:
    """One set for each match from several lists of pairs of a match and a tick."""
    none = np.zeros(0, dtype=np.int64)
    owner = np.concatenate([none, *(owner for owner, _ in parts)])
    values = np.concatenate([none, *(values for _, values in parts)])
    return Segments.of(count, owner, values)


def moved(pairs: tuple[Indexes, Ticks], shifts: Ticks) -> tuple[Indexes, Ticks]:
    """Every pair once for each shift, with the tick moved by it."""
    owner, values = pairs
    return np.repeat(owner, len(shifts)), (values[:, None] + shifts).reshape(-1)
