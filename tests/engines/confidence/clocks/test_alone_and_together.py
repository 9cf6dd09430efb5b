"""Found the quick way, of one clock, is what the general way finds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.search.narrowed_joins import ClockJoin
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import rows_by_signature
from tests.plans import Event, event_table, on, plan_of

OFFSETS: Clocks = {"n": ((-300, 300, 1.0),), "m": ((-400, -1, 0.25), (0, 250, 0.75))}


@pytest.mark.parametrize("strangers", [0, 1])
def test_keys_of_one_clock_are_joined_by_own_parts_alone(
    strangers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(1)
    events = []
    for number in range(60):
        key, lower, wide = number % 2, draw.randint(0, 300), draw.choice([0, 4, 30])
        event = Event(f"e{number}", "ABC"[number // 2 % 3], lower, lower + wide, k=str(key))
        # A stranger is of the other key's clock: joins of its key are general.
        name = "nm"[key] if number >= strangers else "nm"[1 - key]
        events.append(on(name, OFFSETS, event))
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WHERE [k] WITHIN 60 ticks", OFFSETS)
    quick = rows_by_signature(match_events(plan, event_table(events)))
    general = []

    def counted(self: ClockJoin, *given: object) -> Iterator[tuple[Indexes, Indexes]]:
        general.append(self)
        return joined(self, *given)  # type: ignore[arg-type]

    joined = ClockJoin.pairs
    monkeypatch.setattr(ClockJoin, "pairs", counted)
    assert rows_by_signature(match_events(plan, event_table(events))) == quick
    assert bool(general) == bool(strangers)
    monkeypatch.setattr(ClockJoin, "together_keys", lambda *_: None)
    assert rows_by_signature(match_events(plan, event_table(events))) == quick
    assert len(quick) > 20
