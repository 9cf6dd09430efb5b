"""Improbable unions: worlds are drawn in which some row holds, so that the error is one of their sum."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.confidence.occurrence import occurrence
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from tests.plans import Event, event_table, histogram, plan_of

EVENTS = (Event("a", "A", 0, 99), *(Event(f"b{i}", "B", 0, 4) for i in range(10)))
ALLOWED = 0.04
UNION = sum(1 - Fraction(a + 1, 5) ** 10 for a in range(4)) / 100


def test_the_error_is_a_share_of_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows of 1/50 that share their first event."""
    monkeypatch.setattr(occurrence, "WORK_BOUND", 3)
    plan = plan_of("PATTERN SEQ(A a, B b) GROUP BY ()")
    options = MatchOptions(approximate=ALLOWED)
    (row,) = match_events(plan, event_table(EVENTS), options).to_pylist()
    assert row["expected"] == pytest.approx(0.2)
    assert row["occurrence_error"] == pytest.approx(0.2 * ALLOWED)
    assert row["occurrence"] == pytest.approx(float(UNION), abs=0.2 * ALLOWED)
    assert match_events(plan, event_table(EVENTS[::-1]), options).to_pylist() == [row]


def test_rivals_and_histograms_are_drawn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    events = (histogram("a", "A", (0, 9, 0.25), (10, 99, 0.75)), *EVENTS[1:], Event("n", "N", 1, 3))
    plan = plan_of("PATTERN SEQ(A a, !N n, B b) GROUP BY ()")
    (exact,) = match_events(plan, event_table(events)).to_pylist()
    monkeypatch.setattr(occurrence, "WORK_BOUND", 3)
    (row,) = match_events(plan, event_table(events), MatchOptions(approximate=ALLOWED)).to_pylist()
    assert row["occurrence_error"] == pytest.approx(ALLOWED * exact["expected"])
    assert row["occurrence"] == pytest.approx(exact["occurrence"], abs=row["occurrence_error"])
