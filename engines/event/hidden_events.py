"""Events that a match does not show, and those absent beside them: what its parts are made of, their shape.

Whatever must not happen as a whole leaves parts that exclude each other.  Each has some hidden events in the
gap, perhaps none, and events that are absent from it, from a hidden one on, or up to one.

Hidden events stand in gaps of the shape: in each one alone, or several whose order conditions on their times
say.  Blocks and components behind them get higher numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import AbsenceRule, Block, BlockKind, Point, Region, RegionEnd, Shape
from cepctl.engines.pattern.shapes import ends_of_gap
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Component, Timing

ROWS_AT_ONCE = 512
MOST_PARTS = 1_000_000
"""Pairs of a part and an event that may be in it; of several matches with more each is looked at alone."""
OF_GAP = -1
"""In place of a hidden event: the end of the gap."""
_T = TypeVar("_T", bound=Timing)
Order = tuple[bool, ...] | None
"""Whether each but the first is at the tick of the one before, which it follows else; None for no order."""


@dataclass(frozen=True)
class Absences:
    """Pairs (part, event): events that are absent after one hidden event and before another, shape (p,).

    `after`, `before`: places of these, or OF_GAP.  `at_first`, `at_last`: whether they are absent from the
    tick of the one and of the other, too.
    """

    part: Indexes
    event: Indexes
    after: int = OF_GAP
    before: int = OF_GAP
    at_first: Flags | None = None
    at_last: Flags | None = None

    def alike(self) -> Iterator[tuple[bool, bool, Indexes, Indexes]]:
        """Those apart that are absent from the ticks of their ends, or not: of neither perhaps none."""
        none = np.zeros(len(self.part), dtype=bool)
        first = none if self.at_first is None else self.at_first
        last = none if self.at_last is None else self.at_last
        for at_first, at_last in ((False, False), (False, True), (True, False), (True, True)):
            here = (first == at_first) & (last == at_last)
            if here.any() or not (at_first or at_last):
                yield at_first, at_last, self.part[here], self.event[here]

    def taken(self, parts: Indexes, count: int) -> Absences:
        """Those of some of so many parts, which may repeat, and are numbered anew."""
        at, found = entries_of(self.part, parts, count)
        first, last = (each if each is None else each[found] for each in (self.at_first, self.at_last))
        return replace(self, part=at, event=self.event[found], at_first=first, at_last=last)


@dataclass(frozen=True)
class HiddenEvents:
    """Parts of matches: `row` is the match of each, `events` those that it hides, shape (n, m).

    `tied`, of all but the first: whether it is at the tick of the one before, which it follows else; None
    where nothing orders them.
    """

    row: Indexes
    events: Indexes
    absent: tuple[Absences, ...]
    tied: tuple[bool, ...] | None = None

    @property
    def count(self) -> int:
        """How many events each part hides."""
        return int(self.events.shape[1])

    def taken(self, parts: Indexes) -> HiddenEvents:
        """Some of the parts, which may repeat."""
        absent = tuple(each.taken(parts, len(self.row)) for each in self.absent)
        return replace(self, row=self.row[parts], events=self.events[parts], absent=absent)

    def hides(self, part: Indexes, event: Indexes) -> Flags:
        """Whether an event is one that a part hides."""
        return np.asarray((self.events[part] == event[:, None]).any(axis=1))


def entries_of(owner: Indexes, wanted: Indexes, count: int) -> tuple[Indexes, Indexes]:
    """For each wanted one of `count` owners the entries that it has: its place in `wanted`, and the entry."""
    entries = Group.of_owners(count, owner, np.arange(len(owner))).take(wanted)
    return entries.owner, entries.members


def with_another(events: Indexes, part: Indexes, event: Indexes) -> Indexes:
    """Hidden events of some parts, and one more behind them."""
    return np.column_stack([events[part], event])


def may_share_tick(masses: Masses, one: Indexes, other: Indexes) -> Flags:
    """Whether two events can be at one tick."""
    return np.asarray((masses.lower[one] <= masses.upper[other]) & (masses.lower[other] <= masses.upper[one]))


def require_few(pairs: int) -> None:
    """Raise QueryTooLargeError where so many are too many."""
    if pairs > MOST_PARTS:
        raise QueryTooLargeError(
            f"what !SEQ or !AND leaves of a match takes more than {MOST_PARTS:,} pairs of events; narrow it "
            "(WITHIN, [attr], predicates on its events)"
        )


@dataclass(frozen=True)
class HiddenBlock:
    """`count` events in gap `gap` of a shape, perhaps none.

    They are numbered from `component` on, which was `origin` in the shape.
    """

    gap: int
    origin: int
    component: int
    count: int
    order: Order

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Those of each tick in order, or all together."""
        blocks: list[tuple[int, ...]] = []
        for place in range(self.count):
            beside = place > 0 and (self.order is None or self.order[place - 1])
            before = blocks.pop() if beside else ()
            blocks.append((*before, self.component + place))
        kinds = (BlockKind.SINGLE if len(each) == 1 else BlockKind.UNORDERED for each in blocks)
        return tuple(map(Block, blocks, kinds))

    def timings(self) -> Iterator[Timing]:
        """What holds those of one tick together."""
        for place, tied in enumerate(self.order or (), start=self.component):
            if tied:
                yield Timing(place, place + 1, 0)
                yield Timing(place + 1, place, 0)


@dataclass(frozen=True)
class HiddenBlocks:
    """Hidden events in some gaps of a shape, in the order of the gaps.

    `outside`: pairs of a hidden event and a rule of the shape, in whose regions it must not be.
    """

    bare: Shape
    blocks: tuple[HiddenBlock, ...]
    outside: tuple[tuple[int, AbsenceRule], ...] = ()

    @classmethod
    def of(cls, shape: Shape, asked: Sequence[tuple[int, int, Order]]) -> HiddenBlocks:
        """So many of an order in each of some ascending gaps."""
        blocks, before = list[HiddenBlock](), 0
        for gap, count, order in asked:
            origin = max(shape.blocks[gap - 1].components) + 1 if gap else 0
            blocks.append(HiddenBlock(gap, origin, origin + before, count, order))
            before += count
        return cls(shape, tuple(blocks))

    def number(self, component: int) -> int:
        """What a component of the shape is called beside the hidden ones."""
        return component + sum(each.count for each in self.blocks if each.origin <= component)

    def point(self, block: HiddenBlock, place: int) -> Point:
        """The tick of one of the hidden events."""
        number, component = block.gap + self._before(block.gap), block.component + place
        for each in block.blocks:
            if component in each.components:
                break
            number += 1
        return Point(number, "first") if len(each.components) == 1 else Point(number, "only", component)

    def rule(self, rule: AbsenceRule) -> AbsenceRule:
        """A rule of the shape, with its points where they are now."""
        spared = tuple((self._moved(point), constant) for point, constant in rule.spared)
        component = None if rule.component is None else self.number(rule.component)
        return replace(
            rule, component=component, regions=tuple(map(self.region, rule.regions)), spared=spared
        )

    def region(self, region: Region) -> Region:
        """A region of the shape, as it is bounded now."""
        return tuple(
            end if end.point is None else replace(end, point=self._moved(end.point)) for end in region
        )

    def unsettled(self, block: HiddenBlock, rule: AbsenceRule) -> AbsenceRule | None:
        """A rule with the regions in which hidden events of a block may be or not; None if they are in one.

        A tick of the shape may be spared, since hidden events are at none of these.
        """
        held = {region: self.holds(block, region) for region in rule.regions}
        spares = any(constant for _, constant in rule.spared)
        if True in held.values() and not spares:
            return None
        return replace(rule, regions=tuple(region for region, inside in held.items() if inside is not False))

    def holds(self, block: HiddenBlock, region: Region) -> bool | None:
        """Whether all of the gap of a block lies in a region of the shape, or none of it.

        None where that depends.
        """
        reaches = [self._reaches(block.gap, end) for end in region]
        return False if False in reaches else None if None in reaches else True

    def _reaches(self, gap: int, end: RegionEnd) -> bool | None:
        """Whether all of a gap is on the inner side of an end, or none of it."""
        if end in ends_of_gap(self.bare, 0 if end.is_lower else len(self.bare.blocks)):
            return True  # as far as the window reaches
        if end.point is None:
            return None
        inner = 1 if end.is_lower else -1
        if (end.point.block < gap) == end.is_lower:
            return True if inner * end.constant <= 1 else None
        return False if inner * end.constant >= 0 else None

    @cached_property
    def shape(self) -> Shape:
        """The shape in which the hidden events are bound."""
        alternative, window = self.bare.alternative, self.bare.window
        components = list(alternative.components)
        blocks = [self._numbered_block(each) for each in self.bare.blocks]
        timings = [self._numbered(each) for each in self.bare.timings]
        if self._at_both_ends:
            timings += self._within(blocks)
            window = None
        for each in reversed(self.blocks):
            components[each.origin : each.origin] = [Component(f"hidden {i}", ()) for i in range(each.count)]
            blocks[each.gap : each.gap] = each.blocks
            timings += each.timings()
        bare = replace(
            alternative,
            components=tuple(components),
            blocks=tuple(each.components for each in blocks),
            links=(),
            equalities=(),
            timings=tuple(timings),
            sequences=(),
            orders=(),
        )
        return Shape(
            bare,
            window,
            tuple(blocks),
            tuple(map(self.rule, self.bare.rules)),
            bare.timings,
            member_timings=tuple(self._numbered(each) for each in self.bare.member_timings),
            hidden_before=self._hidden_in(0),
            hidden_after=self._hidden_in(len(self.bare.blocks)),
            outside=tuple((component, self.rule(rule)) for component, rule in self.outside),
        )

    @property
    def _at_both_ends(self) -> bool:
        """Whether some lie before and some behind all else, where a window holds only what is between."""
        gaps = {each.gap for each in self.blocks if each.count}
        return self.bare.window is not None and {0, len(self.bare.blocks)} <= gaps

    def _within(self, blocks: Sequence[Block]) -> Iterator[Timing]:
        """The window of the shape, back from its last events, and ahead from its first ones."""
        assert self.bare.window is not None
        first, last = blocks[0].components, blocks[-1].components
        early, late = ([i for block in self.blocks[end].blocks for i in block.components] for end in (0, -1))
        for left, right in (*product(last, first), *product(last, early), *product(late, first)):
            yield Timing(left, right, self.bare.window - 1)

    def _numbered_block(self, block: Block) -> Block:
        kind = block.kind
        if self._at_both_ends and len(block.components) > 1:
            kind = BlockKind.UNORDERED  # the window names its events one by one
        return Block(tuple(map(self.number, block.components)), kind)

    def _before(self, gap: int) -> int:
        """How many blocks of hidden events stand in gaps before one."""
        return sum(map(self._hidden_in, range(gap)))

    def _hidden_in(self, gap: int) -> int:
        """How many blocks of hidden events stand in a gap."""
        return sum(len(each.blocks) for each in self.blocks if each.gap == gap)

    def _moved(self, point: Point) -> Point:
        block = point.block + self._before(point.block + 1)
        return Point(block, point.role, self.number(point.component) if point.role == "only" else -1)

    def _numbered(self, timing: _T) -> _T:
        left, right = (None if side is None else self.number(side) for side in (timing.left, timing.right))
        return replace(timing, left=left, right=right)
