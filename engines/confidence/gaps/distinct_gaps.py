"""Chains with a rival-free gap between neighbours: which matches are such, and their distinct gaps.

Under skip_till_next_match, contiguity and inner negation, and under negation at an edge where the ring is
opened (see `opened_rings`), every rival of a match may lie anywhere but in one gap.  Where no rival can
reach two gaps of a match, the gaps are independent given the ticks of the chain, and a table per gap (see
`tables`) replaces a sum over all rivals.  Matches that extend the same events share their gaps, so each
distinct gap is tabulated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.gaps.rival_lists import GapRivals, gap_rivals
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.rivals import Rivals

FARTHEST = 1 << 61
"""Chains that span this many ticks are left, so that no sum with their ticks exceeds int64."""


class Gaps(NamedTuple):
    """G distinct gaps: gap k lies between events left[k] and right[k], shape (G,).

    None of rivals[rival_offsets[k]:rival_offsets[k + 1]] may lie strictly inside.
    """

    left: Indexes
    right: Indexes
    rival_offsets: Indexes
    rivals: Indexes


@dataclass(frozen=True)
class GapChains:
    """n chains of l events, and the distinct gaps between neighbours.

    `event`, `lower`, `upper`: shape (n, l), the last two valid intervals.  `gap`: shape (n, l - 1), which
    of the `gaps` lies between neighbours.
    """

    event: Indexes
    lower: Ticks
    upper: Ticks
    gap: Indexes
    gaps: Gaps

    def taken(self, rows: Indexes) -> GapChains:
        """Some of the chains, with the gaps of all."""
        return replace(
            self, event=self.event[rows], lower=self.lower[rows], upper=self.upper[rows], gap=self.gap[rows]
        )


def window_ticks(window: int | None) -> np.int64:
    """The window for chains of events less than FARTHEST apart; 0 where there is none.

    A longer one says nothing, and would leave int64 when added to a tick.
    """
    return np.int64(0 if window is None or window > FARTHEST else window)


def gap_chains(
    masses: Masses,
    event: Indexes,
    lower: Ticks,
    upper: Ticks,
    system: Ticks,
    rivals: Sequence[tuple[int, Rivals]],
    copies: Indexes,
) -> tuple[Flags, GapChains]:
    """Gaps of the chains whose rivals can each lie in one of them only.

    Parameters
    ----------
    masses
        Masses of all events.
    event, lower, upper
        Shape (n, l): the events of each chain and their valid intervals.
    system
        Closed constraints over the l events.
    rivals
        Number of a gap, and pairs of a chain and an event that may not lie in it.
    copies
        Shape (l - 1,): how much higher than that of an event the number of the copy is that lies in a gap.

    Returns
    -------
    Shape (n,): chains that can; and the gaps of these alone.
    """
    # By raw intervals, so that the rivals of a gap are the same for all chains that share it: for one that
    # cannot decide a chain they leave every factor of it exactly as it is.
    found = gap_rivals(masses, event, lower, upper, has_room(system, lower, upper), rivals, copies)
    first, last = masses.lower[event].min(axis=1), masses.upper[event].max(axis=1)
    near = last.astype(np.uint64) - first.astype(np.uint64) < FARTHEST
    usable = np.asarray(near) & ~found.entangled
    rows = np.flatnonzero(usable)
    return usable, _with_distinct_gaps(event, lower, upper, found, rows, copies)


def has_room(system: Ticks, lower: Ticks, upper: Ticks) -> Flags:
    """Gaps that can be as wide as to hold a tick, shape (n, l - 1)."""
    room = shifted(lower[:, :-1], 2) <= upper[:, 1:]
    return np.asarray(room & (np.diag(system, -1) >= 2))


def _with_distinct_gaps(
    event: Indexes, lower: Ticks, upper: Ticks, found: GapRivals, rows: Indexes, copies: Indexes
) -> GapChains:
    """Number the gaps of some chains; gaps of one left, one right event and the same rivals are one."""
    event, gaps = event[rows], event.shape[1] - 1
    place = (rows[:, np.newaxis] * gaps + np.arange(gaps)).reshape(-1)
    sizes, begins, digest = found.sizes[place], found.offsets[place], found.digests[place]
    left, right = event[:, :-1].reshape(-1), event[:, 1:].reshape(-1)
    # Gaps of one middle event stand side by side: the tables of a chain's neighbours are at hand.
    pivot = np.where(np.arange(gaps) < (gaps + 1) // 2, 1, 0)
    beside = np.where(np.tile(pivot, len(rows)) == 1, right, left)
    order = np.lexsort((digest, sizes, left, right, beside))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = ~_same(order, sizes, left, right)
    _tell_apart(order, begins, sizes, found.events, fresh)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    first = order[fresh]
    picked = np.repeat(begins[first], sizes[first])
    copy = np.repeat(copies[first % gaps], sizes[first])
    rival_offsets = np.concatenate([[0], np.cumsum(sizes[first])])
    within = np.arange(rival_offsets[-1]) - np.repeat(rival_offsets[:-1], sizes[first])
    return GapChains(
        event, lower[rows], upper[rows], number.reshape(len(rows), gaps),
        Gaps(left[first], right[first], rival_offsets, (found.events[picked + within] >> 1) + copy),
    )  # fmt: skip


def _same(order: Indexes, *keys: Indexes) -> Flags:
    """Whether neighbours in an order agree in all keys."""
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        ordered = key[order]
        same &= ordered[1:] == ordered[:-1]
    return same


@kernel
def _tell_apart(order, begins, sizes, events, fresh):
    """Mark as fresh also the lists, in this order, that differ from the one before."""
    for i in range(1, len(order)):
        if not fresh[i]:
            here, there = begins[order[i]], begins[order[i - 1]]
            for k in range(sizes[order[i]]):
                fresh[i] = fresh[i] or events[here + k] >> 1 != events[there + k] >> 1
