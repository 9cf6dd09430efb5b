"""Random small streams: events near the places where a pattern wants them, and rivals beside them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from random import Random

from cepctl.clocks.ties import Clocks, ClockTie, Offset, chains_of, tied
from tests.engines.clock_cases import OFFSETS
from tests.fuzzing.constructs import Wanted
from tests.fuzzing.queries import Pattern, parts_of
from tests.plans import Event
from tests.random_patterns import Part

WORLDS = (50, 100, 100, 200, 200, 400, 1_000)
"""How many possible worlds a case may have: most often few, for the time that visiting them takes."""
_MOST_EVENTS = 7
_HOLES: tuple[Offset, ...] = (
    ((0, 0, 0.25), (2, 3, 0.75)),
    ((0, 1, 0.5), (4, 4, 0.5)),
    ((0, 0, 0.1), (1, 2, 0.6), (4, 5, 0.3)),
    ((0, 1, 0.5), (2, 2, 0.25), (3, 3, 0.25)),
)


def drawn_events(rng: Random, wanted: Wanted, pattern: Pattern) -> tuple[tuple[Event, ...], Clocks]:
    """Events for most components, in about their order, others beside them, and clocks that stamped some."""
    parts = parts_of(pattern)
    in_groups = {kind for part in parts if part.kleene for kind in part.types.split("|")}
    events: list[Event] = []
    for number, (kind, place) in enumerate(_places(rng, wanted, parts)):
        event = _point(rng, f"e{number}", kind, place + rng.randint(-1, 1), events)
        lasts = "bystanders" in wanted and kind in "ZY"
        if lasts or ("intervals" in wanted and not {kind, "*"} & in_groups and rng.random() < 0.7):
            event = _lasting(rng, event)
        events.append(event)
    clocks = _clocks(rng) if "clocks" in wanted else {}
    events = [replace(event, clock=rng.choice([*clocks, "n", None])) if clocks else event for event in events]
    if "tied-clocks" in wanted:
        clocks = drawn_chains(rng, clocks)
    if "given" in wanted:
        events = _in_order_of_ids(_in_units(rng, events) if rng.random() < 0.5 else events)
    elif "written-order" in wanted and rng.random() < 0.6:
        events = _in_units(rng, events, rng.choice([1, 1, 2, 8]))
    most = rng.choice(WORLDS)
    if "written-order" not in wanted:
        return _bounded(rng, events, clocks, most), clocks
    # Of many worlds the order leaves few.
    return _written(rng, _bounded(rng, events, clocks, most * rng.choice([1, 1, 4, 16])), clocks), clocks


def _places(rng: Random, wanted: Wanted, parts: list[Part]) -> list[tuple[str, int]]:
    """Types and ticks: what the pattern binds, what may break it, and strangers."""
    step = rng.choice([1, 2, 2, 3])
    positive = [part for part in parts if not part.negated][:5]
    span = step * len(positive)
    bound = [(_type_of(rng, part), step * place) for place, part in enumerate(positive)]
    others = [_type_of(rng, part) for part in parts if part.negated and rng.random() < 0.85]
    others += [_type_of(rng, rng.choice(parts)) for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    if "bystanders" in wanted:
        others[:0] = rng.choices("ZY", k=rng.choice([1, 1, 2]))
    elif rng.random() < 0.15:
        others.append("Z")
    return [*bound, *((kind, rng.randint(-1, span)) for kind in others)][:_MOST_EVENTS]


def _type_of(rng: Random, part: Part) -> str:
    return rng.choice("ABC") if part.types == "*" else rng.choice(part.types.split("|"))


def _point(rng: Random, event_id: str, kind: str, lower: int, others: list[Event]) -> Event:
    event = Event(
        event_id,
        kind,
        lower,
        lower,
        x=rng.choice([1, 1, 1, 1, 0, 2, 2, None]),
        k=rng.choice(["p", "p", "p", "p", "p", "q", None]),
        g=rng.choice(["u", "u", "u", "v"]),
    )
    form = rng.choice(["uniform", "uniform", "uniform", "wide", "histogram", "certain", "copy"])
    if form == "copy" and others:
        other = rng.choice(others)
        return replace(event, lower=other.lower, upper=other.upper, pmf=other.pmf)
    if form == "histogram":
        pmf = _moved(rng.choice(_HOLES), lower)
        return replace(event, upper=pmf[-1][1], pmf=pmf)
    width = {"uniform": rng.randint(1, 3), "wide": rng.randint(4, 8)}.get(form, 0)
    return replace(event, upper=lower + width)


def _lasting(rng: Random, event: Event) -> Event:
    """The event with an end: uniform, a histogram, within bounds of its length, or that of a moment."""
    end = rng.randint(event.lower, event.upper + 2)
    event = replace(event, end_lower=end, end_upper=end + rng.randint(0, 3))
    form = rng.choice(["uniform", "uniform", "histogram", "length", "length", "moment"])
    if form == "histogram":
        pmf = _moved(rng.choice(_HOLES), end)
        return replace(event, end_upper=pmf[-1][1], end_pmf=pmf)
    if form == "moment":
        return replace(event, end_lower=event.lower, end_upper=event.upper, length_lower=0, length_upper=0)
    if form == "length":
        shortest = rng.choice([None, 0, 1, 2])
        longest = rng.choice([None, *((shortest or 0) + more for more in (0, 1, 3))])
        return replace(event, length_lower=shortest, length_upper=longest)
    return event


def _clocks(rng: Random) -> Clocks:
    return {name: rng.choice(OFFSETS) for name in "nmk"[: rng.choice([1, 1, 2, 3])]}


def drawn_chains(rng: Random, clocks: Clocks) -> Clocks:
    """The clocks in chains, with some that stamp nothing; there is always a world."""
    found = {**clocks, **{name: rng.choice(OFFSETS[:3]) for name in "xyz"[: rng.choice([0, 0, 1, 1, 2])]}}
    names, ties = rng.sample(list(found), len(found)), list[ClockTie]()
    left = set(_ticks(found[names[0]]))
    for before, after in pairwise(names):
        ticks = rng.choice([0, 1, 1, 2])
        near = {tick for tick in _ticks(found[after]) if any(abs(tick - each) <= ticks for each in left)}
        if near and rng.random() < 0.85:
            ties.append(ClockTie(before, after, ticks))
        left = near if ties and ties[-1].after == after else set(_ticks(found[after]))
    return tied(found, ties)


def _moved(pmf: Offset, by: int) -> Offset:
    return tuple((lo + by, hi + by, p) for lo, hi, p in pmf)


def _in_units(rng: Random, events: list[Event], dense: int = 1) -> list[Event]:
    """Stamps of a log: points are anywhere in a unit of a few ticks, which they share with others.

    `dense`: so many units are one.
    """
    ticks = rng.choice([3, 4, 5, 6])
    return [
        event
        if event.end_lower is not None
        else replace(
            event,
            lower=event.lower // (ticks * dense) * ticks,
            upper=event.lower // (ticks * dense) * ticks + ticks - 1,
            pmf=None,
        )
        for event in events
    ]


def _in_order_of_ids(events: list[Event]) -> list[Event]:
    """Named in the order of their first ticks, so that little contradicts what is given of ids."""
    ordered = sorted(events, key=lambda event: (event.lower, event.upper))
    return [replace(event, event_id=f"e{number}") for number, event in enumerate(ordered)]


def _written(rng: Random, events: tuple[Event, ...], clocks: Clocks) -> tuple[Event, ...]:
    """Written by one or two, most of them, in an order that they have in some world, or nearly."""
    writers = rng.choice([("w",), ("w", "w", "v"), ("w", "v", None), ("w ends", "v"), ("w ends",)])
    disordered = rng.random() < 0.1
    offsets = {name: rng.choice(_ticks(offset)) for name, offset in clocks.items()}
    taken: dict[tuple[str, int], Event] = {}
    for event in events:
        # One tick holds one record of a writer.
        writer, by = rng.choice(writers), offsets.get(event.clock or "", 0)
        left = [tick + by for tick in _ticks_of_record(event, writer) if (writer, tick + by) not in taken]
        if writer is not None and left:
            taken[writer, rng.choice(left)] = event
    places = sorted(taken, key=lambda place: place[1] + (rng.choice([-2, 0, 2]) if disordered else 0))
    records = {taken[place]: (place[0], number) for number, place in enumerate(places, 1)}
    found = ((event, *records.get(event, (None, None))) for event in events)
    return tuple(replace(event, writer=writer, record=record) for event, writer, record in found)


def _ticks_of_record(event: Event, writer: str | None) -> list[int]:
    """The ticks of the end that is in order, without what a clock adds."""
    if event.end_lower is not None and event.end_upper is not None and "ends" in (writer or ""):
        return _ticks(event.end_pmf or ((event.end_lower, event.end_upper, 1.0),))
    return _ticks(event.pmf or ((event.lower, event.upper, 1.0),))


# --- possible worlds -------------------------------------------------------------------------


def _bounded(rng: Random, events: list[Event], clocks: Clocks, most: int) -> tuple[Event, ...]:
    """In another order, and as many made certain, or taken from their clocks, as keep the worlds few."""
    found = rng.sample(events, len(events))
    for place in rng.sample(range(len(found)), len(found)):
        if worlds_of(found, clocks) > most:
            found[place] = certain(found[place])
    for place in rng.sample(range(len(found)), len(found)):
        if worlds_of(found, clocks) > most:
            found[place] = replace(found[place], clock=None)
    return tuple(found)


def certain(event: Event) -> Event:
    """The event at its first tick, with an end that is as certain."""
    sharp = replace(event, upper=event.lower, pmf=None)
    if event.end_lower is None:
        return sharp
    end = max(event.end_lower, event.lower + (event.length_lower or 0))
    return replace(sharp, end_lower=end, end_upper=end, end_pmf=None)


def worlds_of(events: list[Event], clocks: Clocks) -> int:
    """How many possible worlds there are."""
    used = chains_of(clocks, {event.clock for event in events if event.clock is not None})
    return math.prod(map(_own_worlds, events)) * math.prod(len(_ticks(offset)) for offset in used.values())


def _own_worlds(event: Event) -> int:
    starts = _ticks(event.pmf or ((event.lower, event.upper, 1.0),))
    if event.end_lower is None or event.end_upper is None:
        return len(starts)
    ends = _ticks(event.end_pmf or ((event.end_lower, event.end_upper, 1.0),))
    least = event.length_lower or 0
    most = math.inf if event.length_upper is None else event.length_upper
    # One that always ends before its start fits nothing, and is in no world.
    return sum(least <= end - start <= most for start in starts for end in ends) or 1


def _ticks(pmf: Offset) -> list[int]:
    return [tick for lo, hi, _ in pmf for tick in range(lo, hi + 1)]
