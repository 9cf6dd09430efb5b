"""Groups without order beside groups in order and `SEQ(...)+`."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches, match_table
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.test_engines_agree import event_engine_agrees
from tests.plans import Event, event_table, plan_of
from tests.random_events import about_in_turn
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import Case
from tests.worked_events import PAGE

REPEATED = (
    "SEQ(A+ a[], SEQ(B x[], C y[])+)",
    "SEQ(SEQ(B x[])+, A+ a[], C c)",
    "SEQ(A{2,3} a[], !B n, SEQ(C y[])+)",
)
IN_ORDER = (
    "SEQ(A+ a[], B+ b[])",
    "SEQ(B+ b[], A+ a[])",
    "SEQ(A+ a[], A+ b[])",
    "SEQ(C c, A{2,3} a[], B+ b[])",
    "SEQ(A+ a[], !C n, B+ b[])",
    "SEQ(A+ a[], !SEQ(C u, A v), B+ b[])",
    "SEQ(A+ a[], B+ b[], * c)",
)
OF_RUNS = (
    "SEQ(A+ a[], B{2,3} b[], C c)",
    "SEQ(B{1,2} b[], A+ a[])",
    "SEQ(C c, A* a[], B+ b[])",
    "SEQ(C c, B+ b[], A* a[])",
    "SEQ(A+ a[], C? c, B+ b[])",
    "SEQ(A+ a[], A|B+ b[])",
    "SEQ(A+ d[], A+ a[], B+ b[])",
    "SEQ(AND(A u, C c), A+ a[], B+ b[])",
    "SEQ(B+ b[], RUNNING A+ a[])",
    "SEQ(B{0,2} b[], RUNNING A+ a[])",
    "SEQ(A+ a[], RUNNING B+ b[])",
)
FILTERS = (
    "count(a[]) >= 2",
    "max(a[].x) > 1",
    "a[i].x >= 1",
    "c.x >= min(a[].x)",
    "n.x > a[i].x",
    "c.time - a[first].time <= 3 ticks",
    "a[last].time - c.time < 3 ticks",
)
OF_ORDER = ("b[i].x <= max(a[].x)", "b[first].x > a[i].x")


@st.composite
def beside_runs(draw: st.DrawFn, patterns: tuple[str, ...], strategies: tuple[str, ...]) -> Case:
    """A group a[] of any order beside others; names of events do not follow their times."""
    pattern, strategy = draw(st.sampled_from(patterns)), draw(st.sampled_from(strategies))
    names = {"a", *re.findall(r"(\w)(?:\[\])?[,)]", pattern)}
    conditions = ["b[i].x >= b[i-1].x"] if re.search(r"(A|B)\+ b", pattern) else []
    usable = [each for each in FILTERS if {*re.findall(r"\b(\w)(?:\.|\[)", each)} <= names]
    # What fits a set and what is right behind and reads it under next match is run by the judge alone.
    is_read = bool(conditions) and (strategy != NEXT or not re.search(r"A(\|B)?\+ b", pattern))
    usable += OF_ORDER if is_read else []
    conditions += draw(st.lists(st.sampled_from(usable), max_size=1))
    conditions += ["[k]"] if strategy == PARTITION else []
    kinds = draw(st.sampled_from(["AABBC", "AAABB", "ABBCC", "AABC"]))
    events = draw(about_in_turn(draw(st.permutations(kinds))))
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    window = draw(st.sampled_from([5, 9]))
    return Case(f"PATTERN {pattern} {where}WITHIN {window} ticks STRATEGY {strategy}", events)


@pytest.mark.parametrize("pattern", REPEATED)
def test_under_any_match_a_set_stands_beside_repetitions(pattern: str) -> None:
    check(beside_runs((pattern,), (ANY,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.parametrize("pattern", [*IN_ORDER, *REPEATED])
def test_under_contiguity_a_set_stands_beside_groups_in_order(pattern: str) -> None:
    check(beside_runs((pattern,), (STRICT, PARTITION)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.parametrize("pattern", [*IN_ORDER, *OF_RUNS])
def test_under_next_match_a_set_takes_until_what_is_behind_it_does(pattern: str) -> None:
    check(beside_runs((pattern,), (NEXT,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cases",
    [
        beside_runs(REPEATED, (ANY,)),
        beside_runs((*IN_ORDER, *REPEATED), (STRICT, PARTITION)),
        beside_runs((*IN_ORDER, *OF_RUNS), (NEXT,)),
    ],
)
def test_a_set_stands_beside_runs_in_many_cases(cases: st.SearchStrategy[Case]) -> None:
    check(cases, event_engine_agrees, MANY_EXAMPLES)


def test_a_member_that_comes_first_in_time_may_come_last_by_name() -> None:
    """What is certainly between a1 and b breaks a1 alone, and not the set whose last member is a2."""
    events = event_table(
        (Event("a1", "A", 0, 0), Event("n", "C", 1, 1), Event("a0", "A", 3, 3), Event("b", "B", 4, 4, x=1))
    )
    plan = plan_of("PATTERN SEQ(A+ a[], !C n, SEQ(B x[])+) WITHIN 9 ticks")
    rows = match_events(plan, events)
    assert [row["signature"][0] for row in rows.to_pylist()] == [["a0"], ["a0", "a1"]]
    assert_same_rows(match_table(plan, events), rows)


def test_a_set_may_begin_before_what_breaks_those_of_its_members_that_come_first_by_name() -> None:
    """D is between c and a0 in every world, and a1 before it."""
    places = {"c": "C", "a1": "A", "d": "D", "a0": "A", "b": "B"}
    events = event_table([Event(name, kind, at, at) for at, (name, kind) in enumerate(places.items())])
    plan = plan_of("PATTERN SEQ(C c, !D d, A+ a[], SEQ(B x[])+) WITHIN 9 ticks")
    rows = match_events(plan, events)
    assert sorted(row["signature"][1] for row in rows.to_pylist()) == [["a0", "a1"], ["a1"]]
    assert_same_rows(match_table(plan, events), rows)


def test_a_set_counts_once_whatever_the_order_of_its_members() -> None:
    plan = plan_of("PATTERN SEQ(B+ b[], SEQ(C x[])+)")
    found = exact_matches(plan, PAGE)
    assert found[(("b1", "b2"), ("c1",))].confidence == Fraction(8, 9)
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


def test_a_set_under_next_match_by_hand() -> None:
    """a2 is a member where it comes before b1; at one tick with a2, which may begin, b1 is passed over."""
    members = Event("a1", "A", 0, 0), Event("a2", "A", 1, 2)
    events = event_table((*members, Event("b1", "B", 2, 3, x=1), Event("b2", "B", 4, 4, x=2)))
    query = "SEQ(A+ a[], B+ b[]) WHERE b[i].x > b[i-1].x WITHIN 9 ticks STRATEGY skip_till_next_match"
    rows = match_events(plan_of(f"PATTERN {query}"), events)
    found = {tuple(map("+".join, row["signature"])): row["confidence"] for row in rows.to_pylist()}
    assert found == {
        ("a1+a2", "b1+b2"): 0.75,
        ("a1", "b1+b2"): 0.25,
        ("a2", "b1+b2"): 0.75,
        ("a2", "b2"): 0.25,
    }


def test_a_member_that_fits_what_is_behind_comes_at_the_first_tick() -> None:
    events = event_table((Event("a0", "A", 0, 1), Event("a1", "A", 1, 2), Event("a2", "A", 1, 3)))
    query = "SEQ(A+ a[], A{1,2} b[]) WITHIN 9 ticks STRATEGY skip_till_next_match"
    plan = plan_of(f"PATTERN {query}")
    rows = match_events(plan, events)
    assert (("a0", "a1"), ("a2",)) in {tuple(map(tuple, row["signature"])) for row in rows.to_pylist()}
    assert_same_rows(match_table(plan, events), rows)


def test_certain_members_are_not_listed_one_without_the_other() -> None:
    """Of 24 events in certain order there are as many sets as first members, not two to the 24th."""
    members = [Event(f"a{number:02}", "A", 10 * number, 10 * number + 4) for number in range(24)]
    behind = [Event("b1", "B", 300, 300, x=1), Event("b2", "B", 310, 310, x=2)]
    query = "SEQ(A+ a[], B+ b[]) WHERE b[i].x > b[i-1].x WITHIN 900 ticks STRATEGY skip_till_next_match"
    rows = match_events(plan_of(f"PATTERN {query}"), event_table((*members, *behind)))
    assert sorted(len(row["signature"][0]) for row in rows.to_pylist()) == list(range(1, 25))
    assert set(rows.column("confidence").to_pylist()) == {1.0}


def test_a_running_set_skips_none_of_its_members() -> None:
    """Each of 24 events in certain order may be the first, with C before it or not, and the last."""
    members = [Event(f"a{number:02}", "A", 10 * number, 10 * number + 4) for number in range(24)]
    query = "SEQ(C{0,2} c[], RUNNING A+ a[]) WITHIN 900 ticks STRATEGY skip_till_next_match"
    rows = match_events(plan_of(f"PATTERN {query}"), event_table((Event("c", "C", -9, -9), *members)))
    assert rows.num_rows == 24 * 25 // 2 + 24
    assert set(rows.column("confidence").to_pylist()) == {1.0}
