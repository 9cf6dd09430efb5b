"""Found the quick way, of one clock or of one combination of offsets, is what the general way finds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from cepctl.arrays import Indexes, Reals
from cepctl.clocks import Clocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.gaps import polynomials
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains
from cepctl.engines.confidence.gaps.polynomials import wide_gap_confidence
from cepctl.engines.event.match import match_events
from cepctl.engines.search.clock_joins import ClockJoin
from tests.engines.agreement import rows_by_signature
from tests.plans import Event, event_table, on, plan_of

OFFSETS: Clocks = {"n": ((-300, 300, 1.0),), "m": ((-400, -1, 0.25), (0, 250, 0.75))}


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("PATTERN SEQ(A a, B b, C c) STRATEGY skip_till_next_match WITHIN 1200 ticks", 2),
        ("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match WITHIN 1200 ticks", 2),
        ("PATTERN SEQ(A a, C c) STRATEGY strict_contiguity WITHIN 1200 ticks", 1),
    ],
)
def test_next_matches_have_the_same_bits_whether_combinations_are_summed_alone(
    query: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(0)
    events = []
    for number, kind in enumerate("ABBC"):
        lower = 150 * number + draw.randint(0, 60)
        clock = "m" if kind == "B" else "n"
        events.append(on(clock, OFFSETS, Event(f"{kind}{number}", kind, lower, lower + 400)))
    plan = plan_of(query, OFFSETS)
    alone = rows_by_signature(match_events(plan, event_table(events)))
    sums = []

    def summed_together(
        masses: Masses, chains: GapChains, window: int | None, *, together: bool = True
    ) -> Reals:
        sums.append(together)
        return wide_gap_confidence(masses, chains, window)

    monkeypatch.setattr(polynomials, "wide_gap_confidence", summed_together)
    assert rows_by_signature(match_events(plan, event_table(events))) == alone
    assert len(alone) == rows
    assert sums and not any(sums)


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
