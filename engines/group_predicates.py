"""Predicates over finished Kleene groups: aggregates, order, first and last member.

A predicate is checked for every member that it can speak of and holds for the group when it holds for
all of them; what reads `b[i-1]` or `b[1..i-1]` is not checked for the first member (semantics).

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from cepctl.engines.bindings import Bound, Group
from cepctl.engines.events import Events
from cepctl.engines.expressions import Leaf, compile_expression
from cepctl.engines.groups import aggregate_over_groups, member_of_groups
from cepctl.engines.predicates import column_name, component_of
from cepctl.engines.types import Flags
from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import Aggregate, Attribute, EventTime, MatchField, Variable
from cepctl.plan.plan import Alternative, Link

_BEFORE: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "sum": lambda value: value.fill_null(0).cum_sum(),
    "avg": lambda value: value.cast(pl.Float64).fill_null(0).cum_sum() / value.cum_count(),
    "min": lambda value: value.cum_min().forward_fill(),
    "max": lambda value: value.cum_max().forward_fill(),
    "count": lambda value: value.cum_count().cast(pl.Int64),
}


def group_link_holds(
    events: Events, alternative: Alternative, link: Link, bound: Mapping[int, Bound], *, unknown: bool = False
) -> Flags:
    """Whether a predicate over a Kleene group holds, per match, shape (n,); null counts as `unknown`.

    Raises
    ------
    UnsupportedQueryError
        If it compares each member of one group with each of another.
    """
    walker = _Walker(events, alternative, bound)
    condition = compile_expression(link.expression, walker.column)
    group, count = walker.group, walker.count
    if not walker.columns:
        return np.full(count, bool(pl.select(condition.fill_null(unknown)).item()))
    frame = pl.DataFrame([series.alias(name) for name, series in walker.columns.items()])
    held = frame.select(condition.fill_null(unknown)).to_series().to_numpy()
    if group is None:
        return np.asarray(held)
    if walker.looks_back:
        held = held | walker.is_first
    return np.asarray(np.bincount(group.owner[~held], minlength=count) == 0)


class _Walker:
    """Columns that an expression reads: one row per match, or per member once members are read."""

    def __init__(self, events: Events, alternative: Alternative, bound: Mapping[int, Bound]) -> None:
        self.events, self.alternative, self.bound = events, alternative, bound
        self.columns: dict[str, pl.Series] = {}
        self.group: Group | None = None
        self.looks_back = False
        some = next(iter(bound.values()))
        self.count = len(some.sizes) if isinstance(some, Group) else len(some)

    @property
    def is_first(self) -> Flags:
        """Which members are the first of their group."""
        assert self.group is not None
        first = np.zeros(len(self.group.members), dtype=bool)
        first[self.group.offsets[:-1]] = True
        return first

    def column(self, leaf: Leaf) -> pl.Expr:
        name = repr(leaf)
        if name not in self.columns:
            self.columns[name] = self._series(leaf)
        return pl.col(name)

    def _series(self, leaf: Leaf) -> pl.Series:
        assert not isinstance(leaf, MatchField)
        component = component_of(self.alternative, leaf.name if isinstance(leaf, Variable) else leaf.variable)
        assert component is not None
        value = self.bound[component]
        if not isinstance(value, Group):
            return self._spread(self.events.frame.get_column(column_name(leaf)).gather(value))
        if isinstance(leaf, Aggregate):
            if leaf.before:
                self._per_member(value)
                self.looks_back = True
                return _before(self.events, leaf, value)
            return self._spread(aggregate_over_groups(self.events, leaf, value))
        assert isinstance(leaf, Attribute | EventTime)
        if leaf.member in ("first", "last"):
            return self._spread(member_of_groups(self.events, leaf, value))
        self._per_member(value)
        series = self.events.frame.get_column(column_name(leaf)).gather(value.members)
        if leaf.member == "previous":
            self.looks_back = True
            return series.shift(1)
        return series

    def _spread(self, series: pl.Series) -> pl.Series:
        """A value per match, repeated for every member once members are read."""
        return series if self.group is None else series.gather(self.group.owner)

    def _per_member(self, group: Group) -> None:
        if self.group is group:
            return
        if self.group is not None:
            raise UnsupportedQueryError("a predicate between the members of two Kleene groups")
        self.group = group
        self.columns = {name: series.gather(group.owner) for name, series in self.columns.items()}


def _before(events: Events, aggregate: Aggregate, group: Group) -> pl.Series:
    """Aggregate over the members before each one."""
    if aggregate.name is None:
        return pl.Series(np.arange(len(group.members)) - np.repeat(group.offsets[:-1], group.sizes))
    values = events.frame.get_column(aggregate.name).gather(group.members)
    running = _BEFORE[aggregate.function](pl.col("value"))
    known = pl.col("value").cum_count() > 0
    if aggregate.function != "count":
        running = pl.when(known).then(running)
    shifted = running.shift(1)
    if aggregate.function == "count":
        shifted = shifted.fill_null(0)
    frame = pl.DataFrame({"owner": group.owner, "value": values})
    return frame.select(shifted.over("owner").alias("value")).to_series()
