"""Next match in one possible world: each component takes the first event that fits it, a set all that fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cepctl.engines.worlds.bound_events import (
    Binding,
    Bound,
    Edge,
    Ticks,
    events_in,
    events_of,
    extent,
    first_tick,
    last_tick,
    remembered,
)

if TYPE_CHECKING:
    from cepctl.engines.worlds.combinations import Bindable


def holds(search: Bindable, ticks: Ticks, bound: Bound) -> bool:
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
