"""Bounds of the length of interval events, down to a length of nothing."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from tests.plans import Event, event_table, lasting, plan_of


@pytest.mark.parametrize(
    ("length", "confidence"), [((None, None), 1 / 2), ((None, 0), 2 / 3), ((0, 0), 2 / 3), ((1, 1), 1 / 2)]
)
def test_an_event_may_be_known_to_end_as_it_starts(
    length: tuple[int | None, int | None], confidence: float
) -> None:
    events = (lasting("a", "A", (0, 2), (0, 2), length=length), Event("b", "B", 2, 2))
    (row,) = match_events(plan_of("PATTERN SEQ(A a, B b)", lasting=True), event_table(events)).to_pylist()
    assert row["confidence"] == pytest.approx(confidence, rel=1e-12)
