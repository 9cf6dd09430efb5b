"""Builds the summation problems of a batch of matches: the way of `matches`, from end to end.

An AND has n (n - 1) problems that exclude each other, one for each choice of its first and last member, so
that few variables are summed.  A union needs no exclusive problems, and rows that ask the same of the same
events are one problem there, where all events are variables and every pair is compared: all orders in which
an AND binds events of one type are one (`pairwise_problems`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.coupled.edges import Constrained, bounds_of, can_lie_in, constrained
from cepctl.engines.confidence.coupled.problem import (
    NO_VARIABLE,
    CoupledMatches,
    Edge,
    ProblemFactors,
    Problems,
    RegionBound,
    Structure,
    Variables,
)
from cepctl.engines.confidence.coupled.variables import (
    BlockVariables,
    VariableAssignment,
    variable_assignments,
)
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.difference_constraints import closure, possible, valid_bounds
from cepctl.numeric.arrays import Flags, Indexes


@dataclass(frozen=True)
class Regions:
    """Pairs of a problem and an event that must be inside some region, or outside of it; shape (p,).

    `kind`: which of the `kinds`, distinct lists of bounds.  Which kinds there are follows from the pattern
    and the assignment, not from the problems at hand: they say where sums may change their polynomial, and a
    problem is summed alike whatever is summed beside it.
    """

    kinds: tuple[tuple[RegionBound, ...], ...]
    problem: Indexes
    event: Indexes
    inside: Flags
    kind: Indexes


def regions_of(matches: CoupledMatches, held: Constrained) -> Regions:
    """Where members that are not variables must be, and rivals must not."""
    members = list(_members(matches, held))
    reached = _reached(matches.masses, held, members)
    placed = [*members, *_excluded(matches, reached), *_rivals(matches, reached)]
    kinds: dict[tuple[RegionBound, ...], int] = {}
    kind = [kinds.setdefault(each.region, len(kinds)) for each in placed]
    sizes = [len(each.problem) for each in placed]
    none = np.zeros(0, np.int64)
    return Regions(
        tuple(kinds),
        np.concatenate([none, *(each.problem for each in placed)]),
        np.concatenate([none, *(each.event for each in placed)]),
        np.repeat(np.array([each.inside for each in placed], dtype=bool), sizes),
        np.repeat(np.array(kind, dtype=np.int64), sizes),
    )


@dataclass(frozen=True)
class _PlacedEvents:
    """Pairs of a problem and an event, shape (p,), and one region that all of them are in or outside of."""

    region: tuple[RegionBound, ...]
    inside: bool
    problem: Indexes
    event: Indexes


@dataclass(frozen=True)
class _Others:
    """Members of a block that are not variables: problem, event, and slots of the group; shape (p,)."""

    number: int
    block: BlockVariables
    problem: Indexes
    event: Indexes
    slot: Indexes

    @classmethod
    def of(cls, matches: CoupledMatches, assignment: VariableAssignment) -> Iterator[_Others]:
        """Those of each block that has some."""
        for number, block in enumerate(assignment.blocks):
            if block.has_others:
                owned = matches.groups[number].take(assignment.row)
                slot = np.arange(len(owned.members)) - np.repeat(owned.offsets[:-1], owned.sizes)
                first, last = block.first_slot[owned.owner], block.last_slot[owned.owner]
                rest = (slot != first) & (slot != last) if block.choice != "same tick" else slot != first
                yield cls(number, block, owned.owner[rest], owned.members[rest], slot[rest])


def _members(matches: CoupledMatches, held: Constrained) -> Iterator[_PlacedEvents]:
    """Members of sets that are not variables must lie between their block's ends or its neighbours."""
    for each in _Others.of(matches, held.assignment):
        # A negative slot stands for no variable; equal ticks before it are left to the member chosen.
        first, last = each.block.first_slot[each.problem], each.block.last_slot[each.problem]
        for early, late in _places(each.block):
            here = ((each.slot < first) == early) & ((each.slot < last) == late)
            region = tuple(_inside(matches.shape, held.assignment, each.number, early, late))
            yield _PlacedEvents(region, True, each.problem[here], each.event[here])


def _reached(masses: Masses, held: Constrained, members: Sequence[_PlacedEvents]) -> Constrained:
    """Problems whose variables are no farther apart than the members leave them.

    What lies beyond decides nothing, and a slice of the events does not hold it.
    """
    if not members:
        return held
    lower, upper = held.lower.copy(), held.upper.copy()
    for each in members:
        for end in each.region:
            if end.variable == NO_VARIABLE:
                continue
            if end.is_lower:
                latest = shifted(masses.upper[each.event], -end.constant)
                np.minimum.at(upper[:, end.variable], each.problem, latest)
            else:
                earliest = shifted(masses.lower[each.event], -end.constant)
                np.maximum.at(lower[:, end.variable], each.problem, earliest)
    lower, upper = valid_bounds(lower, upper, held.system)
    return replace(held, lower=lower, upper=upper)


def _excluded(matches: CoupledMatches, held: Constrained) -> Iterator[_PlacedEvents]:
    """Members of sets that are not variables must not have the ticks that `<>` forbids."""
    for each in _Others.of(matches, held.assignment):
        for excluded in _excluded_ticks(matches.shape, held.assignment, each.number):
            yield _outside(matches.masses, held, excluded, each.problem, each.event)


def _rivals(matches: CoupledMatches, held: Constrained) -> Iterator[_PlacedEvents]:
    """Rivals of each problem's match that can decide it, once per region of their rule."""
    assignment = held.assignment
    for each in matches.rivals:
        problem, event = assignment.rival_pairs(each)
        for bounds in bounds_of(matches.shape, assignment, each.rule, held.system):
            yield _outside(matches.masses, held, bounds, problem, event)


def _outside(
    masses: Masses, held: Constrained, region: tuple[RegionBound, ...], problem: Indexes, event: Indexes
) -> _PlacedEvents:
    """Events that must be outside a region, as far as they can lie in it."""
    first, last = masses.lower[event], masses.upper[event]
    can = can_lie_in(region, held.system, held.lower, held.upper, problem, first, last)
    return _PlacedEvents(region, False, problem[can], event[can])


def _places(block: BlockVariables) -> list[tuple[bool, bool]]:
    """Whether the slot of a member that is not a variable can come before that of the first, of the last."""
    if block.choice == "distinct ends":
        return [(False, False), (False, True), (True, False), (True, True)]
    return [(False, False)] if block.choice in ("none", "same tick") else [(False, False), (True, True)]


def _inside(
    shape: Shape, assignment: VariableAssignment, number: int, early: bool, late: bool
) -> list[RegionBound]:
    """Bounds of a member: its block's ends where these are variables, else the blocks beside.

    `early`, `late`: its slot comes before that of the first (last) member chosen, so that it may not
    share that member's tick.
    """
    block = assignment.blocks[number]
    bounds = []
    if block.choice == "same tick":
        bounds = [RegionBound(block.first, 0, True), RegionBound(block.first, 0, False)]
    else:
        if block.first >= 0:
            bounds.append(RegionBound(block.first, int(early), True))
        elif number > 0:
            bounds.append(RegionBound(assignment.blocks[number - 1].last, 1, True))
        if block.last >= 0:
            bounds.append(RegionBound(block.last, -int(late), False))
        elif number + 1 < len(assignment.blocks):
            bounds.append(RegionBound(assignment.blocks[number + 1].first, -1, False))
    return bounds + _member_timings(shape, assignment, number)


def _member_timings(shape: Shape, assignment: VariableAssignment, number: int) -> list[RegionBound]:
    """Timing constraints between each member of a Kleene set and a single event."""
    bounds = []
    component = shape.blocks[number].components[0]
    for timing in shape.timings:
        if timing.not_equal or component not in (timing.left, timing.right):
            continue
        other = timing.right if timing.left == component else timing.left
        if other is not None and shape.alternative.components[other].kleene:
            continue  # Between groups the first and last members say it all.
        (variable,) = assignment.variables_of(shape, other)
        is_upper = timing.left == component
        bounds.append(RegionBound(variable, timing.bound if is_upper else -timing.bound, not is_upper))
    return bounds


def _excluded_ticks(
    shape: Shape, assignment: VariableAssignment, number: int
) -> Iterator[tuple[RegionBound, ...]]:
    """Ticks that `!=` forbids to each member of a Kleene set, as regions of one tick."""
    component = shape.blocks[number].components[0]
    for timing in shape.timings:
        if timing.not_equal and component in (timing.left, timing.right):
            other = timing.right if timing.left == component else timing.left
            constant = timing.bound if timing.left == component else -timing.bound
            for variable in assignment.variables_of(shape, other):
                yield RegionBound(variable, constant, True), RegionBound(variable, constant, False)


def coupled_problems(matches: CoupledMatches) -> Iterator[Problems]:
    """The problems of a batch of matches; those of one match exclude each other.

    Raises
    ------
    QueryTooLargeError
        If `<>` between times makes too many of a match.
    """
    for assignment in variable_assignments(matches):
        for held in constrained(matches, assignment):
            yield _assembled(held, regions_of(matches, held), _shown_ends(matches.shape, assignment))


def _shown_ends(shape: Shape, assignment: VariableAssignment) -> tuple[int, int]:
    """The first and the last variable of what matches show."""
    blocks = assignment.blocks
    return blocks[shape.hidden_before].first, blocks[len(blocks) - 1 - shape.hidden_after].last


def _assembled(held: Constrained, regions: Regions, ends: tuple[int, int]) -> Problems:
    """Drop impossible problems, and sort what their regions say by problem and event into factors."""
    assignment, problem, event = held.assignment, regions.problem, regions.event
    keep = held.possible & _variables_spared(assignment, regions)
    is_variable = (assignment.event[problem] == event[:, None]).any(axis=1)
    order = np.lexsort((regions.kind, event, problem))
    order = order[(keep[problem] & ~is_variable)[order]]
    problem, event = problem[order], event[order]
    fresh = np.ones(len(problem), dtype=bool)
    fresh[1:] = (problem[1:] != problem[:-1]) | (event[1:] != event[:-1])
    begins = np.flatnonzero(fresh)
    renumbered = np.cumsum(keep) - 1
    offsets = np.searchsorted(renumbered[problem[begins]], np.arange(int(keep.sum()) + 1))
    owning = offsets, event[begins], np.append(begins, len(problem))
    factors = ProblemFactors.of_kinds(*owning, regions.inside[order], regions.kinds, regions.kind[order])
    structure = Structure(held.system, held.edges, ends)
    variables = Variables(assignment.event[keep], held.lower[keep], held.upper[keep])
    return Problems(structure, assignment.row[keep], variables, factors)


def _variables_spared(assignment: VariableAssignment, regions: Regions) -> Flags:
    """False for problems in which a rival is itself the last member of a group, and not its first.

    That is a later member of a group under skip_till_next_match which fits the component after the
    group too: it would have been taken as that component.
    """
    spared = np.ones(len(assignment.row), dtype=bool)
    for block in assignment.blocks:
        if block.choice == "distinct ends":
            hit = ~regions.inside & (assignment.event[regions.problem, block.last] == regions.event)
            spared[regions.problem[hit]] = False
    return spared


def is_pairwise(shape: Shape) -> bool:
    """Whether order and window alone decide the matches of a shape, and it has an AND group."""
    kinds = {block.kind for block in shape.blocks}
    others = shape.timings or shape.member_timings or shape.rules or shape.together or shape.outside
    has_kleene = any(
        shape.alternative.components[i].kleene for block in shape.blocks for i in block.components
    )
    return (
        kinds <= {BlockKind.SINGLE, BlockKind.SET} and BlockKind.SET in kinds and not (others or has_kleene)
    )


def pairwise_problems(matches: CoupledMatches) -> Problems:
    """One problem for each match of such a shape that can happen."""
    shape = matches.shape
    sizes = [len(block.components) for block in shape.blocks]
    event = np.concatenate(
        [group.members.reshape(-1, size) for group, size in zip(matches.groups, sizes, strict=True)], axis=1
    )
    edges = _edges(sizes, shape.window)
    system = closure(event.shape[1], edges)
    lower, upper = valid_bounds(matches.masses.lower[event], matches.masses.upper[event], system)
    keep = np.flatnonzero(possible(lower, upper))
    nothing = np.zeros(0, dtype=np.int64)
    factors = ProblemFactors.of_kinds(
        np.zeros(len(keep) + 1, np.int64), nothing, np.zeros(1, np.int64), nothing.astype(bool), (), nothing
    )
    structure = Structure(system, edges)
    return Problems(structure, keep, Variables(event[keep], lower[keep], upper[keep]), factors)


def _edges(sizes: list[int], window: int | None) -> tuple[Edge, ...]:
    """What is asked of every two variables, those of blocks of such sizes one after the other."""
    begins = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    blocks = [range(begin, end) for begin, end in pairwise(begins)]
    edges = [(i, j, -1) for before, after in pairwise(blocks) for i, j in product(before, after)]
    if window is not None:
        edges += [(j, i, window - 1) for i, j in product(blocks[0], blocks[-1]) if i != j]
    return tuple(edges)
