"""Chains that are others moved in time are measured once, with the numbers that each would have had."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence import needless_sums as module
from cepctl.engines.confidence.needless_sums import moved_matches
from cepctl.engines.confidence.points import measure
from cepctl.engines.event.match import match_events
from cepctl.engines.rows.order import ordered
from cepctl.numeric.arrays import Indexes
from tests.plans import Event, event_table, plan_of

Mass = tuple[tuple[int, int, float], ...]


def events(random: Random, count: int, apart: int = 10) -> list[Event]:
    """Stamps at regular distances, with a few kinds of intervals and histograms around them."""
    found = []
    for number in range(count):
        tick, wide = apart * (number + random.randrange(2)), random.choice([0, 7, 25])
        halves = ((tick, tick + 1, 0.25), (tick + 20, tick + 29, 0.75)) if random.random() < 0.3 else None
        upper = tick + (29 if halves else wide)
        found.append(Event(f"e{number:03}", "ABC"[number % 3], tick, upper, pmf=halves))
    return found


def relative(masses: Masses, chain: Indexes) -> tuple[Mass, ...]:
    """The masses of some events as seen from the first of them."""
    begin = int(masses.lower[chain[0]])
    return tuple(
        tuple(
            (int(masses.lo[b]) - begin, int(masses.hi[b]) - begin, float(masses.density[b]))
            for b in range(masses.starts[event], masses.starts[event + 1])
        )
        for event in chain
    )


def test_the_first_with_the_same_masses_at_the_same_distances_is_found() -> None:
    random = Random(3)
    masses = events_of(event_table(events(random, 120))).masses
    chains = np.array([sorted(random.sample(range(i, i + 4), 2)) for i in range(110) for _ in range(6)])
    seen: dict[tuple[Mass, ...], int] = {}
    expected = [seen.setdefault(relative(masses, chain), i) for i, chain in enumerate(chains)]
    found = moved_matches(masses, chains)
    assert found is not None
    assert found.tolist() == expected
    assert 20 < len(seen) < 400


def test_chains_that_seldom_repeat_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances tell them apart, so that no kernel has to look."""
    monkeypatch.setattr(module, "_first_alike", None)
    monkeypatch.setattr(module, "_TRIED", 300)
    gaps = np.cumsum(np.arange(1, 402))
    masses = events_of(event_table([Event(f"{tick}", "A", int(tick), int(tick)) for tick in gaps])).masses
    assert moved_matches(masses, np.array([[i, i + 1] for i in range(400)])) is None


def test_chains_that_differ_in_their_masses_are_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TRIED", 300)
    events = [
        Event(
            f"{i}",
            "A",
            9 * i,
            9 * i + 8,
            pmf=((9 * i, 9 * i + 3, i / 500), (9 * i + 4, 9 * i + 8, 1 - i / 500)),
        )
        for i in range(1, 402)
    ]
    masses = events_of(event_table(events)).masses
    assert moved_matches(masses, np.array([[i, i + 1] for i in range(300)])) is not None
    assert moved_matches(masses, np.array([[i, i + 1] for i in range(400)])) is None


def test_no_more_are_told_apart_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SLOTS", 16)
    masses = events_of(event_table([Event(f"{i}", "A", i, i) for i in range(300)])).masses
    assert moved_matches(masses, np.array([[i, i + 1 + i % 7] for i in range(290)])) is not None
    assert moved_matches(masses, np.array([[i, i + 1 + i % 8] for i in range(290)])) is None


def test_where_time_may_end_distances_are_not_all() -> None:
    far = 2**61
    masses = events_of(event_table([Event(f"{i}", "A", far + i, far + i) for i in range(300)])).masses
    assert moved_matches(masses, np.array([[i, i + 1] for i in range(299)])) is None


@pytest.mark.parametrize("window", ["", " WITHIN 45 ticks"])
def test_rows_are_those_of_chains_that_are_measured_each(
    window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = event_table(events(Random(5), 60))
    plan = plan_of(f"PATTERN SEQ(A a, B b, C c){window}")
    monkeypatch.setattr(module, "_FEWEST", 1)
    found = match_events(plan, table)
    looked: list[bool] = []
    monkeypatch.setattr(measure, "moved_matches", lambda *_: looked.append(True))
    each = match_events(plan, table)
    assert looked
    assert each.num_rows > 50
    assert ordered(found).equals(ordered(each))
