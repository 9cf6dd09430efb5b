"""Chains of three whose rivals must stay out of both gaps: which they are, their range and confidence.

So it is where all three components take the same events under skip_till_next_match, and always under
contiguity.  A rival of one gap alone counts as one of both where it cannot lie in the other anyway; where it
can, the chain is left to nested sums, and so is one with a rival whose mass has a hole, in which the middle
tick may lie.  Only rivals that can decide a chain enter its sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gaps.distinct_gaps import FARTHEST, GapChains, Gaps, has_room, window_ticks
from cepctl.engines.confidence.gaps.shared_sums import sum_chains
from cepctl.engines.confidence.gaps.time_range import gap_range
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.work import BOTH_ENDS, most_products
from cepctl.engines.pattern.blocks import gap_of
from cepctl.engines.pattern.rivals import Rivals

WORK_BOUND = most_products(BOTH_ENDS)
"""Products that a chain may take."""


def shared_gap_chains(
    masses: Masses, event: Indexes, lower: Ticks, upper: Ticks, system: Ticks, rivals: Sequence[Rivals],
    window: int | None,
) -> tuple[Indexes, Measured]:  # fmt: skip
    """Measure those of n chains of three whose rivals stay out of both gaps; also says which, ascending.

    `event`, `lower`, `upper`: shape (n, 3), the last two valid intervals; `system`: closed constraints over
    the three; `rivals`: those that can decide, for rules that speak of gaps alone.
    """
    row, rival, usable = _in_both(masses, lower, upper, system, rivals, len(event))
    first, last = masses.lower[event].min(axis=1), masses.upper[event].max(axis=1)
    usable &= last.astype(np.uint64) - first.astype(np.uint64) < FARTHEST
    rows = np.flatnonzero(usable)
    chosen = usable[row]
    row, rival = np.searchsorted(rows, row[chosen]), rival[chosen]
    offsets = np.searchsorted(row, np.arange(len(rows) + 1))
    event, lower, upper = event[rows], lower[rows], upper[rows]
    start, end = gap_range(masses, _as_gap_chains(event, lower, upper, offsets, rival), window)
    confidence = np.empty(len(rows))
    width = window_ticks(window)
    sum_chains(masses.buckets, event, lower, upper, offsets, rival, width, float(WORK_BOUND), confidence)
    solved = np.flatnonzero(~np.isnan(confidence))
    return rows[solved], Measured(confidence[solved], np.zeros(len(solved)), start[solved], end[solved])


def _in_both(
    masses: Masses, lower: Ticks, upper: Ticks, system: Ticks, rivals: Sequence[Rivals], count: int
) -> tuple[Indexes, Indexes, Flags]:
    """Pairs of a chain and a rival, once each and sorted; and which chains can be measured here."""
    keys, kept_out = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    total = len(masses.lower)
    for each in rivals:
        for region in each.rule.regions:
            gap = gap_of(region)
            assert gap is not None
            keys.append(each.row * total + each.event)
            kept_out.append(np.full(len(each.row), 1 << gap))
    pairs, place = np.unique(np.concatenate(keys), return_inverse=True)
    out_of = np.zeros(len(pairs), dtype=np.int64)
    np.bitwise_or.at(out_of, place, np.concatenate(kept_out))
    row, rival = pairs // total, pairs % total
    wrong, room = masses.has_hole[rival], has_room(system, lower, upper)
    for gap in range(2):
        can = room[row, gap] & (masses.upper[rival] > lower[row, gap])
        can &= masses.lower[rival] < upper[row, gap + 1]
        wrong |= can & (out_of & (1 << gap) == 0)
    usable = np.ones(count, dtype=bool)
    usable[row[wrong]] = False
    return row, rival, usable


def _as_gap_chains(event: Indexes, lower: Ticks, upper: Ticks, offsets: Indexes, rival: Indexes) -> GapChains:
    """The same chains with two gaps each, both with all the rivals."""
    sizes = np.repeat(np.diff(offsets), 2)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    listed = rival[np.repeat(np.repeat(offsets[:-1], 2), sizes) + within]
    left, right = event[:, :-1].reshape(-1), event[:, 1:].reshape(-1)
    gap = np.arange(2 * len(event)).reshape(-1, 2)
    return GapChains(event, lower, upper, gap, Gaps(left, right, ends, listed))
