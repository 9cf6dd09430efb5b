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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise

from cepctl.engines.worlds.absent_together import happens
from cepctl.engines.worlds.bound_events import (
    Binding,
    Bound,
    Edge,
    Group,
    Room,
    Ticks,
    events_in,
    events_of,
    extent,
    first_tick,
    last_tick,
    remembered,
)
from cepctl.engines.worlds.contiguity import blocks_of_rows
from cepctl.engines.worlds.expressions import Members, holds
from cepctl.engines.worlds.readings import not_known, reading
from cepctl.engines.worlds.repetitions import repetitions, turn_of
from cepctl.engines.worlds.runs import finished_run, runs
from cepctl.engines.worlds.stream import Stream, Work
from cepctl.engines.worlds.timings import named, timing_holds
from cepctl.plan.plan import Alternative, Component, Link, Plan, Scope, Timing
from cepctl.schema import LATEST_TICK


@dataclass(frozen=True)
class Search:
    """One alternative of a plan over one stream; `matches` answers for one world at a time."""

    plan: Plan
    alternative: Alternative
    stream: Stream
    work: Work
    _nothing: Binding = field(default_factory=lambda: Binding({}, Room()), repr=False, compare=False)
    """What every search begins with, and what it remembers of all bindings that begin so."""
    _can_fit: dict[tuple[int, int], bool] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what would be asked of nothing: a judge that does not know a word says so."""
        unknown = {link.scope for link in self.alternative.links} - {Scope.EVENT, Scope.ORDER, Scope.GROUP}
        for word in unknown:
            raise not_known(word)
        reading(self.plan)

    def matches(self, ticks: Ticks) -> Iterator[Bound]:
        """All matches in the world where event e happens at `ticks[e]`."""
        holds_beside_others = reading(self.plan).holds
        found = runs(self, ticks) if self._as_runs else self.bindings(ticks, self.alternative.positive)
        for bound in found:
            if (
                self._window_holds(ticks, bound)
                and self._timings_hold(ticks, bound)
                and self._negations_hold(ticks, bound)
                and not any(self._happens(ticks, bound, place) for place in self._absent_together)
                and (self._as_runs or holds_beside_others(self, ticks, bound))
            ):
                yield bound

    @cached_property
    def _as_runs(self) -> bool:
        """Whether next match is asked of groups in order, or what reads a group before it."""
        return reading(self.plan).as_runs and self.alternative.reads_taken

    def decided_at(self, ticks: Ticks, bound: Bound, first: int, last: int) -> int:
        """When this world has decided a match: with its last tick, or with the window where that ends it.

        `first` and `last` are its extent.  A window that goes on beyond the end of time ends with it.
        """
        waits = self._waits if self._waits is not None else bool(finished_run(self, ticks, bound).takers())
        if not waits:
            return last
        return LATEST_TICK if self.plan.window is None else min(first + self.plan.window - 1, LATEST_TICK)

    @cached_property
    def _waits(self) -> bool | None:
        """Whether each match waits for the end of the window; None where that depends on what a run took."""
        place, ending = len(self.alternative.components) - 1, self.alternative.components[-1]
        if ending.negated:
            return place not in self.alternative.absent_anywhere
        if ending.running:
            return False
        return None if self._as_runs else ending.kleene and reading(self.plan).fills_window

    # --- fitting ---------------------------------------------------------------------------

    def can_fit(self, component: int, event: int) -> bool:
        """Whether the event has the type, the own predicates and the `[attr]` values it needs."""
        question = (component, event)
        if question not in self._can_fit:
            self._can_fit[question] = self._is_wanted(component, event)
        return self._can_fit[question]

    def _is_wanted(self, component: int, event: int) -> bool:
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
        known = self.binding(bound).remembered
        found: tuple[int, ...] | None = known.get(component)
        if found is None:
            everything = range(len(self.stream))
            found = known[component] = tuple(e for e in everything if self.fits(component, e, bound))
        return found

    def binding(self, bound: Bound) -> Binding:
        """What this search remembers of what is bound."""
        if isinstance(bound, Binding):
            return bound
        found = self._nothing
        for component, group in bound.items():
            found = found.longer(component, group)
        return found

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

    def bindings(self, ticks: Ticks, components: Sequence[int]) -> Iterator[Binding]:
        """What some components can bind, in the order of the pattern."""
        return self._longer(ticks, self._nothing, components)

    def _longer(self, ticks: Ticks, bound: Binding, rest: Sequence[int]) -> Iterator[Binding]:
        """What some more components can bind."""
        if not rest:
            yield bound
            return
        component = rest[0]
        before = events_in(bound, self._blocks_before[component])
        floor = last_tick(ticks, before) if before else -math.inf
        turn = turn_of(self.alternative, component)
        if turn:
            for found in repetitions(self, ticks, turn, bound, floor):
                whole = Binding({**bound, **found}, bound.room)
                if all(self.links_hold(j, whole, tuple(Scope)) for j in turn):
                    yield from self._longer(ticks, whole, rest[len(turn) :])
            return
        for group in self._groups(ticks, component, bound, floor):
            yield from self._longer(ticks, bound.longer(component, group), rest[1:])

    @cached_property
    def _blocks_before(self) -> Mapping[int, tuple[int, ...]]:
        """For each positive component, those of the positive block just before its own."""
        blocks = self.alternative.positive_blocks
        return {j: before for before, block in pairwise(((), *blocks)) for j in block}

    @cached_property
    def _asked_of_groups(self) -> frozenset[int]:
        """The components on whose finished groups a predicate decides."""
        return frozenset(link.decides for link in self.alternative.links if link.scope is not Scope.EVENT)

    def _groups(self, ticks: Ticks, component: int, bound: Binding, floor: Edge) -> Iterator[Group]:
        """What `component` can be bound to after `floor`: no event is bound twice in one match."""
        free = [e for e in self._unused(component, bound) if ticks[e] > floor]
        wanted = self.alternative.components[component]
        if wanted.ordered:
            free.sort(key=lambda e: ticks[e])
        if wanted.kleene:
            self.work.require_few_sets(wanted.variable, len(free))
        asked = component in self._asked_of_groups
        for size in _sizes(wanted, len(free)):
            for group in combinations(free, size):
                self.work.spend()
                if size > 1 and len({self.stream.keys[e] for e in group}) > 1:
                    continue
                if wanted.ordered and any(ticks[a] == ticks[b] for a, b in pairwise(group)):
                    continue
                if not asked or self._is_allowed(component, bound.longer(component, group)):
                    yield group

    def _unused(self, component: int, bound: Binding) -> tuple[int, ...]:
        """All events that fit and are not bound yet; remembered, as ticks play no part."""
        question = ("unused", component)
        found: tuple[int, ...] | None = bound.remembered.get(question)
        if found is None:
            found = tuple(e for e in self.fitting(component, bound) if e not in bound.events)
            bound.remembered[question] = found
        return found

    def _is_allowed(self, component: int, bound: Binding) -> bool:
        """Whether the conditions on a finished group hold; remembered, as ticks play no part."""
        scopes = (Scope.ORDER, Scope.GROUP)
        return remembered(bound, ("allowed", component), lambda: self.links_hold(component, bound, scopes))

    # --- one row of the table each ---------------------------------------------------------

    def _window_holds(self, ticks: Ticks, bound: Bound) -> bool:
        if self.plan.window is None:
            return True
        first, last = extent(ticks, bound)
        return last - first < self.plan.window

    def _timings_hold(self, ticks: Ticks, bound: Bound) -> bool:
        return all(
            timing_holds(timing, ticks, bound, self.alternative.repeated)
            for timing in self._timings
            if (timing.left is None or timing.left in bound)
            and (timing.right is None or timing.right in bound)
        ) and all(self._case_holds(cases, ticks, bound) for cases in self._choices)

    @cached_property
    def _timings(self) -> tuple[Timing, ...]:
        """Those between what a match binds."""
        every = (*self.alternative.timings, *self.alternative.member_timings)
        return tuple(each for each in every if not {each.left, each.right} & self._negated)

    @cached_property
    def _choices(self) -> tuple[Sequence[Sequence[Timing]], ...]:
        return tuple(cases for cases in self.alternative.choices if not named(cases) & self._negated)

    @cached_property
    def _negated(self) -> frozenset[int]:
        return frozenset(j for j, component in enumerate(self.alternative.components) if component.negated)

    def _case_holds(self, cases: Sequence[Sequence[Timing]], ticks: Ticks, bound: Bound) -> bool:
        return any(all(timing_holds(timing, ticks, bound) for timing in case) for case in cases)

    def _negations_hold(self, ticks: Ticks, bound: Bound) -> bool:
        ends = ticks.ends
        for place, component in self._absent_alone:
            lo, hi = self._gap(ticks, bound, place)
            if any(
                lo < ticks[e] and ends[e] < hi and self._negated_holds(ticks, component, e, bound)
                for e in self.fitting(component, bound)
                if component not in self.alternative.absent_anywhere or e not in events_of(bound)
            ):
                return False
        return True

    @cached_property
    def _absent_alone(self) -> tuple[tuple[int, int], ...]:
        """The place of its block, and each negated component that is not part of a whole."""
        blocks = ((place, block) for place, block in enumerate(self.alternative.blocks) if self._negated)
        alone = ((place, block) for place, block in blocks if place not in self._absent_together)
        return tuple((place, j) for place, block in alone for j in block if j in self._negated)

    def _gap(self, ticks: Ticks, bound: Bound, place: int) -> tuple[Edge, Edge]:
        """Both ends, excluded, of the gap in which the negated block at `place` looks."""
        if len(self.alternative.blocks[place]) > 1 and place not in self._absent_together:
            return -math.inf, math.inf
        before, after = remembered(bound, ("beside", place), lambda: self._beside(bound, place))
        window = math.inf if self.plan.window is None else self.plan.window
        return (
            last_tick(ticks, before) if before else last_tick(ticks, events_of(bound)) - window,
            first_tick(ticks, after) if after else first_tick(ticks, events_of(bound)) + window,
        )

    def _beside(self, bound: Bound, place: int) -> tuple[list[int], list[int]]:
        """The bound events of the blocks before one, and of those after it."""
        blocks = self.alternative.blocks
        before, after = blocks[:place], blocks[place + 1 :]
        return [e for each in before for e in events_in(bound, each)], [
            e for each in after for e in events_in(bound, each)
        ]

    def _negated_holds(self, ticks: Ticks, component: int, event: int, bound: Bound) -> bool:
        """What remains to be checked for a negated event: predicates on finished groups, and its timings."""
        whole = self.binding(bound).longer(component, (event,))
        return (
            self._is_allowed(component, whole)
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

    @cached_property
    def blocks_of_rows(self) -> tuple[tuple[int, ...], ...]:
        """The components that contiguity asks for together."""
        return blocks_of_rows(self.alternative)

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


def _sizes(wanted: Component, free: int) -> range:
    """How many of the free events a component can be bound to, in a reading that does not leave it out."""
    if not wanted.kleene:
        return range(1, 2)
    return range(max(wanted.least, 1), (free if wanted.most is None else min(wanted.most, free)) + 1)
