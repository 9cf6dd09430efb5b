"""The matches that coupled problems are made of: the one way into this room.

    matches       what is to be measured                                         this file
    assignments   which events are variables, one for each way to choose them    `variables`
    constrained   order, window and timing between the variables                 `edges`
    regions       where all other events must or must not be                     `regions`
    problems      all of that as arrays                                          `assembly`
    clauses       the same as differences, in one form for rows and keys         `clauses`

Each is a frozen value, made from those before it and never looked at again by what made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.numeric.arrays import Indexes


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
