"""A shape with events that a match does not bind: where they stand, and what its rules become.

Hidden events stand in gaps of the shape: in each one alone, or several whose order conditions on their times
say.  Blocks and components behind them get higher numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Block,
    BlockKind,
    Point,
    Region,
    Shape,
    ends_of_gap,
)
from cepctl.plan.plan import Component, Timing

Order = tuple[bool, ...] | None
"""Whether each may share its tick with the next one, which it precedes else; None for no order."""


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

    @property
    def components(self) -> tuple[int, ...]:
        """Their numbers."""
        return tuple(range(self.component, self.component + self.count))

    def timings(self) -> Iterator[Timing]:
        """What orders them."""
        for place, shares in enumerate(self.order or ()):
            yield Timing(self.component + place, self.component + place + 1, 0 if shares else -1)


@dataclass(frozen=True)
class HiddenBlocks:
    """Hidden events in gaps of a shape, one block in each at most, in the order of the gaps."""

    bare: Shape
    blocks: tuple[HiddenBlock, ...]

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
        number = block.gap + sum(each.count > 0 for each in self.blocks if each.gap < block.gap)
        return Point(number, "first") if block.count == 1 else Point(number, "only", block.component + place)

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

    def holds(self, block: HiddenBlock, region: Region) -> bool | None:
        """Whether all of the gap of a block lies in a region of the shape, or none of it.

        None where that depends.
        """
        last = len(self.bare.blocks)
        after, before = [-1], [last]
        for end in region:
            if end in ends_of_gap(self.bare, 0 if end.is_lower else last):
                continue  # as far as the window reaches
            if end.point is None or abs(end.constant) > 1:
                return None
            (after if end.is_lower else before).append(end.point.block)
        return max(after) < block.gap <= min(before)

    @cached_property
    def shape(self) -> Shape:
        """The shape in which the hidden events are bound."""
        alternative = self.bare.alternative
        components = list(alternative.components)
        blocks = [
            replace(each, components=tuple(map(self.number, each.components))) for each in self.bare.blocks
        ]
        for each in reversed(self.blocks):
            components[each.origin : each.origin] = [Component(f"hidden {i}", ()) for i in range(each.count)]
            if each.count:
                kind = BlockKind.SINGLE if each.count == 1 else BlockKind.UNORDERED
                blocks.insert(each.gap, Block(each.components, kind))
        bare = replace(
            alternative,
            components=tuple(components),
            blocks=tuple(each.components for each in blocks),
            links=(),
            equalities=(),
            timings=(
                *(self._numbered(each) for each in self.bare.timings),
                *(timing for each in self.blocks for timing in each.timings()),
            ),
            sequences=(),
            orders=(),
        )
        return Shape(
            bare, self.bare.window, tuple(blocks), tuple(map(self.rule, self.bare.rules)), bare.timings
        )

    def _moved(self, point: Point) -> Point:
        block = point.block + sum(each.count > 0 and each.gap <= point.block for each in self.blocks)
        return Point(block, point.role, self.number(point.component) if point.role == "only" else -1)

    def _numbered(self, timing: Timing) -> Timing:
        left, right = (None if side is None else self.number(side) for side in (timing.left, timing.right))
        return replace(timing, left=left, right=right)
