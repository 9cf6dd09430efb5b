"""Items that can take part in a match: those that meet, for each other component, some item of it.

Items without such company are dropped, and then those that had only these, until none is (arc consistency).
First spans and types alone are asked; what they leave, where all components share an indexed attribute, is
told apart by its values.

A pattern as bounds between the ticks of its events: what spans are held to.

The tick of an event that has an end is its start.

A group counts as its first and its last member: two variables, the first not later than the last.  Absences
and `<>` are left out, so that whatever the pattern allows, these bounds allow too.

Bounds are Python's integers, which do not overflow; there are few of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from cepctl.numeric.arrays import Hashes, Reals
from cepctl.plan.plan import Alternative, Plan, Timing
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.conditions import values_asked
from cepctl.sketches.items import Items, first_tick_of, last_tick_of
from cepctl.sketches.listing import value_bits

_ROUNDS = 8
"""After so many rounds what is left is taken as it is; more would drop little."""

_MOST_PLACES = 8_000_000
"""More places of values than these are not read, as they are in memory together: spans alone then tell."""


@dataclass(frozen=True)
class Survivors:
    """The items of each variable of `bounds` that can take part in a match of one alternative.

    `whole` has for each variable the events of the origins of its items.
    """

    alternative: Alternative
    bounds: Bounds
    items: tuple[Items, ...]
    whole: tuple[Reals, ...]

    @property
    def any(self) -> bool:
        """Whether there is a possible match."""
        return all(len(each) for each in self.items)


def survivors(plan: Plan, archive: SketchArchive, effort: float = math.inf) -> Iterator[Survivors]:
    """What can take part in matches, for each alternative that can have one.

    Values are told apart where no more of them are to be read, for each row group that they may spare, than
    `effort`.
    """
    if plan.never is not None:
        return
    for alternative in plan.alternatives:
        found = _survivors(plan, alternative, archive, effort)
        if found.any:
            yield found


def _survivors(plan: Plan, alternative: Alternative, archive: SketchArchive, effort: float) -> Survivors:
    bounds = bounds_of(plan, alternative)
    items = {each: archive.items(alternative.components[each]) for each in set(bounds.components)}
    of_variables = tuple(items[each] for each in bounds.components)
    found = Survivors(alternative, bounds, of_variables, tuple(each.likely for each in of_variables))
    if not bounds.possible:
        return replace(found, items=tuple(each.where(np.zeros(0, dtype=np.int64)) for each in found.items))
    found = _settled(found)
    for name in shared_attributes(plan, alternative):
        if found.any and archive.tells(name):
            keyed = _keyed(found, archive, name, effort)
            return found if keyed is None else _settled(keyed)
    return found


def shared_attributes(plan: Plan, alternative: Alternative) -> list[str]:
    """Attributes that all events of a match share: `[attr]`, or equalities that reach every component."""
    names = list(plan.partition_by)
    for name in dict.fromkeys(each.left_attribute for each in alternative.equalities):
        reached = {alternative.positive[0]}
        pairs = [
            {each.left, each.right}
            for each in alternative.equalities
            if each.left_attribute == each.right_attribute == name
            # Other repetitions may share another value.
            and each.right not in alternative.turn(each.left)
        ]
        for _ in pairs:
            for pair in pairs:
                if pair & reached and pair <= set(alternative.positive):
                    reached |= pair
        if len(reached) > 1 and reached == set(alternative.positive):
            names.append(name)
    return names


def _keyed(found: Survivors, archive: SketchArchive, name: str, effort: float) -> Survivors | None:
    """Survivors told apart by the values of an attribute; None where these are too many."""
    short = any((each.place < 0).any() for each in found.items)
    keys = _fixed_keys(found, name, short=short)
    groups = len(np.unique(np.concatenate([each.group for each in found.items])))
    items: dict[int, Items] = {}
    for variable in sorted(range(len(found.items)), key=lambda each: len(found.items[each])):
        own = found.items[variable]
        if archive.cost_of_keys(own, name, keys, short=short) > min(effort * groups, _MOST_PLACES):
            return None
        keyed = archive.keyed(own, name, keys, short=short)
        if keyed is None:
            return None
        keys = np.unique(keyed.key)
        items[variable] = keyed
    return replace(found, items=tuple(items[variable] for variable in range(len(items))))


def _fixed_keys(found: Survivors, name: str, *, short: bool) -> Hashes | None:
    """The keys that constants of the query leave to an attribute that all components share; None: any."""
    keys: Hashes | None = None
    for number in set(found.bounds.components):
        for hashes in values_asked(found.alternative.components[number].filters, name):
            own = np.unique(value_bits(hashes) if short else hashes)
            keys = own if keys is None else np.intersect1d(keys, own)
    return keys


def _settled(found: Survivors) -> Survivors:
    """Drop what meets nothing of some component, until nothing is dropped."""
    items = [_within(each, number, found.bounds) for number, each in enumerate(found.items)]
    for _ in range(_ROUNDS):
        before = sum(map(len, items))
        for i in sorted(range(len(items)), key=lambda each: len(items[each])):
            for j in range(len(items)):
                if i != j and len(items[j]):
                    items[j] = _meeting(items, j, i, found.bounds)
        if sum(map(len, items)) == before:
            break
    return replace(found, items=tuple(items))


def _within(items: Items, variable: int, bounds: Bounds) -> Items:
    """Items that reach the time that constants of the query leave to a variable."""
    origin = len(bounds.components)
    zero = np.zeros(1, dtype=np.int64)
    first = first_tick_of(zero, bounds.between[origin][variable])[0]
    last = last_tick_of(zero, bounds.between[variable][origin])[0]
    return items.where((items.upper >= first) & (items.lower <= last))


def _meeting(items: Sequence[Items], own: int, other: int, bounds: Bounds) -> Items:
    """The items of a variable that meet some item of another."""
    mine, theirs = items[own], items[other]
    if not len(theirs):
        return mine.where(np.zeros(0, dtype=np.int64))
    first = first_tick_of(mine.lower, bounds.between[own][other])
    last = last_tick_of(mine.upper, bounds.between[other][own])
    return mine.where(theirs.meetings.events(mine.key, first, last) > 0)


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
    # The first and the last member of a group; of repetitions, what is of the first and what of the last.
    number_of = [components[:each].count(components[each]) for each in variables]

    def apart(i: int, j: int) -> bool:
        """Whether two variables are of different repetitions, which say nothing of each other."""
        return components[j] in alternative.turn(components[i]) and number_of[i] != number_of[j]

    for i, j in combinations(variables, 2):
        if components[i] == components[j]:
            yield i, j, 0
        elif apart(i, j):
            pass
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
            if i != j and (origin in (i, j) or not apart(i, j)):
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
