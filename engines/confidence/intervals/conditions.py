"""What a pattern asks of the endpoints of the events it binds, as difference constraints.

A component has two places, its start and its end; `x - y <= c` between two places is an edge.  An order of
blocks, a window, a timing constraint and a relation are lists of edges.  Where one of several lists has to
hold (`OVERLAPS|DURING`, `<>`) there are several cases, of which no two hold at once.  An absence may ask
something of the match alone, as INTERSECTS BY does of its length: that splits the cases once more, so that in
each of them what must be absent depends on its own endpoints and on how they lie to those of the match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise, product
from typing import TypeAlias

import numpy as np

from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Ticks
from cepctl.plan.plan import Alternative, Timing

Place: TypeAlias = int
"""2 k is the start of the k-th positive component, 2 k + 1 its end."""
CONSTANT: Place = -1
"""The tick 0."""
Edge: TypeAlias = tuple[Place, Place, int]
Case: TypeAlias = tuple[Edge, ...]

MAX_CASES = 256


def cases_of(alternative: Alternative, window: int | None) -> tuple[Case, ...]:
    """The cases of the positive components of an alternative without Kleene groups.

    Raises
    ------
    QueryTooLargeError
        If there are more than MAX_CASES.
    """
    return _cases(alternative, [*_order(alternative), *_window(alternative, window)], None)


def absence_cases(alternative: Alternative, window: int | None, absent: int) -> tuple[Case, ...]:
    """When an event that fits the negated component `absent` breaks a match: cases that exclude each other.

    Its own places follow those of the positive components.

    Raises
    ------
    QueryTooLargeError
        If there are more than MAX_CASES.
    """
    return _cases(alternative, [*_gap(alternative, window, absent)], absent)


def part_case(alternative: Alternative, window: int | None, part: int) -> Case:
    """Where an event for a part of `!SEQ` or `!AND` has to lie; its places follow those of the match."""
    positive = alternative.positive
    moved = 2 * len(positive) - place_of(alternative, part, end=False)
    return tuple(
        (i + moved if i >= 2 * len(positive) else i, j + moved if j >= 2 * len(positive) else j, bound)
        for i, j, bound in _gap(alternative, window, part)
    )


def whole_case(alternative: Alternative, window: int | None, parts: Sequence[int]) -> Case:
    """When events that fit the parts of `!SEQ` or `!AND` break a match; their places follow its own."""
    edges = [edge for part in parts for edge in _gap(alternative, window, part)]
    if tuple(parts) in alternative.sequences:
        for before, after in pairwise(parts):
            end, start = place_of(alternative, before, end=True), place_of(alternative, after, end=False)
            edges.append((end, start, -1))
    return tuple(edges)


def _cases(alternative: Alternative, always: Sequence[Edge], absent: int | None) -> tuple[Case, ...]:
    """Every choice between the conditions that name `absent`, or no negated component."""
    plain, choices = [], []
    for each in alternative.timings:
        if _absent_of(alternative, [each]) == absent:
            if each.not_equal:
                choices.append(unequal(each))
            else:
                plain.append(each)
    choices += [each for each in alternative.choices if _absent_of(alternative, each[0]) == absent]
    count = int(np.prod([len(each) for each in choices], dtype=float))
    if count > MAX_CASES:
        raise QueryTooLargeError(
            f"unions of relations and `<>` between times make {count:,} cases, {MAX_CASES} are the most; "
            "leave some out, or ask for them one by one"
        )
    return tuple(
        tuple(chain(always, edges_of(alternative, [*plain, *chain.from_iterable(chosen)])))
        for chosen in product(*choices)
    )


def _absent_of(alternative: Alternative, timings: Iterable[Timing]) -> int | None:
    """The negated component that conditions name, if any."""
    sides = (side for each in timings for side in (each.left, each.right) if side is not None)
    return next((side for side in sides if alternative.components[side].negated), None)


def own_edges(components: int) -> list[Edge]:
    """No event ends before it starts."""
    return [(2 * k, 2 * k + 1, 0) for k in range(components)]


def hull_system(cases: Iterable[Case], components: int) -> Ticks | None:
    """What all cases say of the ticks of two components, whichever of their ticks: shape (l, l).

    Entry [i, j] bounds the difference of some tick of i and some tick of j, so that it may be held against
    the hulls of their events.  None if no case can hold.
    """
    found: Ticks | None = None
    for case in cases:
        edges = [each for each in case if CONSTANT not in each[:2]]
        system = closure(2 * components, [*own_edges(components), *edges])
        if (np.diag(system) < 0).any():
            continue
        hull = system.reshape(components, 2, components, 2).min(axis=(1, 3))
        np.fill_diagonal(hull, 0)
        found = hull if found is None else np.maximum(found, hull)
    return found


def without_redundant(count: int, edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Constraints over `count` places, without those that others imply."""
    tightest: dict[tuple[Place, Place], int] = {}
    for i, j, bound in edges:
        tightest[i, j] = min(tightest.get((i, j), UNBOUNDED), bound)
    kept = sorted((i, j, bound) for (i, j), bound in tightest.items() if i != j or bound < 0)
    for each in sorted(kept, key=lambda edge: -edge[2]):
        others = [other for other in kept if other != each]
        if closure(count, others)[each[0], each[1]] <= each[2]:
            kept = others
    return tuple(kept)


def unequal(timing: Timing) -> tuple[tuple[Timing, ...], ...]:
    """The two cases of `t(left) - t(right) <> c`: less, or more."""
    less = replace(timing, bound=timing.bound - 1, not_equal=False)
    more = Timing(
        *(timing.right, timing.left, -timing.bound - 1, False),
        *(timing.right_end, timing.left_end),
    )
    return (less,), (more,)


def _order(alternative: Alternative) -> Iterator[Edge]:
    """All of a block ends before anything of the next begins."""
    for before, after in pairwise(alternative.positive_blocks):
        for i, j in product(before, after):
            yield (place_of(alternative, i, end=True), place_of(alternative, j, end=False), -1)


def _gap(alternative: Alternative, window: int | None, absent: int) -> Iterator[Edge]:
    """A negated component looks strictly between its neighbours, or as far as the window from the match."""
    if absent in alternative.absent_anywhere:
        return
    components, blocks = alternative.components, alternative.blocks
    start, end = (place_of(alternative, absent, end=each) for each in (False, True))
    at = next(number for number, block in enumerate(blocks) if absent in block)
    positive = [block for block in blocks if not components[block[0]].negated]
    before = [block for block in positive if blocks.index(block) < at]
    after = [block for block in positive if blocks.index(block) > at]
    for i in before[-1] if before else ():
        if not components[i].negated:
            yield (place_of(alternative, i, end=True), start, -1)
    for j in after[0] if after else ():
        if not components[j].negated:
            yield (end, place_of(alternative, j, end=False), -1)
    if window is None or (before and after):
        return
    for k in alternative.positive:
        if not before:  # later than the last tick less the window
            yield (place_of(alternative, k, end=True), start, window - 1)
        else:
            yield (end, place_of(alternative, k, end=False), window - 1)


def _window(alternative: Alternative, window: int | None) -> Iterator[Edge]:
    """Every end is less than the window after every start."""
    if window is not None:
        for i, j in product(range(len(alternative.positive)), repeat=2):
            yield (2 * i + 1, 2 * j, window - 1)


def edges_of(alternative: Alternative, timings: Iterable[Timing]) -> Iterator[Edge]:
    """Timing constraints as edges between places."""
    for each in timings:
        left = CONSTANT if each.left is None else place_of(alternative, each.left, end=each.left_end)
        right = CONSTANT if each.right is None else place_of(alternative, each.right, end=each.right_end)
        yield (left, right, each.bound)


def place_of(alternative: Alternative, component: int, *, end: bool) -> Place:
    """The place of a component's start or end; negated ones, alone or a whole, follow all positive ones."""
    positive = alternative.positive
    if component in positive:
        return 2 * positive.index(component) + end
    whole = next((block for block in alternative.absent_together if component in block), (component,))
    return 2 * (len(positive) + whole.index(component)) + end
