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
    problems      all of that as arrays                                          `assembly`
    clauses       the same as differences, in one form for rows and keys         `clauses`

Each is a frozen value, made from those before it and never looked at again by what made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.numeric.arrays import Flags, Indexes, Ticks


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
