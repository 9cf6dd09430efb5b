"""The events that a match binds in one possible world, and the first and last of their ticks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from cepctl.engines.worlds.stream import Times

Ticks: TypeAlias = Times
Group: TypeAlias = tuple[int, ...]
Bound: TypeAlias = Mapping[int, Group]
Edge: TypeAlias = int | float
"""A tick, or an infinity where a gap has no end."""


def extent(ticks: Ticks, bound: Bound) -> tuple[int, int]:
    """Smallest and largest tick of the bound events."""
    events = [event for group in bound.values() for event in group]
    return min([ticks[e] for e in events]), max([ticks.ends[e] for e in events])


def events_of(bound: Bound) -> Iterator[int]:
    """All bound events."""
    return (event for group in bound.values() for event in group)


def events_in(bound: Bound, block: Sequence[int]) -> list[int]:
    """Those of some components."""
    return [event for component in block for event in bound.get(component, ())]


def first_tick(ticks: Ticks, events: Iterable[int]) -> int:
    """The smallest tick of some events."""
    return min(ticks[e] for e in events)


def last_tick(ticks: Ticks, events: Iterable[int]) -> int:
    """The largest last tick of some events."""
    return max(ticks.ends[e] for e in events)
