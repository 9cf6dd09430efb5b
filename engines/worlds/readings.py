"""What each strategy means to the judge: its rows of the table, and which events decide them.

Under contiguity no other event lies strictly between bound events that follow each other in time, those of an
AND group and of repetitions, too; of a Kleene set nothing but the group lies between its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from cepctl.engines.worlds import next_match
from cepctl.engines.worlds.bound_events import (
    Bound,
    Ticks,
    events_in,
    events_of,
    first_tick,
    last_tick,
    remembered,
)
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan

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
    return next_match.holds(search, ticks, bound)


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
