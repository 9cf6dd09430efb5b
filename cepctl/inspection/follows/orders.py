"""The least and the greatest number of times that one type directly follows another in a cluster.

The events of a few are put into every order that they can have, ties among them: an order is possible where
the earliest tick of each place, taken from the first place on, is within reach of all events there.  Of
more events than MOST_ORDERED there are bounds instead, which no world breaks and perhaps none reaches.

What a cluster gives is a table from (events of the later type in its first place, events of the earlier type
in its last place) to the pairs inside: with that clusters are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from cepctl.inspection.follows.clusters import ClusterMembers
from cepctl.numeric.arrays import Flags, Indexes, Ticks

MOST_ORDERED = 6
Table = dict[tuple[int, int], int]
"""From how many of B are first and of A are last to how many pairs are inside."""


@dataclass(frozen=True)
class Extremes:
    """Of one pair of types in a cluster: the fewest and the most pairs inside, by what is first and last."""

    least: Table
    greatest: Table
    exact: bool


@dataclass(frozen=True)
class Orders:
    """The orders that a cluster can have, which alike ones share: `kinds` of its events, and which of all
    weak orders of so many events are possible, as bytes.  Of too many events it is the cluster itself.
    """

    kinds: tuple[int, ...]
    possible: bytes
    members: ClusterMembers | None = None

    @classmethod
    def of(cls, members: ClusterMembers) -> Orders:
        """Those of a cluster."""
        kinds = tuple(np.repeat(members.kind, members.count).tolist())
        if members.size > MOST_ORDERED:
            return cls(kinds, b"", members)
        supports = [
            each for each, count in zip(members.supports, members.count, strict=True) for _ in range(count)
        ]
        return cls(kinds, np.packbits(_possible(supports, weak_orders(len(kinds)))).tobytes())

    def extremes(self, earlier: int, later: int) -> Extremes:
        """For one pair of types, each of which may be missing here."""
        if self.members is not None:
            return _bounds(self.members, earlier, later)
        ranks = weak_orders(len(self.kinds))
        ranks = ranks[np.unpackbits(np.frombuffer(self.possible, np.uint8), count=len(ranks)).astype(bool)]
        a, b = _placed(ranks, self.kinds, earlier), _placed(ranks, self.kinds, later)
        inside = (a[:, :-1] * b[:, 1:]).sum(axis=1)
        final = a[np.arange(len(a)), ranks.max(axis=1)]
        size = len(self.kinds) + 1
        ends = b[:, 0] * size + final
        least, greatest = np.full(size * size, size * size), np.full(size * size, -1)
        np.minimum.at(least, ends, inside)
        np.maximum.at(greatest, ends, inside)
        there = np.flatnonzero(greatest >= 0)
        keys = [(int(end) // size, int(end) % size) for end in there]
        return Extremes(
            dict(zip(keys, least[there].tolist(), strict=True)),
            dict(zip(keys, greatest[there].tolist(), strict=True)),
            exact=True,
        )


def plain_extremes(first: int, last: int) -> Extremes:
    """Of a cluster that has one place alone."""
    return Extremes({(first, last): 0}, {(first, last): 0}, exact=True)


def joined(parts: list[Extremes]) -> tuple[int, int, bool]:
    """The fewest and the most pairs in clusters that follow each other, and whether worlds reach them."""
    least, greatest = ({final: inside for (_, final), inside in side} for side in _first(parts))
    for part in parts[1:]:
        least = _extended(least, part.least, min)
        greatest = _extended(greatest, part.greatest, max)
    return min(least.values()), max(greatest.values()), all(part.exact for part in parts)


def _first(parts: list[Extremes]) -> Iterator[list[tuple[tuple[int, int], int]]]:
    """The tables of the first cluster, of entries that differ in what is first alone the best one last."""
    yield sorted(parts[0].least.items(), key=lambda entry: -entry[1])
    yield sorted(parts[0].greatest.items(), key=lambda entry: entry[1])


def _extended(before: dict[int, int], table: Table, best: Callable[[int, int], int]) -> dict[int, int]:
    after: dict[int, int] = {}
    for (final, pairs), ((first, end), inside) in product(before.items(), table.items()):
        found = pairs + final * first + inside
        after[end] = best(found, after.get(end, found))
    return after


def _placed(ranks: Indexes, kinds: tuple[int, ...], kind: int) -> Indexes:
    """How many events of a type are in each place, shape (orders, events)."""
    counts = np.zeros(ranks.shape, dtype=np.int64)
    for event in (at for at, each in enumerate(kinds) if each == kind):
        counts[np.arange(len(ranks)), ranks[:, event]] += 1
    return counts


@lru_cache(maxsize=MOST_ORDERED + 1)
def weak_orders(count: int) -> Indexes:
    """Every order of events, ties among them: the place of each event, shape (orders, count).

    Examples
    --------
    >>> [len(weak_orders(count)) for count in range(1, 5)]
    [1, 3, 13, 75]
    """
    found = np.array(list(product(range(count), repeat=count)), dtype=np.int64).reshape(-1, count)
    taken = np.stack([(found == place).any(axis=1) for place in range(count)], axis=1)
    return np.asarray(found[~(np.diff(taken.astype(np.int8), axis=1) > 0).any(axis=1)])


def _possible(supports: list[tuple[tuple[int, int, float], ...]], ranks: Indexes) -> Flags:
    """Which orders some world has: each place takes its earliest tick behind that of the place before."""
    tick = np.full(len(ranks), -1, dtype=np.int64)
    holds = np.ones(len(ranks), dtype=bool)
    if all(len(support) == 1 for support in supports):
        lower, upper = (np.array([support[0][side] for support in supports]) for side in (0, 1))
        for place in range(ranks.shape[1]):
            here = ranks == place
            tick = np.maximum(tick + 1, np.where(here, lower, -1).max(axis=1))
            holds &= tick <= np.where(here, upper, np.iinfo(np.int64).max).min(axis=1)
        return holds
    for place in range(ranks.shape[1]):
        tick = tick + 1
        while True:
            moved = tick.copy()
            for event, support in enumerate(supports):
                here = holds & (ranks[:, event] == place)
                moved[here], within = _next_tick(support, moved[here])
                holds[np.flatnonzero(here)[~within]] = False
            if (moved == tick).all():
                break
            tick = moved
    return holds


def _next_tick(support: tuple[tuple[int, int, float], ...], tick: Ticks) -> tuple[Ticks, Flags]:
    """The earliest tick of a support from a tick on, and whether there is one."""
    lo, hi = (np.array([each[side] for each in support], dtype=np.int64) for side in (0, 1))
    bucket = np.searchsorted(hi, tick)
    within = bucket < len(hi)
    return np.maximum(tick, lo[np.minimum(bucket, len(lo) - 1)]), within


def _bounds(members: ClusterMembers, earlier: int, later: int) -> Extremes:
    """Bounds of many events: every pair that can follow does, or none does."""
    kind, count = np.array(members.kind), np.array(members.count)
    lower = np.array([each[0][0] for each in members.supports])
    upper = np.array([each[-1][1] for each in members.supports])
    can_be_first, can_be_last = lower <= upper.min(), upper >= lower.max()
    a, b = kind == earlier, kind == later
    first, last = int(count[b & can_be_first].sum()), int(count[a & can_be_last].sum())
    surely_first = int(first == int(count[can_be_first].sum()))
    surely_last = int(last == int(count[can_be_last].sum()))
    pairs = 0
    order = np.argsort(lower, kind="stable")
    # Of the events that begin behind a tick, the earliest end: what begins behind that has one before it.
    ends = np.minimum.accumulate(upper[order][::-1])[::-1]
    for row in np.flatnonzero(a):
        behind = np.searchsorted(lower[order], upper[row], side="right")
        limit = ends[behind] if behind < len(ends) else np.iinfo(np.int64).max
        follows = b & (upper > lower[row]) & (lower <= limit)
        pairs += int(count[row] * count[follows].sum()) - int(count[row] * follows[row])
    return Extremes({(surely_first, surely_last): 0}, {(first, last): pairs}, exact=False)
