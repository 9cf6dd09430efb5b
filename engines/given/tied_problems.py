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

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

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
    owned,
)
from cepctl.engines.given.orders import reordered
from cepctl.engines.given.series import weighted_events
from cepctl.engines.given.structures import Pieces, structure_texts, ties_between_ranks, without_implied
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds
from cepctl.errors import QueryTooLargeError

MOST_WAYS = 4096
"""Ways in which the tied rivals of one match may be outside of their regions."""

_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Touched:
    """Pairs of a problem and a component that it touches, in the order of problems: shape (t,).

    The components of one problem are numbered as its variables, and then its factors, meet them: `slot`.
    `pieces` says which part of each component is needed.
    """

    problem: Indexes
    pieces: Pieces
    slot: Indexes

    def of(self, problems: Indexes) -> Indexes:
        """The pairs of problems that touch equally many, shape (n, slots)."""
        begin = np.searchsorted(self.problem, problems)
        end = np.searchsorted(self.problem, problems, side="right")
        pairs: Indexes = begin[:, None] + np.arange(int((end - begin)[0]))
        return pairs


def touched(problems: Problems, ties: EventTies) -> Touched:
    """Which components the problems touch."""
    count, width = problems.variables.event.shape
    factors = problems.factors
    owner = np.repeat(np.arange(count), np.diff(factors.offsets))
    problem = np.concatenate([np.repeat(np.arange(count), width), owner])
    place = np.concatenate([np.tile(np.arange(width), count), width + np.arange(len(owner))])
    event = np.concatenate([problems.variables.event.reshape(-1), factors.event])
    tied = np.flatnonzero(ties.touches(event))
    problem, place, event = problem[tied], place[tied], event[tied]
    component, rank = ties.component[event], ties.rank[event]
    order = np.lexsort((place, component, problem))
    problem, component, place, rank = problem[order], component[order], place[order], rank[order]
    fresh = np.ones(len(problem), dtype=bool)
    fresh[1:] = (np.diff(problem) != 0) | (np.diff(component) != 0)
    begin = np.flatnonzero(fresh)
    if not len(begin):
        none = np.zeros(0, dtype=np.int64)
        return Touched(none, Pieces(none, none, none), none)
    first, last = np.minimum.reduceat(rank, begin), np.maximum.reduceat(rank, begin)
    problem, component, place = problem[begin], component[begin], place[begin]
    order = np.lexsort((place, problem))
    problem = problem[order]
    pieces = Pieces.between(ties, component, first, last).taken(order)
    slot = np.arange(len(problem)) - np.searchsorted(problem, problem)
    return Touched(problem, pieces, slot)


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
    rows = np.unique(touching.problem)
    keys = _keys(problems, ties, touching, rows)
    for key in np.unique(keys):
        alike = rows[keys == key]
        yield from _Alike(problems, ties, touching, alike).problems(masses)


def _keys(problems: Problems, ties: EventTies, touching: Touched, rows: Indexes) -> Indexes:
    """Numbers of some problems, equal where they touch components alike."""
    pieces = touching.pieces
    named = np.stack([pieces.component, pieces.first, pieces.size], axis=1)
    _, distinct, which = np.unique(named, axis=0, return_index=True, return_inverse=True)
    texts = structure_texts(ties, pieces.taken(distinct)).gather(which.reshape(-1))
    components = pl.DataFrame({"problem": touching.problem, "text": texts})
    width = problems.variables.event.shape[1]
    event = problems.variables.event[rows]
    places = pl.DataFrame(
        {
            "problem": np.repeat(rows, width),
            "text": _named(ties, touching, np.repeat(rows, width), event.reshape(-1)),
        }
    )
    frames = [components, places, _factor_texts(problems.factors, ties, touching)]
    told = pl.concat(
        [frame.with_columns(pl.lit(number).alias("part")) for number, frame in enumerate(frames)]
    )
    keys = told.group_by("problem", maintain_order=True).agg(
        pl.concat_str(pl.col("part").cast(pl.String), pl.lit(":"), "text").str.join("|").alias("key")
    )
    keys = keys.sort("problem")
    return keys.get_column("key").rank("dense").to_numpy().astype(np.int64)


def _named(ties: EventTies, touching: Touched, problem: Indexes, event: Indexes) -> pl.Series:
    """Where an event of a problem stands among its components: slot and rank, or nothing."""
    slot, rank = _place(ties, touching, problem, event)
    frame = pl.DataFrame({"slot": slot, "rank": rank})
    return frame.select(
        pl.when(pl.col("slot") < 0).then(pl.lit("-")).otherwise(pl.format("{}.{}", "slot", "rank"))
    ).to_series()


def _place(ties: EventTies, touching: Touched, problem: Indexes, event: Indexes) -> tuple[Indexes, Indexes]:
    """Slot, and place in its piece, of events of problems; -1 where an event is not tied."""
    count = len(ties.sizes)
    component = ties.component[event]
    names = touching.problem * count + touching.pieces.component
    order = np.argsort(names, kind="stable")
    at = np.searchsorted(names[order], problem * count + component)
    pair = order[np.minimum(at, len(order) - 1)]
    place = ties.rank[event] - touching.pieces.first[pair]
    return np.where(component >= 0, touching.slot[pair], -1), np.where(component >= 0, place, -1)


def _factor_texts(factors: Factors, ties: EventTies, touching: Touched) -> pl.DataFrame:
    """Of each tied factor its problem, its place and its regions, as a text."""
    factor = np.flatnonzero(ties.touches(factors.event))
    owner = np.repeat(np.arange(len(factors.offsets) - 1), np.diff(factors.offsets))[factor]
    regions, region_offsets = owned(factors.region_offsets, factor)
    bounds, bound_offsets = owned(factors.bound_offsets, regions)
    of_bounds = pl.DataFrame(
        {
            "region": np.repeat(np.arange(len(regions)), np.diff(bound_offsets)),
            "is_lower": factors.is_lower[bounds],
            "variable": factors.variable[bounds],
            "constant": factors.constant[bounds],
        }
    )
    of_bounds = of_bounds.group_by("region", maintain_order=True).agg(
        pl.format("{},{},{}", pl.col("is_lower").cast(pl.Int8), "variable", "constant")
        .str.join(";")
        .alias("bounds")
    )
    of_regions = pl.DataFrame(
        {
            "region": np.arange(len(regions)),
            "factor": np.repeat(np.arange(len(factor)), np.diff(region_offsets)),
            "inside": factors.inside[regions],
        }
    ).join(of_bounds, on="region", how="left", maintain_order="left")
    told = of_regions.group_by("factor", maintain_order=True).agg(
        pl.format("{}:{}", pl.col("inside").cast(pl.Int8), pl.col("bounds").fill_null(""))
        .str.join("/")
        .alias("text")
    )
    places = _named(ties, touching, owner, factors.event[factor])
    told = told.with_columns(
        pl.concat_str(places.gather(told.get_column("factor")), pl.lit("="), "text").alias("text")
    )
    return told.select(pl.Series("problem", owner).gather(told.get_column("factor")), "text")


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
        slot, rank = _place(
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
                    raise QueryTooLargeError(
                        "GIVEN ties so many rivals of a match that they can be absent in more than "
                        f"{MOST_WAYS:,} ways; say more in IF so that it ties fewer events, or leave it out"
                    )
        return ways

    def _tied_factors(self, place: dict[tuple[int, int], int]) -> Iterator[tuple[int, list[_Region]]]:
        """The tied factors of the first problem: their variables and regions."""
        factors, first = self.whole.factors, int(self.rows[0])
        for factor in range(int(factors.offsets[first]), int(factors.offsets[first + 1])):
            event = factors.event[factor : factor + 1]
            if self.ties.touches(event)[0]:
                slot, rank = _place(self.ties, self.touching, self.rows[:1], event)
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
        last = reordered(first, np.roll(np.arange(self.count), self.count - width))
        yield TiedProblems(first, last, weighted)
