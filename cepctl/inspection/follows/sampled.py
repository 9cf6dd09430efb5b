"""The averages of a cluster that is too large for exact sums: worlds are drawn, and the error is bounded.

What is averaged in a world is how many places of the later type stand directly behind one of the earlier
type: at most as many as there are events of the rarer type.  The bound is that of Maurer and Pontil
("Empirical Bernstein bounds", 2009, Theorem 4), which holds together for all averages of a cluster with a
probability of 1 - FAILURE.  What equal ticks add to that is at most, on average, the pairs of events of a
type that are at one tick, which are summed exactly, times the events of the other type that can be there.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from cepctl.inspection.follows.clusters import ClusterMembers
from cepctl.inspection.follows.expected import Averages
from cepctl.numeric.arrays import Indexes, Reals

FAILURE = 1e-6
_DRAWN = 20_000_000
_FEWEST, _MOST = 400, 20_000


def sampled_averages(members: ClusterMembers) -> Averages:
    """Estimates of what `averages` gives, with their errors; the same for the same events in every run."""
    kinds = np.array(sorted(set(members.kind)))
    kind = np.searchsorted(kinds, np.repeat(members.kind, members.count))
    worlds = int(np.clip(_DRAWN // members.size, _FEWEST, _MOST))
    random = np.random.default_rng(np.frombuffer(blake2b(repr(members).encode()).digest(), dtype=np.uint64))
    sums = _SampledSums(len(kinds))
    worlds_of = _Worlds(members)
    for _ in range(worlds):
        sums.add(worlds_of.ticks(random), kind)
    caps = np.bincount(kind, minlength=len(kinds)).astype(np.float64)
    most = np.minimum(caps[:, None], caps[None, :])
    tied, together = _ties(members, kinds)
    by_ties = np.minimum(together[None, :] * tied[:, None] + tied[None, :],
                         together[:, None] * tied[None, :] + tied[:, None])  # fmt: skip
    ways = float(len(kinds) ** 2 + 2 * len(kinds))
    inner, inner_error = _bounded(sums.inner, sums.inner_squares, worlds, most, ways)
    last, last_error = _bounded(sums.last, sums.last, worlds, np.ones(len(kinds)), ways)
    first, first_error = _bounded(sums.first, sums.first, worlds, np.ones(len(kinds)), ways)
    return Averages(
        tuple(kinds.tolist()),
        inner + by_ties / 2,
        last + tied / 2,
        first + tied / 2,
        inner_error + by_ties / 2,
        np.maximum(last_error, first_error) + tied / 2,
    )


class _SampledSums:
    """Sums over worlds of what follows what, and of what is first and last."""

    def __init__(self, kinds: int) -> None:
        self.inner = np.zeros((kinds, kinds))
        self.inner_squares = np.zeros((kinds, kinds))
        self.last, self.first = np.zeros(kinds), np.zeros(kinds)

    def add(self, ticks: Indexes, kind: Indexes) -> None:
        """One world: the tick and the type of every event."""
        order = np.lexsort((kind, ticks))
        tick, kinds = ticks[order], kind[order]
        kept = np.ones(len(tick), dtype=bool)
        kept[1:] = (np.diff(tick) != 0) | (np.diff(kinds) != 0)
        tick, kinds = tick[kept], kinds[kept]
        begins = np.flatnonzero(np.append(True, np.diff(tick) != 0))
        size = len(self.last)
        if len(begins) == len(tick):
            found = np.bincount(kinds[:-1] * size + kinds[1:], minlength=size * size).astype(np.float64)
        else:
            present = np.zeros((len(begins), size))
            present[np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(tick)))), kinds] = 1.0
            found = (present[:-1].T @ present[1:]).ravel()
        pairs = found.reshape(size, size)
        self.inner += pairs
        self.inner_squares += pairs * pairs
        self.last[kinds[begins[-1] :]] += 1.0
        self.first[kinds[: begins[1] if len(begins) > 1 else len(kinds)]] += 1.0


class _Worlds:
    """Draws the ticks of all events of a cluster: a bucket of each by its mass, and a tick in it."""

    def __init__(self, members: ClusterMembers) -> None:
        supports = [
            support
            for support, count in zip(members.supports, members.count, strict=True)
            for _ in range(count)
        ]
        self._starts = np.cumsum([0, *map(len, supports)])[:-1]
        flat = [bucket for support in supports for bucket in support]
        self._lo, self._hi = (np.array([each[side] for each in flat], dtype=np.int64) for side in (0, 1))
        upto = [np.cumsum([each[2] for each in support]) for support in supports]
        # Of event i, from i to i + 1, so that one search finds the buckets of all.
        self._upto = np.concatenate([at + each / each[-1] for at, each in enumerate(upto)])
        self._many = len(flat) > len(supports)

    def ticks(self, random: np.random.Generator) -> Indexes:
        """The tick of every event in one world."""
        bucket = self._starts
        if self._many:
            chosen = np.arange(len(bucket)) + random.random(len(bucket))
            bucket = np.searchsorted(self._upto, chosen, side="right")
        return np.asarray(random.integers(self._lo[bucket], self._hi[bucket], endpoint=True))


def _bounded(total: Reals, squares: Reals, worlds: int, most: Reals, ways: float) -> tuple[Reals, Reals]:
    """The mean of values from 0 to `most`, and by how much it may be off."""
    mean = total / worlds
    variance = np.maximum(squares - total * mean, 0.0) / (worlds - 1)
    log = np.log(4.0 * ways / FAILURE)
    return mean, np.sqrt(2.0 * variance * log / worlds) + 7.0 * most * log / (3.0 * (worlds - 1))


def _ties(members: ClusterMembers, kinds: Indexes) -> tuple[Reals, Reals]:
    """Of each type how many pairs are at one tick on average, and how many events can be at one tick."""
    edges = np.array(
        sorted({edge for each in members.supports for lo, hi, _ in each for edge in (lo, hi + 1)})
    )
    steps = np.zeros((3, len(kinds), len(edges)))
    for kind, count, support in zip(members.kind, members.count, members.supports, strict=True):
        of = int(np.searchsorted(kinds, kind))
        for lo, hi, mass in support:
            here = np.searchsorted(edges, [lo, hi + 1])
            each = mass / (float(hi - lo) + 1.0)
            for row, step in enumerate((count * each, count * each * each, float(count))):
                steps[row, of, here[0]] += step
                steps[row, of, here[1]] -= step
    density, square, present = np.cumsum(steps, axis=2)[:, :, :-1]
    ticks = np.diff(edges).astype(np.float64)
    pairs = np.maximum((density * density - square) @ ticks, 0.0) / 2.0
    return np.asarray(pairs), np.asarray(present.max(axis=1))
