"""Coupled confidence problems: a few explicit events, and others that must lie in or outside regions.

Whatever a pattern asks of time, the probability of a signature is a sum over the ticks of a few
*variables* (events whose tick others depend on) of

    product of the variables' masses, inside a system of difference constraints,
    times, for every *factor* event, its mass on the region that the variables leave to it.

A region is bounded by variables plus constants.  The members of an AND group or a Kleene set are
factors that must be inside; rivals and negated events are factors that must be outside.  Regions of
one event are united before its mass is taken, so that an event absent from several gaps counts once.

    matches       what is to be measured                                         this file
    assignments   which events are variables, one for each way to choose them    `variables`
    constrained   what a shape asks between the variables                        `edges`
    problems      all of that as arrays                                          this file, `assembly`
    clauses       the same as differences, in one form for rows and keys         this file

Each is a frozen value, made from those before it and never looked at again by what made it.

A row of a group holds when one of its coupled problems does, and a problem holds when all of its *clauses*
do.  A clause is made of *differences* `t_x - t_y <= c`; a present one has a single difference, which must
hold, an absent one a few, which must not hold all together: a rival in a region.

    of a coupled problem                                clause
    an edge between two variables                       present
    a constant limit of a variable                      present
    a bound of a region that an event must be in        present
    a region that an event must not be in               absent
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import Rivals, Shape
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks

NO_EVENT = -1
"""Stands in a difference for the constant tick 0."""


@dataclass(frozen=True)
class CoupledMatches:
    """n matches of one shape, and all events that can decide them.

    `groups` gives the members of every block: of a single one event per match, of an AND group its
    events in pattern order, of a Kleene group its members in their order.
    """

    shape: Shape
    masses: Masses
    groups: Sequence[Group]
    rivals: Sequence[Rivals]

    def __len__(self) -> int:
        return len(self.groups[0].sizes)

    def taken(self, rows: Indexes) -> CoupledMatches:
        """Some of the matches, by ascending rows."""
        groups = [group.take(rows) for group in self.groups]
        return replace(self, groups=groups, rivals=[each.taken(rows) for each in self.rivals])


NO_VARIABLE = -1

Edge: TypeAlias = tuple[int, int, int]
"""(i, j, c): t_i - t_j <= c ticks, for variables i and j."""


@dataclass(frozen=True)
class RegionBound:
    """One end of a region: tick of a variable (or 0 for NO_VARIABLE) plus a constant, included."""

    variable: int
    constant: int
    is_lower: bool


@dataclass(frozen=True)
class Structure:
    """What all problems of a batch share.

    `system`: closed system over the m variables; `edges`: the constraints it was closed from; `ends`: the
    first and the last variable that matches show.
    """

    system: Ticks
    edges: tuple[Edge, ...]
    ends: tuple[int, int] = (0, -1)


class Variables(NamedTuple):
    """The m variables of n problems: their events, and the intervals that are left to them; shapes (n, m)."""

    event: Indexes
    lower: Ticks
    upper: Ticks


class ProblemFactors(NamedTuple):
    """The factors of n problems, their regions and the bounds of these, as nested offsets.

    Problem i owns the factors offsets[i] to offsets[i + 1] - 1, factor f is `event[f]` and owns the regions
    region_offsets[f] to region_offsets[f + 1] - 1, and so on.  A region has its event `inside` or outside.
    A bound is the tick of a `variable` (or 0 for NO_VARIABLE) plus a `constant`, as in `RegionBound`.
    """

    offsets: Indexes
    event: Indexes
    region_offsets: Indexes
    inside: Flags
    bound_offsets: Indexes
    is_lower: Flags
    variable: Indexes
    constant: Ticks

    @classmethod
    def of_kinds(
        cls,
        offsets: Indexes,
        event: Indexes,
        region_offsets: Indexes,
        inside: Flags,
        kinds: Sequence[Sequence[RegionBound]],
        kind: Indexes,
    ) -> ProblemFactors:
        """Factors whose regions are of some kinds, lists of bounds: the `kind` of each region, shape (r,)."""
        bounds = [bound for each in kinds for bound in each]
        sizes = np.array([len(each) for each in kinds], dtype=np.int64)
        place, bound_offsets = owned(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), kind)
        return cls(
            offsets, event, region_offsets, inside, bound_offsets,
            np.array([bound.is_lower for bound in bounds], dtype=bool)[place],
            np.array([bound.variable for bound in bounds], dtype=np.int64)[place],
            np.array([bound.constant for bound in bounds], dtype=np.int64)[place],
        )  # fmt: skip

    def taken(self, rows: Indexes) -> ProblemFactors:
        """Those of some problems."""
        factors, offsets = owned(self.offsets, rows)
        regions, region_offsets = owned(self.region_offsets, factors)
        bounds, bound_offsets = owned(self.bound_offsets, regions)
        return ProblemFactors(
            offsets, self.event[factors], region_offsets, self.inside[regions],
            bound_offsets, self.is_lower[bounds], self.variable[bounds], self.constant[bounds],
        )  # fmt: skip


@dataclass(frozen=True)
class Problems:
    """n problems of one structure, and the `match` that each adds a positive term to, shape (n,)."""

    structure: Structure
    match: Indexes
    variables: Variables
    factors: ProblemFactors

    def taken(self, rows: Indexes) -> Problems:
        """Some of the problems, with what they own."""
        variables = Variables(*(each[rows] for each in self.variables))
        return Problems(self.structure, self.match[rows], variables, self.factors.taken(rows))


def owned(offsets: Indexes, rows: Indexes) -> tuple[Indexes, Indexes]:
    """Where that lies which some owners own, and their offsets into it."""
    sizes = np.diff(offsets)[rows]
    moved = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.repeat(offsets[:-1][rows] - moved[:-1], sizes) + np.arange(moved[-1]), moved


class Clauses(NamedTuple):
    """The clauses of the problems of g groups, as nested offsets.

    Group i owns the problems problem_offsets[i] to problem_offsets[i + 1] - 1, and so on.  `absent`: shape
    (k,).  `left`, `right`, `bound`: the differences t_left - t_right <= bound, events by row number.
    """

    problem_offsets: Indexes
    clause_offsets: Indexes
    absent: Flags
    difference_offsets: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.problem_offsets) - 1

    @property
    def group_of_problems(self) -> Indexes:
        """The group of each problem."""
        return np.repeat(np.arange(self.groups), np.diff(self.problem_offsets))

    @property
    def clause_of_differences(self) -> Indexes:
        """The clause of each difference."""
        return np.repeat(np.arange(len(self.absent)), np.diff(self.difference_offsets))

    @property
    def problem_of_clauses(self) -> Indexes:
        """The problem of each clause."""
        return np.repeat(np.arange(len(self.clause_offsets) - 1), np.diff(self.clause_offsets))

    @property
    def problem_of_differences(self) -> Indexes:
        """The problem of each difference."""
        return self.problem_of_clauses[self.clause_of_differences]

    def events(self) -> tuple[Indexes, Indexes]:
        """Pairs of a problem and an event that it speaks of, with repetitions."""
        event = np.concatenate([self.left, self.right])
        known = np.flatnonzero(event != NO_EVENT)
        return np.tile(self.problem_of_differences, 2)[known], event[known]

    def taken(self, clauses: Indexes) -> Part:
        """Some of the clauses, with their problems."""
        at, offsets = owned(self.difference_offsets, clauses)
        return Part(
            self.problem_of_clauses[clauses], self.absent[clauses], np.diff(offsets), self.left[at],
            self.right[at], self.bound[at],
        )  # fmt: skip

    def of_groups(self, groups: Indexes) -> Clauses:
        """Those of some groups."""
        return self.of_problems(*owned(self.problem_offsets, groups))

    def of_problems(self, problems: Indexes, problem_offsets: Indexes) -> Clauses:
        """Those of some problems, which make groups anew."""
        clauses, clause_offsets = owned(self.clause_offsets, problems)
        differences, difference_offsets = owned(self.difference_offsets, clauses)
        return Clauses(
            problem_offsets, clause_offsets, self.absent[clauses], difference_offsets,
            self.left[differences], self.right[differences], self.bound[differences],
        )  # fmt: skip


Tied: TypeAlias = tuple[Indexes, Indexes, Indexes, Ticks]
"""Differences of problems: the problem of each, its left and right event, and its bound."""


@dataclass(frozen=True)
class Part:
    """Clauses of one kind: their problems, whether absent, how many differences each has, and these."""

    problem: Indexes
    absent: Flags
    sizes: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks

    def shifted(self, problems: int) -> Part:
        """Clauses of problems that stand after so many others."""
        return Part(self.problem + problems, self.absent, self.sizes, self.left, self.right, self.bound)


def clauses_of(
    problems: Sequence[Problems], groups: int, *, limited: bool, tied: Sequence[Tied] = ()
) -> Clauses:
    """The clauses of problems whose `match` is the number of a group.

    `limited`: whether some variable has a constant limit of its own, beside edges and its event's interval.
    `tied`: what each of the `problems` asks for besides, because it is given.
    """
    parts: list[Part] = []
    group: list[Indexes] = []
    count = 0
    for number, each in enumerate(problems):
        asked = [*_parts(each, limited=limited), *(present(*some) for some in tied[number : number + 1])]
        parts += [part.shifted(count) for part in asked]
        group.append(each.match)
        count += len(each.match)
    return gathered(parts, np.concatenate([np.zeros(0, np.int64), *group]).astype(np.int64), groups)


def with_present(clauses: Clauses, besides: Tied) -> Clauses:
    """Clauses, and differences that must hold besides; the problem of each is that of the clauses."""
    own = clauses.taken(np.arange(len(clauses.absent)))
    return gathered([own, present(*besides)], clauses.group_of_problems, clauses.groups)


def gathered(parts: Sequence[Part], owner: Indexes, groups: int) -> Clauses:
    """The clauses of all problems, those of one in any parts; `owner` is the group of each problem."""
    count = len(owner)
    by_group = np.argsort(owner, kind="stable")
    place = np.empty(count, dtype=np.int64)
    place[by_group] = np.arange(count)
    none = np.zeros(0, np.int64)
    problem = place[np.concatenate([none, *(part.problem for part in parts)])]
    sizes = np.concatenate([none, *(part.sizes for part in parts)])
    order = np.argsort(problem, kind="stable")
    differences, difference_offsets = owned(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order)
    return Clauses(
        np.searchsorted(owner[by_group], np.arange(groups + 1)).astype(np.int64),
        np.searchsorted(problem[order], np.arange(count + 1)).astype(np.int64),
        np.concatenate([np.zeros(0, bool), *(part.absent for part in parts)])[order],
        difference_offsets,
        *(
            np.concatenate([none, *(getattr(part, name) for part in parts)]).astype(np.int64)[differences]
            for name in ("left", "right", "bound")
        ),
    )


def _parts(problems: Problems, *, limited: bool) -> Iterator[Part]:
    event, count = problems.variables.event, len(problems.match)
    for i, j, limit in problems.structure.edges:
        if limit < UNBOUNDED:
            yield present(np.arange(count), event[:, i], event[:, j], np.full(count, limit))
    if limited:
        nothing = np.full(count, NO_EVENT)
        for i in range(event.shape[1]):
            yield present(np.arange(count), event[:, i], nothing, problems.variables.upper[:, i])
            yield present(np.arange(count), nothing, event[:, i], -problems.variables.lower[:, i])
    factors = problems.factors
    if len(factors.event):
        yield from _of_regions(problems)


def present(problem: Indexes, left: Indexes, right: Indexes, bound: Ticks) -> Part:
    """Differences that must hold, each a clause."""
    count = len(problem)
    return Part(problem, np.zeros(count, bool), np.ones(count, np.int64), left, right, bound)


def _of_regions(problems: Problems) -> Iterator[Part]:
    """Each bound of an inner region is a clause, each outer region one of all its bounds."""
    factors = problems.factors
    factor = np.repeat(np.arange(len(factors.event)), np.diff(factors.region_offsets))
    region = np.repeat(np.arange(len(factors.inside)), np.diff(factors.bound_offsets))
    problem = np.repeat(np.arange(len(problems.match)), np.diff(factors.offsets))[factor]
    own = factors.event[factor[region]]
    free = factors.variable == NO_VARIABLE
    other = problems.variables.event[problem[region], np.where(free, 0, factors.variable)]
    other = np.where(free, NO_EVENT, other)
    left, right = np.where(factors.is_lower, other, own), np.where(factors.is_lower, own, other)
    bound = np.where(factors.is_lower, -factors.constant, factors.constant)
    inner = factors.inside[region]
    yield present(problem[region][inner], left[inner], right[inner], bound[inner])
    outside = ~factors.inside
    yield Part(
        problem[outside], np.ones(int(outside.sum()), bool), np.diff(factors.bound_offsets)[outside],
        left[~inner], right[~inner], bound[~inner],
    )  # fmt: skip
