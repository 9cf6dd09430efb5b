"""Predicates over whole columns: which events fit a component, which bindings satisfy a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.events import Events
from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import (
    Attribute,
    EventTime,
    Expression,
    MatchField,
    Probability,
    ReachedTick,
    Variable,
)
from cepctl.plan.plan import Alternative, Component, Link
from cepctl.polars_expressions import Leaf, compile_expression
from cepctl.schema import END_TIME


def component_of(alternative: Alternative, variable: str) -> int | None:
    """Index of the component that a variable of an expression names, if this alternative has it."""
    names = {component.variable: i for i, component in enumerate(alternative.components)}
    return names.get(variable, names.get(variable.lower()))


def fitting_events(events: Events, component: Component) -> Indexes:
    """Rows of the events whose type and own predicates fit a component, ascending."""
    if not component.filters and not component.event_types:
        return np.arange(len(events), dtype=np.int64)
    fits = events.frame.select(component_condition(component).alias("fits"))
    return np.flatnonzero(fits.get_column("fits").to_numpy()).astype(np.int64)


def component_condition(component: Component) -> pl.Expr:
    """Whether an event fits a component, by its type and the component's own predicates; never null."""
    conditions = [compile_expression(each, _own_column) for each in component.filters]
    if component.event_types:
        conditions.insert(0, pl.col("event_type").is_in(list(component.event_types)))
    return pl.all_horizontal(conditions or [pl.lit(True)]).fill_null(False)


def column_name(leaf: Leaf) -> str:
    """Column of the event table that an expression's leaf reads."""
    if isinstance(leaf, Attribute):
        return leaf.name
    if isinstance(leaf, EventTime):
        return {"start": "time", "end": END_TIME}.get(leaf.which, leaf.which)
    if isinstance(leaf, Variable):
        return "event_id"
    raise AssertionError(f"{leaf} is read only over a finished group")


def _own_column(leaf: Leaf) -> pl.Expr:
    return pl.col(column_name(leaf))


def links_hold(
    events: Events, alternative: Alternative, links: Sequence[Link], bound: Mapping[int, Indexes]
) -> Flags | None:
    """Which bindings satisfy all of some links (true, not unknown); None when there are none.

    `bound` gives, per component index, the event bound to it, all of shape (n,).
    """
    if not links:
        return None
    return expressions_hold(events, alternative, [link.expression for link in links], bound)


def probability_column(
    events: Events, alternative: Alternative, leaf: Probability, bound: Mapping[int, Indexes]
) -> pl.Series:
    """The probability of a condition on the times of the events bound in each row.

    Raises
    ------
    UnsupportedQueryError
        If nothing finds it here.
    """
    if events.probability is None:
        raise UnsupportedQueryError("not supported yet: prob(...) here; --engine event of match runs it")
    components = [component_of(alternative, name) for name in leaf.variables]
    return pl.Series(events.probability(events, leaf, [bound[i] for i in components if i is not None]))


def expressions_hold(
    events: Events,
    alternative: Alternative,
    expressions: Sequence[Expression],
    bound: Mapping[int, Indexes],
) -> Flags:
    """Like `links_hold`, for bare conditions."""
    columns: dict[str, pl.Series] = {}

    def leaf_column(leaf: Leaf) -> pl.Expr:
        assert not isinstance(leaf, MatchField | ReachedTick)
        if isinstance(leaf, Probability):
            name = repr(leaf)
            if name not in columns:
                columns[name] = probability_column(events, alternative, leaf, bound).alias(name)
            return pl.col(name)
        component = component_of(alternative, leaf.name if isinstance(leaf, Variable) else leaf.variable)
        assert component is not None
        source = column_name(leaf)
        name = f"{component}.{source}"
        if name not in columns:
            columns[name] = events.frame.get_column(source).gather(bound[component]).alias(name)
        return pl.col(name)

    condition = pl.all_horizontal([compile_expression(each, leaf_column) for each in expressions])
    if not columns:
        size = len(next(iter(bound.values())))
        return np.full(size, bool(pl.select(condition.fill_null(False)).item()))
    frame = pl.DataFrame(list(columns.values()))
    held: Flags = frame.select(condition.fill_null(False)).to_series().to_numpy()
    return held
