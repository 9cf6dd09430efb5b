"""Predicates over whole columns: which events fit a component, which bindings satisfy a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.errors import UnsupportedQueryError
from cepctl.language.aggregates import AGGREGATES, AggregateFunction
from cepctl.language.ast import (
    Aggregate,
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
