"""reached(c): the tick by which a row is decided with probability c, in the event engine and by the judge."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import QuerySemanticError, QueryTooLargeError, UnsupportedQueryError
from tests.engines.agreement import EXAMPLES
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    queries_with_groups,
    streams,
    streams_with_points,
    streams_with_rivals,
)
from tests.engines.confidence.intervals.worked_intervals import A, B
from tests.engines.reached_cases import ASKED, asked_too
from tests.plans import Event, event_table, histogram, plan_of
from tests.strategies import Case, any_cases

# PTJ06, Example 3: of the stamps 60 and 110 the bucket (x, y] is the ticks x + 1 to y.
H1 = histogram("a1", "A", (21, 40, 0.1), (41, 50, 0.3), (51, 60, 0.6))
H2 = histogram("b2", "B", (71, 80, 0.15), (81, 90, 0.3), (91, 100, 0.4), (101, 110, 0.15))
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def both(query: str, events: pa.Table, *, lasting: bool = False) -> list[dict[str, object]]:
    """The rows of the event engine, which are those of the judge."""
    plan = plan_of(query, lasting=lasting)
    found, judged = (
        sorted(engine(plan, events).to_pylist(), key=lambda row: str(row["signature"]))
        for engine in (match_events, match_table)
    )
    names = [each.name for each in plan.returns]
    assert [(row["signature"], *(row[each] for each in names)) for row in found] == [
        (row["signature"], *(row[each] for each in names)) for row in judged
    ]
    return [{name: row[name] for name in names} for row in found]


def test_the_join_of_ptj06_is_decided_with_its_second_event() -> None:
    asked = "reached(0.1), reached(0.5), reached(0.9), reached(1)"
    (row,) = both(f"PATTERN AND(A a, B b) WITHIN 61 ticks RETURN {asked}", event_table([H1, H2]))
    assert list(row.values()) == [77, 92, 108, None]


def test_what_is_absent_behind_a_match_is_decided_with_the_window() -> None:
    asked = "reached(0.05), reached(0.07), reached(0.5)"
    (row,) = both(f"PATTERN SEQ(A a, !B n) WITHIN 61 ticks RETURN {asked}", event_table([H1, H2]))
    assert list(row.values()) == [99, 108, None]


@pytest.mark.parametrize("window", ["9223372036854775813 ticks", "4611686018427387904 ticks"])
@pytest.mark.parametrize("rest", ["A a, !B n", "A a, B+ b[]"])
def test_what_a_window_decides_that_outlasts_time_is_decided_as_time_ends(rest: str, window: str) -> None:
    query = f"PATTERN SEQ({rest}) STRATEGY skip_till_next_match WITHIN {window} RETURN reached(0.5)"
    events = [Event("a", "A", 3, 3), Event("b", "B" if "+" in rest else "C", 5, 8)]
    (row,) = both(query, event_table(events))
    assert list(row.values()) == [2**62]


@pytest.mark.parametrize(
    ("rest", "events", "ticks"),
    [
        ("SEQ(A+ b[], A c)", [Event("a1", "A", 5, 6), Event("a2", "A", 11, 12)], [11, 12]),
        ("SEQ(A a, A+ b[], A c)", [Event(f"a{i}", "A", 4 * i, 4 * i + 1) for i in range(3)], [8, 9]),
        ("SEQ(A+ b[], A c, !N n) WITHIN 4 ticks", [Event("a1", "A", -1, 0), Event("a2", "A", 2, 2)], [2, 3]),
    ],
)
def test_an_event_that_a_match_binds_is_one_event_where_it_fits_the_group_before(
    rest: str, events: list[Event], ticks: list[int]
) -> None:
    """It would break the match earlier in the group, and is decided by the same tick there."""
    query = f"PATTERN {rest} STRATEGY skip_till_next_match RETURN reached(0.5), reached(1)"
    rows = both(query, event_table(events))
    assert ticks in [list(row.values()) for row in rows]


def test_an_event_that_lasts_is_decided_with_its_end() -> None:
    query = f"PATTERN A a OVERLAPS|DURING B b RETURN {ASKED}"
    (row,) = both(query, event_table([A, B]), lasting=True)
    assert list(row.values()) == [7, 9, None, None]


@pytest.mark.parametrize(
    ("alternatives", "ticks"),
    [
        # 100 of 464 worlds, a quarter of them with each end of b, from 6 to 9.
        ("ISEQ(A a, B b), ISEQ(A a, B d)) WHERE a BEFORE b AND a BEFORE|MEETS d", [6, None, None, None]),
        # 52 of 464; the second part alone waits for its window.
        ("SEQ(A a, B b), SEQ(A c, B d, !C n)) WITHIN 10 ticks", [7, None, None, None]),
    ],
)
def test_several_parts_of_an_or_that_last_are_decided_with_the_first(
    alternatives: str, ticks: list[int | None]
) -> None:
    (row,) = both(f"PATTERN OR({alternatives} RETURN {ASKED}", event_table([A, B]), lasting=True)
    assert list(row.values()) == ticks


def test_a_certain_row_is_decided_at_its_one_tick() -> None:
    sharp = [Event("a", "A", 3, 3), Event("b", "B", 8, 8)]
    (row,) = both(f"PATTERN SEQ(A a, B b) RETURN {ASKED}, reached(1) - start AS late", event_table(sharp))
    assert list(row.values()) == [8, 8, 8, 8, 5]


@settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=QUIET)
@given(case=any_cases())
def test_random_rows_are_decided_as_the_judge_says(case: Case) -> None:
    try:
        both(asked_too(case.query), case.table)
    except QueryTooLargeError:
        assume(condition=False)


@settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=QUIET)
@given(query=queries(), events=streams())
def test_random_rows_of_interval_events_are_decided_as_the_judge_says(
    query: str, events: tuple[Event, ...]
) -> None:
    both(asked_too(query), event_table(events), lasting=True)


@settings(max_examples=15, deadline=None, suppress_health_check=QUIET)
@given(query=negations(), events=streams_with_rivals())
def test_so_are_those_beside_which_something_is_absent(query: str, events: tuple[Event, ...]) -> None:
    both(asked_too(query), event_table(events), lasting=True)


@settings(max_examples=5, deadline=None, suppress_health_check=QUIET)
@given(query=queries_with_groups(), events=streams_with_points())
def test_so_are_those_with_groups_of_points(query: str, events: tuple[Event, ...]) -> None:
    both(asked_too(query), event_table(events), lasting=True)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SEQ(A a, B b) RETURN reached(0)", "takes a probability above 0 and at most 1"),
        ("SEQ(A a, B b) RETURN reached(b.x)", "takes a probability above 0 and at most 1"),
        ("SEQ(A a, B b) WHERE reached(0.5) > 3", "'reached' of the match can be read in RETURN only"),
        ("SEQ(A a, B b) GROUP BY a.k RETURN reached(0.5)", "'reached(0.5)' differs between matches"),
    ],
)
def test_a_mistake_is_told(query: str, told: str) -> None:
    with pytest.raises(QuerySemanticError) as problem:
        plan_of(f"PATTERN {query}")
    assert told in str(problem.value)


def test_a_summary_of_groups_has_none() -> None:
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c) RETURN reached(0.5)")
    events = event_table([Event("a", "A", 1, 2), Event("b", "B", 3, 4), Event("c", "C", 5, 6)])
    with pytest.raises(UnsupportedQueryError, match="differs between the groups of a row"):
        match_events(plan, events, MatchOptions(kleene="summary"))


def test_the_tick_rises_with_the_share() -> None:
    shares = [number / 20 for number in range(1, 19)]
    asked = ", ".join(f"reached({share})" for share in shares)
    (row,) = both(f"PATTERN AND(A a, B b) WITHIN 61 ticks RETURN {asked}", event_table([H1, H2]))
    assert all(
        str(one) <= str(other) or len(str(one)) < len(str(other)) for one, other in pairwise(row.values())
    )
