"""Assigns events of a match to the variables of its coupled problems, which says where points then lie.

A single event, the members of a sequence and those of an unordered block are variables themselves.
Of a set only the first and the last member are, and only where a point refers to them; every member
can be the first one, so a match gives one problem for each choice.  At equal ticks it is that which comes
first in the group, so that the choices are mutually exclusive and their probabilities add up.

    choice          holds when                                   variables
    distinct ends   first and last member at different ticks     two
    same tick       all members at one tick                      one
    first/last      only that end is referred to                 one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Literal, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, CoupledMatches
from cepctl.engines.pattern.blocks import AbsenceRule, BlockKind, Point, Rivals, Shape
from cepctl.numeric.arrays import Flags, Indexes

Choice: TypeAlias = Literal[
    "single", "none", "first", "last", "distinct ends", "same tick", "sequence", "unordered"
]
NO_SLOT = -1


@dataclass(frozen=True)
class BlockVariables:
    """One block in a batch of problems.

    `first`, `last`: numbers of its variables (-1 for none; one number where they are the same), and
    `variables` all of them.  `first_slot`, `last_slot`, shape (n,): which member each problem puts
    there.  `slots` gives, for an unordered block, the variable of each member.  `has_others`: whether there
    are members that are not variables.
    """

    choice: Choice
    variables: tuple[int, ...]
    first: int
    last: int
    first_slot: Indexes
    last_slot: Indexes
    slots: tuple[int, ...] = ()
    has_others: bool = False


@dataclass(frozen=True)
class VariableAssignment:
    """n problems of one structure: the match of each, their events per variable, their blocks.

    `row` has shape (n,), `event` (n, m).  `outside`: variables of members that are rivals of their own match,
    which must not lie where a rule has its events absent.
    """

    row: Indexes
    event: Indexes
    blocks: tuple[BlockVariables, ...]
    outside: tuple[tuple[int, AbsenceRule], ...] = ()

    def taken(self, index: Indexes) -> VariableAssignment:
        """Some of the problems, in the order of `index`."""
        blocks = tuple(
            replace(block, first_slot=block.first_slot[index], last_slot=block.last_slot[index])
            for block in self.blocks
        )
        return VariableAssignment(self.row[index], self.event[index], blocks, self.outside)

    def variable_of(self, shape: Shape, point: Point) -> int:
        """Variable whose tick a point is."""
        block = self.blocks[point.block]
        if point.role == "only":
            member = shape.blocks[point.block].components.index(point.component)
            return block.slots[member]
        return block.first if point.role == "first" else block.last

    def variables_of(self, shape: Shape, component: int | None) -> tuple[int, ...]:
        """Variables that stand for a component in a timing constraint."""
        if component is None:
            return (NO_VARIABLE,)
        number = shape.block_of(component)
        components = shape.blocks[number].components
        if shape.blocks[number].kind is BlockKind.UNORDERED and len(components) > 1:
            return (self.blocks[number].slots[components.index(component)],)
        return self.blocks[number].variables

    def rival_pairs(self, rivals: Rivals) -> tuple[Indexes, Indexes]:
        """Pairs (problem, event) of one rule."""
        by_row = np.argsort(self.row, kind="stable")
        rows = self.row[by_row]
        begin, end = np.searchsorted(rows, rivals.row), np.searchsorted(rows, rivals.row, side="right")
        counts = end - begin
        pair = np.repeat(np.arange(len(rivals.row)), counts)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
        return by_row[begin[pair] + within], rivals.event[pair]


def variable_assignments(matches: CoupledMatches) -> Iterator[VariableAssignment]:
    """All assignments of variables to a batch of matches."""
    nothing = VariableAssignment(np.arange(len(matches)), np.zeros((len(matches), 0), np.int64), ())
    options = [_options(matches.shape, number, group) for number, group in enumerate(matches.groups)]
    for choices in product(*options):
        assignment = nothing
        for group, choice in zip(matches.groups, choices, strict=True):
            assignment = _with_block(assignment, group, choice)
        if len(assignment.row):
            yield from _with_own_rivals(assignment, matches.rivals)


def _with_own_rivals(
    assignment: VariableAssignment, rivals: Sequence[Rivals]
) -> Iterator[VariableAssignment]:
    """An assignment split by which members must lie outside of the regions of which rules.

    That is a member which fits the component after the group as well: where that may take, it would have
    been taken as that component (skip_till_next_match).
    """
    own: dict[tuple[int, AbsenceRule], Flags] = {}
    for each in rivals:
        group = each.rule.regions[0][0].point
        if not each.rule.members_too or group is None:
            continue
        block = assignment.blocks[group.block]
        problem, event = assignment.rival_pairs(each)
        for variable in block.variables if block.choice == "unordered" else ():
            hit = np.zeros(len(assignment.row), dtype=bool)
            hit[problem[assignment.event[problem, variable] == event]] = True
            if hit.any():
                own[variable, each.rule] = hit
    if not own:
        yield assignment
        return
    for hits, rows in rows_alike(np.column_stack(list(own.values()))):
        outside = tuple(each for each, asked in zip(own, hits, strict=True) if asked)
        yield replace(assignment.taken(rows), outside=outside)


_Option: TypeAlias = tuple[Choice, tuple[int, ...]]


def _options(shape: Shape, number: int, group: Group) -> list[_Option]:
    """The choices for one block.

    The numbers are its size, and which members an unordered one ends with; of a set whether it has members
    that are not variables: problems without are kept apart, since their sums have fewer cells.
    """
    kind = shape.blocks[number].kind
    if kind is BlockKind.SINGLE:
        return [("single", (1,))]
    if kind is BlockKind.SEQUENCE:
        return [("sequence", (int(size),)) for size in np.unique(group.sizes)]
    if kind is BlockKind.UNORDERED:
        return [("unordered", ends) for size in np.unique(group.sizes) for ends in _ends(int(size))] + [
            ("same tick", (others,)) for others in _others("same tick", group)
        ]
    used = {point.role for point in shape.used_points() if point.block == number}
    after_set = number > 0 and shape.blocks[number - 1].kind is BlockKind.SET
    shown_last = len(shape.blocks) - 1 - shape.hidden_after
    first = number in (0, shape.hidden_before) or after_set or "first" in used
    last = number in (len(shape.blocks) - 1, shown_last) or "last" in used
    choices: list[Choice] = (
        ["distinct ends", "same tick"] if first and last else ["first" if first else "last"]
    )
    if not (first or last):
        return [("none", (1,))]
    return [(choice, (others,)) for choice in choices for others in _others(choice, group)]


def _others(choice: Choice, group: Group) -> list[int]:
    """0 where some groups have no members beside the variables, 1 where some have."""
    variables = 2 if choice == "distinct ends" else 1
    return [int(others) for others in np.unique(group.sizes[group.sizes >= variables] > variables)]


def _ends(size: int) -> list[tuple[int, ...]]:
    """The size, and every choice of a first and a last member."""
    return [(size, *pair) for pair in permutations(range(size), 2)]


def _with_block(assignment: VariableAssignment, group: Group, option: _Option) -> VariableAssignment:
    choice, numbers = option
    sizes = group.sizes[assignment.row]
    begin = group.offsets[:-1][assignment.row]
    width = assignment.event.shape[1]
    nothing = np.full(len(assignment.row), NO_SLOT, dtype=np.int64)
    if choice == "none":
        block = BlockVariables(choice, (), -1, -1, nothing, nothing, has_others=True)
        return replace(assignment, blocks=(*assignment.blocks, block))
    if choice in ("single", "sequence", "unordered"):
        size, *ends = numbers
        keep = np.flatnonzero(sizes == size)
        slots = list(range(size))
        if choice == "unordered":
            slots = [ends[0], *(i for i in slots if i not in ends), ends[1]]
        assignment = assignment.taken(keep)
        event = np.stack([group.members[begin[keep] + slot] for slot in slots], axis=1)
        block = BlockVariables(
            choice, tuple(range(width, width + size)), width, width + size - 1,
            np.full(len(keep), slots[0]), np.full(len(keep), slots[-1]),
            tuple(width + slots.index(i) for i in range(size)),
        )  # fmt: skip
        return VariableAssignment(
            assignment.row, np.concatenate([assignment.event, event], axis=1), (*assignment.blocks, block)
        )
    (others,) = numbers
    fitting = np.flatnonzero((sizes > (2 if choice == "distinct ends" else 1)) == bool(others))
    index, first_slot, last_slot = _choices(choice, sizes[fitting])
    index = fitting[index]
    assignment, begin = assignment.taken(index), begin[index]
    first_event, last_event = group.members[begin + first_slot], group.members[begin + last_slot]
    if choice == "distinct ends":
        event = np.stack([first_event, last_event], axis=1)
        block = BlockVariables(
            choice, (width, width + 1), width, width + 1, first_slot, last_slot, has_others=bool(others)
        )
    else:
        event = first_event[:, None]
        first = -1 if choice == "last" else width
        block = BlockVariables(
            choice, (width,), first, -1 if choice == "first" else width, first_slot, last_slot,
            has_others=bool(others),
        )  # fmt: skip
        if choice == "same tick":
            block = replace(block, slots=tuple([width] * int(sizes.max(initial=0))))
    return VariableAssignment(
        assignment.row, np.concatenate([assignment.event, event], axis=1), (*assignment.blocks, block)
    )


def _choices(choice: Choice, sizes: Indexes) -> tuple[Indexes, Indexes, Indexes]:
    """Rows repeated for every choice of the first and last member, and the slots chosen."""
    if choice == "same tick":
        zero = np.zeros(len(sizes), dtype=np.int64)
        return np.arange(len(sizes)), zero, zero
    counts = sizes * (sizes - 1) if choice == "distinct ends" else sizes
    index = np.repeat(np.arange(len(sizes)), counts)
    number = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
    if choice != "distinct ends":
        return index, number, number
    others = sizes[index] - 1
    first = number // np.maximum(others, 1)
    last = number % np.maximum(others, 1)
    return index, first, last + (last >= first)
