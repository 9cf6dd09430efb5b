"""The rivals of matches that can decide them, told by where events can be, and matches that are alike.

Only these rivals are looked at further: their clocks are summed over, and their cuts end pieces. So a match
is measured alike wherever it is found, as without clocks. Matches whose groups have the same sizes are
measured together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group, block_group, take
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.deciding_rivals import deciding_in_chains
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import closed_system, valid_bounds
from cepctl.engines.pattern.rivals import Rivals

BoundEvents: TypeAlias = Mapping[int, Bindings]
"""The events of matches, by component."""


def groups_of(shape: Shape, bound: BoundEvents) -> list[Group]:
    """The events of each block."""
    return [block_group([bound[i] for i in block.components]) for block in shape.blocks]


def alike_matches(
    shape: Shape, bound: BoundEvents, rivals: Sequence[Rivals], at_once: int
) -> Iterator[tuple[Indexes, dict[int, Bindings], list[Rivals]]]:
    """Row numbers, events and rivals of at most `at_once` matches, whose groups have the same sizes."""
    sizes = np.stack([group.sizes for group in groups_of(shape, bound)], axis=1)
    alike, kind = np.unique(sizes, axis=0, return_inverse=True)
    for number in range(len(alike)):
        of_kind = np.flatnonzero(kind.reshape(-1) == number)
        for begin in range(0, len(of_kind), at_once):
            rows = of_kind[begin : begin + at_once]
            part = {i: take(each, rows) for i, each in bound.items()}
            yield rows, part, [each.taken(rows) for each in rivals]


def deciding_rivals(
    shape: Shape, envelopes: Masses, groups: list[Group], rivals: Sequence[Rivals]
) -> list[Rivals]:
    """The rivals that can decide; `groups` gives the members of every block of the matches."""
    if not any(len(each.row) for each in rivals):
        return list(rivals)
    if shape.only_single:
        matches = np.stack([group.members for group in groups], axis=1)
        system = closed_system(range(len(groups)), shape.window)
        valid = valid_bounds(envelopes.lower[matches], envelopes.upper[matches], system)
        return deciding_in_chains(rivals, envelopes, system, *valid)
    events = len(envelopes.lower)
    found = [group.owner * events + group.members for group in groups]
    for problems in coupled_problems(CoupledMatches(shape, envelopes, groups, rivals)):
        problem = np.repeat(np.arange(len(problems.match)), np.diff(problems.factors.offsets))
        found.append(problems.match[problem] * events + problems.factors.event)
    known = np.unique(np.concatenate(found))
    return [_kept(each, np.isin(each.row * events + each.event, known)) for each in rivals]


def _kept(rivals: Rivals, kept: Flags) -> Rivals:
    row: Indexes = rivals.row[kept]
    return replace(rivals, row=row, event=rivals.event[kept])
