"""Coupled confidence problems: a few explicit events, and others that must lie in or outside regions.

Whatever a pattern asks of time, the probability of a signature is a sum over the ticks of a few
*variables* (events whose tick others depend on) of

    product of the variables' masses, inside a system of difference constraints,
    times, for every *factor* event, its mass on the region that the variables leave to it.

A region is bounded by variables plus constants.  The members of an AND group or a Kleene set are
factors that must be inside; rivals and negated events are factors that must be outside.  Regions of
one event are united before its mass is taken, so that an event absent from several gaps counts once.

Where that is summed over offsets of clocks, these have a breakpoint wherever one of the partial sums has:
`breakpoints` eliminates the variables symbolically, last to first, before any event is looked at.

    name here      meaning
    level          position of a variable in the nesting; 0 is summed last
    shift          constant c: the cut e of some mass is a breakpoint of the level at e + c
    relative       (k, c): the level has a breakpoint at t_k + c, for a variable k < level
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.tick_sums import LAST

Closed: TypeAlias = list[list[int]]
NO_VARIABLE = -1
FARTHEST_APART = 2**62
"""Ticks; no two cuts that make a breakpoint of offsets are so far apart."""

Edge: TypeAlias = tuple[int, int, int]
"""(i, j, c): t_i - t_j <= c ticks, for variables i and j."""


@dataclass(frozen=True)
class RegionBound:
    """One end of a region: tick of a variable (or 0 for NO_VARIABLE) plus a constant, included."""

    variable: int
    constant: int
    is_lower: bool

    @property
    def cut(self) -> int:
        """Constant of the first tick beyond (upper) or inside (lower) this end."""
        return self.constant if self.is_lower else self.constant + 1


@dataclass(frozen=True)
class Breakpoints:
    """Per level the shifts of absolute breakpoints and the relative ones."""

    shifts: tuple[tuple[int, ...], ...]
    relatives: tuple[tuple[tuple[int, int], ...], ...]

    def differences(self) -> Iterator[int]:
        """By how much two cuts may be apart that make one."""
        for level in self.shifts:
            yield from (a - b for a in level for b in level if abs(a - b) < FARTHEST_APART)


@dataclass(frozen=True)
class Structure:
    """What all problems of a batch share.

    `system`: closed system over the m variables; `edges`: the constraints it was closed from; `regions`: the
    kinds in use.  `ends`: the first and the last variable that matches show.
    """

    system: Ticks
    edges: tuple[Edge, ...]
    regions: tuple[tuple[RegionBound, ...], ...]
    ends: tuple[int, int] = (0, -1)

    @cached_property
    def breakpoints(self) -> Breakpoints:
        """Where the partial sums of each variable can change their polynomial."""
        return breakpoints(len(self.system), self.edges, self.system, self.regions)


class Variables(NamedTuple):
    """The m variables of n problems: their events, and the intervals that are left to them; shapes (n, m)."""

    event: Indexes
    lower: Ticks
    upper: Ticks


class Factors(NamedTuple):
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
    ) -> Factors:
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

    def taken(self, rows: Indexes) -> Factors:
        """Those of some problems."""
        factors, offsets = owned(self.offsets, rows)
        regions, region_offsets = owned(self.region_offsets, factors)
        bounds, bound_offsets = owned(self.bound_offsets, regions)
        return Factors(
            offsets, self.event[factors], region_offsets, self.inside[regions],
            bound_offsets, self.is_lower[bounds], self.variable[bounds], self.constant[bounds],
        )  # fmt: skip


@dataclass(frozen=True)
class Problems:
    """n problems of one structure, and the `match` that each adds a positive term to, shape (n,)."""

    structure: Structure
    match: Indexes
    variables: Variables
    factors: Factors

    def taken(self, rows: Indexes) -> Problems:
        """Some of the problems, with what they own."""
        variables = Variables(*(each[rows] for each in self.variables))
        return Problems(self.structure, self.match[rows], variables, self.factors.taken(rows))


def owned(offsets: Indexes, rows: Indexes) -> tuple[Indexes, Indexes]:
    """Where that lies which some owners own, and their offsets into it."""
    sizes = np.diff(offsets)[rows]
    moved = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.repeat(offsets[:-1][rows] - moved[:-1], sizes) + np.arange(moved[-1]), moved


def breakpoints(
    count: int,
    edges: Sequence[Edge],
    system: Ticks,
    regions: Iterable[Sequence[RegionBound]],
) -> Breakpoints:
    """Where the partial sums of each level can change their polynomial.

    Parameters
    ----------
    count
        Number of variables.
    edges
        Constraints (i, j, c), t_i - t_j <= c, as written, not closed.
    system
        The same, closed.
    regions
        Kinds of regions in use; the bounds of all of them may meet.

    Examples
    --------
    A chain of three with a window of 10: the first event's sum changes at cuts and at cuts - 10.

    >>> from cepctl.engines.pattern.difference_constraints import closed_system
    >>> chain = [(0, 1, -1), (1, 2, -1), (2, 0, 9)]
    >>> breakpoints(3, chain, closed_system([0, 1, 2], 10), []).shifts
    ((-10, 0), (0,), (0,))
    """
    shifts: list[set[int]] = [{0} for _ in range(count)]
    relatives: list[set[tuple[int, int]]] = [set() for _ in range(count)]
    limits: list[set[tuple[int, int, bool]]] = [set() for _ in range(count)]
    for i, j, limit in edges:
        if limit > LAST:
            continue
        if i > j:
            limits[i].add((j, limit + 1, False))
        else:
            limits[j].add((i, -limit, True))
    # Whole numbers of Python: sums of bounds may exceed int64.
    closed: Closed = system.tolist()
    _add_meeting_bounds(closed, {bound for region in regions for bound in region}, shifts, relatives)
    for level in range(count - 1, 0, -1):
        _eliminate(level, closed, shifts, relatives, limits)
    between = [relatives[i] | {(k, c) for k, c, _ in limits[i]} for i in range(count)]
    return Breakpoints(
        tuple(tuple(sorted(shift for shift in each if _in_time(shift))) for each in shifts),
        tuple(tuple(sorted((k, c) for k, c in each if _in_time(c))) for each in between),
    )


def _in_time(constant: int) -> bool:
    """Whether two ticks can be so far apart; what is farther leads nowhere."""
    return abs(constant) <= LAST


def _snapped(bound: RegionBound) -> int:
    """Shift at which a cut meets a bound.

    Both pieces hold where they meet, so that a lower end may be taken one tick later: then the usual
    ends, open ones, meet every cut at the cut itself.
    """
    return 1 - bound.cut if bound.is_lower else -bound.cut


def _add_meeting_bounds(
    system: Closed, bounds: set[RegionBound], shifts: list[set[int]], relatives: list[set[tuple[int, int]]]
) -> None:
    for bound in bounds:
        if bound.variable == NO_VARIABLE:
            continue
        shifts[bound.variable].add(_snapped(bound))
        for other in bounds:
            if other.variable >= bound.variable or other.variable == NO_VARIABLE:
                continue
            here, there = bound.variable, other.variable
            gap = other.cut - bound.cut
            if system[here][there] <= gap or system[there][here] <= -gap:
                continue
            relatives[here].add((there, gap + bound.is_lower))


def _eliminate(
    level: int,
    system: Closed,
    shifts: list[set[int]],
    relatives: list[set[tuple[int, int]]],
    limits: list[set[tuple[int, int, bool]]],
) -> None:
    """Pass on to the lower levels where two breakpoints of this one coincide."""
    moving = [(k, c, lower) for k, c, lower in limits[level]]
    moving += [(k, c, False) for k, c in relatives[level]]
    for variable, constant, is_lower in moving:
        for shift in shifts[level]:
            shifts[variable].add(shift - constant + is_lower)
        for other, other_constant, _ in moving:
            constant_between = other_constant - constant + is_lower
            if other < variable and _can_be(system, variable, other, constant_between):
                relatives[variable].add((other, constant_between))


def _can_be(system: Closed, later: int, earlier: int, difference: int) -> bool:
    """Whether t_later - t_earlier can come near this difference, beyond which no piece can begin."""
    return -system[earlier][later] - 1 <= difference <= system[later][earlier] + 2
