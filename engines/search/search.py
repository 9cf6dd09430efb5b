"""Bindings that could have happened: one event per single component, valid intervals non-empty.

Partial matches are rows of a matrix, one column per component.  A step joins one more component:
the closed constraints say which ticks the new event may have given the intervals of all bound
ones, and a range join finds the events that can be there (ZDI10, section 5.1).  Constraints between
pairs are all that a closed system needs: what passes each join can happen as far as intervals tell.
Starting events are taken in bounded batches, depth first, so that memory does not grow with the
number of matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import (
    PAIRS_AT_ONCE,
    IntervalIndex,
    JoinKey,
    indexed_events,
    join_key,
    overlapping,
)
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.predicates import links_hold
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.kernels.stages import foresee
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, system_of
from cepctl.engines.search.narrowed_joins import CertainGap, ClockJoin, possible_rows
from cepctl.engines.search.threshold import PushDown
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.plan import Alternative, Link, Plan, Scope

if TYPE_CHECKING:
    from cepctl.plan.unrolled import Unrolled

PARTS = 32
"""Aim for the number of parts: enough to keep threads busy to the end."""
FEWEST_STARTS, MOST_STARTS = 1 << 10, 1 << 16
"""Bounds on the starting events of a part."""
FEWEST_COSTLY_STARTS = 1 << 7
"""The lower bound where rivals decide: a match then takes many times longer to measure than to find."""
NOT_BOUND = -1
_PER_LOOK = 2e-6
"""Seconds, interpreted, of each halving when a starting event is sought among those of a step."""


@dataclass(frozen=True)
class Search:
    """One alternative, prepared: what is fixed before the first event is bound.

    `singles` are the positive components, in pattern order, one column each; `system` is the closed system of
    difference constraints over them, shape (l, l); `candidates` the fitting events of every
    component of the alternative; `push_down` the threshold of confidence, where there is one.  A step of the
    search lists `pairs_at_once` pairs of a partial match and an event, but for those whose gap, one of
    `gaps`, some rival breaks in every world.  `growth` says which partial matches may bind the event bound
    last, where that depends on all events before; these are bound in pattern order then.
    """

    alternative: Alternative
    singles: tuple[int, ...]
    system: Ticks
    candidates: tuple[Indexes, ...]
    partition_by: tuple[str, ...] = ()
    push_down: PushDown | None = None
    pairs_at_once: int = PAIRS_AT_ONCE
    gaps: tuple[CertainGap, ...] = ()
    growth: Growing | None = None

    @classmethod
    def of_unrolled(
        cls, plan: Plan, form: Unrolled, candidates: Sequence[Indexes], growth: Growing | None = None
    ) -> Search:
        """That of a reading whose groups are so many single events; `candidates` as the reading has them."""
        alternative, own = form.alternative, tuple(candidates[i] for i in form.origin)
        system = system_of(alternative, plan.window)
        return cls(alternative, alternative.positive, system, own, plan.partition_by, growth=growth)

    @cached_property
    def group_joins(self) -> dict[tuple[int, frozenset[int]], GroupJoin]:
        """How Kleene components are joined to what is bound, as far as that was asked for."""
        return {}

    def group_join(self, events: Events, component: int, bound: frozenset[int]) -> GroupJoin:
        """How a Kleene component is joined to matches that bind these others; made once."""
        found = self.group_joins.get((component, bound))
        if found is None or found.events is not events:
            event = self.candidates[component]
            key = join_key(self.alternative, self.partition_by, events, component, bound, event)
            found = GroupJoin(events, key, indexed_events(events.masses, event, key.candidate_codes))
            self.group_joins[component, bound] = found
        return found


@dataclass(frozen=True)
class GroupJoin:
    """Events that can be in a group, by key and time."""

    events: Events
    key: JoinKey
    index: IntervalIndex


class Growing(Protocol):
    """Which partial matches may bind the event that they bound last."""

    def kept(self, events: Events, rows: Indexes, taken: int) -> Indexes:
        """Those of some rows, all with `taken` events, that may."""


@dataclass(frozen=True)
class JoinStep:
    """How one more component, after the first, is joined to partial matches."""

    column: int
    index: IntervalIndex
    key: JoinKey
    links: tuple[Link, ...]
    by_clock: ClockJoin | None


def enumeration_parts(
    search: Search,
    events: Events,
    order: tuple[int, ...],
    owned: tuple[int, int] | None = None,
    *,
    fewest: int = FEWEST_STARTS,
) -> list[Callable[[], Iterator[Indexes]]]:
    """Parts that together yield all bindings, as matrices of event rows, shape (n, l).

    Columns are those of `search.singles`.  `order` is a permutation of the columns 0..l-1, the order
    in which components are bound; every order yields the same rows.  Columns that it leaves out
    (Kleene groups) stay NOT_BOUND.  `owned` bounds the `lower` of the event bound to the first
    component, if that is bound here.  A part has at least `fewest` starting events, where there are enough.
    """
    count = len(search.singles)
    if not order:
        return [lambda: iter([np.full((1, count), NOT_BOUND, dtype=np.int64)])]
    if (np.diag(search.system) < 0).any():
        return []
    search = _owned_only(search, events, owned) if 0 in order else search
    first = search.candidates[search.singles[order[0]]]
    first = first[_key_of(search, events, order[0], []).candidate_codes >= 0]
    steps = [join_step(search, events, column, order[:depth]) for depth, column in enumerate(order) if depth]
    foresee(_PER_LOOK * len(first) * sum(len(step.index.event).bit_length() for step in steps))
    size = min(max(len(first) // PARTS, fewest), MOST_STARTS)
    return [
        partial(_started, search, events, first[start : start + size], order, steps)
        for start in range(0, len(first), size)
    ]


def _started(
    search: Search, events: Events, first: Indexes, order: tuple[int, ...], steps: list[JoinStep]
) -> Iterator[Indexes]:
    rows = np.full((len(first), len(search.singles)), NOT_BOUND, dtype=np.int64)
    rows[:, order[0]] = first
    rows = _linked(search, events, rows, order[:1], links_decided(search, order[0], []))
    yield from _extend(search, events, rows, order, steps, 1)


def _owned_only(search: Search, events: Events, owned: tuple[int, int] | None) -> Search:
    if owned is None:
        return search
    component = search.singles[0]
    candidates = list(search.candidates)
    lower = events.stated_lower[candidates[component]]
    candidates[component] = candidates[component][(lower >= owned[0]) & (lower <= owned[1])]
    return replace(search, candidates=tuple(candidates))


def _key_of(search: Search, events: Events, column: int, bound: Sequence[int]) -> JoinKey:
    component = search.singles[column]
    known = {search.singles[i] for i in bound}
    candidates = search.candidates[component]
    return join_key(search.alternative, search.partition_by, events, component, known, candidates)


def links_decided(search: Search, column: int, bound: Sequence[int]) -> tuple[Link, ...]:
    """What becomes decidable when a column is bound after others."""
    component = search.singles[column]
    known = {search.singles[i] for i in [*bound, column]}
    return tuple(
        link
        for link in search.alternative.links
        if link.scope is Scope.EVENT
        and component in link.components
        and set(link.components) <= known
        and not search.alternative.components[link.decides].negated
    )


def join_step(search: Search, events: Events, column: int, bound: Sequence[int]) -> JoinStep:
    """How an event is joined for a column, those of others being bound."""
    component = search.singles[column]
    key, candidates = _key_of(search, events, column, bound), search.candidates[component]
    index = indexed_events(events.masses, candidates, key.candidate_codes)
    by_clock = None
    if events.clocks is not None:
        by_clock = ClockJoin.of(events.clocks, candidates, key.candidate_codes)
    return JoinStep(column, index, key, links_decided(search, column, bound), by_clock)


def _extend(
    search: Search, events: Events, rows: Indexes, order: tuple[int, ...], steps: list[JoinStep], depth: int
) -> Iterator[Indexes]:
    if search.push_down is not None and (depth < len(order) or search.push_down.complete):
        rows = search.push_down.kept(search.alternative, search.singles, search.system, rows, order[:depth])
    if not len(rows):
        return
    if depth == len(order):
        yield rows
        return
    step, before = steps[depth - 1], order[:depth]
    pairs, mixed = _pairs(search, events, rows, before, step)
    for row, event in pairs:
        longer = np.empty((len(row), rows.shape[1]), dtype=np.int64)
        longer = longer[: _extended(rows, row, event, step.column, longer)]
        longer = _linked(search, events, longer, order[: depth + 1], step.links)
        longer = _not_forbidden(search, events, longer, before, step.column)
        if mixed:
            longer = possible_rows(events.stamps, search.system, longer, order[: depth + 1])
        yield from _extend(search, events, longer, order, steps, depth + 1)


def _pairs(
    search: Search, events: Events, rows: Indexes, before: tuple[int, ...], step: JoinStep
) -> tuple[Iterator[tuple[Indexes, Indexes]], bool]:
    """Pairs of a partial match and an event that can be next in it; whether some may be of several clocks."""
    codes, masses = step.key.codes_of(rows, search.singles), events.masses
    if step.by_clock is not None and not search.gaps:
        keys = step.by_clock.together_keys(rows, before, codes)
        if keys is not None:
            ticks = reach(step.by_clock.clocks.own, search.system, rows, before, step.column)
            return overlapping(step.by_clock.index, keys, *ticks, search.pairs_at_once), False
    ticks = reach(masses, search.system, rows, before, step.column)
    for gap in search.gaps:
        ticks = gap.narrowed(events, rows, search.singles, before, step.column, ticks)
    if step.by_clock is None:
        return overlapping(step.index, codes, *ticks, search.pairs_at_once), False
    joined = step.by_clock.pairs(
        step.index, masses, search.system, rows, before, step.column, codes, ticks, search.pairs_at_once
    )
    return joined, True


@kernel
def _extended(rows, row, event, column, longer):
    """Fill `longer` with the rows that an event is new to, bound to `column`; returns their number."""
    found = 0
    for i in range(len(row)):
        fresh = True
        for j in range(rows.shape[1]):
            longer[found, j] = rows[row[i], j]
            fresh = fresh and longer[found, j] != event[i]
        if fresh:
            longer[found, column] = event[i]
            found += 1
    return found


def _linked(
    search: Search, events: Events, rows: Indexes, columns: tuple[int, ...], links: tuple[Link, ...]
) -> Indexes:
    """Drop rows that break a link which has just become decidable."""
    bound = {search.singles[i]: rows[:, i] for i in columns}
    held = links_hold(events, search.alternative, links, bound)
    rows = rows if held is None else rows[held]
    return rows if search.growth is None else search.growth.kept(events, rows, len(columns))


def _not_forbidden(
    search: Search, events: Events, rows: Indexes, before: tuple[int, ...], column: int
) -> Indexes:
    """Drop rows whose last event no world has where the pattern wants it, as it is known who wrote first."""
    if not (len(rows) and events.depends.given and events.tied.in_order.any()):
        return rows
    ties = events.tied
    possible = np.ones(len(rows), dtype=bool)
    for other in before:
        for one, two in ((column, other), (other, column)):
            if search.system[one, two] < 0:
                left, right = rows[:, one], rows[:, two]
                component = ties.component[left]
                known = (component >= 0) & (component == ties.component[right])
                known &= ties.in_order[np.maximum(component, 0)]
                possible &= ~(known & (ties.rank[left] > ties.rank[right]))
    return rows if possible.all() else rows[possible]


def reach(
    masses: Masses, system: Ticks, rows: Indexes, before: tuple[int, ...], column: int
) -> tuple[Ticks, Ticks]:
    """Ticks that the next event may have, given the raw intervals of those bound.

    None, so first > last, where the system has no solution: its bounds then mean nothing.
    """
    if before and (np.diag(system) < 0).any():
        return np.full(len(rows), UNBOUNDED), np.full(len(rows), -UNBOUNDED)
    first = np.full(len(rows), -UNBOUNDED, dtype=np.int64)
    last = np.full(len(rows), UNBOUNDED, dtype=np.int64)
    for other in before:
        event = rows[:, other]
        if (limit := int(system[column, other])) < UNBOUNDED:
            last = np.minimum(last, shifted(masses.upper[event], limit))
        if (limit := int(system[other, column])) < UNBOUNDED:
            first = np.maximum(first, shifted(masses.lower[event], -limit))
    return first, last
