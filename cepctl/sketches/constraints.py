"""A pattern as bounds between the ticks of its events: what spans are held to.

The tick of an event that has an end is its start.

A group counts as its first and its last member: two variables, the first not later than the last.  Absences
and `<>` are left out, so that whatever the pattern allows, these bounds allow too.

Bounds are Python's integers, which do not overflow; there are few of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from cepctl.plan.plan import Alternative, Plan, Timing

Bound = int | None
"""In ticks; None where there is none."""


@dataclass(frozen=True)
class Bounds:
    """Bounds of one alternative, closed under addition.

    `components[v]` is the component of variable v; `between[i][j]` bounds `t_i - t_j` from above.  The last
    row and column are those of tick 0.  `possible` is false where no ticks can satisfy them.
    """

    components: tuple[int, ...]
    between: tuple[tuple[Bound, ...], ...]
    possible: bool


def bounds_of(plan: Plan, alternative: Alternative) -> Bounds:
    """The bounds of one alternative of a plan.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> plan = analyze(parse("PATTERN SEQ(A a, B b) WITHIN 5 ticks"))
    >>> [row[:2] for row in bounds_of(plan, plan.alternatives[0]).between[:2]]
    [(0, -1), (4, 0)]
    """
    components = tuple(
        number
        for number in alternative.positive
        for _ in range(2 if alternative.components[number].kleene else 1)
    )
    count = len(components)
    between: list[list[Bound]] = [[None] * (count + 1) for _ in range(count + 1)]
    for number in range(count + 1):
        between[number][number] = 0
    for i, j, bound in _direct(plan, alternative, components):
        known = between[i][j]
        between[i][j] = bound if known is None else min(known, bound)
    _close(between)
    possible = all(not (own := between[i][i]) or own >= 0 for i in range(count + 1))
    return Bounds(components, tuple(map(tuple, between)), possible)


def _direct(
    plan: Plan, alternative: Alternative, components: tuple[int, ...]
) -> Iterator[tuple[int, int, int]]:
    """What the pattern says itself, as (i, j, c): t_i - t_j <= c."""
    variables = range(len(components))
    block = {number: place for place, members in enumerate(alternative.blocks) for number in members}
    for i, j in combinations(variables, 2):
        if components[i] == components[j]:
            yield i, j, 0
        elif block[components[i]] < block[components[j]]:
            yield i, j, -1
        elif block[components[j]] < block[components[i]]:
            yield j, i, -1
        if plan.window is not None:
            yield i, j, plan.window - 1
            yield j, i, plan.window - 1
    origin = len(components)
    for timing in alternative.timings:
        sides = (timing.left, timing.right)
        negated = any(side is not None and alternative.components[side].negated for side in sides)
        # Of an end, which may be anywhere between the start and the end of the event, nothing is told.
        of_ends = timing != Timing(timing.left, timing.right, timing.bound, timing.not_equal)
        if timing.not_equal or negated or of_ends:
            continue
        left, right = (
            [origin] if side is None else [v for v in variables if components[v] == side] for side in sides
        )
        for i, j in product(left, right):
            if i != j:
                yield i, j, timing.bound


def _close(between: list[list[Bound]]) -> None:
    """Make every implied bound explicit (Floyd and Warshall)."""
    count = range(len(between))
    for k, i in product(count, count):
        first = between[i][k]
        if first is None:
            continue
        for j in count:
            second, known = between[k][j], between[i][j]
            if second is not None and (known is None or first + second < known):
                between[i][j] = first + second
