"""What each strategy means to the judge: its rows of the table, and which events decide them.

Under contiguity no other event lies strictly between bound events that follow each other in time, those of an
AND group and of repetitions, too; of a Kleene set nothing but the group lies between its neighbours.
Under next match each component takes the first event that fits it, a set all that fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

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
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan

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
    return holds(search, ticks, bound)


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
