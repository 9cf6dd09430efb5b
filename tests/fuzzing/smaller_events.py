"""Events and clocks, made smaller: fewer ticks, no histogram, no end, no attributes, no clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cepctl.clocks.ties import tied, ties_of
from tests.fuzzing.queries import Case
from tests.plans import Event

_ENDS = ("end_lower", "end_upper", "end_pmf", "length_lower", "length_upper")


def with_fewer_events(case: Case) -> Iterator[Case]:
    """One event less."""
    for place in range(len(case.events)):
        yield replace(case, events=case.events[:place] + case.events[place + 1 :])


def with_plainer_events(case: Case) -> Iterator[Case]:
    """All attributes gone, or one event without a clock, an end, a histogram, a bound or an attribute."""
    bare = tuple(replace(event, x=None, k=None, g=None) for event in case.events)
    if bare != case.events:
        yield replace(case, events=bare)
    for place, event in enumerate(case.events):
        for plainer in _plainer(event):
            yield with_event(case, place, plainer)


def _plainer(event: Event) -> Iterator[Event]:
    if event.clock is not None:
        yield replace(event, clock=None)
    if event.end_lower is not None:
        yield _without(event, *_ENDS)
    if event.writer is not None:
        yield _without(event, "writer", "record")
    for name in ("end_pmf", "length_lower", "length_upper", "pmf", "x", "k", "g"):
        if getattr(event, name) is not None:
            yield _without(event, name)


def _without(event: Event, *names: str) -> Event:
    nothing: dict[str, Any] = dict.fromkeys(names)
    return replace(event, **nothing)


def with_narrower_events(case: Case) -> Iterator[Case]:
    """One interval, or one offset, with fewer ticks."""
    for place, event in enumerate(case.events):
        for first, last, pmf in (("lower", "upper", "pmf"), ("end_lower", "end_upper", "end_pmf")):
            low, high = getattr(event, first), getattr(event, last)
            if low is None or low == high or getattr(event, pmf) is not None:
                continue
            for bounds in ((low, low), (high, high), (low + 1, high), (low, high - 1)):
                yield with_event(case, place, replace(event, **dict(zip((first, last), bounds, strict=True))))
    for name, offset in case.clocks.items():
        for plainer in (((0, 0, 1.0),), ((0, 1, 1.0),)):
            if _width(offset) > _width(plainer):
                yield replace(case, clocks=tied({**case.clocks, name: plainer}, ties_of(case.clocks)))
    for tie in ties_of(case.clocks):
        others = [each for each in ties_of(case.clocks) if each != tie]
        yield replace(case, clocks=tied(dict(case.clocks), others))


def _width(offset: tuple[tuple[int, int, float], ...]) -> int:
    return sum(hi - lo + 1 for lo, hi, _ in offset)


def with_event(case: Case, place: int, event: Event) -> Case:
    """The case with another event in a place."""
    return replace(case, events=(*case.events[:place], event, *case.events[place + 1 :]))
