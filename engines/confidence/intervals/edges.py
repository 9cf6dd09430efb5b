"""The edges between endpoints of matches alike: none redundant, which are open, and what those couple.

An edge is open if some ticks of its endpoints violate it; the others need not be summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.tick_sums import FIRST, LAST, plus
from cepctl.engines.confidence.intervals.conditions import CONSTANT, Case, Edge, Place, without_redundant
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import settled
from cepctl.numeric.arrays import Flags, Indexes, Ticks

Lasting: TypeAlias = tuple[bool, ...]
"""Of each event whether it is an interval event."""


@dataclass(frozen=True)
class Skeleton:
    """What matches that bind points at the same places share.

    `lasting`: which are interval events.  `allowed`: the ticks that constants leave to each endpoint, shape
    (2 l, 2).  `edges`, shape (e, 3): the `shared` ones between endpoints, without redundant ones, then
    for each interval event two that bound its length, whose constants are the matches' own.  `needed`: bits
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
    """What a case says of matches that bind interval events at the same places."""
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


MOST_TOLD = 62
"""Of more edges, the others count as open."""
IMPOSSIBLE = -1
"""Stands for the open edges of a match that no world returns."""


class Reached(NamedTuple):
    """Of n matches with m endpoints the ticks left to each, shape (n, m), and their open edges.

    Bit e of `open_edges`, shape (n,), says that edge e is open.
    """

    lower: Ticks
    upper: Ticks
    open_edges: Indexes


def reached(
    endpoints: Endpoints, matches: Indexes, lasting: Flags, allowed: Ticks, edges: Indexes
) -> Reached:
    """Tighten the endpoints of n matches that bind points at the same places.

    Parameters
    ----------
    endpoints, matches
        The l events of each match, shape (n, l); place 2 k is the start of the k-th, 2 k + 1 its end.
    lasting
        Which of the l events last, shape (l,); the end of another is its start.
    allowed
        First and last tick that constants leave to each endpoint, shape (2 l, 2).
    edges
        (i, j, c): t_i - t_j <= c, shape (e, 3).  The last two for each interval event are those of its
        length, whose c is the event's own.
    """
    size = len(matches), 2 * matches.shape[1]
    found = Reached(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size[0], np.int64))
    lengths = endpoints.shortest, endpoints.longest
    _reach(endpoints.masses.buckets, endpoints.end, *lengths, matches, lasting, allowed, edges, found)
    return found


@kernel
def _reach(buckets, ends, shortest, longest, matches, lasting, allowed, edges, found):
    places = 2 * matches.shape[1]
    endpoint, held = np.empty(places, dtype=np.int64), edges.copy()
    shared = len(edges) - 2 * lasting.sum()
    for row in range(len(matches)):
        earliest, latest = found.lower[row], found.upper[row]
        own = shared
        for k in range(matches.shape[1]):
            event = matches[row, k]
            endpoint[2 * k], endpoint[2 * k + 1] = event, ends[event]
            if lasting[k]:
                held[own, 2], held[own + 1, 2] = -shortest[event], longest[event]
                own += 2
        for p in range(places):
            earliest[p] = max(buckets.lower[endpoint[p]], allowed[p, 0])
            latest[p] = min(buckets.upper[endpoint[p]], allowed[p, 1])
        found.open_edges[row] = _open(held, earliest, latest)
        if not settled(buckets, endpoint, held, earliest, latest):
            found.open_edges[row] = IMPOSSIBLE
        for k in range(matches.shape[1]):
            if not lasting[k]:
                earliest[2 * k + 1], latest[2 * k + 1] = earliest[2 * k], latest[2 * k]


@inner
def _open(edges, earliest, latest):
    bits = np.int64(0)
    for e in range(min(len(edges), MOST_TOLD)):
        if latest[edges[e, 0]] > plus(earliest[edges[e, 1]], edges[e, 2]):
            bits |= np.int64(1) << e
    return bits


SHARED = -1


@dataclass(frozen=True)
class Coupled:
    """Connected endpoints, in order, and the edges between them, which number these anew.

    `own`: for each edge the number of the matches' own constant that it has, or SHARED.  `restricted`: the
    endpoints to which constants leave fewer ticks than the edges do.
    """

    places: tuple[Place, ...]
    edges: tuple[Edge, ...]
    own: tuple[int, ...]
    restricted: frozenset[int]

    @property
    def has_own(self) -> bool:
        """Whether some constant differs from match to match."""
        return any(each != SHARED for each in self.own)


@dataclass(frozen=True)
class OpenEdges:
    """What open edges couple, places that constants alone restrict, events that only their law couples."""

    coupled: tuple[Coupled, ...]
    alone: tuple[Place, ...]
    free: tuple[int, ...]


@lru_cache(maxsize=4096)
def coupled_groups(
    edges: tuple[Edge, ...], own: tuple[int, ...], restricted: frozenset[Place], *, own_lengths: bool
) -> OpenEdges:
    """Take open edges apart.

    An event that only its own law couples is left out: it is as probable as what it is conditioned on.
    Without `own_lengths` that law says no more than that an event does not end before it starts.
    """
    groups: list[set[Place]] = []
    for i, j, _ in edges:
        touched = [each for each in groups if i in each or j in each]
        groups = [each for each in groups if each not in touched]
        groups.append({i, j}.union(*touched))
    found, free = [], []
    alone = set(restricted)
    for group in sorted(map(sorted, groups)):
        inside = [number for number, (i, _, _) in enumerate(edges) if i in group]
        if all(own[number] != SHARED for number in inside) and not restricted & set(group):
            free.append(group[0] // 2)
            continue
        alone.difference_update(group)
        place = {each: number for number, each in enumerate(group)}
        found.append(
            Coupled(
                tuple(group),
                tuple((place[i], place[j], bound) for i, j, bound in (edges[number] for number in inside)),
                tuple(own[number] if own_lengths else SHARED for number in inside),
                frozenset(place[each] for each in group if each in restricted),
            )
        )
    return OpenEdges(tuple(found), tuple(sorted(alone)), tuple(free))
