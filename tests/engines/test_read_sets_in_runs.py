"""Sets that what is behind them reads, where they may be absent or stand beside groups in order."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.raw_time_counts import counts_of
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import FOUND_AT_RAW_TIMES
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.occurrence.groups_agree import all_of_them_agree
from tests.engines.diagnosis.test_one_match import agrees_with_the_rows
from tests.engines.event.test_raw_times import expected_counts, raw_times, with_times
from tests.engines.test_engines_agree import event_engine_agrees, event_engine_agrees_above
from tests.plans import Event, event_table, plan_of
from tests.random_events import about_in_turn
from tests.random_patterns import NEXT
from tests.strategies import Case

READ = (
    "SEQ(A a, B* b[], C c)",
    "SEQ(B* b[], A? d, C c)",
    "SEQ(A? d, B* b[], C? c, A z)",
    "SEQ(B+ b[], C? c, A z)",
    "SEQ(A a, B* b[], C{0,2} c[])",
    "SEQ(AND(A a, A d), B* b[], C c)",
    "SEQ(A{1,2} e[], B+ b[], C c)",
    "SEQ(B* b[], A* e[], C c)",
    "SEQ(B* b[], RUNNING C{1,2} c[])",
    "SEQ(A a, B* b[], !A n, C c)",
    "SEQ(A a, B+ b[], B|C c)",
    "SEQ(B|C* b[], C c)",
    "SEQ(B+ b[], A|B+ c[], C d)",
    "SEQ(B+ b[], RUNNING A|B+ c[])",
)
SHARING = (
    "SEQ(B+ e[], B+ b[], C c)",
    "SEQ(A|B+ e[], B+ b[], C c)",
    "SEQ(B+ e[], B a, B+ b[], C c)",
    "SEQ(B+ e[], A|B+ b[], C c, B+ f[])",
    "SEQ(A a, B+ e[], !C n, B+ b[], C c)",
)
ALTERNATIVES = (
    "OR(SEQ(B+ b[], C c), SEQ(B+ f[], B|C g))",
    "OR(SEQ(B+ f[], B g), SEQ(B+ b[], B c))",
    "OR(SEQ(A|B+ f[], C g), SEQ(B+ b[], C c))",
)
CONDITIONS = (
    "{c}.x > max(b[].x)",
    "{c}.x < max(b[].x)",
    "{c}.x >= min(b[].x)",
    "{c}.x < b[i].x",
    "{c}.x <= max(e[].x)",
    "{c}.x <> a.x",
    "d.x <= max(b[].x)",
    "{c}.x < avg(b[].x)",
    "{c}.x >= sum(b[].x) - 2",
    "{c}.x < count(b[])",
    "{c}.x <> max(b[].x)",
)


@st.composite
def read_sets(draw: st.DrawFn, patterns: tuple[str, ...] = READ) -> Case:
    """A few events, some of which tell who fits c or d."""
    pattern = draw(st.sampled_from(patterns))
    names = {*re.findall(r"(\w)(?:\[\])?[,)]", pattern)}
    every = [each.format(c="c[i]" if "c[]" in pattern else "c") for each in CONDITIONS]
    usable = [each for each in every if {*re.findall(r"\b(\w)(?:\.|\[)", each)} <= names]
    conditions = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=2, unique=True))
    conditions += draw(st.sampled_from([[], [], ["count(b[]) >= 2"], ["[k]"]]))
    kinds = draw(st.sampled_from(["ABBC", "BBCC", "ABBCC", "ABBBC", "BBBC", "ABCA", "ABBCA"]))
    events = draw(about_in_turn(kinds, (0, 1, 2, 3, None), "pppq"))
    window = draw(st.sampled_from([5, 9]))
    where = " AND ".join(conditions)
    return Case(f"PATTERN {pattern} WHERE {where} WITHIN {window} ticks STRATEGY {NEXT}", events)


@pytest.mark.parametrize("pattern", READ)
def test_what_is_behind_a_set_reads_it(pattern: str) -> None:
    check(read_sets((pattern,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_what_is_behind_a_set_reads_it_in_many_cases() -> None:
    check(read_sets(), event_engine_agrees, MANY_EXAMPLES)


@pytest.mark.parametrize("pattern", SHARING)
def test_a_set_that_is_read_shares_events_with_one_before_it(pattern: str) -> None:
    check(read_sets((pattern,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_a_set_that_is_read_shares_events_with_one_before_it_in_many_cases() -> None:
    check(read_sets(SHARING), event_engine_agrees, MANY_EXAMPLES)


@pytest.mark.parametrize("pattern", ALTERNATIVES)
def test_an_alternative_that_reads_a_set_binds_what_another_binds(pattern: str) -> None:
    check(read_sets((pattern,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_an_alternative_that_reads_a_set_binds_what_another_binds_in_many_cases() -> None:
    check(read_sets(ALTERNATIVES), event_engine_agrees, MANY_EXAMPLES)


def test_grouped_rows_thresholds_and_shown_matches_agree() -> None:
    def agrees(case: Case) -> None:
        all_of_them_agree(case)
        event_engine_agrees_above(case, 0.4)
        agrees_with_the_rows(case)

    check(read_sets(), agrees, FEW_EXAMPLES)


def test_raw_times_find_what_the_judge_finds() -> None:
    def agrees(drawn: tuple[Case, list[int | None]]) -> None:
        case, ticks = drawn
        plan, table = plan_of(case.query), with_times(case.table, ticks)
        matches = match_events(plan, table, MatchOptions(raw_times=True))
        found = counts_of(matches.column(FOUND_AT_RAW_TIMES))
        assert found == expected_counts(plan, matches, table)

    check(raw_times(read_sets()), agrees, FEW_EXAMPLES)


def test_before_a_set_has_begun_nothing_is_asked_of_it() -> None:
    """At 1 b is before c1, which is no greater; at 2 or 3 c1 takes first, and there is no b."""
    events = event_table(
        (
            Event("a", "A", 0, 0),
            Event("b", "B", 1, 3, x=2),
            Event("c1", "C", 2, 2, x=1),
            Event("c2", "C", 4, 4, x=3),
        )
    )
    plan = plan_of(f"PATTERN SEQ(A a, B* b[], C c) WHERE c.x > max(b[].x) STRATEGY {NEXT}")
    found = {signature: each.confidence for signature, each in exact_matches(plan, events).items()}
    assert found == {
        (("a",), ("c1",)): Fraction(2, 3),
        (("a",), ("b",), ("c2",)): Fraction(1, 3),
    }
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_sets_that_share_a_tick_are_not_one_after_the_other() -> None:
    events = event_table((Event("b", "B", 2, 2, x=1), Event("c", "C", 2, 2, x=0), Event("a", "A", 5, 5, x=2)))
    plan = plan_of(f"PATTERN SEQ(C+ c[], B+ b[], A a) WHERE a.x >= max(b[].x) STRATEGY {NEXT}")
    assert match_events(plan, events).num_rows == 0


@pytest.mark.parametrize(("group", "count"), [("B*", 24 + 22), ("B+", 24)])
def test_what_certainly_fits_ends_a_set(group: str, count: int) -> None:
    """After each of 24 events in certain order the first C is taken, and no later one."""
    members = [Event(f"b{number:02}", "B", 10 * number, 10 * number + 4, x=1) for number in range(24)]
    behind = [Event(f"c{number:02}", "C", 10 * number + 6, 10 * number + 7, x=0) for number in range(2, 24)]
    plan = plan_of(f"PATTERN SEQ({group} b[], C c) WHERE c.x < max(b[].x) WITHIN 900 ticks STRATEGY {NEXT}")
    rows = match_events(plan, event_table((*members, *behind)))
    assert rows.num_rows == count
    assert set(rows.column("confidence").to_pylist()) == {1.0}


def test_a_set_leaves_to_the_one_behind_it_what_fits_both() -> None:
    """After e0 the next event that fits is e1, and b[] takes it."""
    events = event_table(
        (
            Event("e0", "B", 2, 2),
            Event("e1", "B", 5, 5),
            Event("e2", "B", 8, 8, x=2),
            Event("c", "C", 9, 9, x=1),
        )
    )
    plan = plan_of(f"PATTERN SEQ(B+ e[], B+ b[], C c) WHERE c.x < max(b[].x) STRATEGY {NEXT}")
    rows = match_events(plan, events)
    found = {"-".join(map("+".join, row["signature"])): row["confidence"] for row in rows.to_pylist()}
    assert found == {"e0-e1+e2-c": 1.0, "e1-e2-c": 1.0}
    assert_same_rows(match_table(plan, events), rows)


def test_both_alternatives_hold_where_one_of_them_tells_members_apart() -> None:
    """At 3 e1 is a member for both; at 4 the first takes it as g, and for the second it is a member still."""
    events = event_table((Event("e0", "A", 3, 3), Event("e1", "A", 3, 4, x=1), Event("e2", "A", 7, 7, x=1)))
    query = "OR(SEQ(A+ f[], A g), SEQ(A+ b[], A c)) WHERE c.x + 1 > max(b[].x) AND c.x <= max(b[].x)"
    plan = plan_of(f"PATTERN {query} STRATEGY {NEXT}")
    rows = match_events(plan, events)
    found = {"-".join(map("+".join, row["signature"])): row["confidence"] for row in rows.to_pylist()}
    assert found == {"e0+e1-e2": 1.0, "e0-e1": 0.5, "e1-e2": 0.5}
    assert_same_rows(match_table(plan, events), rows)


def test_an_average_is_asked_of_each_set_that_may_have_come() -> None:
    """b2 is no member where it comes after c, and c fits behind b1 alone, or behind both."""
    events = event_table(
        (Event("b1", "B", 0, 0, x=1), Event("b2", "B", 1, 4, x=5), Event("c", "C", 2, 3, x=2))
    )
    plan = plan_of(f"PATTERN SEQ(B+ b[], C c) WHERE c.x <= avg(b[].x) WITHIN 9 ticks STRATEGY {NEXT}")
    found = {signature: each.confidence for signature, each in exact_matches(plan, events).items()}
    assert found == {(("b1", "b2"), ("c",)): Fraction(3, 8), (("b2",), ("c",)): Fraction(3, 8)}
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_an_event_that_fits_behind_some_of_a_set_does_not_fit_behind_all_of_it() -> None:
    """c1 fits behind b1, and no more once b2 has come."""
    events = event_table(
        (
            Event("b1", "B", 0, 0, x=4),
            Event("b2", "B", 1, 4, x=0),
            Event("c1", "C", 2, 3, x=3),
            Event("c2", "C", 9, 9, x=1),
        )
    )
    plan = plan_of(f"PATTERN SEQ(B+ b[], C c) WHERE c.x < avg(b[].x) WITHIN 10 ticks STRATEGY {NEXT}")
    found = {signature: each.confidence for signature, each in exact_matches(plan, events).items()}
    assert found == {(("b1",), ("c1",)): Fraction(5, 8), (("b1", "b2"), ("c2",)): Fraction(3, 8)}
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_a_member_that_would_have_been_taken_behind_the_set_is_none() -> None:
    """e1 fits behind the set where e0 came before it: then it is c."""
    events = event_table(
        (Event("e0", "B", 0, 2, x=3), Event("e1", "B", 1, 2, x=1), Event("e2", "C", 4, 4, x=0))
    )
    plan = plan_of(f"PATTERN SEQ(B+ b[], B|C c) WHERE c.x < avg(b[].x) WITHIN 9 ticks STRATEGY {NEXT}")
    assert (("e0", "e1"), ("e2",)) in exact_matches(plan, events)
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_an_average_of_many_members_in_any_order_is_refused() -> None:
    members = [Event(f"b{number}", "B", 1, 2, x=number) for number in range(9)]
    events = event_table(
        [Event("b", "B", 0, 0, x=9), *members, Event("c0", "C", 2, 3, x=5), Event("c1", "C", 9, 9, x=1)]
    )
    query = "SEQ(B+ b[], C c) WHERE count(b[]) > 9 AND c.x < avg(b[].x) WITHIN 90 ticks"
    plan = plan_of(f"PATTERN {query} STRATEGY {NEXT}")
    with pytest.raises(QueryTooLargeError, match=r"which events fit c depends on .* as b\[\.\.i\]"):
        match_events(plan, events)
