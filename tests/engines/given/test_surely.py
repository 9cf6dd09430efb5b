"""What is given makes some rows certain: their confidence is 1, to the last digit."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from tests.plans import Event, event_table, plan_of

IN_ORDER = "GIVEN SEQ(A p, A q) IF p.event_id < q.event_id"


@pytest.mark.parametrize("step", [3, 5, 7])
@pytest.mark.parametrize("width", [8, 9, 13, 17])
def test_what_is_given_is_certain_whatever_the_sums_round_to(step: int, width: int) -> None:
    events = [Event(f"e{i}", "A", step * i, step * i + width) for i in range(4)]
    found = match_events(plan_of(f"PATTERN SEQ(A a, A b) {IN_ORDER}"), event_table(events))
    assert found.column("confidence").to_pylist() == [1.0] * 6


def test_what_is_nearly_certain_is_not_rounded() -> None:
    wide = 10**5
    events = [Event("e0", "A", 0, wide), Event("e1", "A", 1, 2 * wide), Event("x", "X", wide - 1, wide - 1)]
    found = match_events(
        plan_of(f"PATTERN SEQ(A a, X x) WHERE a.event_id = 'e0' {IN_ORDER}"), event_table(events)
    )
    (confidence,) = found.column("confidence").to_pylist()
    assert 1 - 1e-4 < confidence < 1
