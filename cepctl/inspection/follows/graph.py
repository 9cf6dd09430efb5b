"""The directly-follows graph of cases whose events have uncertain times.

Cases are cut into clusters (clusters.py).  Plain clusters that follow each other are counted by joins of
whole columns; the others one by one, alike ones once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import polars as pl

from cepctl.engines.columns.masses import Masses
from cepctl.inspection.follows.clusters import ClusterMembers, Clusters, clusters_of, members_of
from cepctl.inspection.follows.expected import Averages, averages
from cepctl.inspection.follows.orders import Extremes, Orders, joined, plain_extremes
from cepctl.inspection.follows.sampled import sampled_averages
from cepctl.numeric.arrays import Indexes

Pair = tuple[int, int]


@dataclass
class _Totals:
    """What has been counted of each pair of types."""

    least: Counter[Pair] = field(default_factory=Counter)
    expected: defaultdict[Pair, float] = field(default_factory=lambda: defaultdict(float))
    greatest: Counter[Pair] = field(default_factory=Counter)
    error: defaultdict[Pair, float] = field(default_factory=lambda: defaultdict(float))
    bounded: set[Pair] = field(default_factory=set)


@dataclass(frozen=True)
class FollowsGraph:
    """Rows (a, b, least, expected, greatest, expected_error, bounds) for pairs of types, most expected first.

    `bounds`: least and greatest are bounds, which perhaps no world reaches.  `cases`, `events`, `overlapping`
    (events whose order is not certain) tell what it was made of, `estimated` of how many clusters the
    expected number is an estimate.
    """

    rows: pl.DataFrame
    cases: int
    events: int
    overlapping: int
    estimated: int


def follows_graph(case: Indexes, kind: Indexes, names: list[str], masses: Masses) -> FollowsGraph:
    """Count how often events of a type directly follow those of another in a case.

    `case`, `kind`: of each event its case and its type, as numbers from 0 on, shape (n,).  `names`: of the
    types.  `masses`: of the events, which are independent of each other.
    """
    clusters = clusters_of(case, masses)
    totals = _Totals()
    _count_plain(clusters, kind, totals)
    work = _Overlapping(clusters, kind, masses)
    for first, end in work.stretches():
        work.count(first, end, totals)
    pairs = sorted(pair for pair, count in totals.greatest.items() if count)
    rows = pl.DataFrame(
        {
            "a": [names[a] for a, _ in pairs],
            "b": [names[b] for _, b in pairs],
            "least": [totals.least[pair] for pair in pairs],
            "expected": [totals.expected[pair] for pair in pairs],
            "greatest": [totals.greatest[pair] for pair in pairs],
            "expected_error": [totals.error[pair] for pair in pairs],
            "bounds": [pair in totals.bounded for pair in pairs],
        },
        schema={
            "a": pl.String, "b": pl.String, "least": pl.Int64, "expected": pl.Float64, "greatest": pl.Int64,
            "expected_error": pl.Float64, "bounds": pl.Boolean,
        },
    )  # fmt: skip
    overlapping = int(np.diff(clusters.starts)[~clusters.plain].sum())
    cases = len(np.unique(clusters.case))
    # The last bits of sums of the same numbers differ.
    order = rows.sort(pl.col("expected").round(9), "a", "b", descending=[True, False, False])
    return FollowsGraph(order, cases, len(case), overlapping, work.estimated)


def _count_plain(clusters: Clusters, kind: Indexes, totals: _Totals) -> None:
    """Pairs of neighbouring clusters that have one order each."""
    cluster = np.repeat(np.arange(len(clusters)), np.diff(clusters.starts))
    plain = clusters.plain[cluster]
    counted = (
        pl.DataFrame({"at": cluster[plain], "kind": kind[clusters.order[plain]]}).group_by("at", "kind").len()
    )
    same_case = np.append(clusters.case[1:] == clusters.case[:-1], False)
    earlier = counted.filter(pl.Series(same_case[counted["at"].to_numpy()]))
    later = counted.with_columns(at=pl.col("at") - 1)
    pairs = earlier.join(later, on="at", suffix="_b").group_by("kind", "kind_b")
    times = pairs.agg((pl.col("len").cast(pl.Int64) * pl.col("len_b")).sum().alias("times"))
    for a, b, count in times.iter_rows():
        totals.least[a, b] += count
        totals.greatest[a, b] += count
        totals.expected[a, b] += float(count)


class _Overlapping:
    """Stretches of neighbouring clusters of a case that are not all plain."""

    def __init__(self, clusters: Clusters, kind: Indexes, masses: Masses) -> None:
        self.clusters, self.kind, self.masses = clusters, kind, masses
        self.estimated = 0
        self._orders: dict[ClusterMembers, Orders] = {}
        self._averages: dict[ClusterMembers, Averages] = {}
        self._extremes: dict[tuple[Orders, int, int], Extremes] = {}
        self._joined: dict[tuple[_ClusterPlace, ...], list[tuple[Pair, int, int, bool]]] = {}

    def stretches(self) -> list[tuple[int, int]]:
        """Runs of clusters that are not plain, each with the plain neighbours that it has in its case."""
        plain, case = self.clusters.plain, self.clusters.case
        inside = np.flatnonzero(~plain)
        if not len(inside):
            return []
        new = np.append(True, (np.diff(inside) > 1) | (case[inside[1:]] != case[inside[:-1]]))
        begins, ends = inside[new], inside[np.append(new[1:], True)] + 1
        begins = begins - ((begins > 0) & (case[begins - 1] == case[begins]))
        behind = np.minimum(ends, len(case) - 1)
        ends = ends + ((ends < len(case)) & (case[behind] == case[ends - 1]))
        return [(int(a), int(b)) for a, b in zip(begins, ends, strict=True)]

    def count(self, first: int, end: int, totals: _Totals) -> None:
        """Count the pairs inside and between the clusters of a stretch."""
        members = tuple(self._members(cluster) for cluster in range(first, end))
        plain = self.clusters.plain[first:end].tolist()
        self._count_expected(members, plain, totals)
        places = tuple(
            _ClusterPlace(ClusterMembers(each.kind, each.count, ()) if flat else self._orders_of(each), flat)
            for each, flat in zip(members, plain, strict=True)
        )
        found = self._joined.get(places)
        if found is None:
            found = self._joined[places] = self._extremes_of(places)
        for pair, least, greatest, exact in found:
            totals.least[pair] += least
            totals.greatest[pair] += greatest
            if not exact:
                totals.bounded.add(pair)

    def _members(self, cluster: int) -> ClusterMembers:
        rows = self.clusters.order[self.clusters.starts[cluster] : self.clusters.starts[cluster + 1]]
        return members_of(rows, self.kind, self.masses)

    def _count_expected(
        self, members: tuple[ClusterMembers, ...], plain: list[bool], totals: _Totals
    ) -> None:
        before: Averages | None = None
        for each, is_plain in zip(members, plain, strict=True):
            here = _plain_averages(each) if is_plain else self._averages_of(each)
            if not is_plain:
                _add(totals, here.kinds, here.kinds, here.inner, here.inner_error)
            if before is not None:
                across = np.outer(before.last, here.first)
                error = np.outer(before.last + before.place_error, here.first + here.place_error) - across
                _add(totals, before.kinds, here.kinds, across, error)
            before = here

    def _averages_of(self, members: ClusterMembers) -> Averages:
        found = self._averages.get(members)
        if found is None:
            found = averages(members)
            if found is None:
                found = sampled_averages(members)
                self.estimated += 1
            self._averages[members] = found
        return found

    def _orders_of(self, members: ClusterMembers) -> Orders:
        if members not in self._orders:
            self._orders[members] = Orders.of(members)
        return self._orders[members]

    def _extremes_of(self, places: tuple[_ClusterPlace, ...]) -> list[tuple[Pair, int, int, bool]]:
        pairs: set[Pair] = set()
        for at, place in enumerate(places):
            pairs |= set() if place.plain else set(product(place.kinds, place.kinds))
            pairs |= set(product(places[at - 1].kinds, place.kinds)) if at else set()
        return [(pair, *joined([self._of_pair(each, *pair) for each in places])) for pair in pairs]

    def _of_pair(self, place: _ClusterPlace, a: int, b: int) -> Extremes:
        here = place.events
        if isinstance(here, ClusterMembers):
            count = dict(zip(here.kind, here.count, strict=True))
            return plain_extremes(count.get(b, 0), count.get(a, 0))
        key = (here, a, b)
        if key not in self._extremes:
            self._extremes[key] = here.extremes(a, b)
        return self._extremes[key]


@dataclass(frozen=True)
class _ClusterPlace:
    """A cluster in a stretch: its events where it is plain, else their orders."""

    events: ClusterMembers | Orders
    plain: bool

    @property
    def kinds(self) -> set[int]:
        """The types of its events."""
        return set(self.events.kind if isinstance(self.events, ClusterMembers) else self.events.kinds)


def _plain_averages(members: ClusterMembers) -> Averages:
    count = np.array(members.count, dtype=np.float64)
    none = np.zeros(len(count))
    return Averages(members.kind, np.diag(none), count, count, np.diag(none), none)


def _add(
    totals: _Totals, earlier: tuple[int, ...], later: tuple[int, ...], times: np.ndarray, error: np.ndarray
) -> None:
    for i, a in enumerate(earlier):
        for j, b in enumerate(later):
            totals.expected[a, b] += float(times[i, j])
            totals.error[a, b] += float(error[i, j])
