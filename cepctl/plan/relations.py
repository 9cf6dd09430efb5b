"""What relations between interval events say of their endpoints, as difference constraints.

An interval event has a start s and an end t, a point has s = t.  Let sign(x) be 0 where |x| <= tolerance,
else the sign of x.  The signs of s_a - s_b and t_a - t_b name the relation, those of t_a - s_b or
t_b - s_a tell the three apart that share them; in every world exactly one of the 13 holds (Allen 1983).

    s, t     -  before, meets, overlaps by t_a - s_b     0  finished_by     +  contains
     -,          (third sign -, 0, +)
     0,          starts                                     equals             started_by
     +,          during                                     finishes           after, met_by, overlapped_by
                                                                               (t_b - s_a: -, 0, +)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal, TypeAlias

from cepctl.language.ast import Allen, Interrelation, Query
from cepctl.language.messages import QueryProblem
from cepctl.language.printer import duration_text, expression_to_text
from cepctl.language.traversal import conjuncts
from cepctl.plan.timings import FARTHEST, Difference, Side, duration_ticks
from cepctl.schema import TimeUnit

Sign: TypeAlias = Literal[-1, 0, 1]
Case: TypeAlias = tuple[Difference, ...]
"""Differences that hold together."""

_SIGNS: Mapping[Interrelation, tuple[Sign, Sign, Sign | None]] = {
    "equals": (0, 0, None),
    "starts": (0, -1, None),
    "started_by": (0, 1, None),
    "during": (1, -1, None),
    "contains": (-1, 1, None),
    "finishes": (1, 0, None),
    "finished_by": (-1, 0, None),
    "before": (-1, -1, -1),
    "meets": (-1, -1, 0),
    "overlaps": (-1, -1, 1),
    "after": (1, 1, -1),
    "met_by": (1, 1, 0),
    "overlapped_by": (1, 1, 1),
}


def related(relation: Allen, unit: TimeUnit) -> tuple[Case, ...]:
    """The cases of a relation: one of them holds where it does, and no two at once.

    Raises
    ------
    QueryProblem
        If TOLERANCE or BY is not a whole number of ticks, or an event is related to itself.
    """
    if relation.left.lower() == relation.right.lower():
        raise QueryProblem(relation.span, f"'{relation.left}' is related to itself: name two events")
    tolerance, by = (
        None if given is None else min(duration_ticks(given, unit), FARTHEST)
        for given in (relation.tolerance, relation.by)
    )
    left, right = relation.left.lower(), relation.right.lower()
    if relation.relations == ("intersects",):
        return (tuple(_intersecting(left, right, by)),)
    return tuple(tuple(_signed(each, left, right, tolerance or 0)) for each in relation.relations)


def _intersecting(left: str, right: str, by: int | None) -> Iterator[Difference]:
    """`s_a < t_b` and `s_b < t_a`; or the smaller end at least `by` after the larger start."""
    if by is None:
        yield Difference(left, right, -1, right_end=True)
        yield Difference(right, left, -1, right_end=True)
        return
    for start, end in product((left, right), repeat=2):
        yield Difference(start, end, -by, right_end=True)


def _signed(relation: Interrelation, left: str, right: str, tolerance: int) -> Iterator[Difference]:
    starts, ends, third = _SIGNS[relation]
    yield from _of_sign((left, False), (right, False), starts, tolerance)
    yield from _of_sign((left, True), (right, True), ends, tolerance)
    if third is not None:
        first, second = (left, right) if starts < 0 else (right, left)
        yield from _of_sign((first, True), (second, False), third, tolerance)


def _of_sign(one: Side, other: Side, sign: Sign, tolerance: int) -> Iterator[Difference]:
    """The tick of `one` less that of `other` has this sign."""
    if sign <= 0:
        yield _at_most(one, other, tolerance if sign == 0 else -tolerance - 1)
    if sign >= 0:
        yield _at_most(other, one, tolerance if sign == 0 else -tolerance - 1)


def _at_most(one: Side, other: Side, bound: int) -> Difference:
    return Difference(one[0], other[0], bound, left_end=one[1], right_end=other[1])


_WORDS: Mapping[Interrelation, str] = {
    "before": "{a} ends before {b} starts",
    "after": "{a} starts after {b} ends",
    "meets": "{a} ends as {b} starts",
    "met_by": "{a} starts as {b} ends",
    "overlaps": "{a} starts first and {b} ends last, and for a time both are under way",
    "overlapped_by": "{b} starts first and {a} ends last, and for a time both are under way",
    "starts": "both start together, and {a} ends first",
    "started_by": "both start together, and {b} ends first",
    "during": "{a} starts after {b} and ends before it",
    "contains": "{a} starts before {b} and ends after it",
    "finishes": "{a} starts later, and both end together",
    "finished_by": "{a} starts first, and both end together",
    "equals": "both start together and end together",
    "intersects": "each starts before the other ends",
}


def relations_in_words(query: Query) -> tuple[str, ...]:
    """The relations that WHERE asks for, each as written and in words."""
    return tuple(_relation_text(each) for each in conjuncts(query.where) if isinstance(each, Allen))


def _relation_text(relation: Allen) -> str:
    words = "; or ".join(
        _WORDS[each].format(a=relation.left, b=relation.right) for each in relation.relations
    )
    if relation.by is not None:
        words = f"both are under way together for at least {duration_text(relation.by)}"
    if relation.tolerance is not None:
        words += f" (ticks at most {duration_text(relation.tolerance)} apart count as equal)"
    return f"{expression_to_text(relation)}: {words}"
