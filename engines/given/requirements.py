"""What a match asks of every world, as claims on how far apart two events are: one settles a requirement.

Order, window and timing are requirements of a single claim.  That a rival is not where it may not be is one
of several: it lies before the region, or behind it, or the region has no room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE
from cepctl.engines.pattern.blocks import BlockKind, Point, Region, RegionEnd
from cepctl.engines.pattern.rivals import Rivals
from cepctl.plan.plan import Timing


@dataclass(frozen=True)
class Claims:
    """t_left - t_right <= bound, or == where it is `exact`, for pairs of events; `of`: their requirements."""

    of: Indexes
    left: Indexes
    right: Indexes
    bound: int
    exact: bool = False


@dataclass(frozen=True)
class Requirements:
    """Requirements of matches, shape (r,): each is met in every world where one of its claims is sure."""

    match: Indexes
    claims: tuple[Claims, ...]


def requirements(matches: CoupledMatches) -> Iterator[Requirements]:
    """All that matches ask of the ticks of events; where all is met, they are returned."""
    yield from _in_order(matches)
    for timing in matches.shape.timings:
        yield _timed(matches, timing)
    for rivals in matches.rivals:
        for region in rivals.rule.regions:
            yield _absent(matches, rivals, region)


def _in_order(matches: CoupledMatches) -> Iterator[Requirements]:
    shape, groups = matches.shape, matches.groups
    for before, after in pairwise(groups):
        yield _one_claim(*_pairs(before, after), -1)
    if shape.window is not None:
        yield _one_claim(*_pairs(groups[-1], groups[0]), shape.window - 1)
    for block, group in zip(shape.blocks, groups, strict=True):
        if block.kind is BlockKind.SEQUENCE:
            owner = group.owner
            at = np.flatnonzero(owner[1:] == owner[:-1])
            yield _one_claim(owner[at], group.members[at], group.members[at + 1], -1)


def _timed(matches: CoupledMatches, timing: Timing) -> Requirements:
    left, right = (_bound_by(matches, component) for component in (timing.left, timing.right))
    match, first, second = _pairs(left, right)
    if not timing.not_equal:
        return _one_claim(match, first, second, timing.bound)
    each = np.arange(len(match))
    return Requirements(
        match,
        (
            Claims(each, first, second, _in_int64(timing.bound - 1)),
            Claims(each, second, first, _in_int64(-timing.bound - 1)),
        ),
    )


def _one_claim(match: Indexes, left: Indexes, right: Indexes, bound: int) -> Requirements:
    return Requirements(match, (Claims(np.arange(len(match)), left, right, bound),))


def _absent(matches: CoupledMatches, rivals: Rivals, region: Region) -> Requirements:
    """That rivals are outside a region.

    Where one member of a block is enough to open or close it, there is a requirement for each member.
    """
    pair, chosen = np.arange(len(rivals.row)), dict[int, Indexes]()
    for place, end in enumerate(region):
        if _one_is_enough(end):
            owned = _at(matches, end.point).take(rivals.row[pair])
            chosen = {other: event[owned.owner] for other, event in chosen.items()}
            pair, chosen[place] = pair[owned.owner], owned.members
    match, rival = rivals.row[pair], rivals.event[pair]
    groups = [
        _single(chosen[place]) if place in chosen else _at(matches, end.point).take(match)
        for place, end in enumerate(region)
    ]
    claims = []
    for end, group in zip(region, groups, strict=True):
        own = rival[group.owner]
        sides = (own, group.members) if end.is_lower else (group.members, own)
        apart = end.constant if end.is_lower else -end.constant
        claims.append(Claims(group.owner, *sides, _in_int64(apart - 1)))
    for (low, opening), (high, closing) in product(zip(region, groups, strict=True), repeat=2):
        if low.is_lower and not high.is_lower:
            room = _in_int64(low.constant - high.constant - 1)
            claims.append(Claims(*_pairs(closing, opening), room))
    for point, constant in rivals.rule.spared:
        group = _at(matches, point).take(match)
        claims.append(Claims(group.owner, rival[group.owner], group.members, constant, exact=True))
    return Requirements(match, tuple(claims))


def _one_is_enough(end: RegionEnd) -> bool:
    """Whether a tick is inside as soon as one member of the end's block is on its other side."""
    return end.point is not None and end.point.role == ("first" if end.is_lower else "last")


def _at(matches: CoupledMatches, point: Point | None) -> Group:
    """The events that a point speaks of; NO_VARIABLE for none."""
    if point is None:
        return _bound_by(matches, None)
    return _bound_by(matches, point.component) if point.role == "only" else matches.groups[point.block]


def _bound_by(matches: CoupledMatches, component: int | None) -> Group:
    """What a component binds, NO_VARIABLE for none."""
    if component is None:
        return _single(np.full(len(matches), NO_VARIABLE))
    number = matches.shape.block_of(component)
    components, group = matches.shape.blocks[number].components, matches.groups[number]
    if len(components) == 1:
        return group
    return _single(group.members[group.offsets[:-1] + components.index(component)])


def _single(events: Indexes) -> Group:
    return Group(np.arange(len(events) + 1), events)


def _pairs(first: Group, second: Group) -> tuple[Indexes, Indexes, Indexes]:
    """All pairs of a member of the first and one of the second of an owner: owner, first, second."""
    owned = second.take(first.owner)
    return first.owner[owned.owner], first.members[owned.owner], owned.members


def _in_int64(bound: int) -> int:
    return min(max(bound, FIRST), LAST)
