"""Matches as they are bound, and the events that may break them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, TickSpans, block_group, take_matches
from cepctl.engines.columns.numbering import renumbered, rows_alike
from cepctl.engines.pattern.blocks import AbsenceRule, Shape
from cepctl.numeric.arrays import Flags, Indexes


@dataclass(frozen=True)
class Rivals:
    """Pairs (match row, event) of one rule; in a possible world the event may break the match."""

    rule: AbsenceRule
    row: Indexes
    event: Indexes

    def taken(self, rows: Indexes) -> Rivals:
        """The pairs of some matches (ascending), which are numbered anew."""
        kept, row = renumbered(self.row, rows)
        return replace(self, row=row, event=self.event[kept])


def decided_alike(rivals: Sequence[Rivals], count: int) -> Iterator[tuple[Flags, Indexes]]:
    """Of `count` matches those together that the same of these can break: by which, and their rows."""
    decides = np.zeros((count, len(rivals)), dtype=bool)
    for number, each in enumerate(rivals):
        decides[each.row, number] = True
    return rows_alike(decides)


@dataclass(frozen=True)
class BoundMatches:
    """n matches: what they bind, by component, and the events that could break them.

    `spans`: in which all that a match shows has to lie; None for anywhere.
    """

    bound: dict[int, Bindings]
    rivals: list[Rivals]
    spans: TickSpans | None = None

    def __len__(self) -> int:
        first = next(iter(self.bound.values()))
        return len(first.sizes) if isinstance(first, Group) else len(first)

    def taken(self, rows: Indexes) -> BoundMatches:
        """Some of the matches, by ascending rows."""
        bound = take_matches(self.bound, rows)
        spans = None if self.spans is None else self.spans.take(rows)
        return BoundMatches(bound, [each.taken(rows) for each in self.rivals], spans)

    def involving(self, is_one: Callable[[Indexes], Flags]) -> Flags:
        """Which matches bind an event that is one of those asked for, or have such a rival."""
        found = np.zeros(len(self), dtype=bool)
        for each in self.bound.values():
            if isinstance(each, Group):
                found[each.owner[is_one(each.members)]] = True
            else:
                found |= is_one(each)
        for rival in self.rivals:
            found[rival.row[is_one(rival.event)]] = True
        return found

    def groups(self, shape: Shape) -> list[Group]:
        """The members of each block."""
        return groups_of(shape, self.bound)


def groups_of(shape: Shape, bound: Mapping[int, Bindings]) -> list[Group]:
    """The members of each block of matches."""
    return [block_group([bound[i] for i in block.components]) for block in shape.blocks]
