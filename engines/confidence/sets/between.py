"""Sets of events between two others, where order and window decide and nothing else: range and confidence.

Such a set is a Kleene group under skip_till_any_match, or an AND group, without timing constraints.  Sets
with an event whose mass has holes, or whose sum takes too much, are left to nested sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.certainty import certainly_in_order
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.sets.sums import sum_sets
from cepctl.engines.confidence.work import SET, most_products
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.numeric.arrays import Flags, Indexes, Ticks

WORK_BOUND = most_products(SET)
"""Products that a set may take."""

_FARTHEST = 1 << 61
"""Sets that span this many ticks are left, so that no sum with their ticks exceeds int64."""
_KINDS = [BlockKind.SINGLE, BlockKind.SET, BlockKind.SINGLE]


def has_set_between(shape: Shape) -> bool:
    """Whether matches are a set between two single events, and order and window are all that decides them."""
    decides = shape.rules or shape.timings or shape.outside
    return [block.kind for block in shape.blocks] == _KINDS and not decides


def sets_between(shape: Shape, masses: Masses, groups: Sequence[Group]) -> tuple[Indexes, Measured]:
    """Measure matches of such a shape, but for those that are left; also says which, ascending.

    `groups` gives the members of every block.
    """
    before, members, after = groups
    ends = np.stack([before.members, after.members], axis=1)
    window = _FARTHEST if shape.window is None else min(shape.window, _FARTHEST)
    possible = _Ticks.possible(masses, ends, members, window)
    usable = possible.usable
    rows = np.flatnonzero(usable & possible.some)
    confidence, summed, own = np.zeros(len(ends)), np.empty(len(rows)), members.take(rows)
    sum_sets(
        *(masses.buckets, ends[rows], possible.lower[rows], possible.upper[rows], own.offsets, own.members),
        *(window, float(WORK_BOUND), summed),
    )
    confidence[rows] = summed
    confidence[certainly_in_order(shape, masses, groups)] = 1.0
    solved = np.flatnonzero(usable & ~np.isnan(confidence))
    found = Measured.exact(confidence, possible.lower[:, 0], possible.upper[:, 1], possible.some)
    return solved, found.taken(solved)


@dataclass(frozen=True)
class _Ticks:
    """What is possible for the events around sets: `lower` and `upper`, shape (n, 2); for `some` nothing is.

    Every tick between two possible ones is possible, where no mass has a hole.  `usable`: whether that is so,
    and no sum of ticks exceeds int64.
    """

    lower: Ticks
    upper: Ticks
    some: Flags
    usable: Flags

    @classmethod
    def possible(cls, masses: Masses, ends: Indexes, members: Group, window: int) -> _Ticks:
        lower, upper = masses.lower[ends], masses.upper[ends]
        begin = members.offsets[:-1]
        latest_lower = np.maximum.reduceat(masses.lower[members.members], begin)
        earliest_upper = np.minimum.reduceat(masses.upper[members.members], begin)
        last, first = (
            np.maximum(upper.max(axis=1), earliest_upper),
            np.minimum(lower.min(axis=1), latest_lower),
        )
        holes = masses.has_hole[ends].any(axis=1) | np.logical_or.reduceat(
            masses.has_hole[members.members], begin
        )
        usable = ~holes & (last.astype(np.uint64) - first.astype(np.uint64) < _FARTHEST)
        room = window - 1
        # Every member, and the end after them, is in the window of a tick before; and the other way round.
        start = np.maximum(lower[:, 0], np.maximum(latest_lower + 1, lower[:, 1]) - room)
        latest_start = np.minimum(upper[:, 0], np.minimum(earliest_upper - 1, upper[:, 1] - 2))
        end = np.minimum(upper[:, 1], np.minimum(earliest_upper - 1, upper[:, 0]) + room)
        earliest_end = np.maximum(lower[:, 1], np.maximum(latest_lower + 1, lower[:, 0] + 2))
        some = (start <= latest_start) & (earliest_end <= end) & (room >= 2)
        ticks = np.stack([start, earliest_end], axis=1), np.stack([latest_start, end], axis=1)
        return cls(*ticks, np.asarray(some), np.asarray(usable))
