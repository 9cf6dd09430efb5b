"""Equality predicates as join keys: small integers that are equal where the values are.

Two sources give keys: `[attr]`, which all components share, and equalities between two
components.  A null equals nothing and gets the code -1.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.events import Events, value_codes
from cepctl.engines.columns.numbering import PLACES_PER_VALUE, Numbering
from cepctl.numeric.arrays import Indexes
from cepctl.plan.plan import Alternative


@dataclass(frozen=True)
class KeyPart:
    """One equality: codes per event of the new component's side, and of the bound side, all below `width`."""

    new_codes: Indexes
    bound_codes: Indexes
    bound_component: int
    width: int

    @classmethod
    def of(cls, new_codes: Indexes, bound_codes: Indexes, bound_component: int) -> KeyPart:
        """With the width of the codes."""
        largest = max(int(new_codes.max(initial=0)), int(bound_codes.max(initial=0)))
        return cls(new_codes, bound_codes, bound_component, largest + 2)


@dataclass(frozen=True)
class JoinKey:
    """Key of one join step.

    `candidate_codes`: shape (m,), one per candidate, -1 for those that join nothing.
    `parts` and `levels` repeat the folding of several codes into one for the other side; a level is None
    where the codes of its part, the first one, are taken as they are.
    """

    candidate_codes: Indexes
    parts: tuple[KeyPart, ...]
    levels: tuple[Numbering | None, ...]

    def codes_of(self, rows: Indexes, singles: Sequence[int]) -> Indexes:
        """Codes of partial matches, shape (n,); `singles` maps columns to component indexes."""
        folded = np.zeros(len(rows), dtype=np.int64)
        for part, numbering in zip(self.parts, self.levels, strict=True):
            codes = part.bound_codes[rows[:, singles.index(part.bound_component)]]
            if numbering is None:
                folded = codes
                continue
            found = numbering.find(folded * part.width + codes)
            folded = np.where((folded >= 0) & (codes >= 0), found, -1)
        return folded


def join_key(
    alternative: Alternative,
    partition_by: Sequence[str],
    events: Events,
    component: int,
    bound: Set[int],
    candidates: Indexes,
) -> JoinKey:
    """Key for joining `component` to a partial match whose components are `bound`."""
    parts = _parts(alternative, partition_by, events, component, bound)
    folded = np.zeros(len(candidates), dtype=np.int64)
    for name in partition_by:
        column = events.frame.get_column(name)
        if column.null_count():
            folded[column.is_null().to_numpy()[candidates]] = -1
    levels: list[Numbering | None] = []
    for part in parts:
        codes = part.new_codes[candidates]
        # Clocks look codes up among those of candidates alone.
        if not levels and part.width <= PLACES_PER_VALUE * len(candidates) and events.clocks is None:
            folded = np.where(folded >= 0, codes, -1)
            levels.append(None)
            continue
        usable = (folded >= 0) & (codes >= 0)
        numbering, folded = Numbering.of(folded * part.width + codes, usable)
        levels.append(numbering)
    return JoinKey(folded, tuple(parts), tuple(levels))


def partition_codes(partition_by: Sequence[str], events: Events) -> Indexes:
    """One code per event for all `[attr]` of a query together, -1 where one is null; made once."""
    names = tuple(partition_by)
    if names in events.key_codes:
        return events.key_codes[names]
    folded = np.zeros(len(events), dtype=np.int64)
    for name in partition_by:
        codes = events.codes_of(name)
        usable = (folded >= 0) & (codes >= 0)
        together = folded * (int(codes.max(initial=0)) + 1) + codes
        folded = Numbering.of(together, usable)[1]
    events.key_codes[names] = folded
    return folded


def _parts(
    alternative: Alternative,
    partition_by: Sequence[str],
    events: Events,
    component: int,
    bound: Set[int],
) -> list[KeyPart]:
    parts = []
    if bound:
        for name in partition_by:
            codes = events.codes_of(name)
            parts.append(KeyPart.of(codes, codes, min(bound)))
    for equality in alternative.equalities:
        here, there = (equality.left, equality.left_attribute), (equality.right, equality.right_attribute)
        if there[0] == component:
            here, there = there, here
        if here[0] == component and there[0] in bound:
            if here[1] == there[1]:
                new = old = events.codes_of(here[1])
            else:
                new, old = value_codes(*(events.frame.get_column(side[1]) for side in (here, there)))
            parts.append(KeyPart.of(new, old, there[0]))
    return parts
