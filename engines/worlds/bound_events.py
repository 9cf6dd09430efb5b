"""The events that a match binds in one possible world, and the first and last of their ticks.

What is bound is the same in many worlds, so it remembers what ticks play no part in.

The components of one repetition of `SEQ(B b[], C c[])+`, in the order of the pattern, are a turn: each turn
is wholly after the one before; `b[i]` and `c[i]` are of one, `c[i-1]` is of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from cepctl.engines.worlds.stream import Times
from cepctl.plan.plan import Alternative

Ticks: TypeAlias = Times
Group: TypeAlias = tuple[int, ...]
Bound: TypeAlias = Mapping[int, Group]
Answer = TypeVar("Answer")
Edge: TypeAlias = int | float
"""A tick, or an infinity where a gap has no end."""


@dataclass
class Room:
    """How many bindings more are kept, for sets may be many millions."""

    left: int = 50_000


class Binding(dict[int, Group]):
    """What a search has bound so far: the same object in each world, while there is room."""

    def __init__(self, groups: Bound, room: Room) -> None:
        super().__init__(groups)
        self.room = room
        self.remembered: dict[object, Any] = {}
        """Answers to questions in which ticks play no part."""

    @cached_property
    def events(self) -> tuple[int, ...]:
        """All bound events."""
        return tuple(event for group in self.values() for event in group)

    def longer(self, component: int, group: Group) -> Binding:
        """What is bound with the events of one more component."""
        found: Binding | None = self.remembered.get((component, group))
        if found is None:
            found = Binding({**self, component: group}, self.room)
            if self.room.left:
                self.room.left -= 1
                self.remembered[component, group] = found
        return found


def remembered(bound: Bound, question: object, answer: Callable[[], Answer]) -> Answer:
    """What ticks play no part in, found out once for what a search has bound."""
    if not isinstance(bound, Binding):
        return answer()
    if question not in bound.remembered:
        bound.remembered[question] = answer()
    found: Answer = bound.remembered[question]
    return found


def extent(ticks: Ticks, bound: Bound) -> tuple[int, int]:
    """Smallest and largest tick of the bound events."""
    events = events_of(bound)
    return first_tick(ticks, events), last_tick(ticks, events)


def events_of(bound: Bound) -> tuple[int, ...]:
    """All bound events."""
    if isinstance(bound, Binding):
        return bound.events
    return tuple(event for group in bound.values() for event in group)


def events_in(bound: Bound, block: Sequence[int]) -> Sequence[int]:
    """Those of some components."""
    if len(block) == 1:
        return bound.get(block[0], ())
    return [event for component in block for event in bound.get(component, ())]


def first_tick(ticks: Ticks, events: Iterable[int]) -> int:
    """The smallest tick of some events."""
    return min(map(ticks.__getitem__, events))


def last_tick(ticks: Ticks, events: Iterable[int]) -> int:
    """The largest last tick of some events."""
    return max(map(ticks.ends.__getitem__, events))


Turn: TypeAlias = tuple[int, ...]


def turn_of(alternative: Alternative, component: int) -> Turn:
    """The components that are repeated together with one; none where it is not repeated."""
    if not alternative.repeated:
        return ()
    return next((turn for turn in alternative.repeated if component in turn), ())


def in_one_group(alternative: Alternative, bound: Bound) -> Iterator[Group]:
    """What a signature shows: the events of each component, those of repetitions together in their order."""
    for component in alternative.positive:
        turn = turn_of(alternative, component)
        if component not in bound:
            continue
        if not turn:
            yield bound[component]
        elif component == turn[0]:
            yield tuple(event for each in zip(*(bound[i] for i in turn), strict=True) for event in each)


def of_one_repetition(together: Sequence[frozenset[str]], index: Mapping[str, int]) -> bool:
    """Whether what is read of components that are repeated together is of one repetition."""
    return all(len({at for name, at in index.items() if name in names}) <= 1 for names in together)
