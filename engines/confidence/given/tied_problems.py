"""Coupled problems whose events are tied to others: the components that they touch become part of them.

    of a problem                                  becomes
    a variable                                    the same
    an event of a component that it touches       a variable more; of a series only those between two of it
    the events of a series before and after       weights of the mass of its first and last event
    a tie of such a component                     an edge
    a factor that is tied, inside of a region     a variable, each bound an edge
    a factor that is tied, outside of a region    a variable, and one problem for each way to be outside
    any other factor                              the same

Problems whose components are alike, and touched alike, are made and solved together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import (
    NO_VARIABLE,
    Edge,
    Factors,
    Problems,
    Structure,
    Variables,
    breakpoints,
    reordered,
)
from cepctl.engines.confidence.given.components import ties_between_ranks, without_implied
from cepctl.engines.confidence.given.series import weighted_events
from cepctl.engines.confidence.given.touched_components import Touched, place_of, touching_alike
from cepctl.engines.confidence.work import BESIDE_GIVEN, LEAVE_OUT, SAY_MORE, too_costly
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds

MOST_WAYS = 4096
"""Ways in which the tied rivals of one match may be outside of their regions."""


@dataclass(frozen=True)
class TiedProblems:
    """Problems with their components; `match` is the number of the problem that each is made from.

    `first`: with the variables of the match first, `last`: with them last, for the ends of its range.
    `weighted`: as `first`, with events whose masses have the weights of their series.
    """

    first: Problems
    last: Problems
    weighted: Problems


def tied_problems(
    problems: Problems, ties: EventTies, masses: Masses, touching: Touched
) -> Iterator[TiedProblems]:
    """Problems with their components, those that are alike together.

    Raises
    ------
    QueryTooLargeError
        If the tied rivals of a match can be outside of their regions in too many ways.
    """
    for alike in touching_alike(problems, ties, touching):
        yield from _Alike(problems, ties, touching, alike).problems(masses)


@dataclass(frozen=True)
class _Region:
    inside: bool
    bounds: tuple[tuple[bool, int, int], ...]


@dataclass(frozen=True)
class _Alike:
    """Problems that touch components alike: the first of them says how all are made."""

    whole: Problems
    ties: EventTies
    touching: Touched
    rows: Indexes

    def problems(self, masses: Masses) -> Iterator[TiedProblems]:
        """The problems with their components, once for each way in which tied rivals are outside."""
        event, place = self._variables()
        weighted = self._weighted(event, place)
        count = event.shape[1]
        edges = [*self.whole.structure.edges, *self._tied(place)]
        own = self.whole.structure.edges
        width = self.whole.variables.event.shape[1]
        variables = self.whole.variables
        low = np.concatenate([variables.lower[self.rows], masses.lower[event[:, width:]]], axis=1)
        high = np.concatenate([variables.upper[self.rows], masses.upper[event[:, width:]]], axis=1)
        factors = _untied(self.whole.factors, self.ties, self.rows)
        for way in self._ways(count, edges, place):
            between = [each for each in way if NO_VARIABLE not in each[:2]]
            lower, upper = low.copy(), high.copy()
            for i, j, limit in way:
                if j == NO_VARIABLE:
                    upper[:, i] = np.minimum(upper[:, i], limit)
                elif i == NO_VARIABLE:
                    lower[:, j] = np.maximum(lower[:, j], -limit)
            made = _Made(
                count,
                without_implied(count, [*own, *self._tied(place), *between]),
                event,
                weighted,
                lower,
                upper,
            )
            yield from made.in_both_orders(self.whole, self.rows, factors, width)

    def _variables(self) -> tuple[Indexes, dict[tuple[int, int], int]]:
        """The events of all variables, and which variable the event of a slot and rank is."""
        pairs = self.touching.of(self.rows)
        pieces = self.touching.pieces
        first = self.rows[:1]
        width = self.whole.variables.event.shape[1]
        slot, rank = place_of(
            self.ties, self.touching, np.repeat(first, width), self.whole.variables.event[first].reshape(-1)
        )
        place = {(int(s), int(r)): v for v, (s, r) in enumerate(zip(slot, rank, strict=True)) if s >= 0}
        columns = [self.whole.variables.event[self.rows]]
        for number in range(pairs.shape[1]):
            some = pieces.taken(pairs[:, number])
            begin = self.ties.member_offsets[some.component] + some.first
            for r in range(int(some.size[0])):
                if (number, r) not in place:
                    place[number, r] = sum(each.shape[1] for each in columns)
                    columns.append(self.ties.members[begin + r][:, None])
        return np.concatenate(columns, axis=1), place

    def _weighted(self, event: Indexes, place: dict[tuple[int, int], int]) -> Indexes:
        """The same events, those with the weights of their series where others of it are before or after."""
        found = event.copy()
        pieces = self.touching.pieces
        for number, pair in enumerate(self.touching.of(self.rows[:1])[0]):
            some = pieces.taken(np.array([pair]))
            begin, end = place[number, 0], place[number, int(some.size[0]) - 1]
            found[:, [begin, end]] = weighted_events(
                self.ties,
                event[:, [begin, end]],
                follows=bool(some.follow()[0]),
                leads=bool(some.lead(self.ties)[0]),
            )
        return found

    def _tied(self, place: dict[tuple[int, int], int]) -> list[Edge]:
        """The ties of all pieces, between variables."""
        return [
            (place[slot, i], place[slot, j], bound)
            for slot, pair in enumerate(self.touching.of(self.rows[:1])[0])
            for i, j, bound in ties_between_ranks(self.ties, self.touching.pieces, int(pair))
        ]

    def _ways(self, count: int, edges: Sequence[Edge], place: dict[tuple[int, int], int]) -> list[list[Edge]]:
        """Edges that put each tied factor where it must be, in every way that excludes the others."""
        ways: list[list[Edge]] = [[]]
        for variable, regions in self._tied_factors(place):
            for region in regions:
                ways = [[*way, *more] for way in ways for more in _placed(variable, region)]
                ways = [way for way in ways if _has_solution(count, [*edges, *way])]
                if len(ways) > MOST_WAYS:
                    most, why = f"{MOST_WAYS:,} ways to be absent", "GIVEN ties many of its rivals"
                    what = "the exact confidence of a match"
                    raise too_costly(what, BESIDE_GIVEN, most, why, SAY_MORE, LEAVE_OUT)
        return ways

    def _tied_factors(self, place: dict[tuple[int, int], int]) -> Iterator[tuple[int, list[_Region]]]:
        """The tied factors of the first problem: their variables and regions."""
        factors, first = self.whole.factors, int(self.rows[0])
        for factor in range(int(factors.offsets[first]), int(factors.offsets[first + 1])):
            event = factors.event[factor : factor + 1]
            if self.ties.touches(event)[0]:
                slot, rank = place_of(self.ties, self.touching, self.rows[:1], event)
                regions = [
                    _Region(bool(factors.inside[r]), tuple(_bounds(factors, r)))
                    for r in range(
                        int(factors.region_offsets[factor]), int(factors.region_offsets[factor + 1])
                    )
                ]
                yield place[int(slot[0]), int(rank[0])], regions


def _bounds(factors: Factors, region: int) -> Iterator[tuple[bool, int, int]]:
    for b in range(int(factors.bound_offsets[region]), int(factors.bound_offsets[region + 1])):
        yield bool(factors.is_lower[b]), int(factors.variable[b]), int(factors.constant[b])


def _placed(variable: int, region: _Region) -> list[list[Edge]]:
    """Every way to be inside, which is one, or outside of a region: the first bound that fails says which."""
    holding: list[Edge] = []
    outside: list[list[Edge]] = []
    for is_lower, other, constant in region.bounds:
        if is_lower:
            holds, fails = (other, variable, -constant), (variable, other, constant - 1)
        else:
            holds, fails = (variable, other, constant), (other, variable, -constant - 1)
        outside.append([*holding, fails])
        holding.append(holds)
    return [holding] if region.inside else outside


def _has_solution(count: int, edges: Sequence[Edge]) -> bool:
    between = [each for each in edges if NO_VARIABLE not in each[:2]]
    return bool((np.diag(closure(count, between)) >= 0).all())


def _untied(factors: Factors, ties: EventTies, rows: Indexes) -> Factors:
    """The factors of some problems that are not tied."""
    some = factors.taken(rows)
    free = ~ties.touches(some.event)
    if free.all():
        return some
    kept = np.concatenate([[0], np.cumsum(free)]).astype(np.int64)
    alone = replace_offsets(some, np.arange(len(some.event) + 1)).taken(np.flatnonzero(free))
    return replace_offsets(alone, kept[some.offsets])


def replace_offsets(factors: Factors, offsets: Indexes) -> Factors:
    """The same factors, of other problems."""
    return factors._replace(offsets=offsets.astype(np.int64))


@dataclass(frozen=True)
class _Made:
    """Variables of alike problems, and what is between them."""

    count: int
    edges: Sequence[Edge]
    event: Indexes
    weighted: Indexes
    lower: Ticks
    upper: Ticks

    def in_both_orders(
        self, whole: Problems, rows: Indexes, factors: Factors, width: int
    ) -> Iterator[TiedProblems]:
        """Problems that are possible."""
        system = closure(self.count, self.edges)
        if (np.diag(system) < 0).any():
            return
        lower, upper = valid_bounds(self.lower, self.upper, system)
        keep = np.flatnonzero(possible(lower, upper))
        if not len(keep):
            return
        regions, some = whole.structure.regions, factors.taken(keep)
        points = breakpoints(self.count, self.edges, system, regions)
        variables = Variables(self.event[keep], lower[keep], upper[keep])
        first = Problems(Structure(system, tuple(self.edges), regions, points), rows[keep], variables, some)
        weighted = replace(first, variables=variables._replace(event=self.weighted[keep]))
        last = reordered(first, np.roll(np.arange(self.count), self.count - width).tolist())
        yield TiedProblems(first, last, weighted)
