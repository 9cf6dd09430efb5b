"""Events alone on their clocks: what a few polynomials give is what a sum over every tick gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from cepctl.clocks.shared import Clocks, Offset
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.numeric.arrays import Reals
from tests.engines.agreement import assert_same_rows
from tests.plans import Event, event_table, histogram, on, plan_of

KINDS = "ABCDE"
FAR = 1_200
"""Ticks lie from -FAR to FAR in what is summed tick by tick."""


def offset_of(draw: random.Random, widest: int) -> Offset:
    """One bucket, or two or three without a hole."""
    at = draw.randint(-widest, 0)
    ends = sorted(draw.sample(range(at, at + widest + 4), draw.choice([1, 1, 2, 3])))
    lows = [at - 1, *ends[:-1]]
    shares = draw.choice([(1.0,), (0.25, 0.75), (0.5, 0.125, 0.375)][len(ends) - 1 : len(ends)])
    return tuple((low + 1, high, share) for low, high, share in zip(lows, ends, shares, strict=True))


def own_part(draw: random.Random, place: int, kind: str, widest: int) -> Event:
    """An event that is sharp, even, or of two buckets."""
    lower = draw.randint(0, widest) + place * widest // 3
    wide = draw.choice([0, 1, widest // 2, widest])
    if draw.random() < 0.2 and wide > 1:
        cut = lower + wide // 3
        return histogram(kind.lower(), kind, (lower, cut, 0.625), (cut + 1, lower + wide, 0.375))
    return Event(kind.lower(), kind, lower, lower + wide)


def case(layout: str, draw: random.Random, widest: int) -> tuple[list[Event], Clocks]:
    """One event of each kind, on the clocks that the letters name; `-` is no clock."""
    clocks: Clocks = {name: offset_of(draw, widest) for name in sorted(set(layout) - {"-"})}
    events = [own_part(draw, place, KINDS[place], widest) for place in range(len(layout))]
    return [
        event if name == "-" else on(name, clocks, event) for name, event in zip(layout, events, strict=True)
    ], clocks


def text_of(layout: str, window: int | None) -> str:
    chain = ", ".join(f"{kind} {kind.lower()}" for kind in KINDS[: len(layout)])
    return f"PATTERN SEQ({chain})" + (f" WITHIN {window} ticks" if window else "")


def tick_by_tick(own: list[Event], clocks: Clocks, window: int | None) -> float:
    """The probability of the events in this order, over every tick and every offset of shared clocks."""
    shared = [name for name in clocks if sum(event.clock == name for event in own) > 1]
    total = 0.0
    for weight, at in combinations({name: clocks[name] for name in shared}):
        masses = [mass_of(event, clocks, at) for event in own]
        total += weight * in_order(masses, window)
    return total


def combinations(clocks: Clocks) -> Iterator[tuple[float, dict[str, int]]]:
    for chosen in product(
        *([(t, p / (hi - lo + 1)) for lo, hi, p in c for t in range(lo, hi + 1)] for c in clocks.values())
    ):
        yield float(np.prod([p for _, p in chosen])), dict(zip(clocks, (t for t, _ in chosen), strict=True))


def mass_of(event: Event, clocks: Clocks, at: dict[str, int]) -> Reals:
    """The mass of each tick from -FAR to FAR, the offsets of shared clocks given."""
    offset = clocks[event.clock] if event.clock else ((0, 0, 1.0),)
    least, most = (min(lo for lo, _, _ in offset), max(hi for _, hi, _ in offset))
    own = event.pmf or ((event.lower - least, event.upper - most, 1.0),)
    if event.clock in at:
        offset = ((at[event.clock], at[event.clock], 1.0),)
    found: Reals = np.convolve(ticks_of(own), ticks_of(offset))[FAR : 3 * FAR + 1]
    return found


def ticks_of(mass: Offset) -> Reals:
    found = np.zeros(2 * FAR + 1)
    for lo, hi, p in mass:
        found[lo + FAR : hi + FAR + 1] = p / (hi - lo + 1)
    return found


def in_order(masses: list[Reals], window: int | None) -> float:
    if window is None:
        return chained(masses)
    first, *rest = masses
    starts = np.flatnonzero(first)
    return float(sum(first[t] * chained([each[t + 1 : t + window] for each in rest]) for t in starts))


def chained(masses: list[Reals]) -> float:
    before = np.ones(len(masses[0]))
    for mass in masses:
        here = mass * before
        before = np.concatenate([[0.0], np.cumsum(here)[:-1]])
    return float(here.sum())


ALONE = ("mn", "m-", "mnk", "mn-", "m-n", "mnkl", "m--n", "mnk-l")
ONE_TO_ONE_OF_THEM = ("nnm", "nmn", "mnn", "nn-", "n-n", "nnmn", "--m")
BESIDE_TWO = ("nnm-", "nmnk", "mnnk", "n-kn")
WINDOWS = (None, 17, 60, 110)


TWO_BESIDE_A_LONE_ONE = ("nnmmk", "nkmmn")


def assert_tick_by_tick(layout: str, seed: int, widest: int) -> None:
    draw = random.Random(f"{layout} {seed}")
    events, clocks = case(layout, draw, widest)
    window = draw.choice(WINDOWS)
    rows = match_events(plan_of(text_of(layout, window), clocks), event_table(events)).to_pylist()
    wanted = tick_by_tick(events, clocks, window)
    assert [row["confidence"] for row in rows] == ([pytest.approx(wanted, rel=1e-12)] if wanted else [])


@pytest.mark.parametrize("layout", ALONE + ONE_TO_ONE_OF_THEM + BESIDE_TWO)
def test_wide_masses_are_summed_as_tick_by_tick(layout: str) -> None:
    for seed in range(2):
        assert_tick_by_tick(layout, seed, 50)


@pytest.mark.parametrize("layout", TWO_BESIDE_A_LONE_ONE)
def test_a_lone_event_beside_two_clocks_is_summed_as_tick_by_tick(layout: str) -> None:
    assert_tick_by_tick(layout, 0, 8)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ALONE + ONE_TO_ONE_OF_THEM + BESIDE_TWO)
def test_many_wide_masses_are_summed_as_tick_by_tick(layout: str) -> None:
    for seed in range(200):
        assert_tick_by_tick(layout, seed, 40)


@pytest.mark.parametrize("window", [None, 300])
def test_three_clocks_of_one_event_each(window: int | None) -> None:
    clocks: Clocks = dict.fromkeys("mnk", ((-500, 500, 1.0),))
    events = [
        on(name, clocks, Event(k.lower(), k, at, at + 40))
        for name, k, at in zip("mnk", "ABC", (0, 300, 100), strict=True)
    ]
    (row,) = match_events(plan_of(text_of("mnk", window), clocks), event_table(events)).to_pylist()
    assert row["confidence"] == pytest.approx(tick_by_tick(events, clocks, window), rel=1e-12)
    assert (row["start"], row["end"]) == (-498 if window else -500, 640)


@pytest.mark.parametrize("layout", ("mn", "mnk", "m-n", "nnm", "n-n", "mnnk"))
def test_the_judge_finds_the_same(layout: str) -> None:
    for seed in range(2):
        draw = random.Random(f"judge {layout} {seed}")
        events, clocks = case(layout, draw, 3)
        plan = plan_of(text_of(layout, draw.choice([None, 3, 6])), clocks)
        assert_same_rows(match_table(plan, event_table(events)), match_events(plan, event_table(events)))


def with_holes(draw: random.Random) -> Offset:
    """Two or three buckets, with ticks between them where the offset never is."""
    lows = draw.choice([(-3, 0), (0, 2), (-3, 0, 2), (-2, 1, 4)])
    shares = (0.25, 0.75) if len(lows) == 2 else (0.5, 0.25, 0.25)
    return tuple((low, low + draw.randint(0, 1), share) for low, share in zip(lows, shares, strict=True))


def assert_holes_as_the_judge(layout: str, seed: int) -> None:
    draw = random.Random(f"holes {layout} {seed}")
    clocks: Clocks = {name: with_holes(draw) for name in sorted(set(layout) - {"-"})}
    events: list[Event] = []
    for kind, name in zip(KINDS, layout, strict=False):
        lower = draw.randint(0, 2) + len(events) // 2
        own = Event(kind.lower(), kind, lower, lower + draw.choice([0, 0, 0, 1]))
        events.append(own if name == "-" else on(name, clocks, own))
    plan, table = plan_of(text_of(layout, draw.choice([None, 5])), clocks), event_table(events)
    assert_same_rows(match_table(plan, table), match_events(plan, table))


def test_a_match_cannot_use_a_hole_of_an_offset() -> None:
    # C is at 0, 2 or 3, and before the D at 2: so at 0, B at -1, and E, three ticks after B, not after D.
    clocks: Clocks = {
        "k": ((-3, -1, 0.5), (0, 0, 0.25), (2, 2, 0.25)),
        "m": ((0, 0, 0.25), (2, 3, 0.75)),
        "n": ((-1, 1, 1.0),),
    }
    places = ((0, 1), (1, 1), (0, 0), (2, 2), (4, 4))
    own = [Event(kind.lower(), kind, *place) for kind, place in zip(KINDS, places, strict=True)]
    events = [
        each if name == "-" else on(name, clocks, each) for name, each in zip("nkm-k", own, strict=True)
    ]
    assert not match_events(plan_of(text_of("nkm-k", None), clocks), event_table(events)).num_rows


@pytest.mark.parametrize(("layout", "seed"), [("mnkk", 15), ("mnk-l", 88), ("mkn-k", 0), ("nkm-k", 0)])
def test_the_judge_finds_the_same_beside_holes(layout: str, seed: int) -> None:
    assert_holes_as_the_judge(layout, seed)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ("mkn-k", "nkm-k", "mn-k", "mnkk", "kmnk", "mnnkm", "mnk-l"))
def test_many_matches_cannot_use_holes_of_offsets(layout: str) -> None:
    for seed in range(150):
        assert_holes_as_the_judge(layout, seed)


def test_parts_of_an_or_that_bind_groups_of_one_event_hold_together() -> None:
    clocks: Clocks = {"k": ((-2, 2, 1.0),), "m": ((-2, 2, 1.0),), "n": ((-1, 1, 1.0),)}
    own = [Event("x", "N", -1, -1), Event("y", "B", 1, 1), Event("z", "C", 2, 2), Event("w", "B", 4, 5)]
    events = [on(name, clocks, each) for name, each in zip("mkmn", own, strict=True)]
    groups, singles = "SEQ(B+ a[], B+ b[], C+ c[])", "SEQ(B ax, B bx, C cx)"
    plan = plan_of(f"PATTERN OR({groups}, {singles}) STRATEGY strict_contiguity", clocks)
    table = event_table(events)
    found = match_events(plan, table)
    assert found.num_rows == 1
    assert_same_rows(match_table(plan, table), found)


PATTERNS = (
    "SEQ(A a, B b, C c) WHERE c.time - a.time <= 9 ticks",
    "SEQ(A a, B b, C c) WHERE b.time - a.time >= 2 ticks WITHIN 12 ticks",
    "SEQ(A a, B b) WHERE b.time >= '1970-01-01T00:00:00.003Z'",
    "SEQ(A a, B b) STRATEGY skip_till_next_match",
    "SEQ(A a, !C n, B b) WITHIN 12 ticks",
    "SEQ(A a, B b, C c) STRATEGY skip_till_next_match",
    "SEQ(A a, B b) STRATEGY strict_contiguity",
)
STAMPED = ("mnkl", "mnk-", "mnkk", "mmkl", "-nkl")


def rivals(pattern: str, names: str, seed: int) -> tuple[str, list[Event], Clocks]:
    """Four events, of which the pattern binds some; the others may break matches."""
    draw = random.Random(f"{pattern} {names} {seed}")
    events, clocks = case(names, draw, 2)
    last = draw.choice("BBC")
    return f"PATTERN {pattern}", [*events[:3], replace(events[3], event_type=last)], clocks


def assert_as_the_judge(pattern: str, names: str, seed: int) -> None:
    text, events, clocks = rivals(pattern, names, seed)
    plan, table = plan_of(text, clocks), event_table(events)
    assert_same_rows(match_table(plan, table), match_events(plan, table))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_else_decides_matches_of_lone_events(pattern: str) -> None:
    for names in STAMPED[:2]:
        assert_as_the_judge(pattern, names, 0)


@pytest.mark.slow
@pytest.mark.parametrize("names", STAMPED)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_else_decides_many_matches_of_lone_events(pattern: str, names: str) -> None:
    for seed in range(40):
        assert_as_the_judge(pattern, names, seed)
