"""Sets are tried above a threshold as they grow: as many, but without keeping one."""

from __future__ import annotations

from random import Random

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.search.kleene import growth
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Plan
from tests.plans import Event, event_table, histogram, plan_of


def stream(random: Random) -> list[Event]:
    """Nine events that may lie between an a and two c, one of them with a histogram."""
    lowers = [random.randrange(60) for _ in range(8)]
    members = [Event(f"b{n}", "B", lower, lower + random.randrange(90)) for n, lower in enumerate(lowers)]
    spread = histogram("b8", "B", (20, 30, 0.5), (60, 90, 0.5))
    return [Event("a", "A", 0, 40), *members, spread, Event("c", "C", 60, 110), Event("d", "C", 90, 130)]


def fewest_allowed(plan: Plan, events: list[Event]) -> int:
    """The smallest cap that is not exceeded."""
    low, high = 1, 2000
    while low < high:
        cap = (low + high) // 2
        try:
            match_events(plan, event_table(events), MatchOptions(max_matches=cap, threads=1))
        except QueryTooLargeError:
            low = cap + 1
        else:
            high = cap
    return low


@pytest.mark.parametrize("rest", ["", " WITHIN 70 ticks"])
def test_a_trial_counts_the_sets_that_growing_would_make(rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_FEW_SETS", 0)
    plan = plan_of(f"PATTERN SEQ(A a, B+ b[], C c){rest} CONFIDENCE >= 0.2")
    counts = []
    for seed in range(2):
        events = stream(Random(seed))
        tried = fewest_allowed(plan, events)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(growth, "can_be_tried", lambda *_: False)
            assert fewest_allowed(plan, events) == tried
        counts.append(tried)
    assert min(counts) > 10
