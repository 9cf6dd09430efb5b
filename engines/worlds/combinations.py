"""What can be bound in one possible world, by plain search: events that fit, in the order of the pattern.

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

from cepctl.engines.worlds.expressions import Members, holds
from cepctl.engines.worlds.one_world import (
    Binding,
    Bound,
    Edge,
    Group,
    Room,
    Stream,
    Ticks,
    Turn,
    Work,
    events_in,
    events_of,
    last_tick,
    remembered,
    turn_of,
)
from cepctl.plan.plan import Alternative, Component, Link, Plan, Scope


@dataclass(frozen=True)
class Bindable:
    """What one alternative of a plan can bind of one stream, in one world at a time."""

    plan: Plan
    alternative: Alternative
    stream: Stream
    work: Work
    _nothing: Binding = field(default_factory=lambda: Binding({}, Room()), repr=False, compare=False)
    """What every search begins with, and what it remembers of all bindings that begin so."""
    _can_fit: dict[tuple[int, int], bool] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def negated(self) -> frozenset[int]:
        """The components that must not happen."""
        return frozenset(j for j, component in enumerate(self.alternative.components) if component.negated)

    @cached_property
    def blocks_of_rows(self) -> tuple[tuple[int, ...], ...]:
        """The positive components between which contiguity orders rows, those of repetitions together."""
        found = []
        for block in self.alternative.positive_blocks:
            turn = turn_of(self.alternative, block[0])
            if not turn or turn[0] in block:
                found.append(turn or block)
        return tuple(found)

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

    def bindings(self, ticks: Ticks, components: Sequence[int]) -> Iterator[Binding]:
        """What some components can bind, in the order of the pattern."""
        return self._longer(ticks, self._nothing, components)

    def _longer(self, ticks: Ticks, bound: Binding, rest: Sequence[int]) -> Iterator[Binding]:
        """What some more components can bind."""
        if not rest:
            yield bound
            return
        component = rest[0]
        before = events_in(bound, self.blocks_before[component])
        floor = last_tick(ticks, before) if before else -math.inf
        turn = turn_of(self.alternative, component)
        if turn:
            for found in self._repetitions(ticks, turn, bound, floor):
                whole = Binding({**bound, **found}, bound.room)
                if all(self.links_hold(j, whole, tuple(Scope)) for j in turn):
                    yield from self._longer(ticks, whole, rest[len(turn) :])
            return
        for group in self._groups(ticks, component, bound, floor):
            yield from self._longer(ticks, bound.longer(component, group), rest[1:])

    @cached_property
    def blocks_before(self) -> Mapping[int, tuple[int, ...]]:
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

    def _repetitions(self, ticks: Ticks, turn: Turn, bound: Bound, floor: Edge) -> Iterator[Bound]:
        """All that the components of a turn can bind together after `floor`, by component."""
        used = {event for group in bound.values() for event in group}
        for chain in self._chains(ticks, turn, bound, (), floor, used):
            yield {component: chain[place :: len(turn)] for place, component in enumerate(turn)}

    def _chains(
        self, ticks: Ticks, turn: Turn, bound: Bound, chain: Group, floor: Edge, used: set[int]
    ) -> Iterator[Group]:
        """The chain, if its repetitions are whole, and all that go on from it."""
        if chain and len(chain) % len(turn) == 0:
            yield chain
        component = turn[len(chain) % len(turn)]
        for event in range(len(self.stream)):
            if ticks[event] <= floor or event in used:
                continue
            self.work.spend()
            together: dict[int, Group] = {**bound, **({component: chain} if chain else {})}
            if self.fits_alone(component, event, together):
                yield from self._chains(ticks, turn, bound, (*chain, event), ticks.ends[event], used)


def _sizes(wanted: Component, free: int) -> range:
    """How many of the free events a component can be bound to, in a reading that does not leave it out."""
    if not wanted.kleene:
        return range(1, 2)
    return range(max(wanted.least, 1), (free if wanted.most is None else min(wanted.most, free)) + 1)
