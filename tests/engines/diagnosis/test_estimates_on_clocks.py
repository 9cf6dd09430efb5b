"""A match on shared clocks that costs too much to be exact is estimated where it is explained."""

from __future__ import annotations

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.confidence.clocks import estimates
from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.diagnosis.why_not import why_not
from tests.plans import Event, event_table, plan_of

CLOCKS: Clocks = {"m": ((0, 9, 1.0),), "n": ((-4, 4, 1.0),)}
PLAN = plan_of("PATTERN SEQ(A a, !D d, B b, C c) WITHIN 30 ticks CONFIDENCE >= 0.9", CLOCKS)
EVENTS = event_table(
    [
        Event("a", "A", 1, 20, clock="m"),
        Event("b", "B", 5, 24, clock="n"),
        Event("c", "C", 9, 29, clock="m"),
        Event("d", "D", 2, 19, clock="n"),
    ]
)


def test_one_match_is_estimated_and_says_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = one_match(PLAN, EVENTS, ids_of("a b c"))
    monkeypatch.setattr(estimates, "MOST_NODES", 0)
    estimated = one_match(PLAN, EVENTS, ids_of("a b c"))
    assert exact.error == 0.0
    assert estimated.error == 0.01
    assert estimated.confidence == pytest.approx(exact.confidence, abs=0.01)


def test_why_not_names_the_best_of_those_that_it_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "MOST_NODES", 0)
    completion = why_not(PLAN, EVENTS).alternatives[0].completion
    assert completion is not None
    assert completion.best_confidence == pytest.approx(0.292, abs=0.05)
