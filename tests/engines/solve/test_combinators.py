"""Ways to measure matches as simpler ones: the numbers are the same as without what is left out."""

from __future__ import annotations

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from tests.plans import Event, event_table, on, plan_of

CLOCKS: Clocks = {"m": ((1, 1, 1.0),)}
EVENTS = (Event("e0", "A", 0, 0), Event("e1", "A", 1, 5), Event("e2", "A", 3, 3))
STAMPED = on("m", CLOCKS, Event("e3", "A", 6, 6))


@pytest.mark.parametrize(
    "query",
    [
        "SEQ(A a, A b) WITHIN 4 ticks STRATEGY strict_contiguity",
        "SEQ(A a, A b) WITHIN 4 ticks STRATEGY skip_till_next_match",
        "AND(A a, A b) WITHIN 3 ticks",
    ],
)
def test_matches_without_clocks_have_the_same_bits_whatever_is_beside_them(query: str) -> None:
    alone = match_events(plan_of(f"PATTERN {query}", {}), event_table(EVENTS))
    beside = match_events(plan_of(f"PATTERN {query}", CLOCKS), event_table((*EVENTS, STAMPED)))
    rows = [row for row in beside.to_pylist() if "e3" not in str(row["signature"])]
    assert alone.num_rows
    assert [(str(row["signature"]), row["confidence"]) for row in rows] == [
        (str(row["signature"]), row["confidence"]) for row in alone.to_pylist()
    ]
