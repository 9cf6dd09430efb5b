"""What a shape is made of, and its matches as they are bound, with the events that may break them.

A shape is blocks in time order, ticks that they fix, and regions between these.

    block        what it binds                                  ticks that others refer to
    single       one event                                      its tick
    set          an AND group or a Kleene set                   first and last of its members
    sequence     a Kleene group read by a predicate over order  first and last of its members
    unordered    a set whose members a timing names one by one  every member's tick
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, TickSpans, block_group, take_matches
from cepctl.engines.columns.numbering import renumbered, rows_alike
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Alternative, Component, MemberTiming, Timing

Role: TypeAlias = Literal["first", "last", "only", "each"]


class BlockKind(Enum):
    """How the members of a block lie in time."""

    SINGLE = "single"
    SET = "set"
    SEQUENCE = "sequence"
    UNORDERED = "unordered"


@dataclass(frozen=True)
class Block:
    """Positive components of one block, in pattern order."""

    components: tuple[int, ...]
    kind: BlockKind


@dataclass(frozen=True)
class Point:
    """A tick that a match fixes: of the first, the last or each member of a block, or of one component."""

    block: int
    role: Role
    component: int = -1


@dataclass(frozen=True)
class RegionEnd:
    """One end of a region, included: a point plus a constant, or a constant alone."""

    point: Point | None
    constant: int
    is_lower: bool


Region: TypeAlias = tuple[RegionEnd, ...]


@dataclass(frozen=True)
class AbsenceRule:
    """No other event that fits `component` (None: no other event at all) lies in these regions.

    `members_too` says that members of the preceding group, whose first member opens the region, count as
    rivals too.  `spared` are ticks, a point plus a constant, at which an event of the component does not
    count.  `by_key` says that an event of another key is no rival.
    """

    component: int | None
    regions: tuple[Region, ...]
    members_too: bool = False
    by_key: bool = False
    spared: tuple[tuple[Point, int], ...] = ()


@dataclass(frozen=True)
class Together:
    """Components that must not all happen in gap `gap`: before block `gap`, after block `gap - 1`."""

    gap: int
    parts: tuple[int, ...]
    in_order: bool


@dataclass(frozen=True)
class Shape:
    """Blocks, rules of absence, and timing constraints between positive components.

    `together`: what must not happen as a whole, which no rule of absence says.  `hidden_before` and
    `hidden_after`: of how many blocks at the beginning and end matches do not show the events; a time range
    is that of what they show.  `outside`: components whose single events must not lie where a rule has its
    events absent.
    """

    alternative: Alternative
    window: int | None
    blocks: tuple[Block, ...]
    rules: tuple[AbsenceRule, ...]
    timings: tuple[Timing, ...]
    together: tuple[Together, ...] = ()
    member_timings: tuple[MemberTiming, ...] = ()
    hidden_before: int = 0
    hidden_after: int = 0
    outside: tuple[tuple[int, AbsenceRule], ...] = ()

    @property
    def hides_ends(self) -> bool:
        """Whether the first or the last events of a match may be such that it does not show."""
        return self.hidden_before + self.hidden_after > 0

    @property
    def hidden_at_ends(self) -> set[int]:
        """The components of these."""
        hidden = (*self.blocks[: self.hidden_before], *self.blocks[len(self.blocks) - self.hidden_after :])
        return {i for block in hidden for i in block.components}

    def block_of(self, component: int) -> int:
        """Number of the block that a positive component belongs to."""
        return next(i for i, block in enumerate(self.blocks) if component in block.components)

    @property
    def only_single(self) -> bool:
        """Whether order and window are all that ties the events of a match to each other."""
        return not (self.timings or self.outside) and all(
            block.kind is BlockKind.SINGLE for block in self.blocks
        )

    @property
    def knows_constants(self) -> bool:
        """Whether ticks are compared with constants, so that a match moved in time is another one."""
        ends = (end for rule in self.every_rule for region in rule.regions for end in region)
        return any(end.point is None for end in ends) or any(
            each.left is None or each.right is None for each in (*self.timings, *self.member_timings)
        )

    @property
    def plain_chain(self) -> bool:
        """Whether nothing else can decide a match either."""
        return self.only_single and not (self.rules or self.together)

    @property
    def every_rule(self) -> Iterator[AbsenceRule]:
        """The rules of absence, and those that say where single events must not lie."""
        return chain(self.rules, (rule for _, rule in self.outside))

    def used_points(self) -> set[Point]:
        """Points that some rule of absence or timing constraint refers to."""
        regions = (region for rule in self.every_rule for region in rule.regions)
        used = {end.point for region in regions for end in region if end.point}
        for timing in self.timings:
            sides = [side for side in (timing.left, timing.right) if side is not None]
            if len(sides) == 2 and all(self.alternative.components[side].kleene for side in sides):
                # All members of one from all of the other: the latest and the earliest decide.
                ends = (Point(self.block_of(sides[0]), "last"), Point(self.block_of(sides[1]), "first"))
                used.update(() if timing.not_equal else ends)
            else:
                used.update(point_of(self, side) for side in sides)
        return used


def kind_of_group(ordered: bool, named_one_by_one: bool) -> BlockKind:
    """The kind of block that a Kleene group is."""
    if ordered:
        return BlockKind.SEQUENCE
    return BlockKind.UNORDERED if named_one_by_one else BlockKind.SET


def groups_named_one_by_one(components: Sequence[Component], timings: Iterable[Timing]) -> set[int]:
    """Kleene components whose members' ticks, each of them, a `<>` forbids to a negated event or a group.

    Of two groups one is enough; where one is a sequence, whose ticks are all known, none is needed.
    """
    named: set[int] = set()
    for timing in timings:
        if timing.left is None or timing.right is None or not timing.not_equal:
            continue
        sides = sorted((timing.left, timing.right))
        groups = [side for side in sides if components[side].kleene]
        if any(components[side].negated for side in sides):
            named.update(groups)
        elif len(groups) == 2 and not any(components[side].ordered for side in groups):
            named.add(groups[0])
    return named


class GapBetween(NamedTuple):
    """What lies between two points: the blocks of these, and how far from each its ticks begin and end."""

    begin: int
    after: int
    end: int
    before: int

    @property
    def is_gap(self) -> bool:
        """Whether it is all between neighbouring blocks."""
        return self.after == 1 and self.before == -1 and self.end == self.begin + 1


def between(region: Region) -> GapBetween | None:
    """The blocks that a region lies between; None for every other region."""
    if len(region) != 2 or region[0].is_lower == region[1].is_lower:
        return None
    after, before = sorted(region, key=lambda end: not end.is_lower)
    if after.point is None or before.point is None:
        return None
    return GapBetween(after.point.block, after.constant, before.point.block, before.constant)


def gap_of(region: Region) -> int | None:
    """Number of the gap between neighbouring blocks that a region is; None for every other region."""
    found = between(region)
    return found.begin if found is not None and found.is_gap else None


def point_of(shape: Shape, component: int) -> Point:
    """The point that a component's time is, for one that binds a single event."""
    block = shape.block_of(component)
    if shape.blocks[block].kind is BlockKind.SINGLE:
        return Point(block, "first")
    return Point(block, "only", component)


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
