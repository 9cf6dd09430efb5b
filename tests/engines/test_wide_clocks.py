"""Wide offsets: what stands for many of them sums to what every single one gives, whatever ties the events.

The other side is the same engine without clocks, on the events as they are at each offset: it knows nothing
of the pieces between which a confidence is a polynomial in an offset.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import pytest

from cepctl.clocks.shared import Clocks, Offset
from cepctl.engines.event.match import match_events
from tests.engines.agreement import rows_by_signature
from tests.plans import Event, event_table, histogram, on, plan_of

EARLY, LATE = ((-20, 20, 1.0),), ((-31, 2, 0.25), (6, 9, 0.75))
EVENTS = (
    Event("a", "A", 10, 27),
    Event("b", "B", 30, 30),
    histogram("c", "C", (22, 31, 0.25), (33, 58, 0.75)),
    Event("d", "B", 15, 52),
)
TWO: Clocks = {"n": ((-6, 6, 1.0),), "m": ((0, 10, 1.0),)}
CASES: list[tuple[str, str, Clocks]] = [
    ("SEQ(A a, B b, C c) WITHIN 33 ticks", "nn-n", {"n": EARLY}),
    ("SEQ(A a, B b) STRATEGY skip_till_next_match", "n-n-", {"n": LATE}),
    ("SEQ(A a, !B n, C c) WITHIN 41 ticks", "n-nn", {"n": LATE}),
    ("SEQ(A a, B b) WHERE b.time >= '1970-01-01T00:00:00.029Z' WITHIN 28 ticks", "nnnn", {"n": EARLY}),
    ("SEQ(A a, B b, C c) WITHIN 29 ticks", "nmmn", TWO),
]
SLOW_PATTERNS = [
    *(pattern for pattern, _, _ in CASES),
    "SEQ(A a, B+ b[], C c) WITHIN 45 ticks",
    "SEQ(A a, B b, C c) WHERE b.time - a.time <= 19 ticks",
    "SEQ(A a, AND(B b, C c)) WITHIN 37 ticks",
    "SEQ(A a, B b, C c) STRATEGY skip_till_next_match",
    "SEQ(A a, B b) STRATEGY strict_contiguity",
]


Signature: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Found:
    """What a signature has: time range and confidence."""

    start: int
    end: int
    confidence: float


def stamped(names: str, clocks: Clocks, events: tuple[Event, ...]) -> list[Event]:
    """The events with the clocks that the letters name."""
    return [
        event if name == "-" else on(name, clocks, event) for name, event in zip(names, events, strict=True)
    ]


def by_every_offset(
    pattern: str, names: str, clocks: Clocks, events: tuple[Event, ...]
) -> dict[Signature, Found]:
    """The rows that the events without clocks give at every combination of offsets, together."""
    total: dict[Signature, Found] = defaultdict(lambda: Found(2**40, -(2**40), 0.0))
    plan = plan_of(f"PATTERN {pattern}")
    for weight, at in _combinations(clocks):
        moved = [_moved(event, at.get(name, 0)) for name, event in zip(names, events, strict=True)]
        for signature, row in rows_by_signature(match_events(plan, event_table(moved))).items():
            known = total[signature]
            total[signature] = Found(
                min(known.start, row["start"]),
                max(known.end, row["end"]),
                known.confidence + weight * row["confidence"],
            )
    return dict(total)


def _combinations(clocks: Clocks) -> Iterator[tuple[float, dict[str, int]]]:
    for chosen in product(*(_ticks(offset) for offset in clocks.values())):
        weight = 1.0
        for _, each in chosen:
            weight *= each
        yield weight, {name: tick for name, (tick, _) in zip(clocks, chosen, strict=True)}


def _ticks(offset: Offset) -> list[tuple[int, float]]:
    return [(tick, p / (hi - lo + 1)) for lo, hi, p in offset for tick in range(lo, hi + 1)]


def _moved(event: Event, by: int) -> Event:
    pmf = event.pmf and tuple((lo + by, hi + by, p) for lo, hi, p in event.pmf)
    return replace(event, lower=event.lower + by, upper=event.upper + by, pmf=pmf)


def assert_summed(pattern: str, names: str, clocks: Clocks, events: tuple[Event, ...]) -> None:
    table = event_table(stamped(names, clocks, events))
    rows = rows_by_signature(match_events(plan_of(f"PATTERN {pattern}", clocks), table))
    wanted = by_every_offset(pattern, names, clocks, events)
    assert sorted(rows) == sorted(wanted)
    for signature, row in rows.items():
        found = wanted[signature]
        assert (row["start"], row["end"]) == (found.start, found.end)
        assert row["confidence"] == pytest.approx(found.confidence, rel=1e-9)


@pytest.mark.parametrize(("pattern", "names", "clocks"), CASES)
def test_few_offsets_stand_for_all(pattern: str, names: str, clocks: Clocks) -> None:
    assert_summed(pattern, names, clocks, EVENTS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_few_offsets_stand_for_all_in_many_cases(seed: int) -> None:
    draw = random.Random(seed)
    clocks = {name: ((low := draw.randint(-30, 0), low + draw.randint(12, 40), 1.0),) for name in "nm"}
    clocks = {name: clocks[name] for name in draw.choice(["n", "nm"])}
    names = "".join(draw.choice([*clocks, "-"]) for _ in EVENTS)
    events = tuple(
        Event(event.event_id, event.event_type, lower := draw.randint(0, 60), lower + draw.choice([0, 5, 40]))
        for event in EVENTS
    )
    used = {name: offset for name, offset in clocks.items() if name in names}
    assert_summed(draw.choice(SLOW_PATTERNS), names, used, events)
