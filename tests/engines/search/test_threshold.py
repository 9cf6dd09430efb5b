"""CONFIDENCE and --top-k inside the search: less work; that no row is lost is held in test_thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.events import events_of
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.pattern.difference_constraints import closed_system
from cepctl.engines.search.search import enumeration_parts
from cepctl.engines.search.threshold import Threshold, chain_columns, upper_bounds
from tests.plans import Event, event_table, on, plan_of

# --- the threshold -------------------------------------------------------------------------


def test_the_threshold_rises_to_the_best_so_far_and_keeps_ties() -> None:
    threshold = Threshold(0.1, top=2)
    assert threshold.reached(np.array([0.3, 0.05]), np.arange(2)).tolist() == [True, False]
    assert threshold.reached(np.array([0.7, 0.7, 0.6]), np.arange(3)).tolist() == [True, True, False]
    assert threshold.reached(np.array([0.7, 0.699]), np.arange(2)).tolist() == [True, False]


def test_confidences_that_round_alike_may_change_places() -> None:
    """They are ordered by start and match, so that none of them may be lost to a larger tenth decimal."""
    threshold = Threshold(0.0, top=1)
    assert threshold.reached(np.array([0.5 + 4e-10]), np.arange(1)).tolist() == [True]
    assert threshold.reached(np.array([0.5, 0.5 - 1e-8]), np.arange(2)).tolist() == [True, False]


# --- the bound -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "columns", "chain"),
    [
        ("SEQ(A a, B b, C c)", (2, 0), [0, 2]),
        ("SEQ(A a, AND(B b, C c), D d)", (1, 2, 3), [1, 3]),
        ("AND(A a, B b)", (0, 1), [0]),
        ("SEQ(A a, !N n, B b)", (0, 1), [0, 1]),
    ],
)
def test_the_bound_takes_one_event_of_each_block(
    pattern: str, columns: tuple[int, ...], chain: list[int]
) -> None:
    alternative = plan_of(f"PATTERN {pattern}").alternatives[0]
    assert chain_columns(alternative, alternative.positive, columns) == chain


def test_the_bound_knows_the_room_that_others_need() -> None:
    """SEQ(A, B, C) WITHIN 3: between A and C lies exactly one tick, so they are two ticks apart."""
    masses = events_of(event_table([Event("a", "A", 0, 3), Event("c", "C", 2, 2)])).masses
    system = closed_system([0, 1, 2], window=3)[np.ix_([0, 2], [0, 2])]
    assert upper_bounds(masses, np.array([[0, 1]]), system).tolist() == [0.25]


def bindings_made(query: str, *events: Event, clocks: Clocks | None = None) -> int:
    """How many complete bindings the search hands over to be measured."""
    plan = plan_of(query, clocks or {})
    prepared = prepared_alternative(
        plan, plan.alternatives[0], events_of(event_table(events), clocks), MatchOptions()
    )
    threshold = Threshold(plan.minimum_confidence or 0.0)
    search = prepared.above(threshold).search
    columns = tuple(range(len(search.singles)))
    return sum(len(rows) for part in enumeration_parts(search, prepared.events, columns) for rows in part())


def test_partial_matches_below_the_threshold_are_never_completed() -> None:
    """P(a < b) is 45/100, whatever comes after."""
    events = [Event("a", "A", 0, 9), Event("b", "B", 0, 9), *(Event(f"c{i}", "C", 20, 20) for i in range(50))]
    assert bindings_made("PATTERN SEQ(A a, B b, C c)", *events) == 50
    assert bindings_made("PATTERN SEQ(A a, B b, C c) CONFIDENCE >= 0.45", *events) == 50
    assert bindings_made("PATTERN SEQ(A a, B b, C c) CONFIDENCE >= 0.46", *events) == 0


def test_what_is_costly_to_measure_is_bounded_once_more_when_it_is_complete() -> None:
    events = [Event("a", "A", 0, 9), Event("b", "B", 0, 9), Event("n", "N", 3, 5)]
    assert bindings_made("PATTERN SEQ(A a, !N n, B b) CONFIDENCE >= 0.46", *events) == 0
    assert bindings_made("PATTERN SEQ(A a, B b) CONFIDENCE >= 0.46", *events) == 1


def test_what_one_clock_stamped_is_bounded_on_the_own_parts() -> None:
    """P(a < b) is 45/100 however far the clock is off; what different clocks stamped is not bounded."""
    clocks: Clocks = {"n": ((-500, 500, 1.0),), "m": ((0, 20, 1.0),)}
    own = [Event("a", "A", 0, 9), Event("b", "B", 0, 9), *(Event(f"c{i}", "C", 20, 20) for i in range(50))]
    query = "PATTERN SEQ(A a, B b, C c) CONFIDENCE >= 0.46"
    for name, made in (("n", 0), ("m", 50)):
        stamped = [on("n", clocks, own[0]), *(on(name, clocks, event) for event in own[1:])]
        used = {each: offset for each, offset in clocks.items() if each in {"n", name}}
        assert bindings_made(query, *stamped, clocks=used) == made
