"""Every match of a pattern in one possible world, by plain search: semantics.md word for word.

In one world each event has one tick.  The search binds the positive components in pattern
order to every combination of events that fit and stand in the right order, and then asks of
each finished combination the questions of the table "A match in one world", one function per
row.  Nothing is clever, so that it can be compared with the text line by line.

    name here     in semantics.md
    ticks[e]      t(e), the tick of event e in this world: of one that lasts its start, ticks.ends[e] its end
    Bound         the events bound so far, by component
    fits          "e fits component E_j given the events already bound"
    Group         the events of one component: one, or those of a Kleene group in signature order
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Literal, TypeAlias

from cepctl.engines.worlds import next_match
from cepctl.engines.worlds.absent_together import happens
from cepctl.engines.worlds.bound_events import (
    Bound,
    Edge,
    Group,
    Ticks,
    events_in,
    events_of,
    extent,
)
from cepctl.engines.worlds.contiguity import holds_contiguously
from cepctl.engines.worlds.expressions import Members, holds
from cepctl.engines.worlds.repetitions import repetitions, turn_of
from cepctl.engines.worlds.runs import finished_run, runs
from cepctl.engines.worlds.stream import Stream, Work
from cepctl.engines.worlds.timings import named, timing_holds
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Alternative, Component, Link, Plan, Scope, Timing
from cepctl.schema import LATEST_TICK

Counted: TypeAlias = Literal["fitting", "key", "all"]


@dataclass(frozen=True)
class Search:
    """One alternative of a plan over one stream; `matches` answers for one world at a time."""

    plan: Plan
    alternative: Alternative
    stream: Stream
    work: Work
    _known: dict[object, tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what would be asked of nothing: a judge that does not know a word says so."""
        unknown = {link.scope for link in self.alternative.links} - {Scope.EVENT, Scope.ORDER, Scope.GROUP}
        for word in unknown:
            raise _not_known(word)
        reading(self.plan)

    def matches(self, ticks: Ticks) -> Iterator[Bound]:
        """All matches in the world where event e happens at `ticks[e]`."""
        found = runs(self, ticks) if self._as_runs else self.bindings(ticks, {}, self.alternative.positive)
        for bound in found:
            if (
                self._window_holds(ticks, bound)
                and self._timings_hold(ticks, bound)
                and self._negations_hold(ticks, bound)
                and not any(self._happens(ticks, bound, place) for place in self._absent_together)
                and (self._as_runs or reading(self.plan).holds(self, ticks, bound))
            ):
                yield bound

    @cached_property
    def _as_runs(self) -> bool:
        """Whether next match is asked of groups in order, or what reads a group before it."""
        return reading(self.plan).as_runs and self.alternative.reads_taken

    def decided_at(self, ticks: Ticks, bound: Bound) -> int:
        """When this world has decided a match: with its last tick, or with the window where that ends it.

        A window that goes on beyond the end of time ends with it.
        """
        first, last = extent(ticks, bound)
        place, ending = len(self.alternative.components) - 1, self.alternative.components[-1]
        if ending.negated:
            waits = place not in self.alternative.absent_anywhere
        elif ending.running:
            waits = False
        elif self._as_runs:
            waits = bool(finished_run(self, ticks, bound).takers())
        else:
            waits = ending.kleene and reading(self.plan).fills_window
        if not waits:
            return last
        return LATEST_TICK if self.plan.window is None else min(first + self.plan.window - 1, LATEST_TICK)

    # --- fitting ---------------------------------------------------------------------------

    def can_fit(self, component: int, event: int) -> bool:
        """Whether the event has the type, the own predicates and the `[attr]` values it needs."""
        wanted = self.alternative.components[component]
        row = self.stream.rows[event]
        return (
            (not wanted.event_types or row["event_type"] in wanted.event_types)
            and self.stream.keys[event] is not None
            and all(holds(condition, {wanted.variable: (row,)}) for condition in wanted.filters)
        )

    def fits(self, component: int, event: int, bound: Bound) -> bool:
        """Whether `event` fits `component` given the events in `bound`."""
        return self.fits_alone(component, event, bound) and self.links_hold(
            component, {**bound, component: (event,)}, (Scope.EVENT,)
        )

    def fits_alone(self, component: int, event: int, bound: Bound) -> bool:
        """Whether it does as far as type, own predicates and `[attr]` say."""
        return self.can_fit(component, event) and all(
            self.stream.keys[event] == self.stream.keys[e] for e in events_of(bound)
        )

    def fitting(self, component: int, bound: Bound) -> tuple[int, ...]:
        """All events of the input that fit `component` given `bound`; remembered, as ticks play no part."""
        question = (component, tuple(bound.items()))
        if question not in self._known:
            everything = range(len(self.stream))
            self._known[question] = tuple(e for e in everything if self.fits(component, e, bound))
        return self._known[question]

    def links_hold(self, component: int, bound: Bound, scopes: tuple[Scope, ...]) -> bool:
        """Whether the conditions of some scopes that a component decides hold, as far as all is bound."""
        return all(
            holds(link.expression, self.members(link, bound), together=self._repeated_together)
            for link in self.alternative.links
            if link.decides == component and link.scope in scopes and set(link.components) <= bound.keys()
        )

    @cached_property
    def _repeated_together(self) -> tuple[frozenset[str], ...]:
        """The variables of each `SEQ(...)+`."""
        components = self.alternative.components
        return tuple(frozenset(components[i].variable for i in turn) for turn in self.alternative.repeated)

    def members(self, link: Link, bound: Bound) -> Members:
        """The rows that a condition reads."""
        return {
            self.alternative.components[j].variable: tuple(self.stream.rows[e] for e in bound[j])
            for j in link.components
        }

    # --- combinations ----------------------------------------------------------------------

    def bindings(self, ticks: Ticks, bound: Bound, rest: Sequence[int]) -> Iterator[Bound]:
        """What some more components can bind, in the order of the pattern."""
        if not rest:
            yield bound
            return
        component = rest[0]
        earlier = self._blocks_before[component]
        floor = max((ticks.ends[e] for j in earlier for e in bound[j]), default=-math.inf)
        turn = turn_of(self.alternative, component)
        if turn:
            for found in repetitions(self, ticks, turn, bound, floor):
                whole = {**bound, **found}
                if all(self.links_hold(j, whole, tuple(Scope)) for j in turn):
                    yield from self.bindings(ticks, whole, rest[len(turn) :])
            return
        for group in self._groups(ticks, component, bound, floor):
            yield from self.bindings(ticks, {**bound, component: group}, rest[1:])

    @cached_property
    def _blocks_before(self) -> Mapping[int, tuple[int, ...]]:
        """For each positive component, those of the positive block just before its own."""
        blocks = self.alternative.positive_blocks
        return {j: before for before, block in pairwise(((), *blocks)) for j in block}

    @cached_property
    def _asked_of_groups(self) -> frozenset[int]:
        """The components on whose finished groups a predicate decides."""
        return frozenset(link.decides for link in self.alternative.links if link.scope is not Scope.EVENT)

    def _groups(self, ticks: Ticks, component: int, bound: Bound, floor: Edge) -> Iterator[Group]:
        """What `component` can be bound to after `floor`: no event is bound twice in one match."""
        used = set(events_of(bound))
        free = [e for e in self.fitting(component, bound) if e not in used and ticks[e] > floor]
        wanted = self.alternative.components[component]
        if wanted.ordered:
            free.sort(key=lambda e: ticks[e])
        if wanted.kleene:
            self.work.require_few_sets(wanted.variable, len(free))
        for size in _sizes(wanted, len(free)):
            for group in combinations(free, size):
                self.work.spend()
                if size > 1 and len({self.stream.keys[e] for e in group}) > 1:
                    continue
                if wanted.ordered and any(ticks[a] == ticks[b] for a, b in pairwise(group)):
                    continue
                if component not in self._asked_of_groups or self.links_hold(
                    component, {**bound, component: group}, (Scope.ORDER, Scope.GROUP)
                ):
                    yield group

    # --- one row of the table each ---------------------------------------------------------

    def _window_holds(self, ticks: Ticks, bound: Bound) -> bool:
        first, last = extent(ticks, bound)
        return self.plan.window is None or last - first < self.plan.window

    def _timings_hold(self, ticks: Ticks, bound: Bound) -> bool:
        return all(
            timing_holds(timing, ticks, bound, self.alternative.repeated)
            for timing in (*self.alternative.timings, *self.alternative.member_timings)
            if {timing.left, timing.right} <= {None, *bound}
            and not {timing.left, timing.right} & self._negated
        ) and all(
            self._case_holds(cases, ticks, bound)
            for cases in self.alternative.choices
            if not named(cases) & self._negated
        )

    @cached_property
    def _negated(self) -> frozenset[int]:
        return frozenset(j for j, component in enumerate(self.alternative.components) if component.negated)

    def _case_holds(self, cases: Sequence[Sequence[Timing]], ticks: Ticks, bound: Bound) -> bool:
        return any(all(timing_holds(timing, ticks, bound) for timing in case) for case in cases)

    def _negations_hold(self, ticks: Ticks, bound: Bound) -> bool:
        for place, block in enumerate(self.alternative.blocks if self._negated else ()):
            for component in block if place not in self._absent_together else ():
                if component not in self._negated:
                    continue
                lo, hi = self._gap(ticks, bound, place)
                if any(
                    lo < ticks[e] and ticks.ends[e] < hi and self._negated_holds(ticks, component, e, bound)
                    for e in self.fitting(component, bound)
                    if component not in self.alternative.absent_anywhere or e not in set(events_of(bound))
                ):
                    return False
        return True

    def _gap(self, ticks: Ticks, bound: Bound, place: int) -> tuple[Edge, Edge]:
        """Both ends, excluded, of the gap in which the negated block at `place` looks."""
        if len(self.alternative.blocks[place]) > 1 and place not in self._absent_together:
            return -math.inf, math.inf
        before = [ticks.ends[e] for block in self.alternative.blocks[:place] for e in events_in(bound, block)]
        after = [ticks[e] for block in self.alternative.blocks[place + 1 :] for e in events_in(bound, block)]
        window = math.inf if self.plan.window is None else self.plan.window
        first, last = extent(ticks, bound)
        return max(before, default=last - window), min(after, default=first + window)

    def _negated_holds(self, ticks: Ticks, component: int, event: int, bound: Bound) -> bool:
        """What remains to be checked for a negated event: predicates on finished groups, and its timings."""
        whole = {**bound, component: (event,)}
        return (
            self.links_hold(component, whole, (Scope.ORDER, Scope.GROUP))
            and all(
                timing_holds(timing, ticks, whole)
                for timing in (*self.alternative.timings, *self.alternative.member_timings)
                if component in (timing.left, timing.right) and {timing.left, timing.right} <= {None, *whole}
            )
            and all(
                self._case_holds(cases, ticks, whole)
                for cases in self.alternative.choices
                if component in named(cases)
            )
        )

    @cached_property
    def _absent_together(self) -> tuple[int, ...]:
        """The places of the blocks of `!SEQ(...)` and `!AND(...)`: several components, all negated."""
        blocks = enumerate(self.alternative.blocks)
        return tuple(place for place, block in blocks if len(block) > 1 and set(block) <= self._negated)

    def _happens(self, ticks: Ticks, bound: Bound, place: int) -> bool:
        """Whether distinct events that the match does not bind make up what must not happen in its gap."""
        return happens(self, ticks, bound, self.alternative.blocks[place], self._gap(ticks, bound, place))

    # --- contiguity ------------------------------------------------------------------------

    def _between(self, ticks: Ticks, bound: Bound, lo: int, hi: int) -> set[int]:
        """Events of the input (of the match's partition) strictly between two ticks, of any type."""
        key = self.stream.keys[next(iter(events_of(bound)))]
        whole_input = reading(self.plan).counted == "all"
        return {
            e
            for e in range(len(self.stream))
            if lo < ticks[e] < hi and (whole_input or self.stream.keys[e] == key)
        }


@dataclass(frozen=True)
class Reading:
    """What a strategy means here: its rows of the table, and which events of the input decide them.

    `fills_window` says that a trailing group takes what fits until the window ends, `as_runs` that what is
    taken may depend on what was.
    """

    holds: Callable[[Search, Ticks, Bound], bool]
    counted: Counted
    fills_window: bool = False
    as_runs: bool = False


def _anything(search: Search, ticks: Ticks, bound: Bound) -> bool:
    return True


def _next_match(search: Search, ticks: Ticks, bound: Bound) -> bool:
    return next_match.holds(search, ticks, bound)


_READINGS: Mapping[str, Reading] = {
    "skip_till_any_match": Reading(_anything, "fitting"),
    "skip_till_next_match": Reading(_next_match, "fitting", fills_window=True, as_runs=True),
    "strict_contiguity": Reading(holds_contiguously, "all"),
    "partition_contiguity": Reading(holds_contiguously, "key"),
}


def reading(plan: Plan) -> Reading:
    """What the strategy of a plan means, told by its word alone.

    Raises
    ------
    UnsupportedQueryError
        If the judge does not know the word: it guesses nothing.
    """
    if plan.strategy.word not in _READINGS:
        raise _not_known(plan.strategy.word)
    return _READINGS[plan.strategy.word]


def _not_known(word: object) -> UnsupportedQueryError:
    return UnsupportedQueryError(f"the worlds engine does not know {word!r}; --engine event may")


def _sizes(wanted: Component, free: int) -> range:
    """How many of the free events a component can be bound to, in a reading that does not leave it out."""
    if not wanted.kleene:
        return range(1, 2)
    return range(max(wanted.least, 1), (free if wanted.most is None else min(wanted.most, free)) + 1)
