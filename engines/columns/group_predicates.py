"""Predicates over finished Kleene groups: aggregates, order, first and last member.

A predicate is checked for every member that it can speak of and holds for the group when it holds for all
of them; what reads `b[i-1]` or `b[1..i-1]` is not checked for the first member (semantics).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import column_name, component_of, probability_column
from cepctl.language.aggregates import AGGREGATES, AggregateFunction
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    EventTime,
    MatchField,
    Probability,
    ReachedTick,
    Variable,
)
from cepctl.plan.plan import Alternative, Link
from cepctl.polars_expressions import Leaf, compile_expression


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


def group_link_holds(
    events: Events,
    alternative: Alternative,
    link: Link,
    bound: Mapping[int, Bindings],
    *,
    unknown: bool = False,
) -> Flags:
    """Whether a predicate over Kleene groups holds, per match, shape (n,); null counts as `unknown`.

    One that reads the members of several groups must hold for every choice of one member of each.
    """
    walker = _Walker(events, alternative, bound)
    condition = compile_expression(link.expression, walker.column)
    count = walker.count
    if not walker.columns:
        return np.full(count, bool(pl.select(condition.fill_null(unknown)).item()))
    frame = pl.DataFrame([series.alias(name) for name, series in walker.columns.items()])
    held = frame.select(condition.fill_null(unknown)).to_series().to_numpy()
    if walker.owner is None:
        return np.asarray(held)
    held = held | walker.looks_before_first()
    return np.asarray(np.bincount(walker.owner[~held], minlength=count) == 0)


class _Walker:
    """Columns that an expression reads: one row per match, or per choice of members once these are read.

    `owner`: the match of each row, None for one row per match.  `places`: for each component whose members
    are read, where the member of each row stands in its group, None where the rows are its members.
    """

    def __init__(self, events: Events, alternative: Alternative, bound: Mapping[int, Bindings]) -> None:
        self.events, self.alternative, self.bound = events, alternative, bound
        self.columns: dict[str, pl.Series] = {}
        self.owner: Indexes | None = None
        self.places: dict[int, Indexes | None] = {}
        self.looking_back: set[int] = set()
        some = next(iter(bound.values()))
        self.count = len(some.sizes) if isinstance(some, Group) else len(some)

    def looks_before_first(self) -> Flags:
        """Which rows read what is before the first member of a group."""
        assert self.owner is not None
        before = np.zeros(len(self.owner), dtype=bool)
        for component in self.looking_back:
            group, place = self.bound[component], self.places[component]
            assert isinstance(group, Group)
            first = np.zeros(len(group.members), dtype=bool)
            first[group.offsets[:-1]] = True
            before |= first if place is None else first[place]
        return before

    def column(self, leaf: Leaf) -> pl.Expr:
        name = repr(leaf)
        if name not in self.columns:
            self.columns[name] = self._series(leaf)
        return pl.col(name)

    def _series(self, leaf: Leaf) -> pl.Series:
        assert not isinstance(leaf, MatchField | ReachedTick)
        if isinstance(leaf, Probability):
            single = {i: each for i, each in self.bound.items() if not isinstance(each, Group)}
            return self._spread(probability_column(self.events, self.alternative, leaf, single))
        component = component_of(self.alternative, leaf.name if isinstance(leaf, Variable) else leaf.variable)
        assert component is not None
        value = self.bound[component]
        if not isinstance(value, Group):
            return self._spread(self.events.frame.get_column(column_name(leaf)).gather(value))
        if isinstance(leaf, Aggregate):
            if leaf.before:
                self.looking_back.add(component)
                return self._per_member(component, value, _before(self.events, leaf, value))
            return self._spread(aggregate_over_groups(self.events, leaf, value))
        assert isinstance(leaf, Attribute | EventTime)
        if leaf.member in ("first", "last"):
            return self._spread(member_of_groups(self.events, leaf, value))
        series = self.events.frame.get_column(column_name(leaf)).gather(value.members)
        if leaf.member == "previous":
            self.looking_back.add(component)
            series = series.shift(1)
        return self._per_member(component, value, series)

    def _spread(self, series: pl.Series) -> pl.Series:
        """A value per match, repeated for every row."""
        return series if self.owner is None else series.gather(self.owner)

    def _per_member(self, component: int, group: Group, series: pl.Series) -> pl.Series:
        """A value per member of a group, one for each row; the rows become more with each group."""
        if component not in self.places:
            if self.owner is None:
                self.owner, row = group.owner, group.owner
                self.places[component] = None
            else:
                sizes = group.sizes[self.owner]
                row = np.repeat(np.arange(len(sizes)), sizes)
                within = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
                self.places = {i: row if at is None else at[row] for i, at in self.places.items()}
                self.owner = self.owner[row]
                self.places[component] = group.offsets[self.owner] + within
            self.columns = {name: each.gather(row) for name, each in self.columns.items()}
        place = self.places[component]
        return series if place is None else series.gather(place)


def _before(events: Events, aggregate: Aggregate, group: Group) -> pl.Series:
    """Aggregate over the members before each one."""
    if aggregate.name is None:
        return pl.Series(np.arange(len(group.members)) - np.repeat(group.offsets[:-1], group.sizes))
    values = events.frame.get_column(aggregate.name).gather(group.members)
    function = AGGREGATES[aggregate.function]
    running = function.running(values_for(function, values.dtype))
    known = pl.when(pl.col("value").cum_count() > 0).then(running)
    counted = running.cast(pl.Int64).shift(1).fill_null(0)
    shifted = counted if function.counts else known.shift(1)
    frame = pl.DataFrame({"owner": group.owner, "value": values})
    return frame.select(shifted.over("owner").alias("value")).to_series()
