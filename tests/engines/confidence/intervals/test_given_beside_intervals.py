"""GIVEN beside interval events: the judge's rows and contradictions, and what ties of starts and ends say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.engines.confidence.intervals import clauses
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.intervals.judged import agrees
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    queries_with_groups,
    streams_with_points,
)
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups
from tests.plans import Event, event_table, lasting, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), clauses=GIVENS, events=tied_streams())
def test_rows_are_those_of_the_judge(query: str, clauses: str, events: tuple[Event, ...]) -> None:
    agrees(query + clauses, events)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), clauses=GIVENS, events=tied_streams())
def test_rows_are_those_of_the_judge_many_times_over(
    query: str, clauses: str, events: tuple[Event, ...]
) -> None:
    agrees(query + clauses, events)


@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), clauses=GIVENS, events=tied_streams(("ACB", "ACCB", "ACAB", "ACC")))
def test_rows_beside_which_something_is_absent_are_those_of_the_judge(
    query: str, clauses: str, events: tuple[Event, ...]
) -> None:
    agrees(query + clauses, events)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), clauses=GIVENS, events=tied_streams(("ACB", "ACCB", "ACAB", "ACC")))
def test_rows_beside_which_something_is_absent_are_those_of_the_judge_many_times_over(
    query: str, clauses: str, events: tuple[Event, ...]
) -> None:
    agrees(query + clauses, events)


_KEYS = st.sampled_from(["()", "()", "a.k"])


def groups_agree(query: str, events: tuple[Event, ...]) -> None:
    plan, table = plan_of(query, lasting=True), event_table(events)
    if plan.never is not None:
        return
    try:
        expected = group_table(plan, table)
    except (ContradictionError, QueryTooLargeError):
        return
    assert_same_groups(plan, expected, match_events(plan, table))


@settings(max_examples=10, deadline=None, suppress_health_check=_QUIET)
@given(query=queries() | negations(), key=_KEYS, clauses=GIVENS, events=tied_streams())
def test_groups_are_those_of_the_judge(query: str, key: str, clauses: str, events: tuple[Event, ...]) -> None:
    groups_agree(f"{query} GROUP BY {key}{clauses}", events)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries() | negations(), key=_KEYS, clauses=GIVENS, events=tied_streams())
def test_groups_are_those_of_the_judge_many_times_over(
    query: str, key: str, clauses: str, events: tuple[Event, ...]
) -> None:
    groups_agree(f"{query} GROUP BY {key}{clauses}", events)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries_with_groups(), clauses=GIVENS, events=streams_with_points())
def test_rows_with_groups_are_those_of_the_judge(query: str, clauses: str, events: tuple[Event, ...]) -> None:
    agrees(query + clauses, events)


DESK = (
    lasting("w1", "W", (0, 0), (1, 4)),
    lasting("w2", "W", (2, 5), (9, 9)),
    Event("x", "X", 3, 3),
)
IN_ORDER = " GIVEN SEQ(W p, W q) IF p.event_id < q.event_id"


def confidences(query: str, events: tuple[Event, ...] = DESK) -> list[float]:
    found = match_events(plan_of(query, lasting=True), event_table(events))
    return [row["confidence"] for row in found.to_pylist()]


def test_what_ends_before_something_starts_is_as_probable_as_in_the_worlds_that_remain() -> None:
    """Of the 16 ends and starts 10 are in order, and in 7 of these the end is before 3."""
    assert confidences("PATTERN SEQ(W w, X x)") == pytest.approx([1 / 2], rel=1e-12)
    assert confidences(f"PATTERN SEQ(W w, X x){IN_ORDER}") == pytest.approx([7 / 10], rel=1e-12)
    assert confidences(f"PATTERN SEQ(W w, X x, W v){IN_ORDER}") == pytest.approx([4 / 10], rel=1e-12)


def test_what_is_given_is_certain() -> None:
    assert confidences(f"PATTERN SEQ(W w, W v){IN_ORDER}") == [1.0]
    several = tuple(lasting(f"e{i}", "W", (7 * i, 7 * i + 9), (7 * i + 3, 7 * i + 12)) for i in range(4))
    assert confidences(f"PATTERN SEQ(W w, W v){IN_ORDER}", several) == [1.0] * 6


def test_a_negation_is_of_the_worlds_that_remain() -> None:
    """w1 starts at 0 and is over before x in 7 of 10 worlds, so that it breaks the match in these."""
    query = "PATTERN SEQ(!W v, X x) WHERE v.event_id = 'w1' WITHIN 9 ticks"
    assert confidences(query) == pytest.approx([1 / 2], rel=1e-12)
    assert confidences(query + IN_ORDER) == pytest.approx([3 / 10], rel=1e-12)


def test_a_probability_in_return_is_by_the_laws_of_its_events_alone() -> None:
    query = f"PATTERN ISEQ(W w, X x) WHERE w.event_id = 'w1'{IN_ORDER} RETURN prob(w BEFORE x) AS before"
    table = event_table(DESK)
    rows = match_events(plan_of(query, lasting=True), table).to_pylist()
    assert [row["before"] for row in rows] == [1 / 2]


def test_a_contradiction_names_ends() -> None:
    events = (lasting("w1", "W", (0, 0), (6, 8)), lasting("w2", "W", (2, 5), (9, 9)))
    with pytest.raises(ContradictionError, match=r"the end of w1 in 6\.\.8, w2 in 2\.\.5"):
        confidences(f"PATTERN ISEQ(W a, W b){IN_ORDER}", events)


def test_a_key_is_as_probable_as_in_the_worlds_that_remain() -> None:
    """Either of w1 and w2 meets x: w1 where it ends from 3 on, 3 of 10, w2 where it starts by 3, 3 of 10."""
    query = f"PATTERN ISEQ(W w, X x) WHERE w.start <= x.time AND x.time <= w.end GROUP BY (){IN_ORDER}"
    (row,) = match_events(plan_of(query, lasting=True), event_table(DESK)).to_pylist()
    assert row["occurrence"] == pytest.approx(6 / 10, rel=1e-12)
    assert row["expected"] == pytest.approx(6 / 10, rel=1e-12)


def test_long_chains_are_taken_apart() -> None:
    """Given the order of all, whether two neighbours are close to each other is up to 14 of their ends."""
    several = tuple(lasting(f"e{i:02}", "W", (7 * i, 7 * i + 9), (7 * i + 3, 7 * i + 12)) for i in range(7))
    close = "PATTERN SEQ(W w, W v) WHERE v.start - w.end <= 1 tick AND v.event_id = 'e06'"
    (found,) = confidences(close + IN_ORDER, several)
    assert found == pytest.approx(_close(several), rel=1e-12)


def _close(events: tuple[Event, ...]) -> float:
    """The same by a pass over ticks: how probable each last end is, given all that was before."""
    weight = {-1: 1.0}
    for at, each in enumerate(events):
        assert each.end_lower is not None
        assert each.end_upper is not None
        after: dict[int, float] = {}
        near = 0.0
        for start in range(each.lower, each.upper + 1):
            before = sum(w for end, w in weight.items() if end < start)
            for end in range(max(start, each.end_lower), each.end_upper + 1):
                after[end] = after.get(end, 0.0) + before
                near += weight.get(start - 1, 0.0)
        if at == len(events) - 1:
            return near / sum(after.values())
        weight = after
    raise AssertionError


FAULTS = {
    "the probability of what is given is forgotten": (
        "component_probability",
        lambda measure, components: np.ones(len(components)),
    ),
    "tied rivals may be anywhere": ("_of_absence", lambda *_: iter(())),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, *FAULTS[fault])
    with pytest.raises(AssertionError):
        test_what_ends_before_something_starts_is_as_probable_as_in_the_worlds_that_remain()
        test_a_negation_is_of_the_worlds_that_remain()
