"""The probability that independent endpoints satisfy difference constraints, as nested sums.

Endpoints that no constraint ties are apart: the probabilities multiply.  Two of them have a closed form.  Of
more, a smallest set that touches every constraint are the variables of the sum, and what is left are
factors, each of which must lie in the region that the variables leave to it.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import difference_probability, mass_between
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.problem import (
    Factors,
    Problems,
    RegionBound,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.confidence.coupled.solve import coupled_confidence
from cepctl.engines.intervals.conditions import Edge, Place
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure


def probability(
    masses: Masses,
    endpoint: Indexes,
    lower: Ticks,
    upper: Ticks,
    edges: Sequence[Edge],
    restricted: frozenset[Place],
) -> Reals:
    """P(all edges) of n rows of independent endpoints, shape (n, m).

    `lower` and `upper` are the ticks left to them; at the `restricted` places those are fewer than edges and
    masses leave.

    Raises
    ------
    QueryTooLargeError
        If the sum of a row takes too many products.
    """
    found = np.ones(len(endpoint))
    alone = set(restricted)
    for places, inside in _apart(tuple(edges)):
        columns = list(places)
        cut = frozenset(number for number, place in enumerate(places) if place in restricted)
        alone.difference_update(places)
        if len(places) == 2 and not cut:
            found *= _of_two(masses, endpoint[:, columns], inside)
        else:
            found *= _of_more(masses, endpoint[:, columns], lower[:, columns], upper[:, columns], inside, cut)
    for place in sorted(alone):
        found *= mass_between(masses, endpoint[:, place], lower[:, place], upper[:, place])
    return found


@lru_cache(maxsize=1024)
def _apart(edges: tuple[Edge, ...]) -> tuple[tuple[tuple[Place, ...], tuple[Edge, ...]], ...]:
    """Connected places, in order, with the edges between them; these number the places of their own."""
    groups: list[set[Place]] = []
    for i, j, _ in edges:
        touched = [each for each in groups if i in each or j in each]
        groups = [each for each in groups if each not in touched]
        groups.append({i, j}.union(*touched))
    found = []
    for group in sorted(map(sorted, groups)):
        place = {each: number for number, each in enumerate(group)}
        inside = tuple((place[i], place[j], bound) for i, j, bound in edges if i in place)
        found.append((tuple(group), inside))
    return tuple(found)


def _of_two(masses: Masses, endpoint: Indexes, edges: Sequence[Edge]) -> Reals:
    """P(least <= t_1 - t_0 <= most)."""
    system = closure(2, edges)
    most, least = int(system[1, 0]), -int(system[0, 1])
    count = len(endpoint)
    return difference_probability(
        masses, endpoint[:, 0], endpoint[:, 1], np.full(count, least), np.full(count, most)
    )


def _of_more(
    masses: Masses,
    endpoint: Indexes,
    lower: Ticks,
    upper: Ticks,
    edges: tuple[Edge, ...],
    restricted: frozenset[Place],
) -> Reals:
    variables, structure = _structure(endpoint.shape[1], edges, restricted)
    others = [place for place in range(endpoint.shape[1]) if place not in variables]
    count = len(endpoint)
    bounds = [bound for region in structure.regions for bound in region]
    sizes = np.tile([len(region) for region in structure.regions], count)
    problems = Problems(
        structure,
        np.arange(count),
        Variables(*(np.ascontiguousarray(each[:, variables]) for each in (endpoint, lower, upper))),
        Factors(
            offsets=np.arange(count + 1) * len(others),
            event=endpoint[:, others].reshape(-1),
            region_offsets=np.arange(count * len(others) + 1),
            inside=np.ones(count * len(others), dtype=bool),
            bound_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            is_lower=np.tile(np.array([bound.is_lower for bound in bounds], dtype=bool), count),
            variable=np.tile(np.array([bound.variable for bound in bounds], dtype=np.int64), count),
            constant=np.tile(np.array([bound.constant for bound in bounds], dtype=np.int64), count),
        ),
    )
    return coupled_confidence(masses, problems)[0]


@lru_cache(maxsize=1024)
def _structure(
    count: int, edges: tuple[Edge, ...], restricted: frozenset[Place]
) -> tuple[list[Place], Structure]:
    """The variables among the places, in the order of the nesting, and how they are tied."""
    cover = next(
        each
        for each in _covers(count)
        if restricted <= set(each) and all(i in each or j in each for i, j, _ in edges)
    )
    level = {place: number for number, place in enumerate(cover)}
    between = tuple((level[i], level[j], bound) for i, j, bound in edges if i in level and j in level)
    regions = tuple(tuple(_bounds(place, level, edges)) for place in range(count) if place not in level)
    system = np.ascontiguousarray(_between(closure(count, edges), cover))
    points = breakpoints(len(cover), between, system, regions)
    return list(cover), Structure(system, between, regions, points)


def _between(system: Ticks, places: Sequence[Place]) -> Ticks:
    return system[np.ix_(places, places)]


def _covers(count: int) -> Iterator[tuple[Place, ...]]:
    for size in range(1, count + 1):
        yield from combinations(range(count), size)


def _bounds(place: Place, level: dict[Place, int], edges: Sequence[Edge]) -> Iterator[RegionBound]:
    for i, j, bound in edges:
        if bound >= UNBOUNDED:
            continue
        if i == place:
            yield RegionBound(level[j], bound, is_lower=False)
        elif j == place:
            yield RegionBound(level[i], -bound, is_lower=True)
