"""What matches that bind points at the same places share: edges between their endpoints, none redundant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.intervals.conditions import CONSTANT, Case, Edge, without_redundant
from cepctl.engines.intervals.reach import MOST_TOLD

Lasting: TypeAlias = tuple[bool, ...]
"""Of each event whether it lasts."""


@dataclass(frozen=True)
class Skeleton:
    """What matches that bind points at the same places share.

    `lasting`: of each event whether it lasts.  `allowed`: the ticks that constants leave to each endpoint,
    shape (2 l, 2).  `edges`, shape (e, 3): the `shared` ones between endpoints, without redundant ones, then
    for each event that lasts two that bound its length, whose constants are the matches' own.  `needed`: bits
    of all but those that say `0 <= end - start` where others imply it.
    """

    lasting: Lasting
    allowed: Ticks
    edges: Indexes
    shared: int
    needed: int

    @property
    def can_be_certain(self) -> bool:
        """Whether a match without open edges is certain: no constant excludes ticks, all edges are told."""
        return bool((self.allowed == (FIRST, LAST)).all()) and len(self.edges) <= MOST_TOLD

    @property
    def restricted(self) -> frozenset[int]:
        """The endpoints that are compared with constants."""
        return frozenset(np.flatnonzero((self.allowed != (FIRST, LAST)).any(axis=1)).tolist())


@lru_cache(maxsize=1024)
def skeleton_of(case: Case, lasting: Lasting) -> Skeleton:
    """What a case says of matches whose events last or do not."""
    places = 2 * len(lasting)
    allowed = np.tile(np.array([FIRST, LAST]), (places, 1))
    between: list[Edge] = []
    for left, right, bound in (onto_points(each, lasting) for each in case):
        if CONSTANT not in {left, right}:
            between.append((left, right, bound))
        elif left != CONSTANT:
            allowed[left, 1] = min(allowed[left, 1], bound)
        elif right != CONSTANT:
            allowed[right, 0] = max(allowed[right, 0], -bound)
        elif bound < 0:
            allowed[0] = (LAST, FIRST)
    events = [k for k, lasts in enumerate(lasting) if lasts]
    own = [(2 * k, 2 * k + 1, 0) for k in events]
    kept = without_redundant(places, [*between, *own])
    edges = [each for each in kept if each not in own]
    shared = len(edges)
    needed = (1 << shared) - 1
    for at_least in own:
        needed |= (2 | (at_least in kept)) << len(edges)
        edges += [at_least, (at_least[1], at_least[0], LAST)]
    table = np.array(edges, dtype=np.int64).reshape(-1, 3)
    return Skeleton(lasting, allowed, table, shared, needed & ((1 << MOST_TOLD) - 1))


def onto_points(edge: Edge, lasting: Lasting) -> Edge:
    """The end of a point is its start."""
    left, right = (
        place if place == CONSTANT or lasting[place // 2] else place - place % 2 for place in edge[:2]
    )
    return (left, right, edge[2])
