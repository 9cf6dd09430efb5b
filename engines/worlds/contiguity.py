"""Contiguity in one possible world: no other event strictly between bound events that follow each other.

They follow each other in time, those of an AND group and of repetitions, too; of a Kleene set nothing but the
group lies between its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from cepctl.engines.worlds.bound_events import Bound, Ticks, events_in, first_tick, last_tick, remembered
from cepctl.engines.worlds.repetitions import turn_of
from cepctl.plan.plan import Alternative

if TYPE_CHECKING:
    from cepctl.engines.worlds.search import Search


def holds_contiguously(search: Search, ticks: Ticks, bound: Bound) -> bool:
    """Whether the rows of contiguity hold of a finished combination."""
    return not any(search._between(ticks, bound, *gap) for gap in _gaps(search, ticks, bound)) and all(
        _set_holds(search, ticks, bound, place)
        for place, block in enumerate(search.blocks_of_rows)
        if _is_set(search, block)
    )


def blocks_of_rows(alternative: Alternative) -> tuple[tuple[int, ...], ...]:
    """The positive components between which rows are ordered, those of repetitions together."""
    found = []
    for block in alternative.positive_blocks:
        turn = turn_of(alternative, block[0])
        if not turn or turn[0] in block:
            found.append(turn or block)
    return tuple(found)


def _gaps(search: Search, ticks: Ticks, bound: Bound) -> Iterator[tuple[int, int]]:
    """The ticks of what follows each other, but for sets."""
    for here, there, alone in remembered(bound, "neighbours", lambda: _neighbours(search, bound)):
        if here:
            yield last_tick(ticks, here), first_tick(ticks, there)
        if alone and len(there) > 1:
            by_time = sorted(there, key=lambda e: (ticks[e], ticks.ends[e]))
            yield from ((ticks.ends[one], ticks[other]) for one, other in pairwise(by_time))


def _neighbours(search: Search, bound: Bound) -> list[tuple[Sequence[int], Sequence[int], bool]]:
    """The events of each block, whether it is no set, and before it those of the one before, but for sets."""
    found = []
    for before, block in pairwise(((), *search.blocks_of_rows)):
        alone = not _is_set(search, block)
        here = events_in(bound, before) if alone and not _is_set(search, before) else ()
        found.append((here, events_in(bound, block), alone))
    return found


def _set_holds(search: Search, ticks: Ticks, bound: Bound, place: int) -> bool:
    """The row "B+ under contiguity": what lies between the neighbours is the group."""
    blocks = search.blocks_of_rows
    group = set(events_in(bound, blocks[place]))
    leading, trailing = place == 0, place == len(blocks) - 1
    lo = first_tick(ticks, group) if leading else last_tick(ticks, events_in(bound, blocks[place - 1]))
    hi = last_tick(ticks, group) if trailing else first_tick(ticks, events_in(bound, blocks[place + 1]))
    between = search._between(ticks, bound, lo, hi)
    return between <= group if leading or trailing else between == group


def _is_set(search: Search, block: Sequence[int]) -> bool:
    components = [search.alternative.components[j] for j in block]
    return any(each.kleene and not each.ordered for each in components)
