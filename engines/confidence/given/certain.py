"""Matches that GIVEN makes certain, or impossible: ties and intervals alone say all that they ask.

No sum is needed for them, nor could it say so: one of quotients may miss 1 by its last digits. It is decided
for each match, not for each of its sums: which of some events comes first may be open where it is certain.

What a match asks of every world are claims on how far apart two events are. Order, window and timing are
requirements of a single claim. That a rival is not where it may not be is one of several: it lies before
the region, or after it, or the region has no room. Ties, the pattern and the intervals bound how far apart
two events are: the least bound over all paths from one to another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE
from cepctl.engines.pattern.blocks import BlockKind, Point, Region, RegionEnd
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
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


def tied_systems(ties: EventTies, system: Ticks, matches: Indexes) -> Ticks:
    """The system of a pattern with the ties of the events of each match, shape (n, l, l), not closed.

    Parameters
    ----------
    ties
        What ties the events.
    system
        Bounds of `t_i - t_j` for events i and j of every match, shape (l, l).
    matches
        Row numbers of events, shape (n, l).
    """
    component, rank = ties.component[matches], ties.rank[matches]
    pair = (component[:, :, None] == component[:, None, :]) & (component[:, :, None] >= 0)
    match, left, right = np.nonzero(pair & ~np.eye(matches.shape[1], dtype=bool))
    own = component[match, left]
    found = np.full(len(match), UNBOUNDED, dtype=np.int64)
    serial = ties.serial[own]
    found[serial] = _along(ties, own[serial], rank[match, left][serial], rank[match, right][serial])
    for number in np.unique(own[~serial]):
        at = np.flatnonzero(own == number)
        apart = _closed(ties, int(number))
        found[at] = apart[rank[match[at], left[at]], rank[match[at], right[at]]]
    systems = np.repeat(system[None, :, :], len(matches), axis=0)
    systems[match, left, right] = np.minimum(systems[match, left, right], found)
    return systems


def _along(ties: EventTies, component: Indexes, left: Indexes, right: Indexes) -> Ticks:
    """The sum of the ties of a series from one rank to another; no bound the other way."""
    total = np.concatenate([[0], np.cumsum(ties.bound)])
    begin = ties.tie_offsets[component]
    forward = left < right
    apart = total[begin + np.where(forward, right, 0)] - total[begin + np.where(forward, left, 0)]
    return np.where(forward, apart, UNBOUNDED)


def _closed(ties: EventTies, component: int) -> Ticks:
    at = slice(int(ties.tie_offsets[component]), int(ties.tie_offsets[component + 1]))
    edges = zip(
        ties.rank[ties.left[at]].tolist(),
        ties.rank[ties.right[at]].tolist(),
        ties.bound[at].tolist(),
        strict=True,
    )
    return closure(int(ties.sizes[component]), list(edges))


class Decided(NamedTuple):
    """Which matches every world that is left returns, and which none does; shape (n,)."""

    always: Flags
    never: Flags


def decided_matches(matches: CoupledMatches, ties: EventTies) -> Decided:
    """What ties and intervals tell of matches."""
    required = list(requirements(matches))
    claims = [(each, claim) for each in required for claim in each.claims]
    # Of the first and the last member of a group, and of what must stay outside, nothing is told here.
    told = not (matches.shape.member_timings or matches.shape.outside)
    always, never = np.full(len(matches), told), np.zeros(len(matches), dtype=bool)
    if not claims:
        return Decided(always, never)
    left = np.concatenate([claim.left for _, claim in claims])
    right = np.concatenate([claim.right for _, claim in claims])
    apart = _Known(ties, matches.masses)
    most, least = apart.most(left, right), apart.most(right, left)
    begin = 0
    for each in required:
        met, lost = np.zeros(len(each.match), dtype=bool), np.ones(len(each.match), dtype=bool)
        for claim in each.claims:
            here = slice(begin, begin + len(claim.of))
            begin = here.stop
            sure, hopeless = most[here] <= claim.bound, least[here] < -claim.bound
            if claim.exact:
                sure &= least[here] <= -claim.bound
                hopeless |= most[here] < claim.bound
            met[claim.of[sure]] = True
            lost[claim.of[~hopeless]] = False
        always[each.match[~met]] = False
        never[each.match[lost]] = True
    return Decided(always, never & told)


@dataclass(frozen=True)
class _Known:
    ties: EventTies
    masses: Masses

    def most(self, left: Indexes, right: Indexes) -> Ticks:
        """The most that t_left - t_right is in a world that is left; the tick of no event is 0."""
        no_left, no_right = left == NO_VARIABLE, right == NO_VARIABLE
        latest = np.where(no_left, 0, self.masses.upper[left])
        earliest = np.where(no_right, 0, self.masses.lower[right])
        apart = latest - earliest
        apart = np.where((latest > earliest) & (apart < 0), LAST, apart)
        apart = np.where((latest < earliest) & (apart > 0), FIRST, apart)
        apart[left == right] = 0
        tied = np.flatnonzero(~no_left & ~no_right & (left != right) & self.ties.touches(left))
        pairs = np.stack([left[tied], right[tied]], axis=1)
        free = np.array([[0, UNBOUNDED], [UNBOUNDED, 0]])
        apart[tied] = np.minimum(apart[tied], tied_systems(self.ties, free, pairs)[:, 0, 1])
        return np.asarray(apart)
