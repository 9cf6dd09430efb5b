"""The columns of RETURN: their names, resolved expressions and Arrow types."""

from __future__ import annotations

import pyarrow as pa

from cepctl.event_table import time_type
from cepctl.language.ast import Attribute, Expression, MatchField, Query
from cepctl.plan.checking import Checker
from cepctl.plan.plan import CONFIDENCE_ERROR, ReturnColumn
from cepctl.plan.predicates import resolved
from cepctl.plan.value_types import ValueType, to_arrow

MATCH_COLUMNS = ("match", "start", "end", "confidence", CONFIDENCE_ERROR, "signature")
"""Columns that rows of matches have beside those of RETURN."""


def return_columns(query: Query, checker: Checker) -> tuple[ReturnColumn, ...]:
    """Check RETURN and give its columns; problems are collected by the checker.

    `start`, `end` and `confidence` without an alias name columns that every match has, and add none.
    """
    columns: dict[str, ReturnColumn] = {}
    names = {low: binding.name for low, binding in checker.names.bindings.items()}
    for item in query.returns:
        kind = checker.value(item.expression)
        if kind is ValueType.DURATION:
            checker.problems.error(
                item.span, "a duration stands in conditions; RETURN duration(a, b) gives how long it took"
            )
        if isinstance(item.expression, MatchField) and item.alias is None:
            continue
        name = item.alias if item.alias is not None else item.text
        if name in columns or name in MATCH_COLUMNS:
            checker.problems.error(item.span, f"a second column '{name}': give it another name with AS")
            continue
        expression = resolved(item.expression, names)
        columns[name] = ReturnColumn(name, expression, column_type(expression, kind, checker))
    return tuple(columns.values())


def column_type(expression: Expression, kind: ValueType, checker: Checker) -> pa.DataType:
    """The Arrow type of a column that an expression of some kind gives."""
    schema = checker.schema
    if schema is not None and isinstance(expression, Attribute) and expression.name in schema.readable:
        return schema.readable[expression.name]
    if schema is not None and kind is ValueType.TIME:
        return time_type(schema.time_unit)
    return to_arrow(kind)
