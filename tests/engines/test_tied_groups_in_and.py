"""Groups inside AND whose members something ties: an order, times, a branch, `SEQ(...)+` beside them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.test_engines_agree import event_engine_agrees
from tests.plans import Event, event_table, plan_of
from tests.random_events import about_in_turn
from tests.strategies import Case
from tests.worked_events import PAGE

PATTERNS = (
    "AND(C c, SEQ(B+ b[], A a))",
    "AND(C c, SEQ(A a, B{1,2} b[]))",
    "AND(C c, SEQ(A a, !C n, B+ b[]))",
    "AND(C c, SEQ(B d, A+ a[], C e))",
    "AND(A+ a[], B+ b[])",
    "AND(A|B+ b[], C c)",
    "AND(B{2} b[], A{1,2} a[])",
    "AND(B* b[], SEQ(A a, C c))",
    "AND(SEQ(A d, B+ b[]), A+ a[])",
    "SEQ(C c, AND(A a, B+ b[]))",
    "SEQ(AND(A a, B+ b[]), C c)",
    "SEQ(AND(B b, A+ a[]), SEQ(C x[])+)",
    "SEQ(SEQ(A x[])+, AND(B+ b[], C c))",
    "SEQ(A a, !SEQ(B u, C v), AND(B+ b[], C c))",
)
OF_A_GROUP = {
    "b": (
        "b[i].x >= b[i-1].x",
        "b[first].x <= 1",
        "count(b[]) >= 2",
        "c.x >= max(b[].x)",
        "c.x > b[last].x",
        "c.time - b[i].time <= 2 ticks",
        "b[first].time - c.time <= 2 ticks",
        "b[i].k = c.k",
    ),
    "a": ("a[i].x >= a[i-1].x", "a[i].time - b[i].time <= 3 ticks", "max(a[].x) >= 1"),
}


@st.composite
def tied_groups(draw: st.DrawFn, patterns: tuple[str, ...]) -> Case:
    """A pattern with a group inside AND, and up to two conditions on its members."""
    pattern = draw(st.sampled_from(patterns))
    groups = set(re.findall(r"(\w)\[\]", pattern))
    names = {*re.findall(r"(\w)(?:\[\])?[,)]", pattern)}
    usable = [
        condition
        for group in groups & OF_A_GROUP.keys()
        for condition in OF_A_GROUP[group]
        if {*re.findall(r"\b(\w)(?:\.|\[)", condition)} <= names
        and {*re.findall(r"\b(\w)\[", condition)} <= groups
    ]
    conditions = draw(st.lists(st.sampled_from(sorted(usable)), max_size=2, unique=True)) if usable else []
    conditions += ["[k]"] if draw(st.booleans()) else []
    kinds = draw(st.sampled_from(["AABBC", "AAABB", "ABBCC", "AABC"]))
    events = draw(about_in_turn(draw(st.permutations(kinds))))
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return Case(f"PATTERN {pattern} {where}WITHIN {draw(st.sampled_from([5, 9]))} ticks", events)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_members_that_something_ties_are_bound_one_by_one(pattern: str) -> None:
    check(tied_groups((pattern,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_members_that_something_ties_are_bound_one_by_one_in_many_cases() -> None:
    check(tied_groups(PATTERNS), event_engine_agrees, MANY_EXAMPLES)


def test_a_group_in_order_inside_and_by_hand() -> None:
    """Members come one after the other, and a where it likes: P(b1 < b2) and P(b2 < b1) of nine pairs."""
    events = event_table((Event("a", "A", 0, 9), Event("b1", "B", 1, 3, x=1), Event("b2", "B", 2, 4, x=1)))
    plan = plan_of("PATTERN AND(A a, B+ b[]) WHERE b[i].x >= b[i-1].x")
    found = {key[1]: each.confidence for key, each in exact_matches(plan, events).items()}
    assert found == {
        ("b1",): 1,
        ("b2",): 1,
        ("b1", "b2"): Fraction(6, 9),
        ("b2", "b1"): Fraction(1, 9),
    }
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_sets_that_are_too_many_are_refused() -> None:
    events = event_table([*(Event(f"b{n}", "B", 0, 9) for n in range(12)), Event("c", "C", 10, 10)])
    plan = plan_of("PATTERN AND(SEQ(B+ b[], C c), A* a[])")
    with pytest.raises(
        QueryTooLargeError, match=r"b\[\].* of this query has more than 100 matches of one length"
    ):
        match_events(plan, events, MatchOptions(max_matches=100))


def test_conditions_on_ends_stand_beside_a_group_inside_and() -> None:
    plan = plan_of("PATTERN SEQ(AND(A a, B+ b[]), C c) WHERE c.end - a.time <= 9 ticks")
    assert match_table(plan, PAGE).num_rows > 0
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))
