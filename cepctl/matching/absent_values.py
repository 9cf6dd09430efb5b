"""Texts that a query compares an attribute with and no event of the type has: most are misspelt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cepctl.language.ast import Attribute, Binary, Constant, Expression, In
from cepctl.language.messages import nearest_names
from cepctl.language.printer import expression_to_text
from cepctl.matching.execution import LOCAL_EVENTS
from cepctl.matching.run import types_read

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Component, Plan


def absent_values(plan: Plan, inputs: EventInputs) -> Iterator[str]:
    """Which conditions on single events no event fulfils, as a query without a match wants to know.

    Reads the events of the query once more, so nothing is said of more than a core reads in seconds.
    """
    asked = [
        (component, compared)
        for alternative in plan.alternatives
        for component in alternative.components
        if not component.negated
        for compared in map(_compared, component.filters)
        if compared is not None
    ]
    if not asked or plan.never is not None or inputs.count_events() > LOCAL_EVENTS:
        return
    table = inputs.whole().read(plan.attributes, types_read(plan))
    yield from dict.fromkeys(
        said for component, compared in asked if (said := _absent(table, component, *compared)) is not None
    )


def _compared(condition: Expression) -> tuple[Expression, str, list[str]] | None:
    """The condition, its attribute and the texts that it may have; None of other conditions."""
    sides: tuple[Expression, ...]
    match condition:
        case Binary("=", Attribute() as attribute, Constant(str()) as one):
            sides = (one,)
        case Binary("=", Constant(str()) as one, Attribute() as attribute):
            sides = (one,)
        case In(Attribute() as attribute, sides, False):
            pass
        case _:
            return None
    texts = [each.value for each in sides if isinstance(each, Constant) and isinstance(each.value, str)]
    return (condition, attribute.name, texts) if len(texts) == len(sides) else None


def _absent(
    table: pa.Table, component: Component, condition: Expression, name: str, texts: list[str]
) -> str | None:
    import pyarrow.compute as pc

    if name not in table.column_names:
        return None
    if component.event_types:
        table = table.filter(pc.is_in(table.column("event_type"), _strings(component.event_types)))
    values = pc.unique(table.column(name).cast("string"))
    if not table.num_rows or pc.any(pc.is_in(values, _strings(texts))).as_py():
        return None
    near = nearest_names(texts[0], [each for each in values.to_pylist() if each is not None])
    what = " or ".join(component.event_types) or "event"
    hint = f"; the nearest {'value is' if len(near) == 1 else 'values are'} {', '.join(near)}" if near else ""
    return f"no {what} has {expression_to_text(condition)}{hint}"


def _strings(texts: tuple[str, ...] | list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(list(texts), pa.string())
