"""The shape of one alternative: its blocks in time order, and what must be absent between them.

    block        what it binds                                  ticks that others refer to
    single       one event                                      its tick
    set          an AND group or a Kleene set                   first and last of its members
    sequence     a Kleene group read by a predicate over order  first and last of its members
    unordered    an AND group whose members timing names        every member's tick

Rules of absence put semantics' words into regions between such ticks: negation, the rivals of
skip_till_next_match, the strangers of contiguity.

Runs inside Spark workers: imports no array library.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import Strategy
from cepctl.plan.plan import Alternative, Plan, Timing
from cepctl.plan.support import tied_groups

Role: TypeAlias = Literal["first", "last", "only"]


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
    """A tick that a match fixes: of the first or last member of a block, or of one component."""

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

    `members_too` says that members of the group before are others as well.
    """

    component: int | None
    regions: tuple[Region, ...]
    members_too: bool = False


@dataclass(frozen=True)
class Shape:
    """Blocks, rules of absence, and timing constraints between positive components."""

    alternative: Alternative
    window: int | None
    blocks: tuple[Block, ...]
    rules: tuple[AbsenceRule, ...]
    timings: tuple[Timing, ...]

    def block_of(self, component: int) -> int:
        """Number of the block that a positive component belongs to."""
        return next(i for i, block in enumerate(self.blocks) if component in block.components)

    @property
    def only_single(self) -> bool:
        """Whether order and window are all that ties the events of a match to each other."""
        return not self.timings and all(block.kind is BlockKind.SINGLE for block in self.blocks)

    @property
    def plain_chain(self) -> bool:
        """Whether nothing else can decide a match either."""
        return self.only_single and not self.rules

    def used_points(self) -> set[Point]:
        """Points that some rule of absence or timing constraint refers to."""
        used = {end.point for rule in self.rules for region in rule.regions for end in region if end.point}
        for timing in self.timings:
            for component in (timing.left, timing.right):
                if component is not None:
                    used.add(point_of(self, component))
        return used


def shape_of(plan: Plan, alternative: Alternative) -> Shape:
    """Work out the shape of an alternative.

    Raises
    ------
    UnsupportedQueryError
        If a timing constraint ties two Kleene groups, or says <> of one and of a negated component.
    """
    components = alternative.components
    timings = tuple(each for each in alternative.timings if not _negated_side(alternative, each))
    timed = {side for each in alternative.timings for side in (each.left, each.right) if side is not None}
    blocks, gaps = list[Block](), list[list[int]]([[]])
    for block in alternative.blocks:
        if components[block[0]].negated:
            gaps[-1].append(block[0])
            continue
        if len(block) > 1:
            kind = BlockKind.UNORDERED if timed & set(block) else BlockKind.SET
        elif components[block[0]].kleene:
            kind = BlockKind.SEQUENCE if components[block[0]].ordered else BlockKind.SET
        else:
            kind = BlockKind.SINGLE
        blocks.append(Block(block, kind))
        gaps.append([])
    shape = Shape(alternative, plan.window, tuple(blocks), (), timings)
    if lacking := tied_groups(alternative):
        raise UnsupportedQueryError(f"the event engine does not run {', '.join(lacking)}")
    rules = [_negation(shape, n, gap) for gap, negated in enumerate(gaps) for n in negated]
    if plan.strategy is Strategy.SKIP_TILL_NEXT_MATCH:
        rules += _next_match(shape)
    elif plan.strategy in (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY):
        rules += _contiguity(shape)
    return Shape(alternative, plan.window, shape.blocks, tuple(rules), timings)


def point_of(shape: Shape, component: int) -> Point:
    """The point that a component's time is, for one that binds a single event."""
    block = shape.block_of(component)
    if shape.blocks[block].kind is BlockKind.SINGLE:
        return Point(block, "first")
    return Point(block, "only", component)


def _negated_side(alternative: Alternative, timing: Timing) -> bool:
    sides = [side for side in (timing.left, timing.right) if side is not None]
    return any(alternative.components[side].negated for side in sides)


def _after(block: int, role: Role = "last") -> RegionEnd:
    return RegionEnd(Point(block, role), 1, True)


def _before(block: int) -> RegionEnd:
    return RegionEnd(Point(block, "first"), -1, False)


def _window_end(shape: Shape) -> RegionEnd:
    assert shape.window is not None
    return RegionEnd(Point(0, "first"), shape.window - 1, False)


def _negation(shape: Shape, negated: int, gap: int) -> AbsenceRule:
    """The negated component in gap `gap`: before block `gap`, after block `gap - 1`."""
    last = len(shape.blocks) - 1
    ends = [_after(gap - 1)] if gap > 0 else []
    ends += [_before(gap)] if gap <= last else []
    # Without a window, as for a group left out of its summary, a gap at an edge has no end there.
    if shape.window is not None and gap == 0:
        ends.append(RegionEnd(Point(last, "last"), 1 - shape.window, True))
    elif shape.window is not None and gap > last:
        ends.append(_window_end(shape))
    regions: list[Region] = [tuple(ends)]
    for timing in shape.alternative.timings:
        if timing.left == negated:
            ends = _limits(shape, timing.right, timing.bound, timing.not_equal, is_lower=False)
        elif timing.right == negated:
            ends = _limits(shape, timing.left, -timing.bound, timing.not_equal, is_lower=True)
        else:
            continue
        regions = [(*region, end) for region in regions for end in ends]
    return AbsenceRule(negated, tuple(regions))


def _limits(
    shape: Shape, other: int | None, constant: int, not_equal: bool, *, is_lower: bool
) -> list[RegionEnd]:
    point = None if other is None else point_of(shape, other)
    if other is not None and shape.alternative.components[other].kleene:
        # Every member has to agree: the latest bounds from below, the earliest from above.
        point = Point(shape.block_of(other), "last" if is_lower else "first")
    if not_equal:
        return [RegionEnd(point, constant - 1, False), RegionEnd(point, constant + 1, True)]
    return [RegionEnd(point, constant, is_lower)]


def _is_group(shape: Shape, block: int) -> bool:
    return shape.alternative.components[shape.blocks[block].components[0]].kleene


def _next_match(shape: Shape) -> list[AbsenceRule]:
    """Rivals (semantics, rows skip_till_next_match and `B+` under it)."""
    rules = []
    last = len(shape.blocks) - 1
    for number, block in enumerate(shape.blocks):
        component = block.components[0]
        if number > 0:
            after_group = _is_group(shape, number - 1)
            lower = _after(number - 1, "first" if after_group else "last")
            if after_group or not _is_group(shape, number):
                rules.append(AbsenceRule(component, ((lower, _before(number)),), members_too=after_group))
        if _is_group(shape, number):
            lower = _after(number - 1) if number > 0 else RegionEnd(Point(0, "first"), 0, True)
            upper = _before(number + 1) if number < last else _window_end(shape)
            rules.append(AbsenceRule(component, ((lower, upper),)))
    return rules


def _contiguity(shape: Shape) -> list[AbsenceRule]:
    """Strangers (semantics, rows contiguity and `B+` under it)."""
    regions: list[Region] = []
    last = len(shape.blocks) - 1
    for number in range(len(shape.blocks)):
        if _is_group(shape, number):
            lower = _after(number - 1) if number > 0 else _after(0, "first")
            upper = _before(number + 1) if number < last else RegionEnd(Point(number, "last"), -1, False)
            regions.append((lower, upper))
        elif number > 0 and not _is_group(shape, number - 1):
            regions.append((_after(number - 1), _before(number)))
    return [AbsenceRule(None, tuple(regions))] if regions else []
