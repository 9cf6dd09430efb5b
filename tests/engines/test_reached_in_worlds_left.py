"""reached(c) of events that share clocks, also if they last, and of events that something is given of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, check, rows_by_signature
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.intervals.random_intervals import (
    choices_with_groups,
    negations,
    queries,
    streams,
    streams_with_points_and_rivals,
    streams_with_rivals,
)
from tests.engines.confidence.intervals.test_intervals_on_clocks import cases
from tests.engines.reached_cases import asked_too, asking, is_decided_as_judged
from tests.plans import Event, event_table, lasting, on, plan_of
from tests.strategies import LEVELS, Case

FEW = max(EXAMPLES // 20, 1)
CLOCKS: Clocks = {"n": ((-2, 2, 1.0),), "m": ((-1, 1, 1.0),)}
A, B = on("n", CLOCKS, Event("a", "A", 1, 1)), on("n", CLOCKS, Event("b", "B", 3, 3))
C, D = Event("c", "C", 2, 6), on("m", CLOCKS, Event("d", "D", 4, 4))
TASK = Event("s", "S", 1, 4, x=1), Event("f", "F", 2, 5, x=1)
STARTS_FIRST = "GIVEN SEQ(S p, F q) IF p.x = q.x"


def worlds_left(level: str, where: str) -> st.SearchStrategy[Case | ClockCase]:
    asked = asking(LEVELS[level])
    if where != "shared clocks":
        asked = with_given(asked)
    return asked if where == "GIVEN" else clock_cases(asked)


@pytest.mark.parametrize("where", ["shared clocks", "GIVEN", "both"])
@pytest.mark.parametrize("level", ["chains", "everything"])
def test_rows_are_decided_as_the_judge_says(level: str, where: str) -> None:
    check(worlds_left(level, where), is_decided_as_judged, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["shared clocks", "GIVEN", "both"])
@pytest.mark.parametrize("level", LEVELS)
def test_rows_are_decided_as_the_judge_says_in_many_cases(level: str, where: str) -> None:
    check(worlds_left(level, where), is_decided_as_judged, MANY_EXAMPLES // 20)


LASTING = {
    "alone": cases(queries(), streams()),
    "beside what is absent": cases(negations(), streams_with_rivals(), least_sharp=2),
    "with groups": cases(choices_with_groups(), streams_with_points_and_rivals(), least_sharp=2),
}


def lasting_rows_are_decided_as_judged(case: ClockCase) -> None:
    is_decided_as_judged(replace(case, query=asked_too(case.query)), lasting=True)


@pytest.mark.parametrize("kind", LASTING)
def test_rows_of_interval_events_on_clocks_are_decided_as_the_judge_says(kind: str) -> None:
    check(LASTING[kind], lasting_rows_are_decided_as_judged, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LASTING)
def test_rows_of_interval_events_on_clocks_are_decided_as_the_judge_says_in_many_cases(kind: str) -> None:
    check(LASTING[kind], lasting_rows_are_decided_as_judged, MANY_EXAMPLES // 4)


GIVEN_LASTING = st.builds(
    lambda query, given, events: Case(asked_too(query) + given, events),
    queries() | negations(),
    GIVENS,
    tied_streams(),
)


def given_rows_are_decided_as_judged(case: Case) -> None:
    is_decided_as_judged(case, lasting=True)


def test_rows_of_interval_events_that_something_is_given_of_are_decided_as_the_judge_says() -> None:
    check(GIVEN_LASTING, given_rows_are_decided_as_judged, 2 * FEW)


@pytest.mark.slow
def test_rows_of_interval_events_that_something_is_given_of_are_decided_so_in_many_cases() -> None:
    check(GIVEN_LASTING, given_rows_are_decided_as_judged, MANY_EXAMPLES)


def decided(query: str, events: tuple[Event, ...], clocks: Clocks | None = None) -> list[object]:
    """When the one row is decided with a probability of 0.2, 0.5 and 1."""
    asked = "reached(0.2), reached(0.5), reached(1)"
    (row,) = match_events(plan_of(f"PATTERN {query} RETURN {asked}", clocks), event_table(events)).to_pylist()
    return [row[name] for name in asked.split(", ")]


@pytest.mark.parametrize(
    ("query", "events", "ticks"),
    [
        # One clock: b is at 3 and an offset of -2 to 2.
        ("SEQ(A a, B b)", (A, B), [1, 3, 5]),
        # d is later than a in 1 of 1, and at 4 and an offset of -1 to 1: both clocks count.
        ("AND(A a, D d)", (A, D), [3, 4, 5]),
        # c, without a clock, comes after a at 2, 3, 4, 5 and 6 in 3, 4, 5, 5 and 5 of 25 worlds.
        ("SEQ(A a, C c)", (A, C), [3, 5, None]),
        # Nothing of C before the window ends, 3 ticks after a: in 4, 3, 2, 2 and 2 of 25.
        ("SEQ(A a, !C n) WITHIN 4 ticks", (A, C), [3, 6, None]),
    ],
)
def test_offsets_that_events_share_decide_when(
    query: str, events: tuple[Event, ...], ticks: list[object]
) -> None:
    assert decided(query, events, CLOCKS) == ticks


def test_both_ends_of_an_event_that_lasts_move_with_its_clock() -> None:
    job = on("n", CLOCKS, lasting("j", "J", (1, 1), (4, 5)))
    # The end is at 4 or 5 and an offset of -2 to 2: at 2 to 7 in 1, 2, 2, 2, 2 and 1 of 10 worlds.
    assert decided("SEQ(J j)", (job,), CLOCKS) == [3, 4, 7]


def test_what_is_given_decides_when() -> None:
    assert decided(f"SEQ(S s, F f) {STARTS_FIRST}", TASK) == [3, 4, 5]
    # Without it f, at 2 to 5, comes after s in 1, 2, 3 and 4 of 16 worlds.
    assert decided("SEQ(S s, F f)", TASK) == [4, 5, None]


def test_what_is_given_of_an_event_that_lasts_decides_when() -> None:
    job = replace(lasting("j", "S", (1, 1), (2, 4)), x=1)
    # After the ends 2, 3 and 4 of the job there are 2, 1 and 0 of the ticks of f.
    ended = (job, Event("f", "F", 2, 4, x=1))
    assert decided(f"SEQ(S s) {STARTS_FIRST}", ended) == [2, 2, 3]


def test_where_several_parts_of_an_or_hold_the_first_to_be_decided_counts() -> None:
    both = "OR(SEQ(S s, F f), SEQ(S t, F g, !X n)) WITHIN 9 ticks"
    assert decided(both, TASK) == decided("SEQ(S s, F f) WITHIN 9 ticks", TASK) == [4, 5, None]


def test_an_event_that_two_parts_of_an_or_keep_out_is_one_event() -> None:
    clocks: Clocks = {"n": ((0, 1, 1.0),)}
    stamped = [
        on("n", clocks, Event(name, "A", first, last))
        for name, first, last in (("a", 1, 1), ("b", 2, 3), ("c", 3, 3))
    ]
    asked = "STRATEGY skip_till_next_match RETURN reached(0.25) AS one, reached(0.3) AS two"
    plan = plan_of(f"PATTERN SEQ(OR(A a, A z), A c) {asked}", clocks)
    rows = rows_by_signature(match_events(plan, event_table(stamped)))
    # b is not between a and c where it is at 3: with c, at 3 in one of four worlds, at 4 in another.
    row = rows[("a",), ("c",)]
    assert (row["confidence"], row["one"], row["two"]) == (pytest.approx(0.5), 3, 4)


def test_an_event_that_is_kept_out_of_two_gaps_is_one_event() -> None:
    clocks: Clocks = {"n": ((0, 2, 1.0),)}
    own = ((4, 4), (1, 4), (1, 3), (0, 1))
    events = tuple(on("n", clocks, Event(f"e{n}", "A", *each)) for n, each in enumerate(own))
    query = "PATTERN SEQ(A a, A b, A c) STRATEGY skip_till_next_match RETURN reached(0.1)"
    is_decided_as_judged(ClockCase(query, events, clocks))
