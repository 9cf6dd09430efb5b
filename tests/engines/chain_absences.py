"""Chains with negations anywhere, and what they answer: derived once more, fast enough for thousands of them.

The ticks of the chain's events are tried one by one; given them, every other event is independent of the
rest, and is absent from its places or not.  All is counted in whole numbers, so answers are exact.

A place is where a negation stands: -1 before the chain, k after its event k.  Its events lie strictly between
the neighbours, or within the window at an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import lcm, prod
from random import Random
from typing import TypeAlias

import numpy as np

from cepctl.numeric.arrays import Ticks
from tests.plans import Event
from tests.random_patterns import ANY, NEXT, PARTITION

TYPES = "ABCDE"
Signature: TypeAlias = tuple[tuple[str, ...], ...]
Answer: TypeAlias = tuple[int, int, Fraction]
"""The time range, and the confidence."""
Weights: TypeAlias = tuple[int, Ticks]
"""The first tick of an event, and whole-number weights of it and those after it."""


@dataclass(frozen=True)
class Negated:
    """SEQ of single events with negations at some places, and streams that have nothing in common.

    `repeated`: every positive component takes type A, and so does every negation.  `streams`: told apart by
    the attribute `k`.
    """

    length: int
    places: tuple[int, ...]
    window: int | None
    strategy: str
    repeated: bool
    streams: tuple[tuple[Event, ...], ...]

    @property
    def positive(self) -> str:
        """The type of every positive component."""
        return TYPES[0] * self.length if self.repeated else TYPES[: self.length]

    def absent(self, place: int) -> tuple[str, ...]:
        """Types of the negation at a place: of all, of this, of this and the next, or the one before."""
        at = self.places.index(place)
        own = "N", f"N{at}", f"M{at}", f"M{(at - 1) % len(self.places)}"
        return (*dict.fromkeys(own), *("A" if self.repeated else ""))

    @property
    def query(self) -> str:
        parts = [f"{kind} v{number}" for number, kind in enumerate(self.positive)]
        for place in reversed(self.places):
            parts.insert(place + 1, f"!{'|'.join(self.absent(place))} n{place + 1}")
        within = "" if self.window is None else f" WITHIN {self.window} ticks"
        return f"PATTERN SEQ({', '.join(parts)}) WHERE [k] STRATEGY {self.strategy}{within}"

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for stream in self.streams for event in stream)

    def of(self, *streams: tuple[Event, ...]) -> Negated:
        """The same pattern on other streams."""
        return replace(self, streams=streams)

    def smaller(self) -> Iterator[Negated]:
        """The same without some event, for a case of one stream."""
        (stream,) = self.streams
        for number in range(len(stream)):
            yield self.of(stream[:number] + stream[number + 1 :])


def places_of(length: int) -> list[tuple[int, ...]]:
    """Every subset of the places of a chain."""
    places = range(-1, length)
    return [chosen for size in range(length + 2) for chosen in combinations(places, size)]


def random_negated(
    random: Random, length: int, places: tuple[int, ...], strategy: str, streams: int
) -> Negated:
    """Random streams for a pattern."""
    at_edge = -1 in places or length - 1 in places
    window = random.randint(length, 5 * length + 2) if at_edge or random.random() < 0.5 else None
    repeated = length < 4 and random.random() < (0.1 if strategy == ANY else 0.3)
    empty = Negated(length, places, window, strategy, repeated, ())
    return empty.of(*(_stream(random, empty, str(number)) for number in range(streams)))


def _stream(random: Random, case: Negated, key: str) -> tuple[Event, ...]:
    """The events of a chain, most often in order, now and then one more, and up to four rivals."""
    events, tick, widest = [], random.randint(0, 3), 9 if case.length < 3 else 4 if case.length < 5 else 3
    for number, kind in enumerate(case.positive):
        events.append(_event(random, f"{key}v{number}", kind, tick, widest))
        tick += random.choice([0, 1, 2, 2, 3, 4])
    reach = min(case.window or 6, 9)
    kinds = ["Z"] if case.strategy != ANY else []
    if case.places:
        kinds += ["N", *(f"{kind}{at}" for kind in "NNM" for at in range(len(case.places)))]
    if case.strategy != ANY or random.random() < 0.2:
        kinds += case.positive
    for number in range(random.randint(1, 4) if kinds else 0):
        kind = random.choice(kinds)
        first = random.randint(-reach, tick + reach)
        events.append(_event(random, f"{key}n{number}", kind, first, random.choice([3, 9])))
    random.shuffle(events)
    return tuple(replace(event, k=key) for event in events)


def _event(random: Random, event_id: str, kind: str, lower: int, widest: int) -> Event:
    """Certain, uniform, or a histogram of two buckets with a hole or none."""
    upper = lower + random.choice([0, random.randint(0, widest), random.randint(0, widest)])
    if upper == lower or random.random() < 0.6:
        return Event(event_id, kind, lower, upper)
    middle = random.randint(lower, upper - 1)
    after = random.randint(middle + 1, upper)
    share = random.choice([0.25, 0.5, 0.75])
    return Event(event_id, kind, lower, upper, ((lower, middle, share), (after, upper, 1 - share)))


# --- what they answer ------------------------------------------------------------------------


def answers(case: Negated) -> dict[Signature, Answer]:
    """Every match of every stream."""
    return {signature: found for stream in case.streams for signature, found in _of_stream(case, stream)}


def _of_stream(case: Negated, stream: Sequence[Event]) -> Iterator[tuple[Signature, Answer]]:
    candidates = [[event for event in stream if event.event_type == kind] for kind in case.positive]
    weights = {event.event_id: _weights(event) for event in stream}
    absent_from = {event.event_id: _absent_from(case, event.event_type) for event in stream}
    for bound in product(*candidates):
        ids = [event.event_id for event in bound]
        if len(set(ids)) < len(ids) or any(one.lower >= next.upper for one, next in pairwise(bound)):
            continue
        ticks, worlds = _chains(case, [weights[i] for i in ids])
        whole = prod(int(weights[i][1].sum()) for i in ids)
        ends = {place: _gap(case, ticks, place) for place in range(-1, case.length)}
        for event_id, places in absent_from.items():
            if places and event_id not in ids:
                first, weight = weights[event_id]
                present = sum(_between(first, weight, *ends[place]) for place in places)
                worlds, whole = worlds * (weight.sum() - present), whole * int(weight.sum())
        happens = worlds > 0
        if happens.any():
            span = int(ticks[0][happens].min()), int(ticks[-1][happens].max())
            yield tuple((i,) for i in ids), (*span, Fraction(int(worlds.sum()), whole))


def _weights(event: Event) -> Weights:
    buckets = event.pmf or ((event.lower, event.upper, 1.0),)
    per_tick = [Fraction(p) / (hi - lo + 1) for lo, hi, p in buckets]
    scale = lcm(*(each.denominator for each in per_tick))
    weight = np.zeros(event.upper - event.lower + 1, dtype=np.int64)
    for (lo, hi, _), each in zip(buckets, per_tick, strict=True):
        weight[lo - event.lower : hi - event.lower + 1] = int(each * scale)
    return event.lower, weight


def _chains(case: Negated, chain: Sequence[Weights]) -> tuple[list[Ticks], Ticks]:
    """The ticks of every event, and the weight, of all worlds in which order and window hold."""
    axes = np.ix_(*(first + np.arange(len(weight)) for first, weight in chain))
    worlds: Ticks = np.ones((), dtype=np.int64)
    for (first, weight), ticks in zip(chain, axes, strict=True):
        worlds = worlds * weight[ticks - first]
    for before, after in pairwise(axes):
        worlds = worlds * (before < after)
    if case.window is not None:
        worlds = worlds * (axes[-1] - axes[0] < case.window)
    chosen = np.nonzero(worlds)
    return [np.broadcast_to(axis, worlds.shape)[chosen] for axis in axes], worlds[chosen]


def _absent_from(case: Negated, kind: str) -> set[int]:
    """The places in which no other event of a type may lie, by the negations and by the strategy."""
    places = {place for place in case.places if kind in case.absent(place)}
    if case.strategy == NEXT:
        places |= {place for place, wanted in enumerate(case.positive[1:]) if kind == wanted}
    elif case.strategy == PARTITION:
        places |= set(range(case.length - 1))
    return places


def _gap(case: Negated, ticks: Sequence[Ticks], place: int) -> tuple[Ticks, Ticks]:
    """Both ends, excluded, of a place."""
    window = case.window or 0
    before = ticks[-1] - window if place < 0 else ticks[place]
    after = ticks[0] + window if place + 1 == case.length else ticks[place + 1]
    return before, after


def _between(first: int, weight: Ticks, before: Ticks, after: Ticks) -> Ticks:
    """The weight of an event strictly between two ticks."""
    up_to = np.concatenate([[0], np.cumsum(weight)])
    begin = np.minimum(np.maximum(before + 1 - first, 0), len(weight))
    end = np.minimum(np.maximum(after - first, begin), len(weight))
    return np.asarray(up_to[end] - up_to[begin])
