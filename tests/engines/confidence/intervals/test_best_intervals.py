"""The most probable rows of events that last are the first of all rows."""

from __future__ import annotations

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from tests.plans import Event, event_table, plan_of


def test_the_best_rows_are_the_first_of_all() -> None:
    ends = ((2, 5, 6, 9), (6, 9, 9, 12), (7, 9, 9, 12), (0, 2, 6, 9), (2, 5, 6, 9))
    others = [
        Event(f"b{number}", "B", lower, upper, end_lower=end, end_upper=last)
        for number, (lower, upper, end, last) in enumerate(ends)
    ]
    table = event_table([Event("a", "A", 0, 4, end_lower=3, end_upper=8), *others])
    plan = plan_of("PATTERN ISEQ(A a, B b) WHERE a INTERSECTS b", lasting=True)
    every = ordered(match_events(plan, table)).to_pylist()
    confidences = [each["confidence"] for each in every]
    assert len(every) == 5
    assert len(set(confidences)) == 4  # b0 and b4 are alike
    for wanted in range(1, 6):
        best = ordered(match_events(plan, table, MatchOptions(top=wanted)), wanted).to_pylist()
        assert best == every[:wanted]
