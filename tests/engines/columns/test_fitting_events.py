"""Which events fit a component, by its types and what is asked of one event alone."""

from __future__ import annotations

import pytest

from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.predicates import fitting_events
from tests.plans import Event, event_table, plan_of

EVENTS = events_of(event_table([Event(kind, kind, at, at, x=at) for at, kind in enumerate("ABCDEFG")]))


@pytest.mark.parametrize(
    ("component", "fitting"),
    [
        ("B a", [1]),
        ("B|E a", [1, 4]),
        ("B|C|D|E|F|X a", [1, 2, 3, 4, 5]),
        ("X a", []),
        ("* a", [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_few_types_and_many_are_told_alike(component: str, fitting: list[int]) -> None:
    def found(condition: str) -> list[int]:
        plan = plan_of(f"PATTERN SEQ({component}, G b) {condition} WITHIN 9 ticks")
        fits: list[int] = fitting_events(EVENTS, plan.alternatives[0].components[0]).tolist()
        return fits

    assert found("") == fitting
    assert found("WHERE a.x >= 2") == [each for each in fitting if each >= 2]
