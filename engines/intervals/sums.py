"""The probability that independent endpoints satisfy the difference constraints that are open between them.

Endpoints that no constraint ties are apart: the probabilities multiply.  Two of them have a closed form; so
has any order of them.  Up to four are summed over one or two of them, whatever the constants.  Of more, a
smallest set that touches every constraint are the variables of nested sums, and what is left are factors,
each of which must lie in the region that the variables leave to it.  Where that takes many variables, these
are taken apart, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import mass_between
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_differences import difference_probability
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.problem import (
    Factors,
    Problems,
    RegionBound,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.intervals.conditions import Edge, Place
from cepctl.engines.intervals.covers import ties_of
from cepctl.engines.intervals.few_endpoints import few_endpoints
from cepctl.engines.intervals.orders import MOST_PLACES, order_confidence, order_of
from cepctl.engines.intervals.reach import Reached
from cepctl.engines.intervals.ties import SHARED, OpenEdges, Tie
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure

FEW_VARIABLES = 3
"""So many are summed one inside the other, however many factors they have."""


def probability(masses: Masses, chosen: OpenEdges, endpoint: Indexes, left: Reached, own: Ticks) -> Reals:
    """P(all open edges) of n rows of independent endpoints, shape (n, m).

    `left` are the ticks left to them, `own` the constants of their own.

    Raises
    ------
    QueryTooLargeError
        If the sum of a row takes too many products.
    """
    found = np.ones(len(endpoint))
    for tie in chosen.ties:
        columns = list(tie.places)
        places, lower, upper = endpoint[:, columns], left.lower[:, columns], left.upper[:, columns]
        found *= _of_tie(masses, tie, places, lower, upper, own)
    for place in chosen.alone:
        found *= mass_between(masses, endpoint[:, place], left.lower[:, place], left.upper[:, place])
    return found


def _of_tie(masses: Masses, tie: Tie, endpoint: Indexes, lower: Ticks, upper: Ticks, own: Ticks) -> Reals:
    count = len(tie.places)
    if count == 2:
        return _of_two(masses, tie, endpoint, lower, upper, own)
    order = None if tie.has_own else order_of(count, tie.edges)
    if order is not None:
        return order_confidence(masses, order, endpoint, lower, upper)
    ties = ties_of(count, tuple((i, j) for i, j, _ in tie.edges))
    if ties is None:
        return _by_constants(masses, tie, endpoint, lower, upper, own)
    found = few_endpoints(masses, ties, endpoint, lower, upper, _constants(tie, own, len(endpoint)))
    given_up = np.flatnonzero(np.isnan(found))
    if len(given_up):
        rows = endpoint[given_up], lower[given_up], upper[given_up], own[given_up]
        found[given_up] = _by_constants(masses, tie, *rows)
    return found


def _constants(tie: Tie, own: Ticks, count: int) -> Ticks:
    """The constants of the edges for each row, shape (n, e)."""
    columns = [
        np.full(count, bound) if number == SHARED else own[:, number]
        for (_, _, bound), number in zip(tie.edges, tie.own, strict=True)
    ]
    return np.stack(columns, axis=1)


def _of_two(masses: Masses, tie: Tie, endpoint: Indexes, lower: Ticks, upper: Ticks, own: Ticks) -> Reals:
    """P(least <= t_1 - t_0 <= most)."""
    count = len(endpoint)
    least, most = np.full(count, FIRST), np.full(count, LAST)
    for (i, _, _), bound in zip(tie.edges, _constants(tie, own, count).T, strict=True):
        if i == 0:
            least = np.maximum(least, -bound)
        else:
            most = np.minimum(most, bound)
    return difference_probability(masses, endpoint, lower, upper, least, most)


def _by_constants(
    masses: Masses, tie: Tie, endpoint: Indexes, lower: Ticks, upper: Ticks, own: Ticks
) -> Reals:
    """Rows with the same constants are problems of one structure."""
    constants = _constants(tie, own, len(endpoint))
    distinct, which = np.unique(constants, axis=0, return_inverse=True)
    found = np.zeros(len(endpoint))
    for number, each in enumerate(distinct):
        rows = np.flatnonzero(which.reshape(-1) == number)
        edges = tuple((i, j, int(bound)) for (i, j, _), bound in zip(tie.edges, each, strict=True))
        some = endpoint[rows], lower[rows], upper[rows], edges
        if len(tie.places) > MOST_PLACES and _small_cover(len(tie.places), edges, tie.restricted) is None:
            found[rows] = _taken_apart(masses, *some)
        else:
            found[rows] = _nested(masses, *some, tie.restricted)
    return found


def _taken_apart(
    masses: Masses, endpoint: Indexes, lower: Ticks, upper: Ticks, edges: tuple[Edge, ...]
) -> Reals:
    """All endpoints are variables: at a tick of one between others these are independent."""
    from cepctl.engines.given.separators import no_factors, tied_probability
    from cepctl.engines.given.work import within_bound

    count, edges = endpoint.shape[1], tuple(each for each in edges if each[2] < UNBOUNDED)
    system = closure(count, edges)
    structure = Structure(system, edges, (), breakpoints(count, edges, system, ()))
    variables = Variables(*(np.ascontiguousarray(each) for each in (endpoint, lower, upper)))
    problems = Problems(structure, np.arange(len(endpoint)), variables, no_factors(len(endpoint)))
    buckets = masses.laws
    return within_bound(lambda some: tied_probability(buckets, some), problems)


def _nested(
    masses: Masses,
    endpoint: Indexes,
    lower: Ticks,
    upper: Ticks,
    edges: tuple[Edge, ...],
    restricted: frozenset[Place],
) -> Reals:
    """Nested sums; the `restricted` places are variables, whose `lower` and `upper` these obey."""
    from cepctl.engines.confidence.coupled.solve import coupled_confidence

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
    cover = next(each for each in _covers(count, count) if _is_cover(each, edges, restricted))
    level = {place: number for number, place in enumerate(cover)}
    between = tuple((level[i], level[j], bound) for i, j, bound in edges if i in level and j in level)
    regions = tuple(tuple(_bounds(place, level, edges)) for place in range(count) if place not in level)
    system = np.ascontiguousarray(closure(count, edges)[np.ix_(cover, cover)])
    points = breakpoints(len(cover), between, system, regions)
    return list(cover), Structure(system, between, regions, points)


@lru_cache(maxsize=1024)
def _small_cover(
    count: int, edges: tuple[Edge, ...], restricted: frozenset[Place]
) -> tuple[Place, ...] | None:
    """A few places that touch every constraint, None if more are needed."""
    return next((each for each in _covers(count, FEW_VARIABLES) if _is_cover(each, edges, restricted)), None)


def _is_cover(chosen: tuple[Place, ...], edges: tuple[Edge, ...], restricted: frozenset[Place]) -> bool:
    return restricted <= set(chosen) and all(i in chosen or j in chosen for i, j, _ in edges)


def _covers(count: int, most: int) -> Iterator[tuple[Place, ...]]:
    for size in range(1, most + 1):
        yield from combinations(range(count), size)


def _bounds(place: Place, level: dict[Place, int], edges: Sequence[Edge]) -> Iterator[RegionBound]:
    for i, j, bound in edges:
        if bound >= UNBOUNDED:
            continue
        if i == place:
            yield RegionBound(level[j], bound, is_lower=False)
        elif j == place:
            yield RegionBound(level[i], -bound, is_lower=True)
