"""Expressions over the rows of one match, one value at a time, by SQL's three-valued logic.

This evaluator belongs to the worlds engine alone.  It is the judge of the columnar expressions
of the other engines, so it shares no code with them; None is null, and a condition holds only
when it is True.  Source: the language reference, "Expressions" and "WHERE".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias, TypeVar, cast

from cepctl.engines.worlds.one_world import Row, Value, of_one_repetition, worlds_of_events
from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    Between,
    Binary,
    Call,
    Constant,
    EndpointDifference,
    EventTime,
    Expression,
    In,
    IsNull,
    Like,
    MatchField,
    Probability,
    ReachedTick,
    Unary,
    Variable,
)
from cepctl.numeric.precision import CONFIDENCE_DECIMALS

SLACK = Fraction(1, 10**CONFIDENCE_DECIMALS)
"""CONFIDENCE_SLACK, exactly."""

Word = TypeVar("Word")
Meaning = TypeVar("Meaning")
Members: TypeAlias = Mapping[str, tuple[Row, ...]]
"""The rows bound to each variable: one for a single component, the group for a Kleene one."""


@dataclass(frozen=True)
class Scene:
    """What an expression can see: the bound rows, which `b[i]` is meant, and the match itself.

    `index` gives i, counted from 0, for each variable that the expression reads one by one;
    `match` holds `start`, `end` and `confidence` where they are known (in RETURN), `decided` the probability
    of the worlds that decide the match at each tick.
    """

    members: Members
    index: Mapping[str, int] = field(default_factory=dict)
    match: Mapping[str, Value] = field(default_factory=dict)
    decided: Mapping[int, Fraction] = field(default_factory=dict)


def holds(
    expression: Expression,
    members: Members,
    at: Mapping[str, int] | None = None,
    together: Sequence[frozenset[str]] = (),
) -> bool:
    """Whether a condition is true for every member `b[i]` of every group that it reads one by one.

    Of the groups that `at` names it is asked for one i alone, counted from 0.  Those of variables that stand
    `together` are read with one i.

    What reads `b[i-k]` is not checked where there is none k before, `b[1..i-1]` not for the first member.

    Examples
    --------
    >>> rising = Binary(">", Attribute("b", "x", "each"), Attribute("b", "x", "previous"))
    >>> holds(rising, {"b": ({"x": 1}, {"x": 2})}), holds(rising, {"b": ({"x": 2}, {"x": None})})
    (True, False)
    """
    first = _first_index(expression)
    only = at or {}
    ranges = [
        [i for i in range(start, len(members[variable])) if i == only.get(variable, i)]
        for variable, start in first.items()
    ]
    chosen = (dict(zip(first, choice, strict=True)) for choice in product(*ranges))
    return all(
        evaluate(expression, Scene(members, index)) is True
        for index in chosen
        if of_one_repetition(together, index)
    )


@lru_cache
def reads_finished(expression: Expression, variable: str) -> bool:
    """Whether a condition reads `b[last]` or `b[]`, which are known of a finished group alone."""
    return any(
        (isinstance(part, Attribute | EventTime) and part.member == "last" and part.variable == variable)
        or (isinstance(part, Aggregate) and not part.before and part.variable == variable)
        for part in _parts(expression)
    )


@lru_cache
def _first_index(expression: Expression) -> Mapping[str, int]:
    """The variables that are read member by member, with the first i that is checked."""
    first: dict[str, int] = {}
    for part in _parts(expression):
        if isinstance(part, Attribute | EventTime) and part.member not in ("first", "last"):
            start = part.back if part.member == "previous" else 0
        elif isinstance(part, Aggregate) and part.before:
            start = 0 if part.own else 1
        else:
            continue
        first[part.variable] = max(start, first.get(part.variable, 0))
    return first


def _parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    for name in (f.name for f in fields(expression)):
        value = getattr(expression, name)
        for child in value if isinstance(value, tuple) else (value,):
            if is_dataclass(child) and isinstance(child, Expression):
                yield from _parts(child)


def evaluate(expression: Expression, scene: Scene) -> Value:
    """Value of an expression; None is null.

    Raises
    ------
    UnsupportedQueryError
        For what has no value here: a duration outside a timing constraint, an Allen relation.
    """
    rule = _RULES.get(type(expression))
    if rule is None:
        raise UnsupportedQueryError(
            f"the worlds engine cannot evaluate {type(expression).__name__} here; "
            "compare times only with times, and interval events not at all"
        )
    return rule(expression, scene)


def _known(meanings: Mapping[Word, Meaning], word: Word) -> Meaning:
    """What a word of the language means; a judge that does not know it says so, and guesses nothing."""
    if word not in meanings:
        raise UnsupportedQueryError(f"the worlds engine does not know {word!r}; --engine event may")
    return meanings[word]


# --- what is read from events --------------------------------------------------------------


def _member(node: Attribute | EventTime, scene: Scene) -> Row | None:
    """The row that `a`, `b[i]`, `b[i-k]`, `b[first]` or `b[last]` means; None if not bound."""
    rows = scene.members.get(node.variable)
    if not rows:
        return None
    position = scene.index.get(node.variable, 0)
    before = position - node.back
    places = {None: position, "each": position, "previous": before, "first": 0, "last": len(rows) - 1}
    return rows[_known(places, node.member)]


def _attribute(node: Attribute, scene: Scene) -> Value:
    row = _member(node, scene)
    return None if row is None else row[node.name]


def _event_time(node: EventTime, scene: Scene) -> Value:
    row = _member(node, scene)
    if row is None:
        return None
    if node.which == "end" and row.get("end_lower") is not None:
        return row.get("end_time")
    columns = {"time": "time", "start": "time", "end": "time", "lower": "lower", "upper": "upper"}
    return row[_known(columns, node.which)]


def _aggregate(node: Aggregate, scene: Scene) -> Value:
    rows, rule = scene.members.get(node.variable), _known(_AGGREGATES, node.function)
    if rows is None:
        return None
    if node.before:
        rows = rows[: scene.index[node.variable] + node.own]
    if node.name is None:
        return _known({"count": len}, node.function)(rows)
    values = [row[node.name] for row in rows if row[node.name] is not None]
    if not values and node.function not in ("count", "count distinct"):
        return None
    return rule(cast(list[float], values))


def _variable(node: Variable, scene: Scene) -> Value:
    rows = scene.members.get(node.name)
    return None if not rows else "+".join(cast(str, row["event_id"]) for row in rows)


def _match_field(node: MatchField, scene: Scene) -> Value:
    return _known(scene.match, node.name)


def _reached_tick(node: ReachedTick, scene: Scene) -> Value:
    so_far = Fraction(0)
    for tick in sorted(scene.decided):
        so_far += scene.decided[tick]
        if so_far >= Fraction(node.share) - SLACK:
            return tick
    return None


# --- operators -----------------------------------------------------------------------------


def _unary(node: Unary, scene: Scene) -> Value:
    rule, value = _known(_UNARY, node.operator), evaluate(node.operand, scene)
    return None if value is None else rule(value)


def _binary(node: Binary, scene: Scene) -> Value:
    left, right = evaluate(node.left, scene), evaluate(node.right, scene)
    if node.operator == "AND":
        return _and(left, right)
    if node.operator == "OR":
        return _negate(_and(_negate(left), _negate(right)))
    rule = _known(_COMPARISONS | _ARITHMETIC, node.operator)
    return None if left is None or right is None else rule(left, right)


def _and(left: Value, right: Value) -> Value:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _negate(value: Value) -> Value:
    return None if value is None else not value


def _remainder(left: float, right: float) -> Value:
    if right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return int(math.copysign(1, left)) * (abs(left) % abs(right))
    return math.fmod(left, right)


def _in(node: In, scene: Scene) -> Value:
    operand = evaluate(node.operand, scene)
    found: Value = False
    for choice in node.choices:
        value = evaluate(choice, scene)
        equal = None if operand is None or value is None else operand == value
        found = _negate(_and(_negate(found), _negate(equal)))
    return _negate(found) if node.negated else found


def _between(node: Between, scene: Scene) -> Value:
    operand, low, high = (evaluate(part, scene) for part in (node.operand, node.low, node.high))
    above = None if operand is None or low is None else _COMPARISONS[">="](operand, low)
    below = None if operand is None or high is None else _COMPARISONS["<="](operand, high)
    inside = _and(above, below)
    return _negate(inside) if node.negated else inside


def _like(node: Like, scene: Scene) -> Value:
    operand = evaluate(node.operand, scene)
    if operand is None:
        return None
    found = re.fullmatch(_like_regex(node.pattern), cast(str, operand), re.DOTALL) is not None
    return found is not node.negated


def _like_regex(pattern: str) -> str:
    """LIKE as a regular expression: `%` any text, `_` one character, a backslash quotes the next."""
    pieces = re.findall(r"\\.|.", pattern, re.DOTALL)
    meaning = {"%": ".*", "_": "."}
    return "".join(meaning.get(p) or re.escape(p[1] if len(p) == 2 else p) for p in pieces)


def _is_null(node: IsNull, scene: Scene) -> bool:
    return (evaluate(node.operand, scene) is None) is not node.negated


def _probability(node: Probability, scene: Scene) -> Value:
    """Over every world of the events that the condition names, and of no others."""
    rows = [next((m for v, m in scene.members.items() if v.lower() == name), ()) for name in node.variables]
    if not all(rows):
        return None
    holding = whole = 0
    for times, weight in worlds_of_events([group[0] for group in rows]):
        ticks = dict(zip(node.variables, zip(times, times.ends, strict=True), strict=True))
        whole += weight
        if any(all(_differs(each, ticks) for each in case) for case in node.cases):
            holding += weight
    return holding / whole


def _differs(each: EndpointDifference, ticks: Mapping[str, tuple[int, int]]) -> bool:
    left = 0 if each.left is None else ticks[each.left][each.left_end]
    right = 0 if each.right is None else ticks[each.right][each.right_end]
    return left - right <= each.bound


def _call(node: Call, scene: Scene) -> Value:
    arguments = [evaluate(argument, scene) for argument in node.arguments]
    if node.function == "coalesce":
        return next((value for value in arguments if value is not None), None)
    rule = _known(_FUNCTIONS, node.function)
    if any(value is None for value in arguments):
        return None
    return rule(*arguments)


def _stddev(values: list[float]) -> Value:
    """The standard deviation of a sample, from exact squares; null below two values."""
    if len(values) < 2:
        return None
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return math.sqrt(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))


def _median(values: list[float]) -> Value:
    """The middle value, or the mean of the middle two."""
    ordered, half = sorted(values), len(values) // 2
    return (ordered[half] + ordered[~half]) / 2


_AGGREGATES: dict[str, Callable[[list[float]], Value]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "median": _median,
    "stddev": _stddev,
    "count": len,
    "count distinct": lambda values: len(set(values)),
}

_UNARY: dict[str, Callable[[Any], Value]] = {
    "NOT": lambda value: not value,
    "-": lambda value: -value,
    "+": lambda value: value,
}

_COMPARISONS: dict[str, Callable[[Any, Any], Value]] = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}

_ARITHMETIC: dict[str, Callable[[Any, Any], Value]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: None if right == 0 else float(left) / float(right),
    "%": _remainder,
}

_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": abs,
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "greatest": lambda *values: max(values),
    "least": lambda *values: min(values),
    "regexp_like": lambda text, pattern: re.search(pattern, text) is not None,
}

_RULES: dict[type, Callable[..., Value]] = {
    Constant: lambda node, scene: node.value,
    Attribute: _attribute,
    EventTime: _event_time,
    Aggregate: _aggregate,
    Variable: _variable,
    MatchField: _match_field,
    ReachedTick: _reached_tick,
    Unary: _unary,
    Binary: _binary,
    In: _in,
    Between: _between,
    Like: _like,
    IsNull: _is_null,
    Call: _call,
    Probability: _probability,
}
