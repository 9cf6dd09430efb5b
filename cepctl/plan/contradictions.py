"""Queries that can never match, and why: values, windows and times that exclude each other.

Only certain contradictions are reported; a query without one may still match nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias

from cepctl.language.ast import Attribute, Between, Binary, Constant, Expression, In, IsNull
from cepctl.language.printer import expression_to_text, variable_text
from cepctl.plan.given_edges import GivenEdge, given_edges
from cepctl.plan.plan import Alternative, Given

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_Node: TypeAlias = tuple[int, bool]
"""In the graph of differences: a component, and whether its end is meant."""
_ZERO: _Node = (-1, False)
"""The constant 0."""


def never_matches(
    alternative: Alternative,
    partition_by: Sequence[str],
    window: int | None,
    given: Sequence[Given] = (),
) -> str | None:
    """Why no events can match, None if they might; what is `given` holds in every world.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> analyze(parse("PATTERN SEQ(A a, B b) WHERE a.x > 5 AND a.x < 3")).never
    'a.x > 5 and a.x < 3 exclude each other'
    """
    return (
        _false_condition(alternative)
        or _conflicting_values(alternative, partition_by)
        or _timing_cycle(alternative, window, list(given_edges(alternative, partition_by, given)))
    )


# --- values ------------------------------------------------------------------------------


_Place: TypeAlias = tuple[int, str]
"""A component and an attribute of it."""


@dataclass(frozen=True)
class _Claim:
    """`(component, attribute) operator value`, and the text that says so."""

    place: _Place
    operator: str
    values: tuple[object, ...]
    text: str


def _false_condition(alternative: Alternative) -> str | None:
    for i in alternative.positive:
        for condition in alternative.components[i].filters:
            if isinstance(condition, Constant) and condition.value is not True:
                return "a condition is false whatever the events are"
            match condition:
                case Binary(operator, Constant(left), Constant(right)) if operator in _MIRRORED:
                    if left is None or right is None or not _can_hold(left, operator, right):
                        return f"{expression_to_text(condition)} is never true"
    return None


def _conflicting_values(alternative: Alternative, partition_by: Sequence[str]) -> str | None:
    same = _shared_values(alternative, partition_by)
    claims: dict[_Place, list[_Claim]] = {}
    for claim in _claims(alternative):
        if claim.operator != "IS NULL" and None in claim.values:
            return f"{claim.text} is never true: null equals nothing"
        claims.setdefault(same.get(claim.place, claim.place), []).append(claim)
    for together in claims.values():
        for one, other in product(together, together):
            if one is not other and _exclude(one, other):
                if one.text == other.text:
                    return f"{one.text} is never true"
                return f"{one.text} and {other.text} exclude each other"
    return None


def _shared_values(
    alternative: Alternative, partition_by: Sequence[str]
) -> dict[tuple[int, str], tuple[int, str]]:
    """For each attribute that an equality ties to others, one that stands for all of them."""
    leader: dict[_Place, _Place] = {}

    def find(place: _Place) -> _Place:
        while leader.setdefault(place, place) != place:
            place = leader[place]
        return place

    positive = alternative.positive
    for name in partition_by:
        for one, other in pairwise(positive):
            leader[find((one, name))] = find((other, name))
    for each in alternative.equalities:
        if each.left in positive and each.right in positive:
            leader[find((each.left, each.left_attribute))] = find((each.right, each.right_attribute))
    return {place: find(place) for place in list(leader)}


def _claims(alternative: Alternative) -> Iterator[_Claim]:
    for i in alternative.positive:
        for condition in alternative.components[i].filters:
            yield from _claims_of(i, condition)


def _claims_of(component: int, condition: Expression) -> Iterator[_Claim]:
    text = expression_to_text(condition)
    match condition:
        case Binary("AND", left, right):
            yield from _claims_of(component, left)
            yield from _claims_of(component, right)
        case Binary(operator, Attribute() as read, Constant(value)) if operator in _MIRRORED:
            yield _Claim((component, read.name), operator, (value,), text)
        case Binary(operator, Constant(value), Attribute() as read) if operator in _MIRRORED:
            yield _Claim((component, read.name), _MIRRORED[operator], (value,), text)
        case Between(Attribute() as read, Constant(low), Constant(high), False):
            yield _Claim((component, read.name), ">=", (low,), text)
            yield _Claim((component, read.name), "<=", (high,), text)
            if None not in (low, high) and not _can_hold(low, "<=", high):
                yield _Claim((component, read.name), "IN", (), text)
        case In(Attribute() as read, choices, False):
            values = [choice.value for choice in choices if isinstance(choice, Constant)]
            if len(values) == len(choices):
                known = tuple(value for value in values if value is not None)
                yield _Claim((component, read.name), "IN", known, text)
        case IsNull(Attribute() as read, False):
            yield _Claim((component, read.name), "IS NULL", (), text)


def _exclude(one: _Claim, other: _Claim) -> bool:
    """Whether no value satisfies both claims."""
    if one.operator == "IS NULL":
        return other.operator != "IS NULL"
    if one.operator in ("=", "IN"):
        if other.operator in ("=", "IN"):
            return not any(_can_hold(a, "=", b) for a, b in product(one.values, other.values))
        return other.operator != "IS NULL" and not any(
            _can_hold(value, other.operator, other.values[0]) for value in one.values
        )
    if one.operator in (">", ">=") and other.operator in ("<", "<="):
        touching = "<=" if (one.operator, other.operator) == (">=", "<=") else "<"
        return not _can_hold(one.values[0], touching, other.values[0])
    return False


def _can_hold(left: object, operator: str, right: object) -> bool:
    """Whether a comparison of two constants holds; of different kinds it is left open."""
    for kind in ((bool,), (str,), (int, float)):
        if isinstance(left, kind) and isinstance(right, kind):
            return _COMPARED[operator](left, right)
    return True


# --- times -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Edge:
    """`t(left) - t(right) <= bound`, and how a message says it."""

    left: _Node
    right: _Node
    bound: int
    text: str


def _timing_cycle(alternative: Alternative, window: int | None, given: Sequence[GivenEdge]) -> str | None:
    """A cycle of differences whose bounds sum to less than 0 has no solution (Bellman, Ford)."""
    edges = list(_edges(alternative, window))
    edges += [_Edge((each.left, False), (each.right, False), each.bound, each.text) for each in given]
    nodes = {_ZERO, *((i, end) for i in alternative.positive for end in (False, True))}
    reach = dict.fromkeys(nodes, 0)
    came: dict[_Node, _Edge] = {}
    changed: _Node | None = None
    for _ in nodes:
        changed = None
        for edge in edges:
            if reach[edge.right] + edge.bound < reach[edge.left]:
                reach[edge.left] = reach[edge.right] + edge.bound
                came[edge.left] = edge
                changed = edge.left
        if changed is None:
            return None
    assert changed is not None
    node = changed
    for _ in nodes:
        node = came[node].right
    cycle, at = [came[node]], came[node].right
    while at != node:
        cycle.append(came[at])
        at = came[at].right
    return "these exclude each other: " + "; ".join(dict.fromkeys(edge.text for edge in cycle if edge.text))


def _edges(alternative: Alternative, window: int | None) -> Iterator[_Edge]:
    names = [variable_text(component.variable) for component in alternative.components]
    positive = set(alternative.positive)
    blocks = [[i for i in block if i in positive] for block in alternative.blocks]
    for before, after in pairwise([block for block in blocks if block]):
        for i, j in product(before, after):
            yield _Edge((i, True), (j, False), -1, f"{names[i]} before {names[j]} (SEQ)")
    for i in positive:
        yield _Edge((i, False), (i, True), 0, "")
    if window is not None:
        for i, j in product(positive, positive):
            yield _Edge((i, True), (j, False), window - 1, f"the window of {window} ticks")
    for timing in alternative.timings:
        sides = ((timing.left, timing.left_end), (timing.right, timing.right_end))
        if timing.not_equal or not {each for each, _ in sides} <= {None, *positive}:
            continue
        ends = [_ZERO if each is None else (each, end) for each, end in sides]
        shown = ["0" if end == _ZERO else f"{names[end[0]]}.{'end' if end[1] else 'time'}" for end in ends]
        yield _Edge(ends[0], ends[1], timing.bound, f"{shown[0]} - {shown[1]} <= {timing.bound} ticks")
