"""Hypothesis strategies for small streams of events with uncertain times.

Uniform and histogram masses with holes, ties, equal intervals, certain events, null attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from tests.plans import Event


@st.composite
def streams(draw: st.DrawFn, wanted: list[str], max_worlds: int) -> tuple[Event, ...]:
    """Up to six events, most of a type that is wanted, of at most `max_worlds` possible worlds."""
    events: list[Event] = []
    worlds = 1
    for number in range(draw(st.sampled_from([5, 6, 4, 3, 6, 2]))):
        kind = draw(st.sampled_from([wanted[number % len(wanted)], *wanted, "A", "Z"]))
        event = draw(_events(f"e{number}", kind, draw(st.integers(max(0, number - 1), number + 1)), events))
        if worlds * _support(event) > max_worlds:
            event = replace(event, upper=event.lower, pmf=None)
        worlds *= _support(event)
        events.append(event)
    return tuple(draw(st.permutations(events)))


@st.composite
def about_in_turn(
    draw: st.DrawFn, kinds: Sequence[str], values: Sequence[int | None] = (0, 1, 2), keys: str = "ppq"
) -> tuple[Event, ...]:
    """An event of each kind, about one tick after the other; names do not follow their times."""
    events = []
    for place, kind in enumerate(kinds):
        lower, name = place + draw(st.integers(-1, 2)), draw(st.integers(0, 9))
        x, k = draw(st.sampled_from(values)), draw(st.sampled_from(keys))
        events.append(Event(f"e{name}{place}", kind, lower, lower + draw(st.integers(0, 3)), x=x, k=k))
    return tuple(events)


@st.composite
def _events(draw: st.DrawFn, event_id: str, kind: str, lower: int, earlier: list[Event]) -> Event:
    interval = draw(st.sampled_from(["uniform", "histogram", "uniform", "certain", "copy"]))
    event = Event(
        event_id,
        kind,
        lower,
        lower,
        x=draw(st.sampled_from([1, 1, 0, 2, 1, 1, 2, None])),
        k=draw(st.sampled_from(["p", "p", "p", "p", "q", None, None])),
        g=draw(st.sampled_from(["u", "u", "u", "v"])),
    )
    if interval == "copy" and earlier:
        other = draw(st.sampled_from(earlier))
        return replace(event, lower=other.lower, upper=other.upper, pmf=other.pmf)
    if interval == "uniform":
        return replace(event, upper=lower + draw(st.integers(1, 4)))
    if interval == "histogram":
        pmf = draw(_histograms(lower))
        return replace(event, upper=pmf[-1][1], pmf=pmf)
    return event


@st.composite
def _histograms(draw: st.DrawFn, lower: int) -> tuple[tuple[int, int, float], ...]:
    """One to three buckets, with holes between them."""
    masses = draw(st.sampled_from([(1.0,), (0.25, 0.75), (0.1, 0.6, 0.3), (0.5, 0.2, 0.3)]))
    buckets = []
    for mass in masses:
        upper = lower + draw(st.integers(0, 1))
        buckets.append((lower, upper, mass))
        lower = upper + 1 + draw(st.integers(0, 2))
    return tuple(buckets)


def _support(event: Event) -> int:
    buckets = event.pmf or ((event.lower, event.upper, 1.0),)
    return sum(hi - lo + 1 for lo, hi, _ in buckets)
