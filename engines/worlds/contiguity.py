"""Contiguity in one possible world: no other event strictly between bound events that follow each other.

They follow each other in time, those of an AND group and of repetitions, too; of a Kleene set nothing but the
group lies between its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cepctl.engines.worlds.bound_events import (
    Bound,
    Ticks,
    events_in,
    events_of,
    first_tick,
    last_tick,
    remembered,
)

if TYPE_CHECKING:
    from cepctl.engines.worlds.combinations import Bindable


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
