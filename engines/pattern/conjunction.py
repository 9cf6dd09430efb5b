"""The shape of several alternatives of OR that bind the same events, all holding at once.

A boundary between blocks says that everything before it comes before everything after it.  The
intersection has the boundaries of all alternatives, hence their blocks cut to pieces, and the rules
and timing constraints of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Block,
    BlockKind,
    Point,
    RegionEnd,
    Shape,
    Together,
    kind_of_group,
)
from cepctl.plan.plan import AnyTiming, Timing
from cepctl.plan.summary import with_one_member


def intersection(shapes: Sequence[Shape]) -> Shape:
    """Shape of the conjunction; its components are numbered as those of the first alternative.

    Something may be absent as a whole in the first alternative alone.

    An event that one alternative binds alone and another as a Kleene group is a group of one, since all
    have the same signature; so it stands alone here.
    """
    first = _with_common_groups(shapes)
    numbers = first.alternative.positive
    timings = {_renumbered(timing, shape, first) for shape in shapes for timing in shape.timings}
    of_members = {_renumbered(timing, shape, first) for shape in shapes for timing in shape.member_timings}
    cuts = sorted({cut for shape in shapes for cut in _cuts(shape)} | {len(numbers)})
    blocks = []
    for begin, end in zip([0, *cuts], cuts, strict=False):
        if begin < end:
            kind = _kind(first, shapes, {*timings, *of_members}, begin, end)
            blocks.append(Block(numbers[begin:end], kind))
    common = Shape(first.alternative, first.window, tuple(blocks), (), tuple(sorted(timings, key=repr)))
    common = replace(common, member_timings=tuple(sorted(of_members, key=repr)))
    rules = [Renumbering(shape, common).rule(rule) for shape in shapes for rule in shape.rules]
    together = tuple(Renumbering(shapes[0], common).together(each) for each in shapes[0].together)
    return replace(common, rules=tuple(rules), together=together)


def keeps_groups(shapes: Sequence[Shape]) -> bool:
    """Whether the first alternative has no group that another binds as one event."""
    return _with_common_groups(shapes).alternative is shapes[0].alternative


def _with_common_groups(shapes: Sequence[Shape]) -> Shape:
    """The first alternative, with a Kleene group only where every alternative has one."""
    alternative = shapes[0].alternative
    for place, number in enumerate(alternative.positive):
        bound = [each.alternative.components[each.alternative.positive[place]] for each in shapes]
        if alternative.components[number].kleene and not all(each.kleene for each in bound):
            alternative = with_one_member(alternative, number)
    return replace(shapes[0], alternative=alternative)


@dataclass(frozen=True)
class Renumbering:
    """From the blocks and components of one alternative to those of the intersection."""

    own: Shape
    common: Shape

    def rule(self, rule: AbsenceRule) -> AbsenceRule:
        """The rule with its points moved; who must be absent stays as it is."""
        regions = tuple(tuple(self._end(end) for end in region) for region in rule.regions)
        spared = tuple((each, constant) for point, constant in rule.spared for each in self._points(point))
        return replace(rule, regions=regions, spared=spared)

    def together(self, together: Together) -> Together:
        """What must not happen as a whole, in its gap between the blocks of the intersection."""
        if together.gap == len(self.own.blocks):
            return replace(together, gap=len(self.common.blocks))
        behind = self.own.blocks[together.gap].components[0]
        return replace(together, gap=self.common.block_of(_moved(behind, self.own, self.common)))

    def _end(self, end: RegionEnd) -> RegionEnd:
        return end if end.point is None else replace(end, point=self._point(end.point))

    def _points(self, point: Point) -> list[Point]:
        """The points of each event of a block, which may be several blocks of the intersection."""
        if point.role != "each":
            return [self._point(point)]
        components = self.own.blocks[point.block].components
        blocks = {self.common.block_of(_moved(each, self.own, self.common)) for each in components}
        single = {block for block in blocks if self.common.blocks[block].kind is BlockKind.SINGLE}
        return [Point(block, "first" if block in single else "each") for block in sorted(blocks)]

    def _point(self, point: Point) -> Point:
        components = self.own.blocks[point.block].components
        named = components[-1] if point.role == "last" else components[0]
        named = point.component if point.role == "only" else named
        component = _moved(named, self.own, self.common)
        block = self.common.block_of(component)
        if self.common.blocks[block].kind is BlockKind.SINGLE:
            return Point(block, "first")
        return Point(block, point.role, component if point.role == "only" else -1)


def _cuts(shape: Shape) -> list[int]:
    """Positions, in pattern order, at which a block begins."""
    positive = shape.alternative.positive
    return [positive.index(block.components[0]) for block in shape.blocks]


def _moved(component: int, own: Shape, first: Shape) -> int:
    return first.alternative.positive[own.alternative.positive.index(component)]


def _renumbered(timing: AnyTiming, own: Shape, first: Shape) -> AnyTiming:
    left = None if timing.left is None else _moved(timing.left, own, first)
    right = None if timing.right is None else _moved(timing.right, own, first)
    return replace(timing, left=left, right=right)


def _kind(
    common: Shape, shapes: Sequence[Shape], timings: Iterable[Timing], begin: int, end: int
) -> BlockKind:
    members = common.alternative.positive[begin:end]
    if len(members) > 1:
        timed = {side for timing in timings for side in (timing.left, timing.right)} & set(members)
        apart = timed or _names_one(shapes, begin, end) or _are_apart(shapes, begin, end)
        return BlockKind.UNORDERED if apart else BlockKind.SET
    if not common.alternative.components[members[0]].kleene:
        return BlockKind.SINGLE
    ordered = any(s.alternative.components[s.alternative.positive[begin]].ordered for s in shapes)
    return kind_of_group(ordered, members[0] in _named_one_by_one(shapes))


def _named_one_by_one(shapes: Sequence[Shape]) -> set[int]:
    """Groups, as the first alternative numbers them, of which some rule or timing needs every member."""
    return {
        _moved(block.components[0], shape, shapes[0])
        for shape in shapes
        for block in shape.blocks
        if block.kind is BlockKind.UNORDERED and len(block.components) == 1
    }


def _names_one(shapes: Sequence[Shape], begin: int, end: int) -> bool:
    """Whether some rule refers to the tick of a single member of these, or of each."""
    for shape in shapes:
        members = shape.alternative.positive[begin:end]
        spared = (point for rule in shape.rules for point, _ in rule.spared if point.role == "each")
        if any({*shape.blocks[point.block].components} & {*members} for point in spared):
            return True
        if any(point.role == "only" and point.component in members for point in shape.used_points()):
            return True
    return False


def _are_apart(shapes: Sequence[Shape], begin: int, end: int) -> bool:
    """Whether an alternative has a block whose members rules of single rivals may name, with one of these."""
    return any(
        block.kind is BlockKind.UNORDERED and {*block.components} & {*shape.alternative.positive[begin:end]}
        for shape in shapes
        for block in shape.blocks
        if len(block.components) > 1
    )
