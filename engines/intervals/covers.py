"""Which one or two of a few endpoints touch every constraint between them, so that sums run over these."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes

MOST_PLACES = 4


class Ties(NamedTuple):
    """How m endpoints are tied: `variables` has shape (2,), the second is -1 where one is enough.

    `edges`, shape (e, 4): of edge e the place, the variable (0 or 1) that it is tied to, and whether from
    above (1) or below (0); the number of its constant.  The place may be the second variable itself.
    """

    variables: Indexes
    factors: Indexes
    edges: Indexes


@lru_cache(maxsize=4096)
def ties_of(count: int, edges: tuple[tuple[int, int], ...]) -> Ties | None:
    """Choose variables for constraints t_i - t_j <= c between these pairs (i, j); None if two do not do."""
    if count > MOST_PLACES:
        return None
    covers = (each for size in (1, 2) for each in combinations(range(count), size))
    cover = next((each for each in covers if all(i in each or j in each for i, j in edges)), None)
    if cover is None:
        return None
    level = {place: number for number, place in enumerate(cover)}
    tied = []
    for number, (i, j) in enumerate(edges):
        if j in level and (i not in level or level[j] < level[i]):
            tied.append((i, level[j], 1, number))
        else:
            tied.append((j, level[i], 0, number))
    return Ties(
        np.array([*cover, -1][:2], dtype=np.int64),
        np.array([place for place in range(count) if place not in level], dtype=np.int64),
        np.array(tied, dtype=np.int64).reshape(-1, 4),
    )
