"""Why some events are not a match: which condition they fail, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, permutations, product

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, events_in
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import partition_codes
from cepctl.engines.columns.predicates import column_name, component_of, fitting_events, group_link_holds
from cepctl.engines.diagnosis.conditions import (
    Condition,
    TimeDemand,
    differences_of,
    filter_condition,
    key_condition,
    link_condition,
    window_condition,
)
from cepctl.engines.diagnosis.partial_matches import TWICE
from cepctl.engines.diagnosis.valid_intervals import valid_of
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure, possible
from cepctl.engines.pattern.offset_bounds import least_apart
from cepctl.engines.pattern.rivals import link_holds_for_pairs
from cepctl.language.ast import Attribute, EventTime, Expression
from cepctl.language.printer import expression_to_text
from cepctl.language.traversal import walk
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.plan import Alternative, Plan, Scope


@dataclass(frozen=True)
class Reason:
    """A condition that some events fail.

    `excess`: ticks by which they miss a demand on times.  `values`: what the condition read.  `events`:
    those that are to blame, the failing one or the rivals.
    """

    condition: Condition
    excess: int | None = None
    values: tuple[tuple[str, object], ...] = ()
    events: tuple[int, ...] = ()


@dataclass(frozen=True)
class Demands:
    """Demands on the times of one match, every member of a group a variable of its own.

    `components` and `events`: component and row of each variable; edges refer to variables.
    """

    components: tuple[int, ...]
    events: tuple[int, ...]
    differences: tuple[TimeDemand, ...]

    def system(self, without: TimeDemand | None = None) -> Ticks:
        """The demands, closed; shape (variables, variables)."""
        kept = (each for each in self.differences if each is not without)
        return closure(len(self.events), [edge for each in kept for edge in each.edges])


def demands_of(plan: Plan, alternative: Alternative, bound: dict[int, Bindings]) -> Demands:
    """The demands on one match."""
    components: list[int] = []
    events: list[int] = []
    places: dict[int, list[int]] = {}
    for column, i in enumerate(alternative.positive):
        each = bound[i]
        for event in events_in(each):
            places.setdefault(column, []).append(len(events))
            components.append(i)
            events.append(int(event))
    found = []
    for demand in differences_of(plan, alternative):
        edges = [(v, w, c) for i, j, c in demand.edges for v, w in product(places[i], places[j])]
        found.append(TimeDemand(demand.condition, tuple(edges), demand.loosened))
    for column, i in enumerate(alternative.positive):
        if alternative.components[i].kleene and len(places[column]) > 1:
            found += _within_group(plan, alternative, i, places[column])
    return Demands(tuple(components), tuple(events), tuple(found))


def _within_group(
    plan: Plan, alternative: Alternative, component: int, places: list[int]
) -> list[TimeDemand]:
    found = []
    if plan.window is not None:
        edges = tuple((v, w, plan.window - 1) for v, w in permutations(places, 2))
        found.append(TimeDemand(window_condition(plan), edges))
    if alternative.components[component].ordered:
        name = alternative.components[component].variable
        edges = tuple((v, w, -1) for v, w in pairwise(places))
        found.append(TimeDemand(Condition("order", f"the order of {name}[]"), edges))
    return found


def times_against(demands: Demands, events: Events) -> tuple[Reason, ...]:
    """Demands that leave an event no tick: each that is enough to drop, else all of them."""
    event = np.array(demands.events)
    found = []
    for each in demands.differences:
        system = demands.system(without=each)
        if (np.diag(system) < 0).any():
            continue
        if possible(*valid_of(events, system, event[None, :]))[0]:
            missing = _missing(each, system, events.stamps, event)
            if missing > 0:
                found.append(Reason(each.condition, excess=missing))
    if found:
        return tuple(found)
    return tuple(dict.fromkeys(Reason(each.condition) for each in demands.differences if each.loosened))


def _missing(demand: TimeDemand, system: Ticks, clocks: EventClocks, event: Indexes) -> int:
    """Ticks more that a demand would have to allow, the others holding."""
    needed = [int(least_apart(clocks, system, event[None, :], i, j)[0]) - c for i, j, c in demand.edges]
    return max(needed, default=-UNBOUNDED)


def reasons_against(prepared: PreparedAlternative, bound: dict[int, Bindings]) -> tuple[Reason, ...]:
    """Types, predicates and keys that the events of one match fail."""
    return (*_unfit(prepared, bound), *_unequal(prepared, bound), *_unlinked(prepared, bound))


def _unfit(prepared: PreparedAlternative, bound: dict[int, Bindings]) -> list[Reason]:
    """Events that are of another type, fail a predicate of their own, or are bound twice."""
    events, found, seen = prepared.events, list[Reason](), set[int]()
    for i, each in bound.items():
        component = prepared.alternative.components[i]
        for event in (int(e) for e in events_in(each)):
            kind = events.frame.get_column("event_type")[event]
            if component.event_types and kind not in component.event_types:
                wanted = f"{component.variable} is {'|'.join(component.event_types)}"
                found.append(Reason(Condition("type", wanted), values=(("type", kind),), events=(event,)))
            for expression in component.filters:
                alone = type(component)(component.variable, (), filters=(expression,))
                if event not in fitting_events(events, alone):
                    read = _values(prepared, expression, {i: event})
                    found.append(Reason(filter_condition(expression), values=read, events=(event,)))
            if event in seen:
                found.append(Reason(TWICE, events=(event,)))
            seen.add(event)
    return found


def _unequal(prepared: PreparedAlternative, bound: dict[int, Bindings]) -> list[Reason]:
    """Attributes of `[attr]` that are null or not shared."""
    found = []
    for name in prepared.plan.partition_by:
        codes = partition_codes((name,), prepared.events)
        own = {i: codes[events_in(each)] for i, each in bound.items()}
        together = np.concatenate(list(own.values()))
        if (together < 0).any() or len(np.unique(together)) > 1:
            firsts = {i: _first(each) for i, each in bound.items()}
            variables = prepared.alternative.components
            values = tuple(
                (f"{variables[i].variable}.{name}", prepared.events.frame.get_column(name)[event])
                for i, event in firsts.items()
            )
            found.append(Reason(key_condition(name), values=values))
    return found


def _unlinked(prepared: PreparedAlternative, bound: dict[int, Bindings]) -> list[Reason]:
    """Predicates between components, and over groups, that do not hold."""
    events, shape, found = prepared.events, prepared.shape, []
    for link in prepared.alternative.links:
        each = bound.get(link.decides)
        if each is None:
            continue
        if link.scope is Scope.EVENT and len(prepared.alternative.turn(link.decides)) == 1:
            members = events_in(each)
            row = np.zeros(len(members), dtype=np.int64)
            held = link_holds_for_pairs(
                shape.alternative, events, link, link.decides, bound, row, members
            ).all()
        else:
            held = group_link_holds(events, prepared.alternative, link, bound)[0]
        if not held:
            read = _values(prepared, link.expression, {i: _first(b) for i, b in bound.items()})
            values = read if link.scope is Scope.EVENT else ()
            found.append(Reason(link_condition(link), values=values))
    return found


def _first(bound: Bindings) -> int:
    return int(bound.members[0] if isinstance(bound, Group) else bound[0])


def _values(
    prepared: PreparedAlternative, expression: Expression, rows: dict[int, int]
) -> tuple[tuple[str, object], ...]:
    """What an expression reads of some events, by component."""
    values: dict[str, object] = {}
    for leaf in walk(expression):
        if isinstance(leaf, Attribute | EventTime):
            component = component_of(prepared.alternative, leaf.variable)
            if component in rows:
                column = prepared.events.frame.get_column(column_name(leaf))
                values[expression_to_text(leaf)] = column[rows[component]]
    return tuple(values.items())
