"""Problems taken apart at separators: a long series in logged order, against its exact recursion."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.confidence.occurrence import rows as measured_rows
from cepctl.engines.event.match import match_events
from cepctl.errors import QueryTooLargeError
from tests.plans import Event, event_table, plan_of

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


def test_a_series_may_have_any_length() -> None:
    intervals = [range(7 * i, 7 * i + 16) for i in range(300)]
    series = [Event(f"x{i:03}", "X", each[0], each[-1], g="n") for i, each in enumerate(intervals)]
    events = event_table([*series, Event("a", "A", 1049, 1049)])
    rows = match_events(
        plan_of(f"PATTERN SEQ(A a, X x) WITHIN 5 ticks {IN_LOGGED_ORDER}"), events
    ).to_pylist()
    found = {row["signature"][1][0]: row["confidence"] for row in rows}
    everywhere = worlds(intervals, 0, range(5000))
    places = [i for i, each in enumerate(intervals) if set(each) & set(range(1050, 1054))]
    expected = {f"x{i}": Fraction(worlds(intervals, i, range(1050, 1054)), everywhere) for i in places}
    assert found == pytest.approx({name: float(each) for name, each in expected.items() if each}, rel=1e-12)


NEAR = "GIVEN AND(X p, X q) WITHIN 9 ticks IF p.g = q.g AND p.x = q.x - 1"
"""Ties neighbours in both directions, so that they are no series."""


def neighbours(node: str, count: int, width: int) -> list[Event]:
    return [Event(f"{node}{i:02}", "X", 2 * i, 2 * i + width, g=node, x=i) for i in range(count)]


def test_a_component_of_too_many_events_that_are_no_series_is_refused_with_its_size() -> None:
    events = event_table([*neighbours("n", 70, 12), Event("a", "A", 5, 5)])
    with pytest.raises(QueryTooLargeError, match="GIVEN ties 70 events to each other"):
        match_events(plan_of(f"PATTERN SEQ(A a, X x) WITHIN 9 ticks {NEAR}"), events)
    untouched = match_events(plan_of(f"PATTERN A a {NEAR}"), events).to_pylist()
    assert [row["confidence"] for row in untouched] == [1.0]


def test_whether_a_row_is_refused_depends_on_none_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_rows, "WORK_BOUND", 10_000)
    plan = plan_of(f"PATTERN SEQ(A a, X x) {NEAR}")
    costly, cheap = neighbours("c", 6, 40), [x for i in range(8) for x in neighbours(f"n{i}", 6, 12)]
    start = Event("a", "A", 1, 1)
    assert match_events(plan, event_table([*cheap, start])).num_rows
    for events in ([*costly, start], [*costly, *cheap, start]):
        with pytest.raises(QueryTooLargeError, match="GIVEN ties 6 events"):
            match_events(plan, event_table(events))
