"""Chains with a rival-free gap between neighbours: which matches are such, and their distinct gaps.

Under skip_till_next_match, contiguity and inner negation every rival of a match may lie anywhere but in
one gap.  Where no rival can reach two gaps of a match, the gaps are independent given the ticks of the
chain, and a table per gap (see `gap_confidence`) replaces a sum over all rivals.  Matches that extend
the same events share their gaps, so each distinct gap is tabulated once.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.masses import Masses
from cepctl.engines.rivals import Rivals
from cepctl.engines.shape import Region, Shape
from cepctl.engines.types import Flags, Indexes, Ticks

_FARTHEST = 1 << 61
"""Chains that reach beyond this tick are left, so that no difference of their ticks exceeds int64."""


@dataclass(frozen=True)
class GapChains:
    """n chains of l events, and the distinct gaps between neighbours.

    `event`, `lower`, `upper`: shape (n, l), the last two valid intervals.  `gap`: shape (n, l - 1), which
    of the G gaps lies between neighbours.  Gap k lies between events left[k] and right[k], and none of
    rivals[rival_offsets[k]:rival_offsets[k + 1]] may lie strictly inside.
    """

    event: Indexes
    lower: Ticks
    upper: Ticks
    gap: Indexes
    left: Indexes
    right: Indexes
    rival_offsets: Indexes
    rivals: Indexes

    def taken(self, rows: Indexes) -> GapChains:
        """Some of the chains, with the gaps of all."""
        return replace(
            self, event=self.event[rows], lower=self.lower[rows], upper=self.upper[rows], gap=self.gap[rows]
        )


@dataclass(frozen=True)
class _Reached:
    """Rivals that can lie in a gap, sorted by chain, gap and event, each once."""

    row: Indexes
    gap: Indexes
    event: Indexes

    @classmethod
    def of(cls, place: Indexes, event: Indexes, gaps: int, events: int) -> _Reached:
        """From places (chain times number of gaps, plus gap) and events, in any order."""
        packed = np.sort(place * events + event)
        fresh = np.ones(len(packed), dtype=bool)
        fresh[1:] = packed[1:] != packed[:-1]
        place, event = np.divmod(packed[fresh], events)
        return cls(place // gaps, place % gaps, event)


def has_gaps_only(shape: Shape) -> bool:
    """Whether every rule of absence speaks of the gaps between single events, and of nothing else."""
    regions = [region for rule in shape.rules for region in rule.regions]
    return shape.only_single and all(_gap_of(region) is not None for region in regions)


def _gap_of(region: Region) -> int | None:
    """Number of the gap that a region is; None for every other region."""
    points = [end.point for end in region]
    if len(region) != 2 or None in points or region[0].is_lower == region[1].is_lower:
        return None
    after, before = sorted(region, key=lambda end: not end.is_lower)
    assert after.point is not None
    assert before.point is not None
    is_gap = after.constant == 1 and before.constant == -1 and before.point.block == after.point.block + 1
    return after.point.block if is_gap else None


def gap_chains(
    masses: Masses, event: Indexes, lower: Ticks, upper: Ticks, rivals: list[Rivals]
) -> tuple[Flags, GapChains]:
    """Gaps of the chains whose rivals can each lie in one of them only.

    Parameters
    ----------
    masses
        Masses of all events.
    event, lower, upper
        Shape (n, l): the events of each chain and their valid intervals.
    rivals
        Pairs of a chain and an event, for rules that `has_gaps_only` accepts.

    Returns
    -------
    Shape (n,): chains that can; and the gaps of these alone.
    """
    raw_lower, raw_upper = masses.lower[event], masses.upper[event]
    usable = np.asarray(((raw_lower > -_FARTHEST) & (raw_upper < _FARTHEST)).all(axis=1))
    usable[_entangled(_reached(masses, lower, upper, rivals), len(masses.lower))] = False
    # By raw intervals, so that the rivals of a gap are the same for all chains that share it.
    reached = _reached(masses, raw_lower, raw_upper, rivals)
    number = np.cumsum(usable) - 1
    kept = usable[reached.row]
    reached = _Reached(number[reached.row[kept]], reached.gap[kept], reached.event[kept])
    return usable, _with_distinct_gaps(event[usable], lower[usable], upper[usable], reached)


def _reached(masses: Masses, lower: Ticks, upper: Ticks, rivals: list[Rivals]) -> _Reached:
    places, events = [], []
    gaps = lower.shape[1] - 1
    for each in rivals:
        for region in each.rule.regions:
            gap = _gap_of(region)
            assert gap is not None
            inside = masses.upper[each.event] > lower[each.row, gap]
            inside &= masses.lower[each.event] < upper[each.row, gap + 1]
            places.append(each.row[inside] * gaps + gap)
            events.append(each.event[inside])
    return _Reached.of(np.concatenate(places), np.concatenate(events), gaps, len(masses.lower))


def _entangled(reached: _Reached, events: int) -> Indexes:
    """Chains with a rival that can lie in several of their gaps; there are so many events."""
    packed = np.sort(reached.row * events + reached.event)
    entangled: Indexes = packed[1:][packed[1:] == packed[:-1]] // events
    return entangled


def _with_distinct_gaps(event: Indexes, lower: Ticks, upper: Ticks, reached: _Reached) -> GapChains:
    """Number the gaps of all chains; gaps of one left, one right event and the same rivals are one."""
    count, length = event.shape
    place = reached.row * (length - 1) + reached.gap
    offsets = np.searchsorted(place, np.arange(count * (length - 1) + 1))
    sizes = np.diff(offsets)
    left, right = event[:, :-1].reshape(-1), event[:, 1:].reshape(-1)
    # Gaps of one middle event stand side by side: the tables of a chain's neighbours are at hand.
    pivot = np.where(np.arange(length - 1) < length // 2, 1, 0)
    beside = np.where(np.tile(pivot, count) == 1, right, left)
    digest = _digests(reached.event, offsets)
    order = np.lexsort((digest, sizes, left, right, beside))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = ~_same(order, digest, sizes, left, right)
    fresh = _told_apart(order, fresh, offsets, reached.event)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    first = order[fresh]
    picked = np.repeat(offsets[first], sizes[first])
    rival_offsets = np.concatenate([[0], np.cumsum(sizes[first])])
    within = np.arange(rival_offsets[-1]) - np.repeat(rival_offsets[:-1], sizes[first])
    return GapChains(
        event, lower, upper, number.reshape(count, length - 1),
        left[first], right[first], rival_offsets, reached.event[picked + within],
    )  # fmt: skip


def _same(order: Indexes, *keys: Indexes) -> Flags:
    """Whether neighbours in an order agree in all keys."""
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        ordered = key[order]
        same &= ordered[1:] == ordered[:-1]
    return same


def _digests(events: Indexes, offsets: Indexes) -> Indexes:
    """A number per list of events, equal where the lists are; unequal lists nearly always differ."""
    mixed = events.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    digest: Indexes = (total[offsets[1:]] - total[offsets[:-1]]).view(np.int64)
    return digest


def _told_apart(order: Indexes, fresh: Flags, offsets: Indexes, events: Indexes) -> Flags:
    """Mark as fresh also those lists that share the digest of the one before without being equal."""
    sizes = np.diff(offsets)[order]
    begins = offsets[:-1][order]
    before = np.flatnonzero(~fresh)
    counts = sizes[before]
    ends = np.cumsum(counts)
    within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    here = np.repeat(begins[before], counts) + within
    there = np.repeat(begins[before - 1], counts) + within
    differing = np.repeat(before, counts)[events[here] != events[there]]
    fresh = fresh.copy()
    fresh[differing] = True
    return fresh
