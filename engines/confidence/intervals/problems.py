"""Endpoints that must be summed together as coupled problems, with the rivals that must be absent.

The endpoints that touch every edge, and those whose ticks others depend on, are the variables; others and the
possible rivals are the factors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.tick_sums import LAST
from cepctl.engines.confidence.coupled.problem import (
    NO_PAIRS,
    NO_VARIABLE,
    Factors,
    Pairs,
    Problems,
    RegionBound,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.confidence.intervals.conditions import CONSTANT, Case, Edge, Place
from cepctl.engines.confidence.intervals.rivals import Kind, RivalList
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure


@dataclass(frozen=True)
class Together:
    """What must be summed together, of matches that are alike.

    `places` of the matches, the open `edges` between them; `variables`: those whose ticks others depend on or
    constants restrict.  `lists`: who must be absent.
    """

    places: tuple[Place, ...]
    edges: tuple[Edge, ...]
    variables: frozenset[Place]
    lists: tuple[RivalList, ...] = ()


def problems_of(
    endpoints: Endpoints,
    together: Together,
    endpoint: Indexes,
    lower: Ticks,
    upper: Ticks,
    first: tuple[Place, bool] | None = None,
) -> Problems:
    """One problem for each row of endpoints, of which some ticks are left; all three of shape (n, m).

    `first` is a place that comes first among the variables, or last.
    """
    lists = together.lists
    kinds = tuple(each.kind for each in lists)
    edges = tuple(each for each in together.edges if each[2] < UNBOUNDED)
    cover, structure = _structure(
        together.places, edges, together.variables, kinds, first, _lengths(endpoints, lists)
    )
    level = {place: number for number, place in enumerate(cover)}
    others = [place for place in together.places if place not in level]
    templates = [_of_places(others, edges, level), *(_of_rivals(each, level) for each in kinds)]
    count = len(endpoint)
    instances = [(np.zeros(count, np.int64), np.arange(count), np.zeros(count, np.int64))]
    instances += [(np.full(len(each.row), 1 + at), each.row, each.event) for at, each in enumerate(lists)]
    factors, pairs = _assembled(endpoints, endpoint, others, templates, kinds, instances)
    columns = [np.ascontiguousarray(each[:, list(cover)]) for each in (endpoint, lower, upper)]
    return Problems(structure, np.arange(count), Variables(*columns), factors, pairs if lists else NO_PAIRS)


def _lengths(endpoints: Endpoints, lists: Sequence[RivalList]) -> tuple[int, ...]:
    """Bounds of lengths at which the mass of some rival changes its polynomial."""
    found: set[int] = set()
    for each in lists:
        if each.kind.lasts:
            found |= set(np.unique(endpoints.shortest[each.event]).tolist())
            found |= set(np.unique(endpoints.longest[each.event]).tolist())
            found |= {length for case in each.kind.cases for length in _asked(case)}
    return tuple(sorted(each for each in found if each != 0 and abs(each) < UNBOUNDED_LENGTH))


def _asked(case: Case) -> tuple[int, int]:
    """The lengths of an event that a case asks for: of its edges those between both ends of one event."""
    least, most = -LAST, LAST
    for i, j, bound in case:
        if CONSTANT not in (i, j) and i // 2 == j // 2 and i != j:
            if i % 2:
                most = min(most, bound)
            else:
                least = max(least, -bound)
    return least, most


def cover_of(
    places: Sequence[Place], edges: Sequence[tuple[Place, ...]], needed: frozenset[Place], most: int
) -> tuple[Place, ...] | None:
    """A smallest set of places that touches every edge, with the needed ones; None if that is too many."""
    others = [each for each in places if each not in needed]
    for more in range(max(most - len(needed), -1) + 1):
        for chosen in (needed | set(each) for each in combinations(others, more)):
            if all(i in chosen or j in chosen for i, j, *_ in edges):
                return tuple(sorted(chosen))
    return None


@lru_cache(maxsize=1024)
def _structure(
    places: tuple[Place, ...],
    edges: tuple[Edge, ...],
    needed: frozenset[Place],
    kinds: tuple[Kind, ...],
    first: tuple[Place, bool] | None,
    lengths: tuple[int, ...],
) -> tuple[tuple[Place, ...], Structure]:
    """The variables, in the order of the nesting, and what all problems share; `lengths` bend their sums."""
    needed = needed | ({first[0]} if first else set())
    cover = cover_of(places, edges, needed, len(places)) or places
    if first is not None:
        others = tuple(each for each in cover if each != first[0])
        cover = (*others, first[0]) if first[1] else (first[0], *others)
    level = {place: number for number, place in enumerate(cover)}
    between = tuple((level[i], level[j], bound) for i, j, bound in edges if i in level and j in level)
    number = {place: at for at, place in enumerate(places)}
    columns = [number[place] for place in cover]
    whole = closure(len(places), [(number[i], number[j], bound) for i, j, bound in edges])
    system = np.ascontiguousarray(whole[np.ix_(columns, columns)])
    factors = _of_places([place for place in places if place not in level], edges, level)
    regions = [region for _, own in factors for region in own]
    for kind in kinds:
        for _, own in _of_rivals(kind, level):
            regions += own
            regions += [tuple(_moved(bound, length)) for bound in sum(own, ()) for length in lengths]
    asked = tuple(region for region in regions if region)
    return cover, Structure(system, between, asked, breakpoints(len(cover), between, system, asked))


def _moved(bound: RegionBound, length: int) -> Iterator[RegionBound]:
    """Where the other end of an event is, if this one is at the end of a region and it is so long."""
    for constant in (bound.constant + length, bound.constant - length):
        yield RegionBound(bound.variable, constant, is_lower=True)
        yield RegionBound(bound.variable, constant, is_lower=False)


Factor = tuple[str, list[tuple[RegionBound, ...]]]
"""Which endpoint of an event it is, and its regions."""


def _of_places(others: Sequence[Place], edges: Sequence[Edge], level: dict[Place, int]) -> list[Factor]:
    return [("place", [_region(place, edges, level)]) for place in others]


def _of_rivals(kind: Kind, level: dict[Place, int]) -> list[Factor]:
    if not kind.lasts:
        return [("point", [_region(kind.place, case, level) for case in kind.cases])]
    return [
        (side, [_region(kind.place + end, case, level)])
        for case in kind.cases
        for end, side in enumerate(("start", "end"))
    ]


def _region(place: Place, edges: Sequence[Edge], level: dict[Place, int]) -> tuple[RegionBound, ...]:
    found = []
    for i, j, bound in edges:
        if bound >= UNBOUNDED:
            continue
        if i == place and (j == CONSTANT or j in level):
            found.append(RegionBound(NO_VARIABLE if j == CONSTANT else level[j], bound, is_lower=False))
        elif j == place and (i == CONSTANT or i in level):
            found.append(RegionBound(NO_VARIABLE if i == CONSTANT else level[i], -bound, is_lower=True))
    return tuple(found)


def _assembled(
    endpoints: Endpoints,
    endpoint: Indexes,
    others: Sequence[Place],
    templates: Sequence[Sequence[Factor]],
    kinds: Sequence[Kind],
    instances: Sequence[tuple[Indexes, Indexes, Indexes]],
) -> tuple[Factors, Pairs]:
    """The factors of all rows: those of the template of each instance, sorted by row."""
    kind, row, event = (np.concatenate([each[side] for each in instances]) for side in range(3))
    order = np.argsort(row, kind="stable")
    kind, row, event = kind[order], row[order], event[order]
    every = [each for template in templates for each in template]
    regions = [region for _, own in every for region in own]
    is_end = np.array([name == "end" for name, _ in every], dtype=np.int64)
    inside = np.array([name != "point" for name, own in every for _ in own], dtype=bool)
    offsets = _offsets(templates), is_end, _offsets([own for _, own in every])
    told = Factors.of_kinds(*offsets, inside, regions, np.arange(len(regions)))
    found = told.taken(kind)
    instance, within = places_in_runs(np.diff(found.offsets))
    factor, own = told.offsets[kind][instance] + within, event[instance]
    chosen = np.where(found.event == 1, endpoints.end[own], own)
    if others:
        placed = kind[instance] == 0
        chosen[placed] = endpoint[row[instance[placed]], np.array(others)[within[placed]]]
    by_row = found.offsets[np.searchsorted(row, np.arange(len(endpoint) + 1))]
    # A template has a start and an end for each case of an interval event.
    cases: list[Case] = [()] * len(templates[0])
    for each in kinds:
        cases += [case for case in each.cases for _ in range(2)] if each.lasts else [()]
    asked = np.array([_asked(case) for case in cases], dtype=np.int64).reshape(-1, 2)
    pairs = _pairs(endpoints, templates, asked[factor], kind[instance], within, own)
    return found._replace(offsets=by_row, event=chosen), pairs


def _offsets(owners: Sequence[Sequence[object]]) -> Indexes:
    """Where what each of them has begins, one after the other, and where the last of it ends."""
    return np.array([0, *accumulate(map(len, owners))], dtype=np.int64)


def _pairs(
    endpoints: Endpoints,
    templates: Sequence[Sequence[Factor]],
    asked: Ticks,
    kind: Indexes,
    within: Indexes,
    event: Indexes,
) -> Pairs:
    lasts = np.array([bool(each) and each[0][0] == "start" for each in templates], dtype=bool)[kind]
    count = np.array([len(each) // 2 for each in templates], dtype=np.int64)[kind]
    return Pairs(
        np.where(lasts, np.where(within == 0, count, -1), 0),
        np.stack([endpoints.shortest[event], endpoints.longest[event]], axis=1),
        asked,
        endpoints.whole[event],
    )
