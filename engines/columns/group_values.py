"""Values of whole Kleene groups: aggregates, and the first and last member."""

from __future__ import annotations

import polars as pl

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import column_name
from cepctl.language.aggregates import AGGREGATES, AggregateFunction
from cepctl.language.ast import Aggregate, Attribute, EventTime


def aggregate_over_groups(events: Events, aggregate: Aggregate, group: Group) -> pl.Series:
    """An aggregate per group, shape (n,); nulls are skipped as in SQL."""
    if aggregate.name is None:
        return pl.Series(group.sizes)
    values = events.frame.get_column(aggregate.name).gather(group.members)
    function = AGGREGATES[aggregate.function]
    answer = function.whole(values_for(function, values.dtype))
    known = pl.when(pl.col("value").count() > 0).then(answer)
    answer = answer.cast(pl.Int64) if function.counts else known
    frame = pl.DataFrame({"owner": group.owner, "value": values})
    return frame.group_by("owner", maintain_order=True).agg(answer.alias("value")).get_column("value")


def values_for(function: AggregateFunction, dtype: pl.DataType) -> pl.Expr:
    """The column `value` as an aggregate takes it: in floats where its answer is one."""
    column = pl.col("value")
    in_floats = function.gives == "number" and dtype.is_numeric()
    return column.cast(pl.Float64, strict=False) if in_floats else column


def member_of_groups(events: Events, leaf: Attribute | EventTime, group: Group) -> pl.Series:
    """Attribute of the first or last member of each group, in the order of the group."""
    at = group.offsets[:-1] if leaf.member == "first" else group.offsets[1:] - 1
    return events.frame.get_column(column_name(leaf)).gather(group.members[at])
