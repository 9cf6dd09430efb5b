"""How the truth of a predicate over a Kleene group develops while the group gains members.

A predicate is true-value consistent when, once true for a group, it is true for every larger group
that contains it; false-value consistent when, once false, it stays false (ZDI14, section 5.2: only
such predicates may be judged before the group is finished).  Members may be added anywhere,
because uncertain times know no order of arrival.  Unknown (null) counts as neither.

    max(b[].x) > 5        true-value consistent: another member cannot lower the maximum
    b[i].x > 5            false-value consistent: the member that fails stays in the group
    b[i].x >= b[i-1].x    false-value consistent: adding members mends no inversion
    count(b[]) >= 1       true-value consistent
    avg(b[].x) > 5        neither
"""

from __future__ import annotations

from enum import Enum

from cepctl.language.aggregates import AGGREGATES, GrowthBound
from cepctl.language.ast import (
    COMPARISONS,
    Aggregate,
    Attribute,
    Between,
    Binary,
    Constant,
    EventTime,
    Expression,
    Unary,
)
from cepctl.language.traversal import walk


class Consistency(Enum):
    """Which truth values are final while the group grows."""

    TRUE = "true-value consistent"
    FALSE = "false-value consistent"
    BOTH = "true-value and false-value consistent"
    NEITHER = "neither true-value nor false-value consistent"


class _Trend(Enum):
    """How a value moves while the group gains members."""

    FIXED = 0
    RISES = 1
    FALLS = -1
    UNKNOWN = 9


def consistency(expression: Expression) -> Consistency:
    """Judge a predicate; one that reads no whole group and no order is judged per member.

    Examples
    --------
    >>> from cepctl.language.ast import Aggregate, Binary, Constant
    >>> consistency(Binary(">", Aggregate("max", "b", "x"), Constant(5)))
    <Consistency.TRUE: 'true-value consistent'>
    """
    found = _judge(expression)
    if not any(
        isinstance(each, Attribute | EventTime) and each.member == "each" for each in walk(expression)
    ):
        return found
    # It must hold for every member: one that fails is final, one more member may always fail.
    return Consistency.FALSE if found in (Consistency.FALSE, Consistency.BOTH) else Consistency.NEITHER


def _judge(expression: Expression) -> Consistency:
    match expression:
        case Binary("AND" | "OR", left, right):
            return _both(_judge(left), _judge(right))
        case Unary("NOT", operand):
            return _SWAPPED[_judge(operand)]
        case Between(operand, low, high, negated):
            inside = _both(_compare(operand, ">=", low), _compare(operand, "<=", high))
            return _SWAPPED[inside] if negated else inside
        case Binary(operator, left, right) if operator in COMPARISONS:
            return _compare(left, operator, right)
        case _:
            fixed = _trend_of_all(expression) is _Trend.FIXED
            return Consistency.BOTH if fixed else Consistency.NEITHER


def _compare(left: Expression, operator: str, right: Expression) -> Consistency:
    if operator != "<>" and _is_neighbour_comparison(left, right):
        return Consistency.FALSE
    trends = _trend(left), _trend(right)
    if trends == (_Trend.FIXED, _Trend.FIXED):
        return Consistency.BOTH
    if _Trend.UNKNOWN in trends or operator in ("=", "<>"):
        return Consistency.NEITHER
    # The difference left - right moves one way only if the two sides do not pull together.
    if trends[0] is trends[1]:
        return Consistency.NEITHER
    rises = trends[0] is _Trend.RISES or trends[1] is _Trend.FALLS
    return Consistency.TRUE if rises == (operator in (">", ">=")) else Consistency.FALSE


def _is_neighbour_comparison(left: Expression, right: Expression) -> bool:
    """Whether `b[i].x` and `b[i-1].x` are compared: an order of neighbours is one of all members."""
    match left, right:
        case Attribute() as one, Attribute() as other:
            same = (one.variable, one.name) == (other.variable, other.name)
            return same and one.back == other.back == 1 and {one.member, other.member} == {"each", "previous"}
        case _:
            return False


def _trend(expression: Expression) -> _Trend:
    match expression:
        case Aggregate(function) if AGGREGATES[function].growth is GrowthBound.RISES:
            return _Trend.RISES
        case Aggregate(function) if AGGREGATES[function].growth is GrowthBound.FALLS:
            return _Trend.FALLS
        case Unary("-", operand):
            return _negated(_trend(operand))
        case Unary("+", operand):
            return _trend(operand)
        case Binary("+" | "-" as operator, left, right):
            second = _trend(right) if operator == "+" else _negated(_trend(right))
            return _together(_trend(left), second)
        case Binary("*", Constant(int() | float() as factor), operand) if factor > 0:
            return _trend(operand)
        case Binary("*" | "/", operand, Constant(int() | float() as factor)) if factor > 0:
            return _trend(operand)
        case _:
            return _trend_of_all(expression)


def _trend_of_all(expression: Expression) -> _Trend:
    """FIXED if nothing inside depends on which other members the group has."""
    for each in walk(expression):
        if isinstance(each, Aggregate):
            return _Trend.UNKNOWN
        if isinstance(each, Attribute | EventTime) and each.member in ("previous", "first", "last"):
            return _Trend.UNKNOWN
    return _Trend.FIXED


def _negated(trend: _Trend) -> _Trend:
    return {_Trend.RISES: _Trend.FALLS, _Trend.FALLS: _Trend.RISES}.get(trend, trend)


def _together(one: _Trend, other: _Trend) -> _Trend:
    if one is _Trend.FIXED or one is other:
        return other
    return one if other is _Trend.FIXED else _Trend.UNKNOWN


_SWAPPED = {
    Consistency.TRUE: Consistency.FALSE,
    Consistency.FALSE: Consistency.TRUE,
    Consistency.BOTH: Consistency.BOTH,
    Consistency.NEITHER: Consistency.NEITHER,
}


def _both(one: Consistency, other: Consistency) -> Consistency:
    if one is other or other is Consistency.BOTH:
        return one
    return other if one is Consistency.BOTH else Consistency.NEITHER
