"""Next match as a run, tick by tick: docs/kleene.md, "Runs", word for word.

After a component took, the takers are: its group itself while it has room; once it has enough members, the
component behind it.  The run goes on at the first tick at which an event fits a taker, and the last such
taker of the pattern takes.  A set takes all that fit (of one key); else each event that fits makes a run of
its own.  What was passed over is absent: nothing is bound to it, and no condition on it applies.

    name here   meaning
    place       a component, by its number among the positive ones
    group       what the component at `place` has taken so far; `before` is what those before it took
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from cepctl.engines.worlds import readings
from cepctl.engines.worlds.bound_events import extent
from cepctl.engines.worlds.expressions import holds, reads_finished

if TYPE_CHECKING:
    from cepctl.engines.worlds.bound_events import Bound, Group, Ticks
    from cepctl.engines.worlds.combinations import Bindable


@dataclass(frozen=True)
class Run:
    """A run so far: `first` and `last` are the ticks of the first and the last event that it took."""

    search: Bindable
    ticks: Ticks
    place: int
    group: Group
    before: Bound
    first: int
    last: int

    @property
    def bound(self) -> Bound:
        """All that is bound."""
        return {**self.before, self.search.alternative.positive[self.place]: self.group}

    def finished(self) -> Iterator[Bound]:
        """The matches that it becomes; a filter that fails when a group is left ends it.

        A running group matches after each tick at which it took; nothing is asked of what it will take.
        """
        if self.is_running and self.has_enough and self.may_be_left:
            yield self.bound
        takers = self.takers()
        ends = self.first + self.search.plan.window if self.is_last and self.search.plan.window else None
        for tick in sorted({t for t in self.ticks if t > self.last and (ends is None or t < ends)}):
            for place in reversed(takers):
                longer = [self.longer(place, group, tick) for group in self.taken(place, tick)]
                if longer:
                    if place == self.place or self.may_be_left:
                        for run in longer:
                            yield from run.finished()
                    return
        if self.may_stop and self.may_be_left and not self.is_running:
            yield self.bound

    def takers(self) -> list[int]:
        """The places that may take next, in the order of the pattern."""
        component = self.search.alternative.components[self.search.alternative.positive[self.place]]
        behind = self.place + 1
        has_room = component.kleene and (component.most is None or len(self.group) < component.most)
        places = _up_to_sure(self.search, behind) if self.has_enough else []
        return [*([self.place] if has_room else []), *places]

    @property
    def is_running(self) -> bool:
        """Whether RUNNING stands before the component that took last."""
        return self.search.alternative.components[self.search.alternative.positive[self.place]].running

    @property
    def has_enough(self) -> bool:
        """Whether the group has as many members as it must have."""
        component = self.search.alternative.components[self.search.alternative.positive[self.place]]
        return len(self.group) >= component.least

    @property
    def may_stop(self) -> bool:
        """Whether nothing has to be taken any more."""
        return self.has_enough and self.is_last

    @property
    def is_last(self) -> bool:
        """Whether all that is behind it may be absent."""
        positive, components = self.search.alternative.positive, self.search.alternative.components
        return not any(components[i].least for i in positive[self.place + 1 :])

    @property
    def may_be_left(self) -> bool:
        """Whether what reads `b[last]` or `b[]` lets the group go."""
        component = self.search.alternative.positive[self.place]
        return all(
            holds(link.expression, self.search.members(link, self.bound))
            for link in self.search.alternative.links
            if link.decides == component
            and set(link.components) <= self.bound.keys()
            and reads_finished(link.expression, self.search.alternative.components[component].variable)
        )

    def taken(self, place: int, tick: int) -> list[Group]:
        """What the component at a place can take at a tick."""
        events = [e for e, t in enumerate(self.ticks) if t == tick and self.fits(place, e)]
        return together(self.search, place, events)

    def longer(self, place: int, group: Group, tick: int) -> Run:
        """The run after that."""
        if place != self.place:
            return replace(self, place=place, group=group, before=self.bound, last=tick)
        together = (*self.group, *group)
        ordered = self.search.alternative.components[self.search.alternative.positive[place]].ordered
        return replace(self, group=together if ordered else tuple(sorted(together)), last=tick)

    def fits(self, place: int, event: int) -> bool:
        """Whether an event fits a taker, given the members taken before its tick."""
        if place == self.place:
            return fits_next(self.search, place, event, self.before, self.group)
        return fits_next(self.search, place, event, self.bound, ())


def runs(search: Bindable, ticks: Ticks) -> Iterator[Bound]:
    """All runs in one world: the first component, or what leads to the last AND, starts at any tick."""
    lead = search.alternative.lead
    if lead:
        for bound in search.bindings(ticks, lead):
            if readings.holds(search, ticks, bound):
                before = {i: bound[i] for i in lead[:-1]}
                yield from Run(
                    search, ticks, len(lead) - 1, bound[lead[-1]], before, *extent(ticks, bound)
                ).finished()
        return
    for tick, place in product(sorted(set(ticks)), _up_to_sure(search, 0)):
        events = [e for e, t in enumerate(ticks) if t == tick and fits_next(search, place, e, {}, ())]
        for group in together(search, place, events):
            yield from Run(search, ticks, place, group, {}, tick, tick).finished()


def finished_run(search: Bindable, ticks: Ticks, bound: Bound) -> Run:
    """The run that a match is, with its last component as the one that takes."""
    taken = [place for place, i in enumerate(search.alternative.positive) if i in bound]
    group = bound[search.alternative.positive[taken[-1]]]
    before = {i: bound[i] for i in bound if i != search.alternative.positive[taken[-1]]}
    every = sorted(ticks[e] for each in bound.values() for e in each)
    return Run(search, ticks, taken[-1], group, before, every[0], every[-1])


def _up_to_sure(search: Bindable, place: int) -> list[int]:
    """The places from one on, up to the first whose component has to be there."""
    found = []
    for number, i in enumerate(search.alternative.positive[place:], start=place):
        found.append(number)
        if search.alternative.components[i].least:
            break
    return found


def together(search: Bindable, place: int, events: list[int]) -> list[Group]:
    """Each event alone; for a set all of one key at once."""
    component = search.alternative.components[search.alternative.positive[place]]
    if not component.kleene or component.ordered:
        return [(e,) for e in events]
    keys = dict.fromkeys(search.stream.keys[e] for e in events)
    return [tuple(e for e in events if search.stream.keys[e] == key) for key in keys]


def fits_next(search: Bindable, place: int, event: int, before: Bound, group: Group) -> bool:
    """Whether an event fits as the next member at a place, given all that is bound before it."""
    component = search.alternative.positive[place]
    wanted = search.alternative.components[component]
    bound = {**before, component: (*group, event)}
    if not search.fits_alone(component, event, {**before, component: group}):
        return False
    at = {wanted.variable: len(group)} if wanted.kleene else {}
    return all(
        holds(link.expression, search.members(link, bound), at)
        for link in search.alternative.links
        if link.decides == component
        and set(link.components) <= bound.keys()
        and not (wanted.kleene and reads_finished(link.expression, wanted.variable))
    )
