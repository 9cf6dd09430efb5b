"""Where other events must or must not be, as regions between the variables of coupled problems.

Members of sets that are not variables must be inside, rivals outside.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.deciding_rivals import can_lie_in
from cepctl.engines.confidence.coupled.edges import refuse_too_many, variables_of
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, RegionBound
from cepctl.engines.confidence.coupled.variables import BlockVariables, VariableAssignment
from cepctl.engines.pattern.blocks import Point, Region, Shape
from cepctl.engines.pattern.rivals import Rivals


@dataclass(frozen=True)
class Entries:
    """Regions of factors before they are sorted: problem, event, inside, and number of the region kind."""

    problem: Indexes
    event: Indexes
    inside: Flags
    kind: Indexes


@dataclass(frozen=True)
class Frame:
    """What ties the variables of a batch of problems: closed system (m, m), valid intervals (n, m)."""

    masses: Masses
    system: Ticks
    lower: Ticks
    upper: Ticks

    def outside(
        self, problem: Indexes, event: Indexes, region: tuple[RegionBound, ...], kind: int
    ) -> Entries:
        """Events that must be outside a region, as far as they can lie in it."""
        first, last = self.masses.lower[event], self.masses.upper[event]
        can = can_lie_in(region, self.system, self.lower, self.upper, problem, first, last)
        size = int(can.sum())
        return Entries(problem[can], event[can], np.zeros(size, bool), np.full(size, kind))


class RegionKinds:
    """Distinct lists of bounds, numbered as they come up.

    Which there are follows from the pattern and the assignment, not from the problems at hand: they say where
    sums may change their polynomial, and a problem is summed alike whatever is summed beside it.
    """

    def __init__(self) -> None:
        self.numbers: dict[tuple[RegionBound, ...], int] = {}

    def number(self, bounds: tuple[RegionBound, ...]) -> int:
        return self.numbers.setdefault(bounds, len(self.numbers))


def member_entries(
    shape: Shape, groups: list[Group], assignment: VariableAssignment, frame: Frame, kinds: RegionKinds
) -> Iterator[Entries]:
    """Members of sets that are not variables must lie between their block's ends or its neighbours."""
    for number, block in enumerate(assignment.blocks):
        if not block.has_others:
            continue
        owned = groups[number].take(assignment.row)
        problem = owned.owner
        slot = np.arange(len(owned.members)) - np.repeat(owned.offsets[:-1], owned.sizes)
        first, last = block.first_slot[problem], block.last_slot[problem]
        # A negative slot stands for no variable; ties before it are left to the member chosen.
        rest = (slot != first) & (slot != last) if block.choice != "same tick" else slot != first
        for early, late in _places(block):
            kind = kinds.number(tuple(_inside(shape, assignment, number, early, late)))
            here = rest & ((slot < first) == early) & ((slot < last) == late)
            size = int(here.sum())
            yield Entries(problem[here], owned.members[here], np.ones(size, bool), np.full(size, kind))
        for excluded in _excluded_ticks(shape, assignment, number):
            yield frame.outside(problem[rest], owned.members[rest], excluded, kinds.number(excluded))


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
        (variable,) = variables_of(shape, assignment, other)
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
            for variable in variables_of(shape, assignment, other):
                yield RegionBound(variable, constant, True), RegionBound(variable, constant, False)


def rival_entries(
    shape: Shape, assignment: VariableAssignment, rivals: list[Rivals], frame: Frame, kinds: RegionKinds
) -> Iterator[Entries]:
    """Rivals of each problem's match that can decide it, once per region of their rule."""
    for each in rivals:
        problem, event = rival_pairs(assignment, each)
        pieces = _around(assignment, each.rule.spared, frame.system)
        for region, piece in product(each.rule.regions, pieces):
            bounds = _bounds(shape, assignment, region) + piece
            yield frame.outside(problem, event, bounds, kinds.number(bounds))


def rival_pairs(assignment: VariableAssignment, rivals: Rivals) -> tuple[Indexes, Indexes]:
    """Pairs (problem, event) of one rule."""
    by_row = np.argsort(assignment.row, kind="stable")
    rows = assignment.row[by_row]
    begin, end = np.searchsorted(rows, rivals.row), np.searchsorted(rows, rivals.row, side="right")
    counts = end - begin
    pair = np.repeat(np.arange(len(rivals.row)), counts)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    return by_row[begin[pair] + within], rivals.event[pair]


def _around(
    assignment: VariableAssignment, spared: Sequence[tuple[Point, int]], system: Ticks
) -> list[tuple[RegionBound, ...]]:
    """What single ticks, each a variable plus a constant, leave of time: pieces that some order allows."""
    pieces: list[tuple[RegionBound, ...]] = [()]
    for point, constant in spared:
        for variable in assignment.blocks[point.block].variables:
            ends = (RegionBound(variable, constant - 1, False), RegionBound(variable, constant + 1, True))
            longer = [(*piece, end) for piece in pieces for end in ends]
            pieces = [piece for piece in longer if _has_room(piece, system)]
            refuse_too_many(len(pieces))
    return pieces


def _has_room(piece: tuple[RegionBound, ...], system: Ticks) -> bool:
    """Whether every lower end of a piece can come before every upper one."""
    return all(
        int(system[high.variable, low.variable]) >= low.constant - high.constant
        for low in piece
        if low.is_lower
        for high in piece
        if not high.is_lower
    )


def _bounds(shape: Shape, assignment: VariableAssignment, region: Region) -> tuple[RegionBound, ...]:
    return tuple(
        RegionBound(
            NO_VARIABLE if end.point is None else assignment.variable_of(shape, end.point),
            end.constant,
            end.is_lower,
        )
        for end in region
    )
