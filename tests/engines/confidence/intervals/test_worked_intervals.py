"""The worked numbers of interval events, in the judge and in the event engine."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import exact_matches, match_table
from tests.engines.confidence.intervals.worked_intervals import CASES, LI10, Row, li10_events
from tests.plans import Event, event_table, plan_of

ROWS = pytest.mark.parametrize(
    ("query", "events", "row"), CASES, ids=[f"{query} {events[0].event_id}" for query, events, _ in CASES]
)


@ROWS
def test_the_judge_counts_every_world(query: str, events: tuple[Event, ...], row: Row | None) -> None:
    found = exact_matches(plan_of(f"PATTERN {query}"), event_table(events))
    assert [Row(each.start, each.end, each.confidence) for each in found.values()] == ([row] if row else [])


@ROWS
def test_the_event_engine_sums_the_same(query: str, events: tuple[Event, ...], row: Row | None) -> None:
    found = match_events(plan_of(f"PATTERN {query}", lasting=True), event_table(events)).to_pylist()
    assert [(each["start"], each["end"]) for each in found] == ([row[:2]] if row else [])
    if row:
        assert found[0]["confidence"] == pytest.approx(float(row.confidence), rel=1e-12)


@pytest.mark.parametrize(
    ("window", "width", "expected"),
    [
        (30, 0, {("a7", "b9", "c4", "d9"): (4, 15, 1), ("a8", "b9", "c4", "d9"): (4, 16, 1)}),
        (12, 0, {("a7", "b9", "c4", "d9"): (4, 15, 1)}),
        (11, 0, {}),
        (
            30,
            1,
            {
                ("a7", "b9", "c4", "d9"): (4, 16, Fraction(2, 3)),
                ("a8", "b9", "c4", "d9"): (4, 17, Fraction(2, 3)),
            },
        ),
    ],
)
def test_example_5_4_of_li10(
    window: int, width: int, expected: dict[tuple[str, ...], tuple[int, int, Fraction]]
) -> None:
    plan, table = plan_of(LI10.format(window=window), lasting=True), event_table(li10_events(width))
    for found in (match_table(plan, table), match_events(plan, table)):
        rows = {
            tuple(ids[0] for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
            for row in found.to_pylist()
        }
        assert rows == {
            key: pytest.approx((s, e, float(c)), rel=1e-12) for key, (s, e, c) in expected.items()
        }


def test_where_nothing_matches_raw_times_are_not_asked() -> None:
    plan = plan_of("PATTERN ISEQ(A a, D d) WHERE a AFTER d", lasting=True)
    assert match_events(plan, event_table(li10_events()), MatchOptions(raw_times=True)).num_rows == 0
