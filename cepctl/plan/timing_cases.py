"""Conditions on times joined by OR, NOT and IN: cases of differences, of which no two hold at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TypeAlias

from cepctl.language.ast import COMPARISONS, Between, Binary, BinaryOperator, EventTime, Expression, In, Unary
from cepctl.language.printer import variable_text
from cepctl.language.traversal import walk
from cepctl.plan.or_free_patterns import MAX_READINGS
from cepctl.plan.timings import Difference, RefusedTimingError, differences, is_timing
from cepctl.schema import TimeUnit

TimingCase: TypeAlias = tuple[Difference, ...]
_CONTRARY: dict[str, BinaryOperator] = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "=": "<>",
    "<>": "=",
}


def timing_cases(expression: Expression, unit: TimeUnit) -> tuple[TimingCase, ...]:
    """The cases of one conjunct of WHERE; one of a comparison alone.

    Examples
    --------
    >>> from cepctl.language.parser import parse_expression
    >>> from cepctl.schema import MILLISECOND
    >>> either = parse_expression("b.time - a.time < 2 ticks OR b.time - a.time > 5 ticks")
    >>> [[(each.left, each.right, each.bound) for each in case] for case in timing_cases(either, MILLISECOND)]
    [[('b', 'a', 1)], [('a', 'b', -2), ('a', 'b', -6)]]

    Raises
    ------
    RefusedTimingError
        If it also asks something else, or of each member of a group.
    QueryProblem
        As `differences` does.
    """
    if _is_plain(expression):
        return (differences(expression, unit),)
    for each in walk(expression):
        if isinstance(each, EventTime) and each.member == "each":
            shown = variable_text(each.variable)
            raise RefusedTimingError(
                each.span,
                f"{shown}[i].time inside OR, NOT or IN, where each member may be in a case of its own; write "
                f"{shown}[first].time or {shown}[last].time",
            )
    cases = tuple(_held(expression, unit))
    if len(cases) > MAX_READINGS:
        raise RefusedTimingError(
            expression.span, f"a condition on times of more than {MAX_READINGS} cases; write fewer ORs"
        )
    return cases


def _is_plain(expression: Expression) -> bool:
    return (isinstance(expression, Between) and not expression.negated) or (
        isinstance(expression, Binary) and expression.operator in COMPARISONS
    )


def _held(expression: Expression, unit: TimeUnit) -> list[TimingCase]:
    """The cases in which it holds."""
    match expression:
        case Binary("AND", left, right):
            return _both(_held(left, unit), _held(right, unit))
        case Binary("OR", left, right):
            return [*_held(left, unit), *_both(_failed(left, unit), _held(right, unit))]
        case Unary("NOT", operand):
            return _failed(operand, unit)
        case Between(negated=True):
            return _failed(_parts_of(expression), unit)
        case In(negated=negated):
            either = _parts_of(expression)
            return _failed(either, unit) if negated else _held(either, unit)
        case _:
            return [_compared(expression, unit)]


def _failed(expression: Expression, unit: TimeUnit) -> list[TimingCase]:
    """The cases in which it does not hold."""
    match expression:
        case Binary("AND", left, right):
            return [*_failed(left, unit), *_both(_held(left, unit), _failed(right, unit))]
        case Binary("OR", left, right):
            return _both(_failed(left, unit), _failed(right, unit))
        case Unary("NOT", operand):
            return _held(operand, unit)
        case Between(negated=negated) | In(negated=negated):
            parts = _parts_of(expression)
            return _held(parts, unit) if negated else _failed(parts, unit)
        case Binary(operator, left, right, span) if operator in COMPARISONS:
            return [_compared(Binary(_CONTRARY[operator], left, right, span), unit)]
        case _:
            return [_compared(expression, unit)]


def _parts_of(expression: Between | In) -> Expression:
    """BETWEEN and IN without their NOT, as comparisons."""
    span = expression.span
    if isinstance(expression, Between):
        low = Binary(">=", expression.operand, expression.low, span)
        return Binary("AND", low, Binary("<=", expression.operand, expression.high, span), span)
    found: Expression | None = None
    for choice in expression.choices:
        equal = Binary("=", expression.operand, choice, span)
        found = equal if found is None else Binary("OR", found, equal, span)
    assert found is not None
    return found


def _both(one: Sequence[TimingCase], other: Sequence[TimingCase]) -> list[TimingCase]:
    return [(*first, *second) for first, second in product(one, other)]


def _compared(expression: Expression, unit: TimeUnit) -> TimingCase:
    if not is_timing(expression):
        raise RefusedTimingError(
            expression.span,
            "a condition on attributes joined by OR or NOT with one on times; write an OR of two patterns, "
            "each with its own condition",
        )
    return differences(expression, unit)
