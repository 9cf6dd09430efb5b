"""Which endpoints open edges tie, directly or through others: each connected group is summed by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from cepctl.engines.intervals.conditions import Edge, Place

SHARED = -1


@dataclass(frozen=True)
class Tie:
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
    """What open edges tie, the places that constants alone restrict, and events that only their law ties."""

    ties: tuple[Tie, ...]
    alone: tuple[Place, ...]
    free: tuple[int, ...]


@lru_cache(maxsize=4096)
def tied(
    edges: tuple[Edge, ...], own: tuple[int, ...], restricted: frozenset[Place], *, own_lengths: bool
) -> OpenEdges:
    """Take open edges apart.

    An event that only its own law ties is left out: it is as probable as what it is conditioned on.  Without
    `own_lengths` that law says no more than that an event does not end before it starts.
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
            Tie(
                tuple(group),
                tuple((place[i], place[j], bound) for i, j, bound in (edges[number] for number in inside)),
                tuple(own[number] if own_lengths else SHARED for number in inside),
                frozenset(place[each] for each in group if each in restricted),
            )
        )
    return OpenEdges(tuple(found), tuple(sorted(alone)), tuple(free))
