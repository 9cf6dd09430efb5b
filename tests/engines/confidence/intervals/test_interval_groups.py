"""GROUP BY of interval events: the judge's keys, exactly, and what is too costly told beside the others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import QueryTooLargeError
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    streams,
    streams_with_rivals,
)
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups
from tests.plans import Event, event_table, lasting, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def groups_agree(query: str, events: tuple[Event, ...], clocks: Clocks | None = None) -> None:
    plan, table = plan_of(query, clocks, lasting=True), event_table(events)
    try:
        expected = group_table(plan, table)
    except QueryTooLargeError:
        return
    assert_same_groups(plan, expected, match_events(plan, table))


def _of(key: str, event_id: str, kind: str, start: tuple[int, int], end: tuple[int, int]) -> Event:
    return replace(lasting(event_id, kind, start, end), k=key)


DESKS = (
    _of("ann", "w1", "A", (0, 3), (5, 8)),
    _of("ann", "w2", "A", (4, 7), (9, 12)),
    _of("ann", "w3", "A", (10, 13), (14, 17)),
    _of("bob", "w4", "A", (2, 4), (4, 8)),
)
AT_ONCE = "PATTERN ISEQ(A a, A b) WHERE [k] AND a.event_id < b.event_id AND a INTERSECTS b"


def test_rows_of_one_key_count_together() -> None:
    (row,) = match_events(plan_of(f"{AT_ONCE} GROUP BY a.k"), event_table(DESKS)).to_pylist()
    # w2 has to begin before w1 ends, or to end after w3 begins; its own start and end are independent.
    missed = (1 - 10 / 16) * (1 - 3 / 16)
    assert (row["a.k"], row["matches"]) == ("ann", 2)
    assert row["expected"] == pytest.approx(13 / 16, rel=1e-12)
    assert row["occurrence"] == pytest.approx(1 - missed, rel=1e-12)


def test_a_key_that_is_too_costly_keeps_its_row_without_an_occurrence() -> None:
    many = tuple(_of("p", f"b{i}", "B", (i, 60 + i), (40 + i, 100 + i)) for i in range(70))
    events = (_of("p", "a", "A", (0, 90), (60, 170)), *many, *DESKS[:2])
    table = event_table((*events, _of("ann", "b", "B", (6, 9), (20, 20))))
    query = "PATTERN ISEQ(A a, B b) WHERE [k] AND a OVERLAPS b"
    for approximate in (None, 0.5):
        rows = match_events(plan_of(f"{query} GROUP BY a.k"), table, MatchOptions(approximate=approximate))
        found = {row["a.k"]: row for row in rows.to_pylist()}
        assert found["p"]["occurrence"] is None
        assert found["p"]["matches"] == 70
        assert found["p"]["expected"] > 1
        assert 0 < found["ann"]["occurrence"] <= 1
    with pytest.raises(QueryTooLargeError, match="70 rows have more than 12 events in common"):
        match_events(plan_of(f"{query} AND a.k = 'p' GROUP BY ()"), table)


def test_what_connects_nothing_is_measured_apart() -> None:
    # 80 pairs that share one event of which nothing is uncertain.
    pairs = tuple(_of("p", f"b{i:02}", "B", (8, 12), (13, 20)) for i in range(80))
    table = event_table((_of("p", "a", "A", (0, 0), (10, 10)), *pairs))
    (row,) = match_events(
        plan_of("PATTERN ISEQ(A a, B b) WHERE a OVERLAPS b GROUP BY a.k"), table
    ).to_pylist()
    assert row["expected"] == pytest.approx(32, rel=1e-12)
    assert row["occurrence"] == pytest.approx(1 - 0.6**80, rel=1e-12)


_KEYS = st.sampled_from(["()", "()", "a.k"])


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), key=_KEYS, events=streams())
def test_groups_are_those_of_the_judge(query: str, key: str, events: tuple[Event, ...]) -> None:
    groups_agree(f"{query} GROUP BY {key}", events)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(query=queries(), key=_KEYS, events=streams())
def test_groups_are_those_of_the_judge_many_times_over(
    query: str, key: str, events: tuple[Event, ...]
) -> None:
    groups_agree(f"{query} GROUP BY {key}", events)


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), key=_KEYS, events=streams_with_rivals())
def test_groups_beside_which_something_is_absent_are_those_of_the_judge(
    query: str, key: str, events: tuple[Event, ...]
) -> None:
    groups_agree(f"{query} GROUP BY {key}", events)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(query=negations(), key=_KEYS, events=streams_with_rivals())
def test_groups_beside_which_something_is_absent_are_those_of_the_judge_many_times_over(
    query: str, key: str, events: tuple[Event, ...]
) -> None:
    groups_agree(f"{query} GROUP BY {key}", events)
