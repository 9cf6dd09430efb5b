"""A shape with events that a match does not bind: where they stand, and what its rules become.

Hidden events stand in gaps of the shape: in each one alone, or several whose order conditions on their times
say.  Blocks and components behind them get higher numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TypeVar

from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Block,
    BlockKind,
    Point,
    Region,
    RegionEnd,
    Shape,
)
from cepctl.engines.pattern.shapes import ends_of_gap
from cepctl.plan.plan import Component, Timing

_T = TypeVar("_T", bound=Timing)
Order = tuple[bool, ...] | None
"""Whether each but the first is at the tick of the one before, which it follows else; None for no order."""


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
