"""`!SEQ` and `!AND` at the edges of a match, in parts of OR that give one row, beside sets that are read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import QueryTooLargeError
from tests.absent_together_cases import (
    BESIDE_READ_SETS,
    absent_beside_groups,
    absent_beside_timed_negations,
    absent_together_cases,
)
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.given.given_cases import agrees, with_given
from tests.engines.test_engines_agree import event_engine_agrees
from tests.plans import Event, event_table, on, plan_of
from tests.strategies import Case

ANY_EDGES = absent_together_cases().filter(
    lambda case: case.query.startswith("PATTERN SEQ(!") or ")) " in case.query
)
UNITED = "OR(SEQ(A a, !SEQ(X x, Y y), C c), SEQ(A a, !{}, C c)) WITHIN 6 ticks"
STREAM = event_table(
    (
        Event("a", "A", 0, 2),
        Event("b", "B", 1, 3),
        Event("x", "X", 1, 4),
        Event("c", "C", 3, 6),
        Event("y", "Y", 2, 5),
        Event("d", "D", 2, 6),
    )
)


def on_clocks_it_agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, clocks=case.clocks)
    assert_same_rows(match_table(plan, case.table), match_events(plan, case.table))


def test_events_at_an_edge_may_share_clocks() -> None:
    check(clock_cases(ANY_EDGES), on_clocks_it_agrees, FEW_EXAMPLES)


def test_given_may_tie_events_at_an_edge() -> None:
    check(with_given(ANY_EDGES), agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_events_at_an_edge_may_share_clocks_in_many_cases() -> None:
    check(clock_cases(ANY_EDGES), on_clocks_it_agrees, MANY_EXAMPLES)


@pytest.mark.slow
def test_given_may_tie_events_at_an_edge_in_many_cases() -> None:
    check(with_given(ANY_EDGES), agrees, MANY_EXAMPLES)


@pytest.mark.slow
def test_so_may_they_beside_a_negation_with_conditions_on_its_time_in_many_cases() -> None:
    check(clock_cases(absent_beside_timed_negations()), on_clocks_it_agrees, MANY_EXAMPLES // 4)
    check(with_given(absent_beside_timed_negations()), agrees, MANY_EXAMPLES // 4)


def test_a_time_range_is_that_of_what_is_shown_where_hidden_events_share_its_clock() -> None:
    """That x and y come before b is for its clock to say, and when it was for b alone."""
    clocks = {"n": ((-2, 2, 1.0),)}
    events = (
        on("n", clocks, Event("x", "X", 1, 3)),
        Event("y", "Y", 2, 4),
        on("n", clocks, Event("b", "B", 5, 6)),
    )
    plan = plan_of("PATTERN SEQ(!SEQ(X x, Y y), B b) WITHIN 6 ticks", clocks=clocks)
    rows = match_events(plan, event_table(events))
    assert rows.select(["start", "end"]).to_pylist() == [{"start": 3, "end": 8}]
    assert_same_rows(match_table(plan, event_table(events)), rows)


OF_ONE_TYPE = (
    "SEQ(!SEQ(A x, A y), A a) WITHIN 3 ticks",
    "SEQ(A a, !SEQ(A x, A y)) WITHIN 3 ticks",
    "SEQ(!AND(A x, A y), A a, !SEQ(A u, A v)) WITHIN 3 ticks",
    "SEQ(!SEQ(A x, A y), A a, A b) WITHIN 4 ticks",
    "SEQ(!SEQ(A x, B y), A a) WITHIN 5 ticks",
)


@pytest.mark.parametrize("query", OF_ONE_TYPE)
@pytest.mark.parametrize("names", ["nmk-", "n-m-"])
def test_hidden_events_on_clocks_move_no_time_range(query: str, names: str) -> None:
    clocks = {"n": ((-1, 1, 1.0),), "m": ((0, 2, 1.0),), "k": ((-2, 0, 1.0),)}
    events = [Event(f"e{i}", "A", i, i + 1 + i % 2) for i in range(4)]
    placed = [
        each if name == "-" else on(name, clocks, each) for name, each in zip(names, events, strict=True)
    ]
    table = event_table([*placed, Event("b", "B", 0, 1)])
    plan = plan_of(f"PATTERN {query}", clocks={name: clocks[name] for name in {*names} - {"-"}})
    assert_same_rows(match_table(plan, table), match_events(plan, table))


@pytest.mark.parametrize("query", OF_ONE_TYPE)
def test_hidden_events_that_given_ties_move_no_time_range(query: str) -> None:
    events = [Event(f"e{i}", "A", max(i - 1, 0), max(i, 1)) for i in range(5)]
    table = event_table([*events, Event("b", "B", 0, 1)])
    plan = plan_of(f"PATTERN {query} GIVEN SEQ(A p, A q) IF p.lower < q.lower")
    assert_same_rows(match_table(plan, table), match_events(plan, table))


@pytest.mark.parametrize("other", ["D d", "SEQ(D d, B b)", "AND(D d, X x)"])
def test_one_row_of_two_parts_is_their_union(other: str) -> None:
    plan = plan_of(f"PATTERN {UNITED.format(other)}")
    assert_same_rows(match_table(plan, STREAM), match_events(plan, STREAM))


def test_one_row_of_two_parts_counts_the_worlds_of_both_once() -> None:
    plan = plan_of(f"PATTERN {UNITED.format('D d')}")
    (found,) = exact_matches(plan, STREAM).values()
    assert match_events(plan, STREAM)["confidence"].to_pylist() == pytest.approx([float(found.confidence)])
    alone = (
        plan_of(f"PATTERN SEQ(A a, !{absent}, C c) WITHIN 6 ticks") for absent in ("SEQ(X x, Y y)", "D d")
    )
    assert found.confidence < sum(
        (next(iter(exact_matches(each, STREAM).values())).confidence for each in alone), Fraction(0)
    )


def test_a_union_that_is_too_much_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_costly(*_asked: object) -> Occurrences:
        none = np.zeros(1, dtype=np.int64)
        return Occurrences(np.full(1, np.nan), none, none + 100_000, none)

    monkeypatch.setattr("cepctl.engines.event.group_occurrences._in_blocks", too_costly)
    plan = plan_of(f"PATTERN {UNITED.format('SEQ(D d, B b)')}")
    with pytest.raises(
        QueryTooLargeError, match=r"one of several readings gives a row .*; narrow .*--approximate"
    ):
        match_events(plan, STREAM)


@pytest.mark.parametrize("pattern", BESIDE_READ_SETS)
def test_they_stand_beside_a_set_that_what_follows_reads(pattern: str) -> None:
    check(absent_beside_groups(pattern, read=True), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("cases", [absent_beside_groups(read=True)])
def test_they_stand_beside_a_set_that_is_read_in_many_cases(cases: st.SearchStrategy[Case]) -> None:
    check(cases, event_engine_agrees, MANY_EXAMPLES)
