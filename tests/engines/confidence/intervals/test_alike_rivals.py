"""The confidence of a match depends on its own rivals, to the last bit, not on what is measured with it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from cepctl.engines.event.match import match_events
from tests.plans import Event, event_table, lasting, plan_of


def _lasting(rng: random.Random, key: str, number: int, kind: str, base: int) -> Event:
    start = base + rng.randint(0, 40)
    width, end, more = rng.randint(1, 30), start + rng.randint(0, 40), rng.randint(1, 30)
    length = rng.choice(
        [(rng.randint(1, 9), None), (0, rng.randint(20, 60)), (rng.randint(1, 5), rng.randint(25, 70))]
    )
    end = max(end, start)
    event = lasting(f"{key}{number}", kind, (start, start + width), (end, end + more), length=length)
    return replace(event, k=key)


def _confidences(query: str, events: list[Event]) -> dict[str, tuple[float, int, int]]:
    table = event_table(sorted(events, key=lambda each: (each.lower, each.event_id)))
    rows = match_events(plan_of(query, lasting=True), table).to_pylist()
    return {str(row["signature"]): (row["confidence"], row["start"], row["end"]) for row in rows}


@pytest.mark.parametrize("seed", [0, 3])
def test_a_match_measured_with_others_has_the_same_bits(seed: int) -> None:
    rng = random.Random(seed)
    query = "PATTERN ISEQ(A a, !N n) WHERE [k] AND n INTERSECTS a"
    keys = [f"key{number:02}" for number in range(12)]
    events = {
        key: [
            _lasting(rng, key, 0, "A", 0),
            *(_lasting(rng, key, n, "N", 15) for n in range(1, rng.randint(2, 3))),
        ]
        for key in keys
    }
    alone = {match: found for key in keys for match, found in _confidences(query, events[key]).items()}
    assert _confidences(query, [each for own in events.values() for each in own]) == alone
