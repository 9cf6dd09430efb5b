"""A shape with events that a match does not bind: where they stand, and what its rules become.

Hidden events stand in a gap of the shape: one alone, or several whose order conditions on their times say.
Blocks and components behind them get higher numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class HiddenBlock:
    """`count` events in gap `gap`, perhaps none, whose components are numbered from `component` on."""

    gap: int
    component: int
    count: int

    def number(self, component: int) -> int:
        """What a component of the shape is called beside the hidden ones."""
        return component if component < self.component else component + self.count

    def point(self, place: int) -> Point:
        """The tick of one of the hidden events."""
        return (
            Point(self.gap, "first") if self.count == 1 else Point(self.gap, "only", self.component + place)
        )

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

    def holds(self, region: Region, shape: Shape) -> bool | None:
        """Whether all of the gap lies in a region of the shape, or none of it; None where that depends."""
        last = len(shape.blocks)
        after, before = [-1], [last]
        for end in region:
            if end in ends_of_gap(shape, 0 if end.is_lower else last):
                continue  # as far as the window reaches
            if end.point is None or abs(end.constant) > 1:
                return None
            (after if end.is_lower else before).append(end.point.block)
        return max(after) < self.gap <= min(before)

    def _moved(self, point: Point) -> Point:
        block = point.block + (point.block >= self.gap and self.count > 0)
        return Point(block, point.role, self.number(point.component) if point.role == "only" else -1)


def with_hidden(shape: Shape, hidden: HiddenBlock, timings: Sequence[Timing]) -> Shape:
    """The shape in which the hidden events are bound; `timings` order several, numbered as they are there."""
    alternative = shape.alternative
    added = [Component(f"hidden {i}", ()) for i in range(hidden.count)]
    at = hidden.component
    components = (*alternative.components[:at], *added, *alternative.components[at:])
    blocks = [replace(each, components=tuple(map(hidden.number, each.components))) for each in shape.blocks]
    kind = BlockKind.SINGLE if hidden.count == 1 else BlockKind.UNORDERED
    blocks.insert(hidden.gap, Block(tuple(range(at, at + hidden.count)), kind))
    moved = [_numbered(each, hidden) for each in shape.timings]
    bare = replace(
        alternative,
        components=components,
        blocks=tuple(each.components for each in blocks),
        links=(),
        equalities=(),
        timings=(*moved, *timings),
        sequences=(),
    )
    rules = tuple(map(hidden.rule, shape.rules))
    return Shape(bare, shape.window, tuple(blocks), rules, bare.timings)


def _numbered(timing: Timing, hidden: HiddenBlock) -> Timing:
    left, right = (None if side is None else hidden.number(side) for side in (timing.left, timing.right))
    return replace(timing, left=left, right=right)
