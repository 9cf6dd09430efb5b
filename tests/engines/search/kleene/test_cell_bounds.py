"""A threshold ends groups that are improbable only together; no row depends on it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from cepctl.numeric.precision import CONFIDENCE_SLACK
from tests.plans import Event, event_table, plan_of

WIDE = [Event(f"b{number:02}", "B", 20 * number, 400 + 20 * number, x=number) for number in range(18)]
STREAM = event_table([Event("a", "A", 0, 400), *WIDE, Event("c", "C", 400, 800)])
"""Each of 18 events may lie between a and c wherever these are; many of them together hardly do."""

NARROW = [Event(f"b{number:02}", "B", number % 3, 4 + number % 3) for number in range(12)]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("PATTERN SEQ(A a, B+ b[], C c) CONFIDENCE >= 0.6", 22),
        ("PATTERN SEQ(A a, B+ b[]) WITHIN 500 ticks CONFIDENCE >= 0.7", 44),
        ("PATTERN SEQ(B+ b[], C c) WITHIN 500 ticks CONFIDENCE >= 0.7", 47),
        ("PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].x > 0 * b[i-1].x CONFIDENCE >= 0.6", 15),
    ],
)
def test_few_groups_are_made_where_few_reach_the_threshold(query: str, rows: int) -> None:
    """The 18 events form 262,143 sets."""
    found = match_events(plan_of(query), STREAM, MatchOptions(max_matches=5_000))
    assert found.num_rows == rows


def test_what_a_group_must_hold_and_does_not_counts_against_it() -> None:
    """Of 4,095 sets few are likely to be just what happened between a and c."""
    events = event_table([Event("a", "A", 0, 4), *NARROW, Event("c", "C", 4, 8)])
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c) STRATEGY strict_contiguity CONFIDENCE >= 0.01")
    assert match_events(plan, events, MatchOptions(max_matches=1_000)).num_rows == 5


def stream(random: Random) -> pa.Table:
    """A few events in wide intervals, some of them certain, one with a histogram."""
    events = []
    for number, kind in enumerate("ABBBBCD"):
        lower = random.randrange(60)
        upper = lower + random.choice([0, 7, 30, 90])
        halves = ((lower, lower + 2, 0.5), (upper + 5, upper + 40, 0.5)) if number == 2 else None
        events.append(
            Event(f"e{number}", kind, lower, upper + 40 * (number == 2), x=random.randrange(3), pmf=halves)
        )
    return event_table(events)


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B+ b[], C c)",
        "PATTERN SEQ(A a, B+ b[], C c) WITHIN 60 ticks",
        "PATTERN SEQ(A a, C c, B+ b[], D d) WHERE b[i].time - a.time <= 70 ticks",
        "PATTERN SEQ(AND(A a, C c), B+ b[]) WITHIN 80 ticks",
        "PATTERN SEQ(B+ b[], C c, D d)",
        "PATTERN SEQ(B+ b[], AND(C c, D d)) WITHIN 70 ticks",
        "PATTERN SEQ(A a, B+ b[], B+ c[], C d)",
        "PATTERN SEQ(B+ b[], A+ a[]) WITHIN 40 ticks",
        "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x",
        "PATTERN SEQ(B+ b[], C c) WHERE b[i].x >= b[i-1].x WITHIN 60 ticks",
        "PATTERN SEQ(A a, B+ b[]) WHERE b[i].x >= b[i-1].x WITHIN 60 ticks",
        "PATTERN SEQ(A a, B+ b[], C c) STRATEGY skip_till_next_match",
        "PATTERN SEQ(A a, B+ b[]) STRATEGY skip_till_next_match WITHIN 60 ticks",
        "PATTERN SEQ(A a, B+ b[], D d) WHERE b[i].time - a.time <= 40 ticks STRATEGY skip_till_next_match",
        "PATTERN SEQ(B+ b[], C c) STRATEGY skip_till_next_match",
        "PATTERN SEQ(A a, B+ b[], C c) STRATEGY strict_contiguity",
        "PATTERN SEQ(A+ a[], B+ b[], C c) STRATEGY strict_contiguity",
        "PATTERN SEQ(A+ a[], B+ b[], C c) STRATEGY skip_till_next_match",
        "PATTERN SEQ(D d, A a, B+ b[]) STRATEGY skip_till_next_match WITHIN 120 ticks",
        "PATTERN SEQ(A a, B+ b[]) STRATEGY strict_contiguity WITHIN 60 ticks",
    ],
)
def test_rows_are_those_that_a_filter_leaves(query: str) -> None:
    found = 0
    for seed in range(2):
        events, plan = stream(Random(seed)), plan_of(query)
        rows = match_events(plan, events)
        found += rows.num_rows
        confidences = np.unique(rows.column("confidence").to_numpy())
        for least in confidences[:: max(len(confidences) // 4, 1)]:
            wanted = rows.filter(pc.greater_equal(rows.column("confidence"), least - CONFIDENCE_SLACK))
            kept = match_events(replace(plan, minimum_confidence=float(least)), events)
            assert ordered(kept).equals(ordered(wanted))
        best = match_events(plan, events, MatchOptions(top=2))
        assert ordered(best, 2).equals(ordered(rows, 2))
    assert found > 5
