"""GROUP BY: the columns of its keys, and what RETURN may name beside them.

A row of GROUP BY is about all matches of one key; a key is the same for all of them, so it reads attributes
of single events that every match binds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    EventTime,
    Expression,
    MatchField,
    Query,
    ReachedTick,
    ReturnItem,
    Variable,
)
from cepctl.language.keywords import GROUP_FIELDS
from cepctl.language.messages import name_list
from cepctl.language.strategies import Absent
from cepctl.language.traversal import walk
from cepctl.plan.checking import Checker
from cepctl.plan.or_free_patterns import OrFreePattern, component_name
from cepctl.plan.plan import EXPECTED_ERROR, OCCURRENCE_ERROR, Alternative, Plan, ReturnColumn
from cepctl.plan.predicates import resolved
from cepctl.plan.returns import column_type
from cepctl.plan.value_types import ValueType

_TAKEN = (*GROUP_FIELDS, OCCURRENCE_ERROR, EXPECTED_ERROR, "signature")


def group_columns(
    query: Query, patterns: Sequence[OrFreePattern], checker: Checker
) -> tuple[ReturnColumn, ...] | None:
    """The columns of the keys, named by their text or by RETURN; None without GROUP BY.

    Problems are collected by the checker.
    """
    if query.group_by is None:
        return None
    names = {low: binding.name for low, binding in checker.names.bindings.items()}
    columns: dict[str, ReturnColumn] = {}
    for item in query.group_by:
        kind = checker.value(item.expression)
        if not _check_key(item, patterns, checker, kind):
            continue
        expression = resolved(item.expression, names)
        if item.text in columns or item.text in _TAKEN:
            checker.problems.error(item.span, f"a second column '{item.text}'; leave it out")
        columns[item.text] = ReturnColumn(item.text, expression, column_type(expression, kind, checker))
    return _renamed(query, tuple(columns.values()), checker, names)


def keys_are_partitions(plan: Plan) -> bool:
    """Whether matches of one key share the key that events are split by."""
    keys = {each.expression.name for each in plan.group_by or () if isinstance(each.expression, Attribute)}
    return bool(plan.partition_by) and set(plan.partition_by) <= keys


def follows_in_any(plan: Plan, alternative: Alternative) -> bool:
    """Whether a key has a match in the worlds in which a fitting event follows another of it at all.

    So it is under next match of two events: where some event follows, the nearest that fits makes a match.
    The key must not say which of them that is.
    """
    first = alternative.components[0].variable
    read = [part for key in plan.group_by or () for part in walk(key.expression)]
    return (
        plan.strategy.absent is Absent.NEARER
        and alternative.blocks == ((0,), (1,))
        and not any(each.negated or each.kleene for each in alternative.components)
        and not (alternative.timings or alternative.choices or alternative.passes_over)
        and all(part.variable == first for part in read if isinstance(part, Attribute))
        and not any(isinstance(part, Variable) for part in read)
    )


def ungrouped(plan: Plan) -> Plan:
    """The plan of the matches behind the rows of GROUP BY: all of them, each with its key."""
    return replace(plan, group_by=None, returns=plan.group_by or (), minimum_confidence=None)


def for_existence(plan: Plan) -> Plan:
    """The plan of the matches of which the first is asked, each with its key and nothing else."""
    return replace(plan, group_by=None, returns=plan.group_by or ())


def refuse_groups(query: Query, what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked, where the query has GROUP BY."""
    if query.group_by is not None:
        raise UnsupportedQueryError(f"not supported yet: GROUP BY with {what}; leave one of them out")


def _check_key(
    item: ReturnItem, patterns: Sequence[OrFreePattern], checker: Checker, kind: ValueType
) -> bool:
    """Whether an expression may be a key."""
    found = list(walk(item.expression))
    problem = None
    if any(isinstance(each, EventTime) for each in found) or kind is ValueType.DURATION:
        problem = "a time is not a key of GROUP BY; group by attributes, as in GROUP BY a.task_id"
    elif any(isinstance(each, Aggregate | MatchField | ReachedTick) for each in found):
        problem = "GROUP BY takes attributes of single events, as in GROUP BY a.task_id"
    elif not any(isinstance(each, Attribute | Variable) for each in found):
        problem = "a key of GROUP BY reads an attribute, as in a.task_id; GROUP BY () is the whole input"
    for each in found:
        name = each.name if isinstance(each, Variable) else getattr(each, "variable", "")
        binding = checker.names.find(name) if name else None
        if binding is None or problem is not None:
            continue
        if binding.kleene:
            problem = f"'{name}' is a group of events, and a key of GROUP BY is of single ones"
        elif not all(_binds(pattern, binding.name) for pattern in patterns):
            may = "may be absent" if _optional(patterns, binding.name) else "is not in every part of the OR"
            problem = f"'{name}' {may}, and a key of GROUP BY is of all matches"
    if problem is not None:
        checker.problems.error(item.span, problem)
    return problem is None


def _binds(pattern: OrFreePattern, name: str) -> bool:
    bound = (each for each in pattern.components if not each.optional)
    return any(component_name(each).lower() == name.lower() for each in bound)


def _optional(patterns: Sequence[OrFreePattern], name: str) -> bool:
    every = (each for one in patterns for each in (*one.absent, *one.components) if each.optional)
    return any(component_name(each).lower() == name.lower() for each in every)


def _renamed(
    query: Query, keys: tuple[ReturnColumn, ...], checker: Checker, names: dict[str, str]
) -> tuple[ReturnColumn, ...]:
    """The keys as RETURN calls them; what else it names is a problem, or stands in every row."""
    aliases: dict[str, str] = {}
    for item in query.returns:
        if _is_group_field(item.expression):
            if item.alias is not None:
                checker.problems.error(item.span, "only keys of GROUP BY can be renamed with AS")
            continue
        expression = resolved(item.expression, names)
        key = next((each for each in keys if each.expression == expression), None)
        if key is None:
            allowed = name_list([*(each.name for each in keys), *GROUP_FIELDS])
            message = f"with GROUP BY, RETURN may name {allowed}; '{item.text}' differs between matches"
            checker.problems.error(item.span, message)
        elif item.alias is not None and item.alias in (*_TAKEN, *aliases.values()):
            checker.problems.error(item.span, f"a second column '{item.alias}': give it another name with AS")
        elif item.alias is not None:
            aliases[key.name] = item.alias
    return tuple(replace(each, name=aliases.get(each.name, each.name)) for each in keys)


def _is_group_field(expression: Expression) -> bool:
    if isinstance(expression, MatchField):
        return True
    return isinstance(expression, Variable) and expression.name.lower() in GROUP_FIELDS
