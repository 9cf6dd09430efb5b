"""Which events can matter to a plan: how far from the first event of a match, decided for each event alone.

Within a window the reach is the window.  Conditions on ends may bound it, too: what INTERSECTS the first
event begins before that has ended, and ends after it has begun.

What is given may tie events of any time.  The order of records whose intervals are equal or apart ties those
of one interval alone, of which a slice is given all or nothing.

An event matters when it fits some component, of the pattern or of what is given; under contiguity every
event of the input (of a partition) can stand in the way.  A part of the condition is left to Parquet:
comparisons of one attribute with a constant, which the statistics of a row group may rule out.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.predicates import component_condition
from cepctl.engines.confidence.intervals.conditions import (
    CONSTANT,
    Case,
    Edge,
    absence_cases,
    cases_of,
    own_edges,
)
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.language.ast import Attribute, Binary, Constant, Expression, In
from cepctl.numeric.arrays import Ticks
from cepctl.plan.choices import KleeneRows
from cepctl.plan.plan import Alternative, Component, Plan
from cepctl.plan.summary import owning_components


@dataclass(frozen=True)
class Reach:
    """Events that matter begin at most `after` ticks after the first event of a match has ended.

    They end at most `before` ticks before it begins.
    """

    before: int
    after: int

    @property
    def widest(self) -> int:
        """The larger of both."""
        return max(self.before, self.after)


def reach_of(plan: Plan) -> Reach | None:
    """How far the matches of a plan reach; None where events at any distance may matter.

    Raises
    ------
    QueryTooLargeError
        If conditions on ends make too many cases.
    """
    if plan.laws or (plan.given and not plan.in_units):
        return None  # these may tie events of any time
    windowed = None if plan.window is None else Reach(plan.window, plan.window)
    if not plan.of_intervals or plan.strategy.asks_others:
        return windowed
    found = [each for each in (windowed,) if each is not None]
    for alternative in plan.alternatives:
        if any(each.kleene for each in alternative.components):
            own = None if alternative.absent_anywhere else windowed
        else:
            own = _of_alternative(alternative, plan.window)
        if own is None:
            return None
        found.append(own)
    return Reach(max(each.before for each in found), max(each.after for each in found))


def _of_alternative(alternative: Alternative, window: int | None) -> Reach | None:
    bound = len(alternative.positive)
    between = _in_some(cases_of(alternative, window), bound)
    if between is None:
        return Reach(0, 0)
    shared = tuple(_edges(between))
    systems = [between]
    for number, component in enumerate(alternative.components):
        if component.negated:
            cases = absence_cases(alternative, window, number)
            absent = _in_some(((*shared, *each) for each in cases), bound + 1)
            if absent is not None:
                systems.append(absent)
    before = max(int(system[0, 1::2].max()) for system in systems)
    after = max(int(system[0::2, 1].max()) for system in systems)
    if max(before, after) >= UNBOUNDED:
        return None
    return Reach(max(before, 0), max(after, 0))


def _in_some(cases: Iterable[Case], components: int) -> Ticks | None:
    """What holds between the endpoints in every case, shape (2 l, 2 l); None if no case can hold."""
    found: Ticks | None = None
    for case in cases:
        edges = [each for each in case if CONSTANT not in each[:2]]
        system = closure(2 * components, [*own_edges(components), *edges])
        if (np.diag(system) >= 0).all():
            found = system if found is None else np.maximum(found, system)
    return found


def _edges(system: Ticks) -> Iterator[Edge]:
    for i, j in product(range(len(system)), repeat=2):
        if i != j and system[i, j] < UNBOUNDED:
            yield i, j, int(system[i, j])


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Floats are left out: where a column holds NaN, statistics and comparisons disagree.
_EXACT = {pa.int64(): int, pa.string(): str}


@dataclass(frozen=True)
class Relevance:
    """The events that can matter to a plan."""

    plan: Plan
    rows: KleeneRows = "groups"

    def relevant(self, table: pa.Table) -> pa.Table:
        """The events that can matter, in their order; types may come numbered, and leave as text."""
        needed = self.flags(table)
        kept = table if needed is None else table.filter(needed)
        place = kept.schema.get_field_index("event_type")
        return kept.set_column(place, "event_type", kept.column("event_type").cast(pa.string()))

    def flags(self, table: pa.Table) -> pa.Array | None:
        """Which events can matter, shape (n,); None where all can."""
        condition = self._condition
        return None if condition is None else _flags(table, condition)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that tell which events can matter."""
        condition = self._condition
        return frozenset(() if condition is None else condition.meta.root_names())

    def fitting(self, table: pa.Table) -> pa.Array:
        """Which events the pattern itself speaks of, whatever is given."""
        condition = replace(self, plan=replace(self.plan, given=()))._condition
        return pa.array(np.ones(len(table), dtype=bool)) if condition is None else _flags(table, condition)

    def begins(self, table: pa.Table) -> pa.Array:
        """Which events fit the component whose event decides what slice a match belongs to."""
        return _flags(table, self._begins)

    def pushed(self, types: Mapping[str, pa.DataType]) -> pc.Expression | None:
        """What holds for every relevant event and Parquet can tell; None when it can tell nothing.

        `types` are those of the columns in the files.
        """
        if self.plan.strategy.asks_all or self.plan.laws:
            return None
        choices = [_pushed(each, types) for each in _components(self.plan)]
        if any(choice is None for choice in choices):
            return None
        return functools.reduce(operator.or_, choices)

    # Polars resolves the types of an expression when it is first used, which takes longer than to use it.
    @functools.cached_property
    def _begins(self) -> pl.Expr:
        owning = [
            each.components[i] for each in self.plan.alternatives for i in owning_components(each, self.rows)
        ]
        return pl.any_horizontal([component_condition(each) for each in owning])

    @functools.cached_property
    def _condition(self) -> pl.Expr | None:
        if self.plan.strategy.crosses_keys:
            return None
        keyed = [pl.col(name).is_not_null() for name in self.plan.partition_by]
        fits = [component_condition(each) for each in _of(self.plan.alternatives)]
        if self.plan.strategy.asks_all:
            fits = [pl.lit(value=True)]
        known = [component_condition(each) for each in _of(each.alternative for each in self.plan.given)]
        under = [pl.col(law.by).is_not_null() for law in self.plan.laws]
        return pl.any_horizontal([pl.all_horizontal([pl.any_horizontal(fits), *keyed]), *known, *under])


def _components(plan: Plan) -> list[Component]:
    return _of([*plan.alternatives, *(each.alternative for each in plan.given)])


def _of(alternatives: Iterable[Alternative]) -> list[Component]:
    return [component for alternative in alternatives for component in alternative.components]


def _flags(table: pa.Table, condition: pl.Expr) -> pa.Array:
    read = condition.meta.root_names() or ["lower"]
    frame = pl.from_arrow(table.select(sorted(set(read))))
    assert isinstance(frame, pl.DataFrame)
    # A literal condition has one row alone.
    return frame.with_columns(condition.alias("cepctl fits")).get_column("cepctl fits").to_arrow()


def _pushed(component: Component, types: Mapping[str, pa.DataType]) -> pc.Expression | None:
    conditions = [_comparison(each, types) for each in component.filters]
    known = [each for each in conditions if each is not None]
    if component.event_types:
        known.insert(0, pc.field("event_type").isin(pa.array(component.event_types, pa.string())))
    return functools.reduce(operator.and_, known) if known else None


def _comparison(condition: Expression, types: Mapping[str, pa.DataType]) -> pc.Expression | None:
    match condition:
        case Binary(symbol, Attribute() as attribute, Constant(value)) if symbol in _COMPARISONS:
            if _is_exact(attribute, value, types):
                return _COMPARISONS[symbol](pc.field(attribute.name), value)
        case In(Attribute() as attribute, choices, negated=False):
            values = [choice.value for choice in choices if isinstance(choice, Constant)]
            exact = all(_is_exact(attribute, value, types) for value in values)
            if exact and values and len(values) == len(choices):
                return pc.field(attribute.name).isin(pa.array(values, types[attribute.name]))
    return None


def _is_exact(attribute: Attribute, value: object, types: Mapping[str, pa.DataType]) -> bool:
    kind = types.get(attribute.name)
    return kind in _EXACT and type(value) is _EXACT[kind]
