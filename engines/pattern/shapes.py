"""The shape of an alternative: which blocks it has, and what must be absent between them.

Rules of absence put semantics' words into regions between ticks: negation, the rivals of
skip_till_next_match, the strangers of contiguity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Block,
    BlockKind,
    Point,
    Region,
    RegionEnd,
    Role,
    Shape,
    Together,
    groups_named_one_by_one,
    kind_of_group,
    point_of,
)
from cepctl.language.strategies import Absent, Strategy
from cepctl.plan.plan import Alternative, MemberTiming, Plan, Timing


def shape_of(plan: Plan, alternative: Alternative) -> Shape:
    """Work out the shape of an alternative."""
    components = alternative.components
    timings = tuple(each for each in alternative.timings if not _negated_side(alternative, each))
    every = (*alternative.timings, *alternative.member_timings)
    timed = {side for each in every for side in (each.left, each.right) if side is not None}
    named = groups_named_one_by_one(components, alternative.timings)
    blocks, gaps = list[Block](), list[list[int]]([[]])
    together: list[Together] = []
    for block in alternative.blocks:
        if block[0] in alternative.passed_over:
            continue
        if block in alternative.absent_together:
            together.append(Together(len(blocks), block, block in alternative.sequences))
            continue
        if components[block[0]].negated:
            gaps[-1].append(block[0])
            continue
        if len(block) > 1:
            # Rules speak of single events of AND, but of sets only as wholes.
            apart = timed & set(block) or (plan.strategy.asks_others and block not in alternative.sets)
            kind = BlockKind.UNORDERED if apart else BlockKind.SET
        elif components[block[0]].kleene:
            kind = kind_of_group(components[block[0]].ordered, block[0] in named)
        else:
            kind = BlockKind.SINGLE
        members = tuple(i for i in block if i not in alternative.absent_in_branches)
        blocks.append(Block(members, kind))
        gaps.append([])
    shape = Shape(alternative, plan.window, tuple(blocks), (), timings)
    rules = [_negation(shape, n, gap) for gap, negated in enumerate(gaps) for n in negated]
    rules += [_absence(shape, n, []) for n in alternative.absent_in_branches]
    rules += _rivals(shape, plan.strategy)
    of_members = tuple(each for each in alternative.member_timings if not _negated_side(alternative, each))
    return replace(shape, rules=tuple(rules), together=tuple(together), member_timings=of_members)


def absences_of(shape: Shape) -> tuple[AbsenceRule, ...]:
    """All rules of absence, and where the parts of what must not happen as a whole may decide."""
    parts = ((each.gap, part) for each in shape.together for part in each.parts)
    return (*shape.rules, *(AbsenceRule(part, (ends_of_gap(shape, gap),)) for gap, part in parts))


def ends_of_gap(shape: Shape, gap: int) -> Region:
    """The region of gap `gap`, as far as the window reaches at the edges."""
    return _negation(shape, -1, gap).regions[0]


def edge_of(region: Region, shape: Shape) -> Literal["before", "after"] | None:
    """Which edge of the window a region is: what lies before the first block, or after the last one."""
    last = len(shape.blocks) - 1
    if shape.window is not None and set(region) == {before_block(0), _window_start(shape, shape.window)}:
        return "before"
    return "after" if set(region) == {after_block(last), *_window_end(shape)} and len(region) == 2 else None


def _negated_side(alternative: Alternative, timing: Timing) -> bool:
    sides = [side for side in (timing.left, timing.right) if side is not None]
    return any(alternative.components[side].negated for side in sides)


def after_block(block: int, role: Role = "last") -> RegionEnd:
    """From the tick after the last event of a block, or its first one."""
    return RegionEnd(Point(block, role), 1, True)


def before_block(block: int) -> RegionEnd:
    """Up to the tick before the first event of a block."""
    return RegionEnd(Point(block, "first"), -1, False)


def _window_end(shape: Shape) -> list[RegionEnd]:
    """The end that the window sets to what comes after the first event: none without a window."""
    return [] if shape.window is None else [RegionEnd(Point(0, "first"), shape.window - 1, False)]


def _group_end(shape: Shape) -> list[RegionEnd]:
    """Until when a group at the end of the pattern takes what fits: its own last member, or the window."""
    last = len(shape.blocks) - 1
    if shape.alternative.components[shape.blocks[last].components[0]].running:
        return [RegionEnd(Point(last, "last"), 0, False)]
    return _window_end(shape)


def _window_start(shape: Shape, window: int) -> RegionEnd:
    """The begin that the window sets to what comes before the last event."""
    return RegionEnd(Point(len(shape.blocks) - 1, "last"), 1 - window, True)


def _negation(shape: Shape, negated: int, gap: int) -> AbsenceRule:
    """The negated component in gap `gap`: before block `gap`, after block `gap - 1`."""
    last = len(shape.blocks) - 1
    ends = [after_block(gap - 1)] if gap > 0 else []
    ends += [before_block(gap)] if gap <= last else []
    # Without a window, as for a group left out of its summary or where WITHIN is longer than all time, a gap
    # at an edge has no end there.
    if shape.window is not None and gap == 0:
        ends.append(_window_start(shape, shape.window))
    elif gap > last:
        ends += _window_end(shape)
    return _absence(shape, negated, ends)


def _absence(shape: Shape, negated: int, ends: Sequence[RegionEnd]) -> AbsenceRule:
    """A negated component between some ends, and where conditions on its time say."""
    regions: list[Region] = [tuple(ends)]
    spared: list[tuple[Point, int]] = []
    for timing in shape.alternative.timings:
        if negated not in (timing.left, timing.right):
            continue
        is_lower = timing.right == negated
        other, constant = (timing.left, -timing.bound) if is_lower else (timing.right, timing.bound)
        if timing.not_equal and other is not None and shape.alternative.components[other].kleene:
            spared.append((Point(shape.block_of(other), "each"), constant))
        else:
            limits = _limits(shape, other, constant, timing.not_equal, is_lower=is_lower)
            regions = [(*region, end) for region in regions for end in limits]
    for each in shape.alternative.member_timings:
        if negated in (each.left, each.right):
            limits = _limits_of_member(shape, each, is_lower=each.right == negated)
            regions = [(*region, end) for region in regions for end in limits]
    return AbsenceRule(negated, tuple(regions), spared=tuple(spared))


def _limits_of_member(shape: Shape, timing: MemberTiming, *, is_lower: bool) -> list[RegionEnd]:
    """Ends of a region at the first or the last member of a group."""
    other, which = (timing.left, timing.left_member) if is_lower else (timing.right, timing.right_member)
    assert other is not None
    constant = -timing.bound if is_lower else timing.bound
    point = Point(shape.block_of(other), "first" if which == "first" else "last")
    if timing.not_equal:
        return [RegionEnd(point, constant - 1, False), RegionEnd(point, constant + 1, True)]
    return [RegionEnd(point, constant, is_lower)]


def _limits(
    shape: Shape, other: int | None, constant: int, not_equal: bool, *, is_lower: bool
) -> list[RegionEnd]:
    point = None if other is None else point_of(shape, other)
    if not_equal:
        return [RegionEnd(point, constant - 1, False), RegionEnd(point, constant + 1, True)]
    if other is not None and shape.alternative.components[other].kleene:
        # Every member has to agree: the latest bounds from below, the earliest from above.
        point = Point(shape.block_of(other), "last" if is_lower else "first")
    return [RegionEnd(point, constant, is_lower)]


def _rivals(shape: Shape, strategy: Strategy) -> list[AbsenceRule]:
    match strategy.absent:
        case Absent.NOTHING:
            return []
        case Absent.NEARER:
            return _next_match(shape)
        case Absent.OTHERS:
            return [replace(rule, by_key=strategy.by_key) for rule in _contiguity(shape)]


def _is_group(shape: Shape, block: int) -> bool:
    components = shape.blocks[block].components
    return shape.alternative.components[components[0]].kleene or components in shape.alternative.sets


def _next_match(shape: Shape) -> list[AbsenceRule]:
    """Rivals (semantics, rows skip_till_next_match and `B+` under it); what is passed over has no other."""
    absent = (_passed_over(shape, each) for each in shape.alternative.passed_over)
    rules = [rule for rule in absent if rule is not None]
    last = len(shape.blocks) - 1
    for number, block in enumerate(shape.blocks):
        component = block.components[0]
        if len(block.components) > 1:
            rules += [_next_in_branch(shape, number, each) for each in block.components]
        elif number > 0:
            since = _may_take_since(shape, component)
            if since < number - 1 or _is_group(shape, since) or not _is_group(shape, number):
                rules.append(_untaken(shape, component, since, [before_block(number)]))
        if _is_group(shape, number):
            lower = after_block(number - 1) if number > 0 else RegionEnd(Point(0, "first"), 0, True)
            upper = [before_block(number + 1)] if number < last else _group_end(shape)
            rules.append(AbsenceRule(component, ((lower, *upper),)))
    return rules


def _may_take_since(shape: Shape, component: int) -> int:
    """The block after whose first event a component may take: all in between may be absent; -1 for none."""
    number = sum(block.components[-1] < component for block in shape.blocks) - 1
    while number > 0 and not shape.alternative.components[shape.blocks[number].components[0]].least:
        number -= 1
    return number


def _untaken(shape: Shape, component: int, since: int, upper: Sequence[RegionEnd]) -> AbsenceRule:
    """Nothing else fits a component after block `since`, or its first member, and before an end."""
    after_group = _is_group(shape, since)
    lower = after_block(since, "first" if after_group else "last")
    return AbsenceRule(component, ((lower, *upper),), members_too=after_group)


def _passed_over(shape: Shape, component: int) -> AbsenceRule | None:
    """Nothing fits what was passed over before an event behind it took; None where none is before it."""
    since = _may_take_since(shape, component)
    if since < 0:
        return None
    behind = sum(block.components[0] < component for block in shape.blocks)
    return _untaken(
        shape, component, since, [before_block(behind)] if behind < len(shape.blocks) else _window_end(shape)
    )


def may_take_further_on(shape: Shape) -> Iterator[tuple[int, int]]:
    """Pairs of a component and one that may be absent, took, and stands where the other may take, too."""
    takers = [block.components[0] for block in shape.blocks]
    for component in (*takers, *shape.alternative.passed_over):
        since = _may_take_since(shape, component)
        if since >= 0:
            yield from ((component, each) for each in takers[since + 1 :] if each < component)


def _next_in_branch(shape: Shape, number: int, component: int) -> AbsenceRule:
    """Rivals of one event of an AND group: from the one before in its branch, or before the group, on."""
    before = [
        i for i, j in shape.alternative.orders if j == component and i in shape.blocks[number].components
    ]
    lower = [RegionEnd(point_of(shape, each), 1, True) for each in before]
    if not before:
        lower = [after_block(number - 1) if number > 0 else RegionEnd(Point(0, "first"), 0, True)]
    return AbsenceRule(component, ((*lower, RegionEnd(point_of(shape, component), -1, False)),))


def _contiguity(shape: Shape) -> list[AbsenceRule]:
    """Strangers (semantics, rows contiguity and `B+` under it)."""
    regions: list[Region] = []
    spared: list[tuple[Point, int]] = []
    last = len(shape.blocks) - 1
    for number in range(len(shape.blocks)):
        if _is_group(shape, number):
            lower = after_block(number - 1) if number > 0 else after_block(0, "first")
            upper = before_block(number + 1) if number < last else RegionEnd(Point(number, "last"), -1, False)
            regions.append((lower, upper))
        elif number > 0 and not _is_group(shape, number - 1):
            regions.append((after_block(number - 1), before_block(number)))
        if len(shape.blocks[number].components) > 1 and not _is_group(shape, number):
            # Between two of its events that follow each other, so anywhere but at the tick of one.
            regions.append((after_block(number, "first"), RegionEnd(Point(number, "last"), -1, False)))
            spared.append((Point(number, "each"), 0))
    return [AbsenceRule(None, tuple(regions), spared=tuple(spared))] if regions else []
