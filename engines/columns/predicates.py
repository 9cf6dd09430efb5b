"""Expressions over whole columns: which events fit, which bindings satisfy a link, what RETURN shows.

A predicate over a Kleene group is checked for every member that it can speak of and holds for the group when
it holds for all of them.  What reads `b[i-k]` is not checked where there is none k before, and what reads
`b[1..i-1]` not for the first member (semantics).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import places_in_runs
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
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Alternative, Component, Link, ReturnColumn
from cepctl.plan.polars_expressions import Leaf, compile_expression
from cepctl.schema import END_TIME

_FEW_TYPES = 4


def component_of(alternative: Alternative, variable: str) -> int | None:
    """Index of the component that a variable of an expression names, if this alternative has it."""
    names = {component.variable: i for i, component in enumerate(alternative.components)}
    return names.get(variable, names.get(variable.lower()))


def fitting_events(events: Events, component: Component) -> Indexes:
    """Rows of the events whose type and own predicates fit a component, ascending."""
    if not component.filters and not component.event_types:
        return np.arange(len(events), dtype=np.int64)
    fits = events.frame.select(component_condition(component).alias("fits"))
    return np.flatnonzero(fits.get_column("fits").to_numpy())


def component_condition(component: Component) -> pl.Expr:
    """Whether an event fits a component, by its type and the component's own predicates; never null."""
    conditions = [compile_expression(each, _own_column) for each in component.filters]
    if component.event_types:
        conditions.insert(0, _of_types(component.event_types))
    return pl.all_horizontal(conditions or [pl.lit(True)]).fill_null(False)


def _of_types(types: Sequence[str]) -> pl.Expr:
    """Whether an event is of one of these types; few are compared several times as quickly as looked up."""
    event_type = pl.col("event_type")
    if len(types) > _FEW_TYPES:
        return event_type.is_in(list(types))
    return reduce(or_, [event_type == each for each in types])


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
    columns = LeafColumns(events, alternative, bound)
    condition = pl.all_horizontal([compile_expression(each, columns.column) for each in expressions])
    return columns.held(condition, unknown=False)


def _values_for(function: AggregateFunction, dtype: pl.DataType) -> pl.Expr:
    """The column `value` as an aggregate takes it: in floats where its answer is one."""
    column = pl.col("value")
    in_floats = function.gives == "number" and dtype.is_numeric()
    return column.cast(pl.Float64, strict=False) if in_floats else column


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
    columns = LeafColumns(events, alternative, bound)
    held = columns.held(compile_expression(link.expression, columns.column), unknown=unknown)
    if columns.owner is None:
        return held
    broken = columns.owner[~(held | columns.looks_before_first())]
    return np.asarray(np.bincount(broken, minlength=columns.count) == 0)


class LeafColumns:
    """What expressions read: a row for each match, or for each choice of members once these are read.

    `count`: how many matches; `owner`: the match of each row, None for one row per match.
    """

    def __init__(self, events: Events, alternative: Alternative, bound: Mapping[int, Bindings]) -> None:
        self.events, self.alternative, self.bound = events, alternative, bound
        self.owner: Indexes | None = None
        some = next(iter(bound.values()))
        self.count = len(some.sizes) if isinstance(some, Group) else len(some)
        self._columns: dict[str, pl.Series] = {}
        # Where the member of each row stands in its group; None where the rows are its members.
        self._places: dict[int, Indexes | None] = {}
        self._looking_back: dict[int, int] = {}
        """How far back the members of a group are read."""

    def column(self, leaf: Leaf) -> pl.Expr:
        """The column of a leaf in `frame`."""
        name = repr(leaf)
        if name not in self._columns:
            self._columns[name] = self.series(leaf)
        return pl.col(name)

    @property
    def frame(self) -> pl.DataFrame:
        """The columns that were asked for."""
        return pl.DataFrame([series.alias(name) for name, series in self._columns.items()])

    def held(self, condition: pl.Expr, *, unknown: bool) -> Flags:
        """Where a condition on the columns holds; null counts as `unknown`."""
        condition = condition.fill_null(unknown)
        if not self._columns:
            return np.full(self.count, bool(pl.select(condition).item()))
        return np.asarray(self.frame.select(condition).to_series().to_numpy())

    def looks_before_first(self) -> Flags:
        """Which rows read what is before the first member of a group."""
        assert self.owner is not None
        before = np.zeros(len(self.owner), dtype=bool)
        for component, back in self._looking_back.items():
            group, place = self.bound[component], self._places[component]
            assert isinstance(group, Group)
            too_early = places_in_runs(group.sizes)[1] < back
            before |= too_early if place is None else too_early[place]
        return before

    def series(self, leaf: Leaf) -> pl.Series:
        """The values of a leaf whose variables are all bound, one for each row."""
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
                self._look_back(component, 0 if leaf.own else 1)
                return self._per_member(component, value, _before(self.events, leaf, value))
            return self._spread(aggregate_of(self.events, leaf, value))
        assert isinstance(leaf, Attribute | EventTime)
        members = value.members
        if leaf.member in ("first", "last"):
            members = members[value.offsets[:-1] if leaf.member == "first" else value.offsets[1:] - 1]
            return self._spread(self.events.frame.get_column(column_name(leaf)).gather(members))
        series = self.events.frame.get_column(column_name(leaf)).gather(members)
        if leaf.member == "previous":
            self._look_back(component, leaf.back)
            series = series.shift(leaf.back)
        return self._per_member(component, value, series)

    def _look_back(self, component: int, back: int) -> None:
        self._looking_back[component] = max(back, self._looking_back.get(component, 0))

    def _spread(self, series: pl.Series) -> pl.Series:
        """A value per match, repeated for every row."""
        return series if self.owner is None else series.gather(self.owner)

    def _per_member(self, component: int, group: Group, series: pl.Series) -> pl.Series:
        """A value per member of a group, one for each row; the rows become more with each group."""
        others = (i for i in self.alternative.turn(component) if i in self._places)
        if component not in self._places and (of_turn := next(others, None)) is not None:
            # What takes in turn is read turn by turn.
            self._places[component] = self._places[of_turn]
        elif component not in self._places:
            if self.owner is None:
                self.owner, row = group.owner, group.owner
                self._places[component] = None
            else:
                row, within = places_in_runs(group.sizes[self.owner])
                self._places = {i: row if at is None else at[row] for i, at in self._places.items()}
                self.owner = self.owner[row]
                self._places[component] = group.offsets[self.owner] + within
            self._columns = {name: each.gather(row) for name, each in self._columns.items()}
        place = self._places[component]
        return series if place is None else series.gather(place)


def aggregate_of(events: Events, aggregate: Aggregate, group: Group) -> pl.Series:
    """An aggregate per group, shape (n,); nulls are skipped as in SQL."""
    if aggregate.name is None:
        return pl.Series(group.sizes)
    values = events.frame.get_column(aggregate.name).gather(group.members)
    function = AGGREGATES[aggregate.function]
    answer = function.whole(_values_for(function, values.dtype))
    known = pl.when(pl.col("value").count() > 0).then(answer)
    answer = answer.cast(pl.Int64) if function.counts else known
    frame = pl.DataFrame({"owner": group.owner, "value": values})
    return frame.group_by("owner", maintain_order=True).agg(answer.alias("value")).get_column("value")


def _before(events: Events, aggregate: Aggregate, group: Group) -> pl.Series:
    """Aggregate over the members before each one, or up to it."""
    if aggregate.name is None:
        return pl.Series(places_in_runs(group.sizes)[1] + aggregate.own)
    values = events.frame.get_column(aggregate.name).gather(group.members)
    function = AGGREGATES[aggregate.function]
    running = function.running(_values_for(function, values.dtype))
    known = pl.when(pl.col("value").cum_count() > 0).then(running)
    back = 0 if aggregate.own else 1
    counted = running.cast(pl.Int64).shift(back).fill_null(0)
    shifted = counted if function.counts else known.shift(back)
    frame = pl.DataFrame({"owner": group.owner, "value": values})
    return frame.select(shifted.over("owner").alias("value")).to_series()


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

    A variable that this alternative of an OR does not bind is null; a group that may be absent and is has 0
    members.  `reached` gives the ticks of `reached(...)`.
    """
    if not returns:
        return {}
    bound = bound_by_component(alternative, matches.bound)
    leaves = LeafColumns(events, alternative, bound)
    columns: dict[str, pl.Series] = {}

    def always(value: int | None) -> pl.Series:
        return pl.repeat(value, len(matches), eager=True)

    def bound_to(variable: str) -> Bindings | None:
        component = component_of(alternative, variable)
        return None if component is None else bound.get(component)

    def series_of(leaf: Leaf) -> pl.Series:
        if isinstance(leaf, ReachedTick):
            assert reached is not None
            return reached(leaf.share)
        if isinstance(leaf, MatchField):
            return pl.Series(getattr(matches, leaf.name))
        if isinstance(leaf, Probability):
            single = all(isinstance(bound_to(name), np.ndarray) for name in leaf.variables)
            return leaves.series(leaf) if single else always(None).cast(pl.Float64)
        value = bound_to(leaf.name if isinstance(leaf, Variable) else leaf.variable)
        if value is None:
            return always(0 if _counts_absent(alternative, leaf) else None)
        if isinstance(leaf, Variable) and isinstance(value, Group):
            return _joined_ids(events.ids, value)
        return leaves.series(leaf)

    def leaf_column(leaf: Leaf) -> pl.Expr:
        name = repr(leaf)
        if name not in columns:
            columns[name] = series_of(leaf).alias(name)
        return pl.col(name)

    compiled = [
        compile_expression(each.expression, leaf_column).alias(f"return {i}")
        for i, each in enumerate(returns)
    ]
    frame = pl.DataFrame([*columns.values(), pl.Series("row", range(len(matches)), dtype=pl.Int64)])
    result = frame.select(compiled)
    arrays = {}
    for each, shown in zip(returns, result, strict=True):
        whole = len(shown) == len(matches)
        values = shown if whole else pl.repeat(shown.item(), len(matches), eager=True)
        arrays[each.name] = values.to_arrow().cast(each.type)
    return arrays


def bound_by_component(alternative: Alternative, shown: Sequence[Bindings]) -> dict[int, Bindings]:
    """What rows bind to each component; those that take in turn have one group of a row together."""
    parts, bound = iter(shown), dict[int, Bindings]()
    for i in alternative.positive:
        turn = alternative.turn(i)
        if i == turn[0]:
            whole = next(parts)
        if len(turn) == 1 or not isinstance(whole, Group):
            bound[i] = whole
        else:
            offsets = whole.offsets // len(turn)
            bound[i] = Group(offsets, whole.members[turn.index(i) :: len(turn)])
    return bound


def _counts_absent(alternative: Alternative, leaf: Leaf) -> bool:
    """Whether a leaf counts the members of a group that may be absent and is."""
    if not isinstance(leaf, Aggregate):
        return False
    return AGGREGATES[leaf.function].counts and leaf.variable in alternative.absent


def _joined_ids(ids: pl.Series, group: Group) -> pl.Series:
    """Ids of each group, joined by `+`."""
    frame = pl.DataFrame({"owner": group.owner, "id": ids.gather(group.members)})
    joined = frame.group_by("owner", maintain_order=True).agg(pl.col("id").str.join("+"))
    return joined.get_column("id")
