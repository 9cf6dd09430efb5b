"""Problems taken apart at separators: a long series in logged order, against its exact recursion."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.given import separators
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.given.given_cases import agrees, with_given
from tests.plans import Event, event_table, plan_of
from tests.strategies import LEVELS

IN_LOGGED_ORDER = "GIVEN SEQ(X p, X q) IF p.g = q.g AND p.lower < q.lower"


def worlds(intervals: list[range], place: int, allowed: range) -> int:
    """In how many worlds the series is in order, and the event at a place at an allowed tick."""
    ways = {0: 1}
    for number, interval in enumerate(intervals):
        ticks = [t for t in interval if number != place or t in allowed]
        ways = {t: sum(count for before, count in ways.items() if before < t) for t in ticks}
    return sum(ways.values())


@pytest.mark.parametrize("scale", [1, 40])
def test_one_sample_of_a_long_series(scale: int) -> None:
    intervals = [range(1 + 3 * scale * i, 3 * scale * i + 5 * scale) for i in range(12)]
    series = [Event(f"x{i}", "X", each[0], each[-1], g="n") for i, each in enumerate(intervals)]
    first, last = intervals[5][0] + scale, intervals[6][-1] - 2 * scale
    events = [*series, Event("a", "A", first, first), Event("b", "B", last, last)]
    rows = match_events(
        plan_of(f"PATTERN SEQ(A a, X x, B b) {IN_LOGGED_ORDER}"), event_table(events)
    ).to_pylist()
    found = {row["signature"][1][0]: row["confidence"] for row in rows}
    everywhere = range(1, 100 * scale)
    for place in (5, 6):
        between = worlds(intervals, place, range(first + 1, last))
        expected = Fraction(between, worlds(intervals, place, everywhere))
        assert found[f"x{place}"] == pytest.approx(float(expected), rel=1e-12)


def test_problems_of_few_variables_taken_apart_agree_with_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separators, "FEW_VARIABLES", 1)
    check(with_given(LEVELS["chains"]), agrees, FEW_EXAMPLES)


def test_a_component_of_too_many_events_is_refused_with_its_size() -> None:
    series = [Event(f"x{i:02}", "X", 3 * i, 3 * i + 4, g="n") for i in range(70)]
    events = event_table([*series, Event("a", "A", 5, 5)])
    with pytest.raises(QueryTooLargeError, match="GIVEN ties 70 events to each other"):
        match_events(plan_of(f"PATTERN SEQ(A a, X x) WITHIN 9 ticks {IN_LOGGED_ORDER}"), events)
    untouched = match_events(plan_of(f"PATTERN A a {IN_LOGGED_ORDER}"), events).to_pylist()
    assert [row["confidence"] for row in untouched] == [1.0]
