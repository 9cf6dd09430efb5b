"""Why no events that last matched in the worlds that remain: which clause of GIVEN leaves them none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.diagnosis import binding_checks, worlds_left
from cepctl.engines.diagnosis.complete_bindings import CompletionReport
from cepctl.engines.diagnosis.why_not import why_not
from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.clock_cases import ClockCase
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.intervals.random_intervals import negations, queries
from tests.engines.confidence.intervals.test_given_of_lasting_on_clocks import cases
from tests.engines.diagnosis.desk import DESK, FIRST, LATE
from tests.plans import Event, event_table, lasting, on, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def possible_are_the_matches(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks, lasting=True)
    if plan.never is not None or plan.group_by is not None:
        return
    with suppress(ContradictionError, QueryTooLargeError):
        rows = match_events(plan, case.table).num_rows
        (explained,) = why_not(plan, case.table).alternatives
        assert (explained.completion.possible if explained.completion else 0) == rows


@settings(max_examples=5, deadline=None, suppress_health_check=_QUIET)
@given(query=queries() | negations(), clauses=GIVENS, events=tied_streams(("AB", "ABC", "ACB", "ACAB")))
def test_what_is_said_to_be_possible_is_what_matches(
    query: str, clauses: str, events: tuple[Event, ...]
) -> None:
    possible_are_the_matches(ClockCase(query + clauses, events, {}))


@settings(max_examples=4, deadline=None, suppress_health_check=_QUIET)
@given(case=cases())
def test_what_is_said_to_be_possible_on_clocks_is_what_matches(case: ClockCase) -> None:
    possible_are_the_matches(case)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=_QUIET)
@given(
    case=cases()
    | st.builds(
        lambda query, clauses, events: ClockCase(query + clauses, events, {}),
        queries() | negations(),
        GIVENS,
        tied_streams(("AB", "ABC", "ACB", "ACAB", "ACCB")),
    )
)
def test_what_is_said_to_be_possible_is_what_matches_many_times_over(case: ClockCase) -> None:
    possible_are_the_matches(case)


def completion(
    query: str, events: tuple[Event, ...] = DESK, clocks: Clocks | None = None
) -> CompletionReport:
    plan = plan_of(query, clocks, lasting=True)
    (explained,) = why_not(plan, event_table(events)).alternatives
    assert explained.completion is not None
    return explained.completion


def charged(query: str, events: tuple[Event, ...] = DESK, clocks: Clocks | None = None) -> dict[str, int]:
    found = completion(query, events, clocks)
    assert found.possible == match_events(plan_of(query, clocks, lasting=True), event_table(events)).num_rows
    return {each.condition.text: each.count for each in found.losses}


def test_a_binding_is_charged_to_the_clause_that_alone_leaves_it_no_world() -> None:
    """w1 and w2 overlap in some worlds, but not where w1 ends first; the other clause says nothing of w1."""
    assert charged(f"PATTERN ISEQ(W a, V b) WHERE a INTERSECTS b {FIRST} {LATE}") == {
        FIRST: 1,
        LATE: 0,
        "the clauses of GIVEN together": 0,
    }


def test_a_binding_that_every_clause_leaves_a_world_is_charged_to_all_together() -> None:
    """Either of x and y may be near z, which lasts two ticks, but not both."""
    events = (
        Event("x", "X", 0, 5),
        lasting("z", "Z", (1, 6), (3, 8), length=(2, 2)),
        Event("y", "Y", 4, 8),
    )
    clauses = "GIVEN SEQ(X p, Z q) IF TRUE GIVEN SEQ(Z p, Y q) IF TRUE"
    assert charged(f"PATTERN ISEQ(X x, Y y) WHERE y.time - x.time <= 3 ticks {clauses}", events) == {
        "GIVEN SEQ(X p, Z q) IF TRUE": 0,
        "GIVEN SEQ(Z p, Y q) IF TRUE": 0,
        "the clauses of GIVEN together": 1,
    }


def test_points_that_events_which_last_tie_are_held_to_what_is_given() -> None:
    """What lasts five ticks is after s and before r, so that these are never close."""
    events = (
        Event("s", "S", 0, 9),
        lasting("z", "Z", (1, 9), (6, 14), length=(5, 5)),
        Event("r", "R", 2, 20),
    )
    near, clauses = "PATTERN SEQ(S s, R r) WITHIN 6 ticks", "GIVEN SEQ(S p, Z q, R r) IF TRUE"
    assert charged(near, events) == {}
    assert charged(f"{near} {clauses}", events) == {clauses: 1, "the clauses of GIVEN together": 0}


CLOCKS: Clocks = {"n": ((-4, 4, 1.0),)}
STAMPED = (
    on("n", CLOCKS, lasting("s", "S", (5, 5), (10, 10))),
    on("n", CLOCKS, lasting("a", "A", (15, 15), (20, 20))),
    lasting("r", "R", (11, 11), (13, 13)),
    Event("b", "B", 22, 22),
)


def test_what_is_given_of_one_event_leaves_another_on_its_clock_no_world() -> None:
    """The offset is at most 0 where s ends before r; then a ends by 20, and does not last until b."""
    sent, during = "GIVEN SEQ(S p, R q) IF TRUE", "PATTERN ISEQ(A a, B b) WHERE b.time <= a.end"
    assert charged(during, STAMPED, CLOCKS) == {}
    assert charged(f"{during} {sent}", STAMPED, CLOCKS) == {sent: 1, "the clauses of GIVEN together": 0}


def test_an_event_that_breaks_a_match_in_every_world_that_remains_is_named() -> None:
    """Only where n ends before v, which starts between the ends of n, is it always over before b."""
    events = (
        Event("a", "A", 0, 0),
        lasting("n", "N", (2, 3), (5, 9)),
        Event("v", "V", 6, 8),
        Event("b", "B", 8, 8),
    )
    query, over = "PATTERN SEQ(A a, !N n, B b)", "GIVEN SEQ(N p, V q) IF TRUE"
    assert (completion(query, events).possible, completion(query, events).breakers) == (1, ())
    found = completion(f"{query} {over}", events)
    assert found.possible == 0
    assert [(each.event, each.count, each.example) for each in found.breakers] == [(1, 1, ((0,), (3,)))]
    assert {each.condition.text: each.count for each in found.losses}["no n"] == 1


def _all_possible(measure: Any, matches: Any) -> Any:
    return np.ones(len(matches), dtype=bool)


def _tied_to_nothing(given: Any, events: Any) -> Any:
    return replace(events, endpoint_ties=None)


FAULTS: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "every binding has a world": (binding_checks, "holds_somewhere", _all_possible),
    "nothing is tied": (worlds_left, "known_endpoints", _tied_to_nothing),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        test_a_binding_is_charged_to_the_clause_that_alone_leaves_it_no_world()
