"""Bindings that could have happened: one event per single component, valid intervals non-empty.

Partial matches are rows of a matrix, one column per component.  A step joins one more component:
valid intervals of the bound events say which ticks the new event may have, a range join finds
the events that can be there, and rows that no longer can happen are dropped (ZDI10, section 5.1).
Starting events are taken in bounded batches, depth first, so that memory does not grow with the
number of matches.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.constraints import UNBOUNDED, possible, shifted, valid_bounds
from cepctl.engines.events import Events
from cepctl.engines.interval_join import IntervalIndex, interval_index, overlapping
from cepctl.engines.join_keys import JoinKey, join_key
from cepctl.engines.predicates import links_hold
from cepctl.engines.types import Indexes, Ticks
from cepctl.plan.plan import Alternative, Link, Scope

STARTS_AT_ONCE = 1 << 16
NOT_BOUND = -1


@dataclass(frozen=True)
class Search:
    """One alternative, prepared: what is fixed before the first event is bound.

    `singles` are the positive components, in pattern order, one column each; `system` is the closed system of
    difference constraints over them, shape (l, l); `candidates` the fitting events of every
    component of the alternative.
    """

    alternative: Alternative
    singles: tuple[int, ...]
    system: Ticks
    candidates: tuple[Indexes, ...]
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Step:
    column: int
    index: IntervalIndex
    key: JoinKey
    links: tuple[Link, ...]


def enumerate_bindings(
    search: Search, events: Events, order: tuple[int, ...], owned: tuple[int, int] | None = None
) -> Iterator[Indexes]:
    """Yield matrices of event rows, shape (n, l), columns as `search.singles`.

    `order` is a permutation of the columns 0..l-1, the order in which components are bound; every
    order yields the same rows.  Columns that it leaves out (Kleene groups) stay NOT_BOUND.  `owned`
    bounds the `lower` of the event bound to the first component, if that is bound here.
    """
    count = len(search.singles)
    if not order:
        yield np.full((1, count), NOT_BOUND, dtype=np.int64)
        return
    search = _owned_only(search, events, owned) if 0 in order else search
    bound: list[int] = []
    steps = []
    for column in order:
        steps.append(_step(search, events, column, bound))
        bound.append(column)
    first = search.candidates[search.singles[order[0]]]
    first = first[steps[0].key.candidate_codes >= 0]
    for start in range(0, len(first), STARTS_AT_ONCE):
        rows = np.full((len(first[start : start + STARTS_AT_ONCE]), count), NOT_BOUND, dtype=np.int64)
        rows[:, order[0]] = first[start : start + STARTS_AT_ONCE]
        rows = _keep(search, events, rows, order[:1], steps[0].links)
        yield from _extend(search, events, rows, order, steps, 1)


def _owned_only(search: Search, events: Events, owned: tuple[int, int] | None) -> Search:
    if owned is None:
        return search
    component = search.singles[0]
    candidates = list(search.candidates)
    lower = events.masses.lower[candidates[component]]
    candidates[component] = candidates[component][(lower >= owned[0]) & (lower <= owned[1])]
    return replace(search, candidates=tuple(candidates))


def _step(search: Search, events: Events, column: int, bound: list[int]) -> _Step:
    component = search.singles[column]
    known = {search.singles[i] for i in [*bound, column]}
    key = join_key(search.alternative, search.partition_by, events, component, known - {component},
                   search.candidates[component])  # fmt: skip
    usable = key.candidate_codes >= 0
    event = search.candidates[component][usable]
    index = interval_index(
        event, key.candidate_codes[usable], events.masses.lower[event], events.masses.upper[event]
    )
    links = tuple(
        link
        for link in search.alternative.links
        if link.scope is Scope.EVENT
        and component in link.components
        and set(link.components) <= known
        and not search.alternative.components[link.decides].negated
    )
    return _Step(column, index, key, links)


def _extend(
    search: Search, events: Events, rows: Indexes, order: tuple[int, ...], steps: list[_Step], depth: int
) -> Iterator[Indexes]:
    if not len(rows):
        return
    if depth == len(order):
        yield rows
        return
    step, before = steps[depth], order[:depth]
    first, last = reach(search, events, rows, before, step.column)
    codes = step.key.codes_of(rows, search.singles)
    for row, event in overlapping(step.index, codes, first, last):
        longer = rows[row]
        fresh = (longer != event[:, None]).all(axis=1)
        longer = longer[fresh]
        longer[:, step.column] = event[fresh]
        longer = _keep(search, events, longer, order[: depth + 1], step.links)
        yield from _extend(search, events, longer, order, steps, depth + 1)


def reach(
    search: Search, events: Events, rows: Indexes, before: tuple[int, ...], column: int
) -> tuple[Ticks, Ticks]:
    """Ticks that the next event may have, given the raw intervals of those bound."""
    first = np.full(len(rows), -UNBOUNDED, dtype=np.int64)
    last = np.full(len(rows), UNBOUNDED, dtype=np.int64)
    for other in before:
        event = rows[:, other]
        if (limit := int(search.system[column, other])) < UNBOUNDED:
            last = np.minimum(last, shifted(events.masses.upper[event], limit))
        if (limit := int(search.system[other, column])) < UNBOUNDED:
            first = np.maximum(first, shifted(events.masses.lower[event], -limit))
    return first, last


def _keep(
    search: Search, events: Events, rows: Indexes, columns: tuple[int, ...], links: tuple[Link, ...]
) -> Indexes:
    """Drop rows that cannot happen or break a link that has just become decidable."""
    within = np.ix_(columns, columns)
    event = rows[:, columns]
    bounds = valid_bounds(events.masses.lower[event], events.masses.upper[event], search.system[within])
    rows = rows[possible(*bounds)]
    bound = {search.singles[i]: rows[:, i] for i in columns}
    held = links_hold(events, search.alternative, links, bound)
    return rows if held is None else rows[held]
