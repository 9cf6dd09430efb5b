"""The orders in which a match may have its events: chains, of which an event may stand for several at a tick.

Where nothing but order, window and absences decide, a pattern with AND is an OR of such orders, no two of
which hold at once.  In each of them every region of a rule lies between two events of a chain, so that it is
measured as chains are.

    AND(B b, C c)       b, then c    c, then b    b and c at one tick
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from cepctl.engines.pattern.blocks import AbsenceRule, Block, BlockKind, Point, Region, RegionEnd, Shape
from cepctl.plan.plan import Alternative, Component, Timing

Step = tuple[int, ...]
"""Components whose events happen at one tick."""
_ORDERS_OF = {1: 1, 2: 3, 3: 13, 4: 75}
"""How many orders so many events have; of more there are too many."""
_MOST_ORDERS = 225


@dataclass(frozen=True)
class TotalOrder:
    """One order of what a shape binds."""

    shape: Shape
    steps: tuple[Step, ...]

    @cached_property
    def chain(self) -> Shape:
        """The order as a shape: one event for each step, numbered from 0 on."""
        numbers = range(len(self.steps))
        blocks = tuple((number,) for number in numbers)
        bare = Alternative(tuple(Component(f"event {number}", ()) for number in numbers), blocks)
        rules = tuple(rule for rule in map(self.rule, self.shape.rules) if rule is not None)
        single = tuple(Block(block, BlockKind.SINGLE) for block in blocks)
        return Shape(bare, self.shape.window, single, tuple(dict.fromkeys(rules)), ())

    def rule(self, rule: AbsenceRule) -> AbsenceRule | None:
        """A rule of the shape between steps; None where it forbids no tick."""
        at = sorted({place for point, _ in rule.spared for place in self._places(point)})
        regions = [cut for region in rule.regions for cut in _cut(self._region(region), at)]
        return AbsenceRule(None, tuple(regions)) if regions else None

    def _region(self, region: Region) -> Region:
        """A region without the ends that others imply; empty ones keep ends of which none comes first."""
        ends = [
            RegionEnd(end.point and Point(self._place(end.point), "first"), end.constant, end.is_lower)
            for end in region
        ]
        return tuple(
            end
            for number, end in enumerate(ends)
            if not any(
                _implies(other, end) and (number > before or not _implies(end, other))
                for before, other in enumerate(ends)
                if before != number
            )
        )

    def _place(self, point: Point) -> int:
        places = self._places(point)
        return places[-1] if point.role == "last" else places[0]

    def _places(self, point: Point) -> list[int]:
        """The steps of what a point speaks of, in their order."""
        components = self.shape.blocks[point.block].components
        asked = {point.component} if point.role == "only" else {*components}
        return [place for place, step in enumerate(self.steps) if asked & {*step}]


def has_total_orders(shape: Shape) -> bool:
    """Whether a shape is single events and AND groups, and orders are all that ties them to each other."""
    groups = [block for block in shape.blocks if len(block.components) > 1]
    others = [block for block in shape.blocks if len(block.components) == 1]
    return (
        bool(groups)
        and all(block.kind is BlockKind.UNORDERED for block in groups)
        and all(block.kind is BlockKind.SINGLE for block in others)
        and all(len(block.components) in _ORDERS_OF for block in groups)
        and prod(_ORDERS_OF[len(block.components)] for block in groups) <= _MOST_ORDERS
        and not (shape.member_timings or shape.outside)
        and all(_is_order(timing, groups) for timing in shape.timings)
        and all(_knows_steps(rule) for rule in shape.rules)
    )


def total_orders(shape: Shape) -> Iterator[TotalOrder]:
    """All orders of a shape that has them, those apart in which several events share a tick."""
    for chosen in product(*(_orders(block.components) for block in shape.blocks)):
        steps = tuple(step for order in chosen for step in order)
        place = {component: number for number, step in enumerate(steps) for component in step}
        if all(_holds(timing, place) for timing in shape.timings):
            yield TotalOrder(shape, steps)


def _orders(components: Sequence[int]) -> Iterator[tuple[Step, ...]]:
    """The orders of some events: the first is alone, or at a tick with others, anywhere among them."""
    if not components:
        yield ()
        return
    first, *rest = components
    for order in _orders(rest):
        for at in range(len(order) + 1):
            yield (*order[:at], (first,), *order[at:])
        for at, step in enumerate(order):
            yield (*order[:at], (first, *step), *order[at + 1 :])


def _is_order(timing: Timing, groups: Sequence[Block]) -> bool:
    """Whether a timing constraint only orders two events of one group."""
    return (
        any({timing.left, timing.right} <= {*block.components} for block in groups)
        and not timing.not_equal
        and timing.bound in (0, -1)
    )


def _holds(timing: Timing, place: Mapping[int, int]) -> bool:
    """Whether an order keeps such a constraint, whose bound is 0 or -1: not after the other, or before it."""
    assert timing.left is not None
    assert timing.right is not None
    return place[timing.left] - place[timing.right] <= timing.bound


def _knows_steps(rule: AbsenceRule) -> bool:
    """Whether what a rule spares are ticks of steps."""
    return not rule.members_too and all(constant == 0 for _, constant in rule.spared)


def _implies(one: RegionEnd, other: RegionEnd) -> bool:
    """Whether what lies within one end lies within the other."""
    if one.is_lower != other.is_lower or (one.point is None) != (other.point is None):
        return False
    apart = 0
    if one.point is not None and other.point is not None:
        # Two steps are at least as many ticks apart as there are steps from one to the other.
        apart = one.point.block - other.point.block
    if one.is_lower:
        return apart >= 0 and one.constant + apart >= other.constant
    return apart <= 0 and one.constant + apart <= other.constant


def _cut(region: Region, at: Sequence[int]) -> Iterator[Region]:
    """A region without the ticks of some steps, and only where it may hold a tick."""
    lower = [end for end in region if end.is_lower]
    upper = [end for end in region if not end.is_lower]
    low = max((end.point.block for end in lower if end.point), default=-1)
    high = min((end.point.block for end in upper if end.point), default=1 << 30)
    inside = [place for place in at if low < place < high]
    ends = [
        [*lower],
        *([RegionEnd(Point(place, "first"), side, side > 0)] for place in inside for side in (-1, 1)),
        [*upper],
    ]
    for first, last in zip(ends[::2], ends[1::2], strict=True):
        if not any(_leaves_nothing(one, other) for one, other in product(first, last)):
            yield (*first, *last)


def _leaves_nothing(lower: RegionEnd, upper: RegionEnd) -> bool:
    if lower.point is None or upper.point is None:
        return False
    behind = lower.point.block - upper.point.block
    return behind >= 0 and lower.constant + behind > upper.constant
