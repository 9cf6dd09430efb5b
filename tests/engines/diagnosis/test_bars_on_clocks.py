"""Events that last on shared clocks, as they are shown: when they are under way, what a match leaves."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.intervals.rows import valid
from cepctl.engines.diagnosis.posteriors import endpoint_spans, shares_under_way
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternatives
from tests.plans import event_table, lasting, on, plan_of

CLOCKS: Clocks = {"n": ((-2, 2, 1.0),)}
HELD = on("n", CLOCKS, lasting("a", "A", (0, 0), (3, 3)))
LOOSE = on("n", CLOCKS, lasting("a", "A", (0, 1), (1, 2), length=(1, 1)))


def test_an_offset_moves_when_an_event_is_under_way() -> None:
    events = events_of(event_table([HELD]), CLOCKS)
    ticks = np.array([-3, -2, 0, 1, 2, 5, 6])
    wanted = [0, 1 / 5, 3 / 5, 4 / 5, 4 / 5, 1 / 5, 0]
    assert shares_under_way(events, 0, ticks) == pytest.approx(wanted, rel=1e-12)
    spans = endpoint_spans(events)
    assert (spans.lower.tolist(), spans.upper.tolist()) == ([-2, 1], [2, 5])


def test_what_is_known_of_a_length_counts_on_a_clock_too() -> None:
    """From 0 to 1 or from 1 to 2, each moved by -2 to 2."""
    events = events_of(event_table([LOOSE]), CLOCKS)
    under_way = shares_under_way(events, 0, np.array([-2, -1, 0, 4]))
    assert under_way == pytest.approx([1 / 10, 3 / 10, 4 / 10, 1 / 10], rel=1e-12)


def test_a_match_leaves_start_and_end_what_it_leaves_the_offset() -> None:
    events = events_of(event_table([HELD, lasting("b", "B", (3, 3), (9, 9))]), CLOCKS)
    plan = plan_of("PATTERN ISEQ(A a, B b) WHERE a BEFORE b", CLOCKS, lasting=True)
    (prepared,) = prepared_alternatives(plan, events, MatchOptions())
    (search,) = prepared.lasting
    lower, upper = valid(search.measure, np.array([[0, 1]]))
    # The offset is -2 or -1.
    assert (lower.tolist(), upper.tolist()) == ([[-2, 1, 3, 9]], [[-1, 2, 3, 9]])
