"""Where the confidence of a match, given the offsets of its clocks, can change its polynomial in these.

Given the offsets, a match is measured as one without clocks. As a function of one offset that is piecewise
a polynomial: it changes only where a cut of one clock's events meets a cut of another's, up to what its
clauses add (`clause_breakpoints`). Summing one offset out leaves pieces that end where two of its own ends
meet.

    name here            meaning
    breakpoints[i, j]    of level j, for i < j: constants c; a piece begins where offset j = offset i + c
    level 0              what no offset moves: the reference, events without a clock, constant times
    Segments             sets of ticks, one for each of n matches, as two flat arrays
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from cepctl.engines.confidence.clocks.frames import Frames
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.numeric.arrays import Indexes, Ticks


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
        at, moved = owned(other.offsets, self.owner)
        mine = np.repeat(np.arange(len(self.values)), np.diff(moved))
        return self.owner[mine], self.values[mine] - other.values[at]


OffsetBreakpoints: TypeAlias = Mapping[tuple[int, int], Segments]
_Pairs: TypeAlias = tuple[Indexes, Ticks]
"""Of matches and ticks."""


def ends_of_ties(frames: Frames, level: int) -> _Pairs:
    """Where, told from the offset of the level before, a tie begins and ceases to allow an offset."""
    match, apart = frames.tied_levels(level)
    return np.concatenate([match, match]), np.concatenate([-apart, apart + 1])


def ends_of_weights(frames: Frames, level: int) -> list[_Pairs]:
    """Where the weights that other clocks of a chain leave to the offsets of a level can change."""
    return [
        (np.repeat(match, len(cells.begin)), np.tile(cells.begin, len(match)))
        for match, cells in frames.weighed(level)
    ]
