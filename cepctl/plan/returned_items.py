"""What RETURN writes in short, written out; and what a row shows where nothing is named.

written              columns
a.*                  an attribute of the events each, as a.x
*                    a.* for every variable of one event, count(b[]) for every group
duration(a, b)       two, in seconds: the least and the most of t(b) - t(a) in the intervals of both events,
                     as far as the order of SEQ and the window let them
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cepctl.language.ast import (
    Aggregate,
    Attribute,
    Binary,
    Call,
    ComponentPattern,
    Composite,
    Constant,
    EventTime,
    Expression,
    Pattern,
    Query,
    ReturnItem,
    Unary,
    Variable,
)
from cepctl.language.traversal import conjuncts
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.problems import QueryProblems
from cepctl.schema import TimeUnit

EVERYTHING = "*"
DURATION = "duration"
LEAST, MOST = "_least_s", "_most_s"
"""What ends the names of the columns of a duration."""
MOST_COLUMNS = 1_000


def written_out(
    query: Query, schema: EventSchema | None, unit: TimeUnit, window: int | None, problems: QueryProblems
) -> Query:
    """The query whose RETURN names every column; without a `schema` nobody knows those of `*`."""
    items: list[ReturnItem] = []
    for item in query.returns:
        match item.expression:
            case Call("*", ()):
                items += (each for variable in _bound(query.pattern) for each in _all_of(variable, schema))
            case Call("*", (Variable(name),)):
                found = [each for each in _bound(query.pattern) if _is(each, name)]
                if not found or found[0].kleene:
                    wrong = (
                        "a group of events: name members, as in b[last].x" if found else "no variable here"
                    )
                    problems.error(item.span, f"'{name}' is {wrong}")
                    continue
                items += _all_of(found[0], schema)
            case Call("duration", (Variable(first), Variable(second))):
                items += _duration(query, item, first, second, unit, window)
            case Call("duration", _):
                problems.error(item.span, "duration takes two variables, as in duration(a, b)")
            case _:
                items.append(item)
    if len(items) > max(MOST_COLUMNS, len(query.returns)):
        problems.error(query.returns[0].span, f"these are {len(items):,} columns; name those you want")
    return replace(query, returns=tuple(items))


def with_keys(query: Query) -> Query:
    """A query without RETURN that shows what joins its events, and the types that a pattern leaves open."""
    single = {_name(each).lower(): each for each in _bound(query.pattern) if not each.kleene}
    if not single:
        return query
    first = _name(next(iter(single.values())))
    items = [ReturnItem(Attribute(first, key), key, key) for key in query.partition_by]
    shown = set(query.partition_by)
    for condition in conjuncts(query.where):
        match condition:
            case Binary("=", Attribute(left, name, None), Attribute(right, _, None)):
                if left.lower() in single and right != left and name not in shown:
                    shown.add(name)
                    items.append(_item(Attribute(left, name), f"{left}.{name}"))
    for component in single.values():
        if len(component.event_types) != 1:
            name = _name(component)
            items.append(_item(Attribute(name, "event_type"), f"{name}.event_type"))
    return replace(query, returns=tuple(items))


def _bound(pattern: Pattern) -> Iterator[ComponentPattern]:
    """The variables that some match binds events to, in the order of the pattern."""
    if pattern.negated:
        return
    if isinstance(pattern, Composite):
        if not pattern.kleene:
            for part in pattern.parts:
                yield from _bound(part)
        return
    if pattern.variable is not None:
        yield pattern


def _name(component: ComponentPattern) -> str:
    assert component.variable is not None
    return component.variable


def _is(component: ComponentPattern, name: str) -> bool:
    return _name(component).lower() == name.lower()


def _item(expression: Expression, text: str) -> ReturnItem:
    return ReturnItem(expression, None, text)


def _all_of(component: ComponentPattern, schema: EventSchema | None) -> Iterator[ReturnItem]:
    name = _name(component)
    if component.kleene:
        yield _item(Aggregate("count", name, None), f"count({name}[])")
    elif schema is not None:
        for attribute in schema.attributes:
            yield _item(Attribute(name, attribute), f"{name}.{attribute}")


def _duration(
    query: Query, item: ReturnItem, first: str, second: str, unit: TimeUnit, window: int | None
) -> list[ReturnItem]:
    least: Expression = Binary("-", EventTime(second, "lower"), EventTime(first, "upper"))
    most: Expression = Binary("-", EventTime(second, "upper"), EventTime(first, "lower"))
    lowest, highest = _limits(query.pattern, first, second, window)
    if lowest is not None:
        least = Call("greatest", (least, _number(lowest)))
    if highest is not None:
        most = Call("least", (most, _number(highest)))
    name = item.alias or item.text
    both = ((least, f"{name}{LEAST}"), (most, f"{name}{MOST}"))
    return [ReturnItem(_seconds(ticks, unit), alias, alias, item.span) for ticks, alias in both]


def _limits(pattern: Pattern, first: str, second: str, window: int | None) -> tuple[int | None, int | None]:
    """The least and the most ticks between two events that the order and the window allow."""
    widest = None if window is None else window - 1
    lowest, highest = None if widest is None else -widest, widest
    order = _order(pattern, first, second)
    if order > 0:
        lowest = 1
    if order < 0:
        highest = -1
    return lowest, highest


def _order(pattern: Pattern, first: str, second: str) -> int:
    """1 where a SEQ has the first before the second, -1 the other way round, 0 where neither is said."""
    if not isinstance(pattern, Composite) or pattern.kleene:
        return 0
    held = [
        {_name(each).lower() for each in _bound(part)} & {first.lower(), second.lower()}
        for part in pattern.parts
    ]
    together = next((part for part, names in zip(pattern.parts, held, strict=True) if len(names) == 2), None)
    if together is not None:
        return _order(together, first, second)
    places = {name: at for at, names in enumerate(held) for name in names}
    if pattern.operator != "SEQ" or len(places) != 2:
        return 0
    return 1 if places[first.lower()] < places[second.lower()] else -1


def _number(value: int) -> Expression:
    return Constant(value) if value >= 0 else Unary("-", Constant(-value))


def _seconds(ticks: Expression, unit: TimeUnit) -> Expression:
    """Ticks as seconds: one division of whole numbers, which rounds once."""
    nanoseconds, second = unit.nanoseconds, 1_000_000_000
    if second % nanoseconds == 0:
        return Binary("/", ticks, Constant(second // nanoseconds))
    return Binary("/", Binary("*", ticks, Constant(nanoseconds)), Constant(second))
