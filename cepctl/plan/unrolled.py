"""A reading with a component for each member of its groups in order: so many of each, one after the other.

    SEQ(A a, B+ b[], C c), b of 3       SEQ(A a, B b, B b, B b, C c)

What reads a group is not part of it: `origin` says which component of the reading each one comes from, so
that it can be asked of the group again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from cepctl.language.ast import MemberIndex
from cepctl.plan.plan import Alternative, Component, Equality, MemberTiming, Timing


@dataclass(frozen=True)
class Unrolled:
    """`alternative` binds single events; `origin` is, of each of its components, that of the reading.

    Its components begin with those that are bound and absent, in pattern order.  For every component that may
    take an event there is one more behind, negated, which stands for the events that it must not take:
    `rivals` gives its place.
    """

    reading: Alternative
    alternative: Alternative
    origin: tuple[int, ...]
    rivals: Mapping[int, int]

    @property
    def taken(self) -> tuple[int, ...]:
        """The components of the reading, in the order in which they take events, one for each event."""
        return tuple(self.origin[i] for i in self.alternative.positive)


def unrolled(reading: Alternative, sizes: Mapping[int, int]) -> Unrolled:
    """The reading with groups of these sizes, by component; what reads them is left out.

    The members of a group without order are one block.
    """
    origin: list[int] = []
    blocks: list[tuple[int, ...]] = []
    for block in reading.blocks:
        size = sizes.get(block[0], 1)
        members = [block * size] if not reading.components[block[0]].ordered else [block] * size
        for each in members:
            blocks.append(tuple(range(len(origin), len(origin) + len(each))))
            origin += each
    copies = {i: [at for at, each in enumerate(origin) if each == i] for i in range(len(reading.components))}
    rivals = {i: len(origin) + number for number, i in enumerate(reading.positive)}
    components = [
        *(replace(reading.components[i], kleene=False, ordered=False, filters=()) for i in origin),
        *(Component(f"other {reading.components[i].variable}", (), negated=True) for i in rivals),
    ]
    alternative = Alternative(
        tuple(components),
        tuple(blocks),
        equalities=tuple(_equalities(reading, copies, rivals)),
        timings=tuple(
            each
            for timing in (*reading.timings, *reading.member_timings)
            for each in _timings(timing, copies)
        ),
    )
    return Unrolled(reading, alternative, (*origin, *rivals), rivals)


def _equalities(
    reading: Alternative, copies: Mapping[int, list[int]], rivals: Mapping[int, int]
) -> Iterator[Equality]:
    for each in reading.equalities:
        for left, right in product(copies[each.left], copies[each.right]):
            yield replace(each, left=left, right=right)
        later, earlier = max(each.left, each.right), min(each.left, each.right)
        if later in rivals and earlier in rivals:
            # The first member of a group is there whenever a later component may take.
            here, there = rivals[later], copies[earlier][0]
            sides = (there, here) if each.left == earlier else (here, there)
            yield replace(each, left=sides[0], right=sides[1])


def _timings(timing: Timing, copies: Mapping[int, list[int]]) -> Iterator[Timing]:
    members: tuple[MemberIndex | None, MemberIndex | None] = (None, None)
    if isinstance(timing, MemberTiming):
        members = timing.left_member, timing.right_member
    sides = [
        [None] if side is None else _named(copies[side], member)
        for side, member in zip((timing.left, timing.right), members, strict=True)
    ]
    for left, right in product(*sides):
        yield Timing(left, right, timing.bound, timing.not_equal, timing.left_end, timing.right_end)


def _named(copies: list[int], member: MemberIndex | None) -> list[int]:
    """Those of the members of a group that a condition on times names."""
    return {"first": copies[:1], "last": copies[-1:]}.get(member or "each", copies)


def with_members(reading: Alternative, size: int) -> Alternative:
    """The reading with single events in place of all its groups, so many for each."""
    groups = {i: size for i in reading.positive if reading.components[i].kleene}
    return unrolled(reading, groups).alternative
