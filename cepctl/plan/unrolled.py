"""A reading with a component for each member of its groups in order: so many of each, one after the other.

    SEQ(A a, B+ b[], C c), b of 3       SEQ(A a, B b, B b, B b, C c)

What reads a group is not part of it: `origin` says which component of the reading each one comes from, so
that it can be asked of the group again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise, product

from cepctl.language.ast import MemberIndex
from cepctl.plan.plan import Alternative, Component, Equality, MemberTiming, Timing, members_of_sides


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
    def shown(self) -> Alternative:
        """The reading without what takes nothing here: the components that rows show."""
        reading, taken = self.reading, set(self.taken)
        absent = tuple(i for i in reading.positive if i not in taken)
        if not absent:
            return reading
        kept = [i for i in range(len(reading.components)) if i not in absent]
        return replace(
            reading,
            components=tuple(reading.components[i] for i in kept),
            blocks=tuple((place,) for place in range(len(kept))),
            links=(),
            equalities=(),
            timings=(),
            member_timings=(),
            absent=tuple(reading.components[i].variable for i in absent),
        )

    @property
    def lead(self) -> int:
        """How many events are taken up to those of the last AND, one for each component."""
        return len(self.reading.lead)

    @property
    def lead_blocks(self) -> int:
        """How many blocks those are."""
        return sum(block[0] in self.reading.lead for block in self.reading.positive_blocks)

    @cached_property
    def places(self) -> tuple[range, ...]:
        """Of each block the places of its events among those that are taken."""
        ends = list(accumulate((len(block) for block in self.alternative.positive_blocks), initial=0))
        return tuple(range(*ends) for ends in pairwise(ends))

    def block_at(self, place: int) -> int:
        """The block that the event at a place belongs to."""
        return next(block for block, places in enumerate(self.places) if place in places)

    @cached_property
    def taken(self) -> tuple[int, ...]:
        """The components of the reading, in the order in which they take events, one for each event."""
        return tuple(self.origin[i] for i in self.alternative.positive)


def unrolled(reading: Alternative, sizes: Mapping[int, int]) -> Unrolled:
    """The reading with groups of these sizes, by component; what reads them is left out.

    The members of a group without order are one block, those of a group inside AND belong to its block.
    """
    origin: list[int] = []
    blocks: list[tuple[int, ...]] = []
    sets: list[tuple[int, ...]] = []
    for block in reading.blocks:
        turn = reading.turn(block[0])
        if block[0] != turn[0]:
            continue
        size = sizes.get(block[0], 1)
        apart = reading.components[block[0]].ordered or size == 0
        if len(turn) > 1:
            members = [turn[at : at + 1] for at in range(len(turn))] * size
        elif len(block) > 1:
            members = [tuple(i for i in block for _ in range(sizes.get(i, 1)))]
        else:
            members = [block] * size if apart else [block * size]
        for each in members:
            blocks.append(tuple(range(len(origin), len(origin) + len(each))))
            origin += each
        if len(block) == 1 and reading.components[block[0]].kleene and not apart:
            sets.append(blocks[-1])
    copies = {i: [at for at, each in enumerate(origin) if each == i] for i in range(len(reading.components))}
    rivals = {i: len(origin) + number for number, i in enumerate(reading.positive)}
    # Of a group in order inside AND each member comes before the next one.
    in_and = [i for block in reading.positive_blocks for i in block if len(block) > 1]
    rising = [pair for i in in_and if reading.components[i].ordered for pair in pairwise(copies[i])]
    components = [
        *(_one_event(reading.components[i]) for i in origin),
        *(Component(f"other {reading.components[i].variable}", (), negated=True) for i in rivals),
    ]
    alternative = Alternative(
        tuple(components),
        tuple(blocks),
        equalities=tuple(_equalities(reading, copies, rivals)),
        timings=(
            *(
                each
                for timing in (*reading.timings, *reading.member_timings)
                for each in _timings(reading, timing, copies)
            ),
            *(Timing(*pair, -1) for pair in rising),
        ),
        sets=tuple(sets),
        orders=(
            *(pair for one, other in reading.orders for pair in product(copies[one], copies[other])),
            *rising,
        ),
        # What must not happen as a whole is there once.
        sequences=tuple(tuple(copies[i][0] for i in block) for block in reading.sequences),
    )
    return Unrolled(reading, alternative, (*origin, *rivals), rivals)


def _one_event(component: Component) -> Component:
    return replace(component, kleene=False, ordered=False, running=False, filters=())


def _equalities(
    reading: Alternative, copies: Mapping[int, list[int]], rivals: Mapping[int, int]
) -> Iterator[Equality]:
    for each in reading.equalities:
        for left, right in _pairs(reading, each.left, each.right, copies):
            yield replace(each, left=left, right=right)
        later, earlier = max(each.left, each.right), min(each.left, each.right)
        sure = not reading.passes_over or reading.components[earlier].least
        if later in rivals and earlier in rivals and sure:
            # The first member of a group is there whenever a later component may take.
            here, there = rivals[later], copies[earlier][0]
            sides = (there, here) if each.left == earlier else (here, there)
            yield replace(each, left=sides[0], right=sides[1])


def _pairs(
    reading: Alternative, left: int, right: int, copies: Mapping[int, list[int]]
) -> Iterable[tuple[int, int]]:
    """Each event of one component with each of another; of what takes in turn those of one turn."""
    if right in reading.turn(left):
        return zip(copies[left], copies[right], strict=True)
    return product(copies[left], copies[right])


def _timings(reading: Alternative, timing: Timing, copies: Mapping[int, list[int]]) -> Iterator[Timing]:
    sides = zip((timing.left, timing.right), members_of_sides(timing), strict=True)
    if isinstance(timing, MemberTiming) or timing.left is None or timing.right is None:
        lefts, rights = ([None] if side is None else _chosen(copies[side], which) for side, which in sides)
        pairs: Iterable[tuple[int | None, int | None]] = product(lefts, rights)
    else:
        pairs = _pairs(reading, timing.left, timing.right, copies)
    for left, right in pairs:
        ends = timing.not_equal, timing.left_end, timing.right_end
        yield Timing(left, right, timing.bound, *ends)


def _chosen(members: list[int], which: MemberIndex | None) -> list[int | None]:
    """The first or the last of them, or each."""
    chosen = {"first": members[:1], "last": members[-1:]}
    return [*(members if which is None else chosen[which])]


def with_members(reading: Alternative, size: int) -> Alternative:
    """The reading with single events in place of all its groups, so many for each."""
    groups = {i: size for i in reading.positive if reading.components[i].kleene}
    return unrolled(reading, groups).alternative
