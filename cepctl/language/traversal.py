"""Walking and rewriting expressions; their height is bounded by the parser, so plain recursion serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, get_args

from cepctl.language.ast import (
    Aggregate,
    Allen,
    Attribute,
    Binary,
    ComponentPattern,
    EventTime,
    Expression,
    Pattern,
    Probability,
    Variable,
)

_NODES = get_args(Expression)


def children(expression: Expression) -> list[Expression]:
    """The expressions directly inside, in the order of the text; a probability is one value."""
    found: list[Expression] = []
    if isinstance(expression, Probability):
        return found
    for value in vars(expression).values():
        if isinstance(value, _NODES):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(child for child in value if isinstance(child, _NODES))
    return found


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all inside it, in the order of the text."""
    pending = [expression]
    while pending:
        each = pending.pop()
        yield each
        pending.extend(reversed(children(each)))


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """A copy in which `change` was applied to every expression, the innermost first."""
    changed: dict[str, Any] = {}
    for each in fields(expression):
        value = getattr(expression, each.name)
        if isinstance(value, _NODES):
            changed[each.name] = rewrite(value, change)
        elif isinstance(value, tuple) and value and isinstance(value[0], _NODES):
            changed[each.name] = tuple(rewrite(child, change) for child in value)
    return change(replace(expression, **changed) if changed else expression)


def conjuncts(expression: Expression | None) -> Iterator[Expression]:
    """What a condition joins by AND at its top, in the order of the text.

    Examples
    --------
    >>> from cepctl.language.parser import parse_expression
    >>> len(list(conjuncts(parse_expression("x = 1 AND (y = 2 OR z = 3) AND u = 4"))))
    3
    """
    if isinstance(expression, Binary) and expression.operator == "AND":
        yield from conjuncts(expression.left)
        yield from conjuncts(expression.right)
    elif expression is not None:
        yield expression


def variables_read(expression: Expression) -> list[str]:
    """Names of the variables that an expression reads, each once, in the order of the text."""
    names: dict[str, None] = {}
    for each in walk(expression):
        if isinstance(each, Allen):
            names[each.left] = names[each.right] = None
        elif isinstance(each, Variable):
            names[each.name] = None
        elif isinstance(each, Probability):
            names.update(dict.fromkeys(each.variables))
        elif isinstance(each, Attribute | EventTime | Aggregate):
            names[each.variable] = None
    return list(names)


def components_of(pattern: Pattern) -> Iterator[ComponentPattern]:
    """All components of a pattern, in the order of the text."""
    if isinstance(pattern, ComponentPattern):
        yield pattern
    else:
        for part in pattern.parts:
            yield from components_of(part)


def without_conjuncts(expression: Expression, marked: dict[int, Any]) -> Expression | None:
    """The condition without the conjuncts whose identities are marked; None where nothing is left.

    Those that are found are marked no more.
    """
    if marked.pop(id(expression), None) is not None:
        return None
    if isinstance(expression, Binary) and expression.operator == "AND":
        left = without_conjuncts(expression.left, marked)
        right = without_conjuncts(expression.right, marked)
        if left is None or right is None:
            return right if left is None else left
        if left is not expression.left or right is not expression.right:
            return Binary("AND", left, right, expression.span)
    return expression
