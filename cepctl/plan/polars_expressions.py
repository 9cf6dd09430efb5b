"""Conditions and values of the language as Polars expressions over whole columns.

SQL's three-valued logic as Spark computes it without its ANSI mode, so that both runners agree: a
division or remainder by zero is null, an integer remainder has the dividend's sign, 64-bit integers
wrap, NaN equals itself and exceeds every number, strings compare by code point.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from cepctl.errors import QuerySemanticError
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    Between,
    Binary,
    Call,
    Constant,
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
from cepctl.language.text_patterns import like_to_regular_expression, portable_regular_expression

Leaf: TypeAlias = Attribute | EventTime | Aggregate | Variable | MatchField | Probability | ReachedTick
"""What an expression reads: each is one column of the frame that it is evaluated over."""

_OPERATORS: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "AND": operator.and_,
    "OR": operator.or_,
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def compile_expression(expression: Expression, column: Callable[[Leaf], pl.Expr]) -> pl.Expr:
    """Compile an expression; `column` gives the column that holds a leaf.

    `expression`: a condition or value without timing constraints (the plan keeps those apart).  `column`:
    from an attribute, time of an event, aggregate, variable or field of the match to the column that holds
    its value in the row at hand.

    Raises
    ------
    QuerySemanticError
        If it holds a duration, an Allen relation, or a pattern that not every engine takes.

    Examples
    --------
    >>> from cepctl.language.parser import parse_expression
    >>> frame = pl.DataFrame({"x": [-7, None]})
    >>> condition = compile_expression(parse_expression("x % 3 = -1"), lambda leaf: pl.col(leaf.name))
    >>> frame.select(condition).to_series().to_list()
    [True, None]
    """
    build = functools.partial(compile_expression, column=column)
    match expression:
        case (
            Attribute()
            | EventTime()
            | Aggregate()
            | Variable()
            | MatchField()
            | Probability()
            | ReachedTick()
        ):
            return column(expression)
        case Constant(value):
            return _constant(value)
        case Unary("NOT", operand):
            return ~build(operand).cast(pl.Boolean)
        case Unary(sign, operand):
            return -build(operand) if sign == "-" else build(operand)
        case Binary(symbol, left, right):
            return _binary(symbol, build(left), build(right))
        case Between(operand, low, high, negated):
            tested = build(operand)
            return _negated((tested >= build(low)) & (tested <= build(high)), negated)
        case In(operand, choices, negated):
            return _negated(_is_one_of(build(operand), choices, build), negated)
        case Like(operand, pattern, negated):
            found = build(operand).cast(pl.String).str.contains(like_to_regular_expression(pattern))
            return _negated(found, negated)
        case IsNull(operand, negated):
            return build(operand).is_not_null() if negated else build(operand).is_null()
        case Call(function, arguments):
            return _call(function, arguments, build)
        case _:
            raise QuerySemanticError(f"{type(expression).__name__} has no value of its own in a condition")


def _constant(value: int | float | str | bool | None) -> pl.Expr:
    if isinstance(value, int) and not isinstance(value, bool):
        return pl.lit(value, dtype=pl.Int64)
    return pl.lit(value)


def _negated(condition: pl.Expr, negated: bool) -> pl.Expr:
    return ~condition if negated else condition


def _binary(symbol: str, left: pl.Expr, right: pl.Expr) -> pl.Expr:
    if symbol == "/":
        return pl.when(right != 0).then(left.cast(pl.Float64) / right.cast(pl.Float64)).otherwise(None)
    if symbol == "%":
        return pl.map_batches([left, right], _remainder)
    return _OPERATORS[symbol](left, right)


def _remainder(columns: Sequence[pl.Series]) -> pl.Series:
    """Remainder with the dividend's sign, exact as C and Java compute it; null by zero."""
    dividend, divisor = columns
    whole = dividend.dtype.is_integer() and divisor.dtype.is_integer()
    if whole and len(divisor) == 1 and (divisor.item() or 0) > 0:
        return _remainder_by(dividend.cast(pl.Int64), divisor.item())
    number = pl.Int64() if whole else pl.Float64()
    known = (dividend.is_not_null() & divisor.is_not_null() & (divisor != 0).fill_null(False)).to_numpy()
    top = dividend.cast(number).fill_null(0).to_numpy()
    bottom = divisor.cast(number).fill_null(1).to_numpy()
    # The least integer by -1 overflows in hardware; the remainder by 1 is the same.
    safe = np.where((bottom == 0) | (bottom == -1), 1, bottom)
    with np.errstate(invalid="ignore"):
        remainders = np.fmod(top, safe)
    return pl.select(
        pl.when(pl.Series(np.broadcast_to(known, remainders.shape).copy()))
        .then(pl.Series(remainders, dtype=number))
        .otherwise(None)
    ).to_series()


def _remainder_by(dividend: pl.Series, divisor: int) -> pl.Series:
    """The remainder by one positive number, several times as fast as by a column of them."""
    floored = dividend % divisor
    if not (dividend < 0).any():
        return floored
    return floored - divisor * ((dividend < 0) & (floored != 0)).cast(pl.Int64)


def _is_one_of(
    value: pl.Expr, choices: Sequence[Expression], build: Callable[[Expression], pl.Expr]
) -> pl.Expr:
    words = [choice.value for choice in choices if isinstance(choice, Constant)]
    if len(words) == len(choices) and all(isinstance(word, str) for word in words):
        return value.is_in(words)
    conditions = [value == build(choice) for choice in choices]
    while len(conditions) > 1:
        pairs = [left | right for left, right in zip(conditions[::2], conditions[1::2], strict=False)]
        conditions = [*pairs, *conditions[2 * len(pairs) :]]
    return conditions[0]


def _call(function: str, arguments: Sequence[Expression], build: Callable[[Expression], pl.Expr]) -> pl.Expr:
    first = build(arguments[0])
    match function:
        case "abs":
            return first.abs()
        case "lower":
            return first.cast(pl.String).str.to_lowercase()
        case "upper":
            return first.cast(pl.String).str.to_uppercase()
        case "length":
            return first.cast(pl.String).str.len_chars().cast(pl.Int64)
        case "coalesce":
            return pl.coalesce([build(argument) for argument in arguments])
        case "greatest" | "least":
            values = [build(argument) for argument in arguments]
            known = pl.all_horizontal([value.is_not_null() for value in values])
            chosen = pl.max_horizontal(values) if function == "greatest" else pl.min_horizontal(values)
            return pl.when(known).then(chosen)
        case "regexp_like":
            pattern = arguments[1]
            if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
                raise QuerySemanticError("the pattern of regexp_like must be a text in quotes")
            return first.cast(pl.String).str.contains(portable_regular_expression(pattern.value))
        case _:
            raise QuerySemanticError(f"there is no function '{function}'")
