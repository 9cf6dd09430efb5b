"""What each strategy means to the judge: its rows of the table, which events decide them, and runs.

Under contiguity no other event lies strictly between bound events that follow each other in time, those of an
AND group and of repetitions, too; of a Kleene set nothing but the group lies between its neighbours.
Under next match each component takes the first event that fits it, a set all that fit.

Where what is taken depends on what was, next match is a run, tick by tick: docs/kleene.md, "Runs", word for
word.  After a component took, the takers are: its group itself while it has room; once it has enough members,
the component behind it.  The run goes on at the first tick at which an event fits a taker, and the last such
taker of the pattern takes.  A set takes all that fit (of one key); else each event that fits makes a run of
its own.  What was passed over is absent: nothing is bound to it, and no condition on it applies.

    name here   meaning
    place       a component, by its number among the positive ones
    group       what the component at `place` has taken so far; `before` is what those before it took
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Literal, TypeAlias

from cepctl.engines.worlds.expressions import holds, reads_finished
from cepctl.engines.worlds.one_world import (
    Binding,
    Bound,
    Edge,
    Group,
    Ticks,
    events_in,
    events_of,
    extent,
    first_tick,
    last_tick,
    remembered,
)
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan

if TYPE_CHECKING:
    from cepctl.engines.worlds.combinations import Bindable


def holds_by_next_match(search: Bindable, ticks: Ticks, bound: Bound) -> bool:
    """Whether the rows of next match hold of a finished combination, or of the first components of one."""
    order = tuple(i for i in search.alternative.positive if i in bound)
    used = events_of(bound)
    for place, component in enumerate(order):
        before = search.blocks_before[component]
        kleene_before = any(search.alternative.components[j].kleene for j in before)
        if search.alternative.components[component].kleene:
            if not _group_holds(search, ticks, bound, place):
                return False
        elif not kleene_before:
            earlier = up_to(search, bound, order[:place])
            lo, hi = _after(search, ticks, bound, component), first_tick(ticks, bound[component])
            key = search.stream.keys[bound[component][0]]
            rivals = (e for e in search.fitting(component, earlier) if e not in used)
            # What begins an AND is bound to nothing yet, but by `[attr]` to the key of the match.
            if any(lo < ticks[e] < hi for e in rivals if search.stream.keys[e] == key):
                return False
    return True


def up_to(search: Bindable, bound: Bound, components: tuple[int, ...]) -> Binding:
    """What some components bind, without those after them."""
    return remembered(bound, components, lambda: search.binding({j: bound[j] for j in components}))


def _after(search: Bindable, ticks: Ticks, bound: Bound, component: int) -> Edge:
    """The tick after which a single component takes its first fitting event."""
    block = next(each for each in search.alternative.positive_blocks if component in each)
    in_branch = [i for i, j in search.alternative.orders if j == component and i not in search.negated]
    if in_branch:
        return last_tick(ticks, events_in(bound, in_branch))
    before = events_in(bound, search.blocks_before[component])
    # Of an AND that begins the pattern at or after its first tick, of a single event anywhere.
    return last_tick(ticks, before) if before else first_tick(ticks, events_in(bound, block)) - 1


def _group_holds(search: Bindable, ticks: Ticks, bound: Bound, place: int) -> bool:
    """The row "B+ under STNM", for the Kleene component at `place` among the positive ones."""
    order = search.alternative.positive
    earlier = up_to(search, bound, order[:place])
    group = bound[order[place]]
    key = search.stream.keys[group[0]]
    fitting = [e for e in search.fitting(order[place], earlier) if search.stream.keys[e] == key]
    if place == 0:
        b1 = first_tick(ticks, group)
    else:
        previous = last_tick(ticks, events_in(earlier, search.blocks_before[order[place]]))
        b1 = min(ticks[e] for e in fitting if ticks[e] > previous)
    if place + 1 < len(order):
        following = order[place + 1]
        end: Edge = first_tick(ticks, bound[following])
        taken = earlier.longer(order[place], group)
        first_after = min(ticks[e] for e in search.fitting(following, taken) if ticks[e] > b1)
        if end != first_after:
            return False
    elif search.alternative.components[order[place]].running:
        end = last_tick(ticks, group) + 1
    else:
        end = extent(ticks, bound)[0] + (math.inf if search.plan.window is None else search.plan.window)
    return {e for e in fitting if b1 <= ticks[e] < end} == set(group)


def holds_contiguously(search: Bindable, ticks: Ticks, bound: Bound, *, of_key: bool) -> bool:
    """Whether the rows of contiguity hold of a finished combination; `of_key`: of events of its partition."""
    return not any(
        _between(search, ticks, bound, *gap, of_key=of_key) for gap in _gaps(search, ticks, bound)
    ) and all(
        _set_holds(search, ticks, bound, place, of_key=of_key)
        for place, block in enumerate(search.blocks_of_rows)
        if _is_set(search, block)
    )


def _gaps(search: Bindable, ticks: Ticks, bound: Bound) -> Iterator[tuple[int, int]]:
    """The ticks of what follows each other, but for sets."""
    for here, there, alone in remembered(bound, "neighbours", lambda: _neighbours(search, bound)):
        if here:
            yield last_tick(ticks, here), first_tick(ticks, there)
        if alone and len(there) > 1:
            by_time = sorted(there, key=lambda e: (ticks[e], ticks.ends[e]))
            yield from ((ticks.ends[one], ticks[other]) for one, other in pairwise(by_time))


def _neighbours(search: Bindable, bound: Bound) -> list[tuple[Sequence[int], Sequence[int], bool]]:
    """The events of each block, whether it is no set, and before it those of the one before, but for sets."""
    found = []
    for before, block in pairwise(((), *search.blocks_of_rows)):
        alone = not _is_set(search, block)
        here = events_in(bound, before) if alone and not _is_set(search, before) else ()
        found.append((here, events_in(bound, block), alone))
    return found


def _set_holds(search: Bindable, ticks: Ticks, bound: Bound, place: int, *, of_key: bool) -> bool:
    """The row "B+ under contiguity": what lies between the neighbours is the group."""
    blocks = search.blocks_of_rows
    group = set(events_in(bound, blocks[place]))
    leading, trailing = place == 0, place == len(blocks) - 1
    lo = first_tick(ticks, group) if leading else last_tick(ticks, events_in(bound, blocks[place - 1]))
    hi = last_tick(ticks, group) if trailing else first_tick(ticks, events_in(bound, blocks[place + 1]))
    between = _between(search, ticks, bound, lo, hi, of_key=of_key)
    return between <= group if leading or trailing else between == group


def _between(search: Bindable, ticks: Ticks, bound: Bound, lo: int, hi: int, *, of_key: bool) -> set[int]:
    """Events of the input (of the match's partition) strictly between two ticks, of any type."""
    keys = search.stream.keys
    key = keys[next(iter(events_of(bound)))]
    return {e for e, tick in enumerate(ticks) if lo < tick < hi and (not of_key or keys[e] == key)}


def _is_set(search: Bindable, block: Sequence[int]) -> bool:
    components = [search.alternative.components[j] for j in block]
    return any(each.kleene and not each.ordered for each in components)


Counted: TypeAlias = Literal["fitting", "key", "all"]


@dataclass(frozen=True)
class Reading:
    """What a strategy means here: its rows of the table, and which events of the input decide them.

    `fills_window` says that a trailing group takes what fits until the window ends, `as_runs` that what is
    taken may depend on what was.
    """

    holds: Callable[[Bindable, Ticks, Bound], bool]
    counted: Counted
    fills_window: bool = False
    as_runs: bool = False


def _anything(search: Bindable, ticks: Ticks, bound: Bound) -> bool:
    return True


def _next_match(search: Bindable, ticks: Ticks, bound: Bound) -> bool:
    return holds_by_next_match(search, ticks, bound)


_READINGS: Mapping[str, Reading] = {
    "skip_till_any_match": Reading(_anything, "fitting"),
    "skip_till_next_match": Reading(_next_match, "fitting", fills_window=True, as_runs=True),
    "strict_contiguity": Reading(partial(holds_contiguously, of_key=False), "all"),
    "partition_contiguity": Reading(partial(holds_contiguously, of_key=True), "key"),
}


def reading(plan: Plan) -> Reading:
    """What the strategy of a plan means, told by its word alone.

    Raises
    ------
    UnsupportedQueryError
        If the judge does not know the word: it guesses nothing.
    """
    if plan.strategy.word not in _READINGS:
        raise not_known(plan.strategy.word)
    return _READINGS[plan.strategy.word]


def not_known(word: object) -> UnsupportedQueryError:
    """Says that the judge does not know a word."""
    return UnsupportedQueryError(f"the worlds engine does not know {word!r}; --engine event may")


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
            if holds_by_next_match(search, ticks, bound):
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
