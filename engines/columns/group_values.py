"""Values of whole Kleene groups: aggregates, and the first and last member."""

from __future__ import annotations

import polars as pl

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import column_name
from cepctl.language.ast import Aggregate, Attribute, EventTime


def aggregate_over_groups(events: Events, aggregate: Aggregate, group: Group) -> pl.Series:
    """avg, sum, min, max or count per group, shape (n,); nulls are skipped as in SQL.

    The aggregate of no value is null (count: 0).
    """
    if aggregate.name is None:
        return pl.Series(group.sizes)
    values = events.frame.get_column(aggregate.name).gather(group.members)
    column = pl.col("value")
    computed = {
        "avg": column.cast(pl.Float64, strict=False).mean() if values.dtype.is_numeric() else column.mean(),
        "sum": pl.when(column.count() > 0).then(column.sum()),
        "min": column.min(),
        "max": column.max(),
        "count": column.count().cast(pl.Int64),
    }[aggregate.function]
    frame = pl.DataFrame({"owner": group.owner, "value": values})
    return frame.group_by("owner", maintain_order=True).agg(computed.alias("value")).get_column("value")


def member_of_groups(events: Events, leaf: Attribute | EventTime, group: Group) -> pl.Series:
    """Attribute of the first or last member of each group, in the order of the group."""
    at = group.offsets[:-1] if leaf.member == "first" else group.offsets[1:] - 1
    return events.frame.get_column(column_name(leaf)).gather(group.members[at])
