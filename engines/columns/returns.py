"""RETURN columns of a batch of matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import (
    aggregate_over_groups,
    column_name,
    component_of,
    member_of_groups,
    probability_column,
)
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    EventTime,
    MatchField,
    Probability,
    ReachedTick,
    Variable,
)
from cepctl.plan.plan import Alternative, ReturnColumn
from cepctl.polars_expressions import Leaf, compile_expression

ReachedFinder: TypeAlias = Callable[[float], pl.Series]
"""From the share of `reached(share)` to the tick of every match, shape (n,)."""


def return_columns(
    events: Events,
    alternative: Alternative,
    returns: tuple[ReturnColumn, ...],
    matches: MatchBatch,
    reached: ReachedFinder | None = None,
) -> dict[str, pa.Array]:
    """One Arrow array per RETURN column, shape (n,).

    A variable that this alternative of an OR does not bind is null.  `reached` gives the ticks of
    `reached(...)`.
    """
    bound = dict(zip(alternative.positive, matches.bound, strict=True))
    columns: dict[str, pl.Series] = {}

    def leaf_column(leaf: Leaf) -> pl.Expr:
        name = repr(leaf)
        if name not in columns:
            columns[name] = _leaf(events, alternative, bound, matches, leaf, reached).alias(name)
        return pl.col(name)

    compiled = [compile_expression(each.expression, leaf_column).alias(f"return {i}")
                for i, each in enumerate(returns)]  # fmt: skip
    if not compiled:
        return {}
    frame = pl.DataFrame([*columns.values(), pl.Series("row", range(len(matches)), dtype=pl.Int64)])
    result = frame.select(compiled)
    arrays = {}
    for i, each in enumerate(returns):
        values = result.get_column(f"return {i}") if result.height == len(matches) else (
            pl.repeat(result.get_column(f"return {i}").item(), len(matches), eager=True))  # fmt: skip
        arrays[each.name] = values.to_arrow().cast(each.type)
    return arrays


def _leaf(
    events: Events,
    alternative: Alternative,
    bound: dict[int, Bindings],
    matches: MatchBatch,
    leaf: Leaf,
    reached: ReachedFinder | None,
) -> pl.Series:
    if isinstance(leaf, ReachedTick):
        assert reached is not None
        return reached(leaf.share)
    if isinstance(leaf, MatchField):
        return pl.Series(getattr(matches, leaf.name))
    if isinstance(leaf, Probability):
        components = [component_of(alternative, name) for name in leaf.variables]
        single = {i: each for i, each in bound.items() if not isinstance(each, Group)}
        if any(i not in single for i in components):
            return pl.repeat(None, len(matches), eager=True, dtype=pl.Float64)
        return probability_column(events, alternative, leaf, single)
    variable = leaf.name if isinstance(leaf, Variable) else leaf.variable
    component = component_of(alternative, variable)
    if component is None or component not in bound:
        return pl.repeat(None, len(matches), eager=True)
    value = bound[component]
    if isinstance(value, Group):
        if isinstance(leaf, Variable):
            return joined_ids(events.ids, value)
        if isinstance(leaf, Aggregate):
            return aggregate_over_groups(events, leaf, value)
        return member_of_groups(events, leaf, value)
    assert isinstance(leaf, Attribute | EventTime | Variable)
    return events.frame.get_column(column_name(leaf)).gather(value)


def joined_ids(ids: pl.Series, group: Group) -> pl.Series:
    """Ids of each group, joined by `+`."""
    frame = pl.DataFrame({"owner": group.owner, "id": ids.gather(group.members)})
    joined = frame.group_by("owner", maintain_order=True).agg(pl.col("id").str.join("+"))
    return joined.get_column("id")
