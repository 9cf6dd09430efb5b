"""Matches that bind Kleene groups of points beside interval events: each member is a component of its own.

What is asked of the group's variable is asked of each of its members; those of a group whose order matters
follow one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import Bindings, Group, single_events, take
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.intervals.conditions import cases_of
from cepctl.engines.intervals.search import IntervalSearch, all_hold
from cepctl.plan.plan import Alternative, Component, Timing


def by_size(
    search: IntervalSearch, bound: Sequence[Bindings]
) -> Iterator[tuple[IntervalSearch, Indexes, Indexes]]:
    """Matches whose groups are of the same sizes, as bindings of single events: shape (n, events), and rows.

    `bound` are the bindings of the positive components, in pattern order.

    Raises
    ------
    QueryTooLargeError
        If what is asked of all members makes too many cases.
    """
    for sizes, matches, rows in alike_in_size(bound):
        yield of_sizes(search, sizes), matches, rows


def alike_in_size(bound: Sequence[Bindings]) -> Iterator[tuple[tuple[int, ...], Indexes, Indexes]]:
    """How many events each component binds, in rows of which that is true, and these."""
    if not any(isinstance(each, Group) for each in bound):
        matches = single_events(bound)
        yield (1,) * len(bound), matches, np.arange(len(matches))
        return
    count = next(len(each.sizes) for each in bound if isinstance(each, Group))
    sizes = np.stack(
        [each.sizes if isinstance(each, Group) else np.ones(count, np.int64) for each in bound], axis=1
    )
    distinct, which = np.unique(sizes, axis=0, return_inverse=True)
    for number, size in enumerate(distinct.tolist()):
        rows = np.flatnonzero(which.reshape(-1) == number)
        columns = [_columns(take(each, rows), len(rows)) for each in bound]
        yield tuple(size), np.concatenate(columns, axis=1), rows


def all_hold_by_size(searches: Sequence[IntervalSearch], bound: Sequence[Bindings]) -> Reals:
    """The probability that several alternatives hold together for the same events, shape (n,)."""
    found = np.zeros(len(bound[0].sizes if isinstance(bound[0], Group) else bound[0]))
    for sizes, matches, rows in alike_in_size(bound):
        found[rows] = all_hold([of_sizes(each, sizes) for each in searches], matches)
    return found


def measured_by_size(search: IntervalSearch, bound: Sequence[Bindings]) -> Measured:
    """Measure matches of single events and groups; raises QueryTooLargeError where one needs too much."""
    found = impossible(len(bound[0].sizes if isinstance(bound[0], Group) else bound[0]))
    for own, matches, rows in by_size(search, bound):
        found.put(rows, own.measured(matches))
    return found


def _columns(bound: Bindings, count: int) -> Indexes:
    return (bound.members if isinstance(bound, Group) else bound).reshape(count, -1)


def of_sizes(search: IntervalSearch, sizes: tuple[int, ...]) -> IntervalSearch:
    """The same for matches whose positive components bind so many events."""
    alternative = search.alternative
    if not any(alternative.components[i].kleene for i in alternative.positive):
        return search
    apart, places = members_apart(alternative, sizes)
    cases = _cases(apart, search.window)
    negations = tuple(
        each.of_members(apart, places[each.component][0], search.window, cases) for each in search.negations
    )
    others = tuple(of_sizes(each, sizes) for each in search.others)
    return replace(search.beside(cases, negations, sizes), others=others)


_cases = lru_cache(maxsize=256)(cases_of)


@lru_cache(maxsize=256)
def members_apart(
    alternative: Alternative, sizes: tuple[int, ...]
) -> tuple[Alternative, Mapping[int, tuple[int, ...]]]:
    """The components on times alone, a group as so many single ones, and where each of them then is."""
    left = dict(zip(alternative.positive, sizes, strict=True))
    components: list[Component] = []
    places: dict[int, tuple[int, ...]] = {}
    for i, component in enumerate(alternative.components):
        count = left.get(i, 1)
        places[i] = tuple(range(len(components), len(components) + count))
        components += [replace(component, kleene=False, ordered=False)] * count
    blocks: list[tuple[int, ...]] = []
    for block in alternative.blocks:
        if alternative.components[block[0]].ordered:
            blocks += [(each,) for each in places[block[0]]]
        else:
            blocks.append(tuple(each for i in block for each in places[i]))
    choices = (case for each in alternative.choices for case in _spread(each, places))
    timings = (cases[0][0] for each in alternative.timings for cases in _spread(((each,),), places))
    return Alternative(
        tuple(components), tuple(blocks), timings=tuple(timings), choices=tuple(choices)
    ), places


def _spread(
    cases: tuple[tuple[Timing, ...], ...], places: dict[int, tuple[int, ...]]
) -> Iterator[tuple[tuple[Timing, ...], ...]]:
    """What is asked of variables, of each choice of their members."""
    sides = {side for case in cases for each in case for side in (each.left, each.right)}
    named = sorted(side for side in sides if side is not None)
    for chosen in product(*(places[each] for each in named)):
        number: dict[int | None, int | None] = {None: None, **dict(zip(named, chosen, strict=True))}
        yield tuple(
            tuple(replace(each, left=number[each.left], right=number[each.right]) for each in case)
            for case in cases
        )
