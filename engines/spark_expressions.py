"""Conditions on one event as Spark columns, with the meaning that `engines.expressions` gives them.

The session must run without ANSI mode (`spark.sql.ansi.enabled=false`): there a division by zero
is null and integers wrap, as in Polars.  One table of cases is evaluated by both compilers.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cepctl.engines.expressions import Leaf
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
    Unary,
    Variable,
)
from cepctl.language.text_patterns import like_to_regular_expression, portable_regular_expression

if TYPE_CHECKING:
    from pyspark.sql import Column

_OPERATORS: dict[str, Callable[[Column, Column], Column]] = {
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
    "%": operator.mod,
}


def spark_column(expression: Expression, column: Callable[[Leaf], Column]) -> Column:
    """Compile an expression; `column` gives the Spark column that holds a leaf.

    Raises
    ------
    QuerySemanticError
        If it holds a duration, an Allen relation, or a pattern that not every engine takes.
    """
    build = functools.partial(spark_column, column=column)
    match expression:
        case Attribute() | EventTime() | Aggregate() | Variable() | MatchField():
            return column(expression)
        case Constant(value):
            return _constant(value)
        case Unary("NOT", operand):
            return ~build(operand).cast("boolean")
        case Unary(sign, operand):
            return -build(operand) if sign == "-" else build(operand)
        case Binary("/", left, right):
            return build(left).cast("double") / build(right).cast("double")
        case Binary(symbol, left, right):
            return _OPERATORS[symbol](build(left), build(right))
        case Between(operand, low, high, negated):
            inside = (build(operand) >= build(low)) & (build(operand) <= build(high))
            return ~inside if negated else inside
        case In(operand, choices, negated):
            found = _is_one_of(build(operand), [build(choice) for choice in choices])
            return ~found if negated else found
        case Like(operand, pattern, negated):
            like = build(operand).cast("string").rlike(like_to_regular_expression(pattern))
            return ~like if negated else like
        case IsNull(operand, negated):
            return build(operand).isNotNull() if negated else build(operand).isNull()
        case Call(function, arguments):
            return _call(function, arguments, build)
        case _:
            raise QuerySemanticError(f"{type(expression).__name__} has no value of its own in a condition")


def _constant(value: int | float | str | bool | None) -> Column:
    from pyspark.sql import functions

    literal = functions.lit(value)
    return literal.cast("bigint") if isinstance(value, int) and not isinstance(value, bool) else literal


def _is_one_of(value: Column, choices: Sequence[Column]) -> Column:
    conditions = [value == choice for choice in choices]
    while len(conditions) > 1:
        pairs = [left | right for left, right in zip(conditions[::2], conditions[1::2], strict=False)]
        conditions = [*pairs, *conditions[2 * len(pairs) :]]
    return conditions[0]


def _call(function: str, arguments: Sequence[Expression], build: Callable[[Expression], Column]) -> Column:
    from pyspark.sql import functions

    first = build(arguments[0])
    match function:
        case "abs":
            return functions.abs(first)
        case "lower":
            return functions.lower(first.cast("string"))
        case "upper":
            return functions.upper(first.cast("string"))
        case "length":
            return functions.length(first.cast("string")).cast("bigint")
        case "coalesce":
            return functions.coalesce(*(build(argument) for argument in arguments))
        case "regexp_like":
            pattern = arguments[1]
            if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
                raise QuerySemanticError("the pattern of regexp_like must be a text in quotes")
            return first.cast("string").rlike(portable_regular_expression(pattern.value))
        case _:
            raise QuerySemanticError(f"there is no function '{function}'")
