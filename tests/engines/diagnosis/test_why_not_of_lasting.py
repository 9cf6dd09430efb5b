"""Why no events that last matched: which condition on starts and ends stops them, and by how much."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.diagnosis.why_not import AlternativeExplained, Excluded, why_not
from cepctl.engines.event.match import match_events
from tests.engines.clock_cases import ClockCase
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    streams,
    streams_with_rivals,
)
from tests.engines.confidence.intervals.test_intervals_on_clocks import cases
from tests.plans import Event, event_table, lasting, on, plan_of

WORK = (
    lasting("w1", "A", (0, 6), (29, 35)),
    lasting("w2", "A", (27, 33), (71, 77)),
    lasting("w3", "A", (74, 80), (119, 125)),
)


def explained_by(query: str, *events: Event) -> AlternativeExplained:
    """The only alternative of a query."""
    (explained,) = why_not(plan_of(query, lasting=True), event_table(events)).alternatives
    return explained


def excluded(explained: AlternativeExplained) -> dict[str, Excluded]:
    return {each.condition.text: each for each in explained.excluded}


def test_a_relation_says_how_many_pairs_it_stops_and_by_how_much_the_nearest_misses_it() -> None:
    explained = explained_by("PATTERN ISEQ(A a, A b) WHERE a.event_id < b.event_id AND a MEETS b", *WORK)
    first, second = explained.steps
    assert (first.left, second.left) == (3, 2)
    assert {loss.condition.text: loss.count for loss in second.losses}["a MEETS b"] > 0
    missed = excluded(explained)["a MEETS b"]
    # w1 ends at 35 at the latest, w3 starts at 74 at the earliest.
    assert (missed.count, missed.nearest.events, missed.nearest.excess) == (1, (0, 2), 39)
    assert explained.completion is not None
    assert explained.completion.possible == 2


def test_of_a_union_of_relations_the_nearest_one_counts() -> None:
    query = "PATTERN ISEQ(A a, A b) WHERE a.event_id < b.event_id AND a CONTAINS|EQUALS b"
    missed = excluded(explained_by(query, *WORK))["a CONTAINS|EQUALS b"]
    # w2 ends 36 ticks after w1 at least: 36 more make them equal, and w1 contains w2 with one more than that.
    assert (missed.count, missed.nearest.events, missed.nearest.excess) == (3, (0, 1), 36)


def test_the_length_of_one_event_is_held_against_a_condition() -> None:
    explained = explained_by("PATTERN ISEQ(A a, A b) WHERE a.end - a.start >= 60 ticks", *WORK)
    assert explained.steps[0].left == 0
    missed = excluded(explained)
    assert [each.nearest.excess for each in missed.values()] == [9]


def test_an_event_that_breaks_a_match_in_every_world_is_named() -> None:
    within = lasting("n", "N", (40, 42), (50, 60))
    explained = explained_by("PATTERN SEQ(A a, !N n, A b)", *WORK[::2], within)
    assert explained.completion is not None
    assert explained.completion.possible == 0
    (loss,) = explained.completion.losses
    assert (loss.condition.text, loss.count) == ("no n", 1)
    (breaker,) = explained.completion.breakers
    assert breaker.example == ((0,), (2,))
    assert breaker.count == 1


def test_the_likeliest_below_the_threshold_is_named() -> None:
    query = "PATTERN ISEQ(A a, A b) WHERE a.event_id < b.event_id AND a INTERSECTS b"
    completion = explained_by(f"{query} CONFIDENCE >= 0.9", *WORK).completion
    assert completion is not None
    rows = match_events(
        plan_of(query.split(" CONF", maxsplit=1)[0], lasting=True), event_table(WORK)
    ).to_pylist()
    assert completion.best_confidence == max(row["confidence"] for row in rows if row["confidence"] < 0.9)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    case=st.one_of(st.tuples(queries(), streams()), st.tuples(negations(), streams_with_rivals())),
)
def test_what_is_said_to_be_possible_is_what_matches(case: tuple[str, tuple[Event, ...]]) -> None:
    query, events = case
    explained = explained_by(query, *events)
    rows = match_events(plan_of(query, lasting=True), event_table(events)).num_rows
    assert (explained.completion.possible if explained.completion else 0) == rows


WIDE: Clocks = {"n": ((-500, 500, 1.0),)}
STAMPED = (
    on("n", WIDE, lasting("a", "A", (0, 0), (40, 40))),
    on("n", WIDE, lasting("b", "B", (60, 60), (90, 90))),
)


def test_what_one_clock_stamped_misses_a_relation_by_its_own_times() -> None:
    plan = plan_of("PATTERN ISEQ(A a, B b) WHERE a INTERSECTS b", WIDE, lasting=True)
    (explained,) = why_not(plan, event_table(STAMPED)).alternatives
    losses = {loss.condition.text: loss.count for loss in explained.steps[-1].losses if loss.count}
    assert losses == {"one offset for each clock": 1}
    missed = excluded(explained)["a INTERSECTS b"]
    # b starts 20 ticks after a has ended, however wrong the clock is.
    assert (missed.count, missed.nearest.events, missed.nearest.excess) == (1, (0, 1), 21)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    case=cases(queries(), streams()) | cases(negations(), streams_with_rivals(), least_sharp=2),
)
def test_what_is_said_to_be_possible_of_events_that_share_clocks_is_what_matches(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks, lasting=True)
    (explained,) = why_not(plan, case.table).alternatives
    rows = match_events(plan, case.table).num_rows
    assert (explained.completion.possible if explained.completion else 0) == rows
