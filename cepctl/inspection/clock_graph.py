"""What pairs of tasks and attempts say of all clocks together: shortest paths, and cycles that contradict.

Every job has a master of its own, the file that its tasks come from.  A pair bounds how far a node's clock is
ahead of one master's; that is two edges of a graph whose vertices are clocks.

    edge u -> v of length w        clock v is at most w ahead of clock u
    shortest path u -> v           the least that all pairs together say of that
    cycle of negative length       no offsets fit: one of its clocks was set, or drifted

Shortest paths: Bellman and Ford, all edges at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.numeric.arrays import Indexes, Ticks

_FAR = 2**62
_UNBOUNDED = 2**54


@dataclass(frozen=True)
class Contradiction:
    """Clocks on a cycle for which no constant offsets fit, by so many microseconds."""

    clocks: tuple[str, ...]
    microseconds: int


@dataclass(frozen=True)
class MastersApart:
    """A master's clock that cannot agree with another's: how far it is ahead, in microseconds."""

    master: str
    other: str
    lowest_microseconds: int
    highest_microseconds: int


@dataclass(frozen=True)
class ClockGraph:
    """What the pairs of a log say of its clocks together."""

    contradictions: tuple[Contradiction, ...] = ()
    apart: tuple[MastersApart, ...] = ()


def clock_graph(pairs: pl.DataFrame) -> ClockGraph:
    """Follow pairs through all clocks.

    `pairs`: one row for each pair: `node`, `master`, and between how many microseconds, `lowest` and
    `highest`, the node's clock is ahead of the master's.
    """
    bounds = pairs.group_by("master", "node").agg(
        pl.len().alias("pairs"), pl.col("lowest").max(), pl.col("highest").min()
    )
    bounds = bounds.sort("master", "node")
    masters = bounds.get_column("master").unique().sort().to_list()
    nodes = bounds.get_column("node").unique().sort().to_list()
    graph = _Edges(
        [f"master of {name}" for name in masters] + [f"node {name}" for name in nodes],
        np.searchsorted(np.array(masters, dtype=object), bounds.get_column("master").to_numpy()),
        len(masters) + np.searchsorted(np.array(nodes, dtype=object), bounds.get_column("node").to_numpy()),
        bounds.get_column("lowest").to_numpy().astype(np.int64),
        bounds.get_column("highest").to_numpy().astype(np.int64),
    )
    contradictions = []
    while (cycle := graph.cycle()) is not None:
        clocks, length = cycle
        contradictions.append(Contradiction(tuple(graph.names[each] for each in clocks), -length))
        graph = graph.without([each for each in clocks if each >= len(masters)])
    return ClockGraph(tuple(contradictions), tuple(_apart(graph, masters, bounds)))


def host_contradictions(bounds: pl.DataFrame) -> tuple[Contradiction, ...]:
    """Cycles of hosts for which no offsets fit.

    `bounds`: one row for each two hosts: between how many microseconds, `lowest` and `highest`, the clock of
    `host` is ahead of that of `other`; null where nothing bounds it.
    """
    names = pl.concat([bounds.get_column("host"), bounds.get_column("other")]).unique().sort().to_list()
    other, host = (
        np.searchsorted(np.array(names, dtype=object), bounds.get_column(name).to_numpy())
        for name in ("other", "host")
    )
    graph = _Edges(
        [f"node {name}" for name in names],
        other,
        host,
        bounds.get_column("lowest").fill_null(-_UNBOUNDED).to_numpy().astype(np.int64),
        bounds.get_column("highest").fill_null(_UNBOUNDED).to_numpy().astype(np.int64),
    )
    contradictions = []
    while (cycle := graph.cycle()) is not None:
        clocks, length = cycle
        contradictions.append(Contradiction(tuple(graph.names[each] for each in clocks), -length))
        graph = graph.without(clocks)
    return tuple(contradictions)


def _apart(graph: _Edges, masters: list[str], bounds: pl.DataFrame) -> list[MastersApart]:
    """Masters that cannot agree with that of most pairs among those that paths lead to."""
    most = bounds.group_by("master").agg(pl.col("pairs").sum()).sort("master").get_column("pairs").to_numpy()
    left = set(range(len(masters)))
    found = []
    while left:
        base = max(left, key=lambda each: (int(most[each]), -each))
        ahead, behind = graph.paths_from(base), graph.mirrored().paths_from(base)
        reached = [each for each in sorted(left) if ahead[each] < _FAR]
        left -= {base, *reached}
        for each in reached:
            lowest, highest = -int(behind[each]), int(ahead[each])
            if lowest > 0 or highest < 0:
                found.append(MastersApart(masters[each], masters[base], lowest, highest))
    return found


@dataclass(frozen=True)
class _Edges:
    """Pairs of clocks: that of `right` is between `lowest` and `highest` ahead of that of `left`."""

    names: list[str]
    left: Indexes
    right: Indexes
    lowest: Ticks
    highest: Ticks

    def mirrored(self) -> _Edges:
        """How far clocks are behind."""
        return _Edges(self.names, self.left, self.right, -self.highest, -self.lowest)

    def without(self, clocks: list[int]) -> _Edges:
        kept = ~np.isin(self.right, clocks)
        return _Edges(self.names, self.left[kept], self.right[kept], self.lowest[kept], self.highest[kept])

    def _directed(self) -> tuple[Indexes, Indexes, Ticks]:
        return (
            np.concatenate([self.left, self.right]),
            np.concatenate([self.right, self.left]),
            np.concatenate([self.highest, -self.lowest]),
        )

    def paths_from(self, base: int) -> Ticks:
        """The lengths of the shortest paths from a clock, _FAR where none leads; no cycle is negative."""
        begin, end, length = self._directed()
        distance = np.full(len(self.names), _FAR, dtype=np.int64)
        distance[base] = 0
        for _ in self.names:
            before = distance.copy()
            known = distance[begin] < _FAR
            np.minimum.at(distance, end[known], distance[begin[known]] + length[known])
            if (before == distance).all():
                break
        return distance

    def cycle(self) -> tuple[list[int], int] | None:
        """A cycle of negative length, its clocks from the smallest on, and the length; None without any."""
        begin, end, length = self._directed()
        distance = np.zeros(len(self.names), dtype=np.int64)
        by = np.full(len(self.names), -1, dtype=np.int64)
        changed = np.zeros(0, dtype=np.int64)
        for _ in range(len(self.names) + 1):
            reached = distance[begin] + length
            order = np.lexsort((reached, end))
            first = order[np.flatnonzero(np.diff(end[order], prepend=-1))]
            better = first[reached[first] < distance[end[first]]]
            changed = end[better]
            if not len(changed):
                return None
            distance[changed], by[changed] = reached[better], better
        at = int(changed[0])
        for _ in self.names:
            at = int(begin[by[at]])
        edges = [int(by[at])]
        while int(begin[edges[-1]]) != at:
            edges.append(int(by[begin[edges[-1]]]))
        clocks = [int(end[each]) for each in reversed(edges)]
        turn = clocks.index(min(clocks))
        return clocks[turn:] + clocks[:turn], int(length[edges].sum())
