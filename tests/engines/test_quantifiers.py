"""`B? b`, `B* b[]` and `B{m,n} b[]`: with a component and without it, and how many members a group has."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import Signature, exact_matches, match_table
from cepctl.errors import CepctlError, UnsupportedQueryError
from cepctl.plan.plan import Plan, Scope
from cepctl.plan.support import require_engine
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.occurrence.groups_agree import all_of_them_agree
from tests.engines.test_engines_agree import event_engine_agrees, event_engine_agrees_above
from tests.plans import Event, event_table, lasting, plan_of
from tests.strategies import Case, left_out_cases, quantified_cases
from tests.worked_events import PAGE

STRICT, NEXT = " STRATEGY strict_contiguity", " STRATEGY skip_till_next_match"


@pytest.mark.parametrize(
    ("query", "row", "expected"),
    [
        ("SEQ(A a, B{2} b[], C c)", "a1 b1+b2 c1", (0, 6, Fraction(20, 27))),
        ("SEQ(A a, B{2} b[], C c)" + STRICT, "a1 b1+b2 c1", (0, 5, Fraction(35, 162))),
        ("SEQ(A a, B{2} b[], C c)" + NEXT, "a1 b1+b2 c1", (0, 6, Fraction(10, 27))),
        ("SEQ(A a, B{2} b[], C c)" + NEXT, "a1 b2+b1 c1", (0, 6, Fraction(1, 9))),
        ("SEQ(A a, B* b[], C c)" + STRICT, "a1 c1", (1, 4, Fraction(1, 81))),
        ("SEQ(A a, B* b[], C c)" + STRICT, "a1 b1+b2+b3 c1", (0, 6, Fraction(85, 162))),
        ("SEQ(A a, B? b, C c)" + STRICT, "a1 b1 c1", (0, 6, Fraction(5, 27))),
        ("SEQ(A a, B? b, C c)", "a1 c1", (0, 6, Fraction(1))),
        ("SEQ(A a, B* b[], C c)" + NEXT, "a1 c1", (1, 4, Fraction(1, 81))),
        ("SEQ(A a, B* b[], C c)" + NEXT, "a1 b1+b2+b3 c1", (0, 6, Fraction(85, 162))),
        ("SEQ(A a, B? b, C c)" + NEXT, "a1 b1 c1", (0, 6, Fraction(13, 18))),
        ("SEQ(A a, B{2} b[], C c)" + NEXT, "a1 b1+b2 c1", (0, 6, Fraction(10, 27))),
        ("SEQ(A a, B{2} b[], C c)" + NEXT, "a1 b2+b1 c1", (0, 6, Fraction(1, 9))),
    ],
)
def test_worked_numbers(query: str, row: str, expected: tuple[int, int, Fraction]) -> None:
    plan = plan_of(f"PATTERN {query}")
    signature = tuple(tuple(ids.split("+")) for ids in row.split())
    found = exact_matches(plan, PAGE)[signature]
    assert (found.start, found.end, found.confidence) == expected
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


def test_what_may_be_absent_is_passed_over_under_next_match() -> None:
    compared = 0

    def agrees(case: Case) -> None:
        nonlocal compared
        try:
            require_engine(plan_of(case.query), "event")
        except CepctlError:
            return
        event_engine_agrees(case)
        compared += 1

    check(quantified_cases("skip_till_next_match"), agrees, EXAMPLES)
    assert compared > EXAMPLES // 4


def test_sets_that_may_be_absent_are_grouped_and_reach_thresholds() -> None:
    def agrees(case: Case) -> None:
        all_of_them_agree(case)
        event_engine_agrees_above(case, 0.4)

    check(left_out_cases(), agrees, FEW_EXAMPLES)


TWO_WAYS = (
    Event("a1", "A", 0, 0, x=1),
    Event("b1", "B", 1, 3, x=1),
    Event("c1", "C", 2, 4, x=2),
    Event("d1", "D", 3, 6, x=2),
    Event("a2", "A", 4, 5, x=2),
)


@pytest.mark.parametrize(
    "query",
    [
        "SEQ(A a, B* b[], C* c[], D? d) WITHIN 7 ticks",
        "SEQ(B* b[], A? a, C* c[], D d)",
        "SEQ(A a, B|C* b[], C c, D+ d[]) WITHIN 6 ticks",
        "SEQ(A a, B|C? b, C c, D+ d[]) WITHIN 6 ticks",
        "SEQ(A a, B|C+ b[], C? c, D d)",
        "SEQ(A a, B* b[], RUNNING C|D+ c[])",
        "SEQ(A a, !B n, C* c[], !D m, A z) WITHIN 6 ticks",
        "SEQ(A a, B* b[], C* c[], D d) WHERE sum(c[].x) > 1 AND d.time - b[i].time <= 3 ticks",
        "SEQ(A a, B* b[], D d) WHERE b[i].x = a.x AND d.x > a.x RETURN count(b[]) AS n, b, max(b[].x) AS x",
        "OR(SEQ(A a, B* b[], D d), SEQ(A a, C c, D d), SEQ(A a, D d))",
    ],
)
def test_sets_beside_others_that_may_be_absent(query: str) -> None:
    plan, table = plan_of(f"PATTERN {query}" + NEXT), event_table(TWO_WAYS)
    assert_same_rows(match_table(plan, table), match_events(plan, table))


def test_what_is_absent_is_null_and_its_count_0() -> None:
    plan = plan_of("PATTERN SEQ(A a, B* b[], C? c) RETURN count(b[]) + 1 AS n, b, b[last].x AS x, c.x AS y")
    rows = match_events(plan, PAGE).to_pylist()
    alone = next(row for row in rows if row["signature"] == [["a1"]])
    assert [alone[name] for name in ("n", "b", "x", "y")] == [1, None, None, None]
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


def without_bounds(plan: Plan) -> Plan:
    """The plan whose conditions do not say how many members a group has; its components do."""
    alternatives = [
        replace(
            each,
            links=tuple(
                link
                for link in each.links
                if link.scope is not Scope.GROUP or not each.components[link.decides].counted
            ),
        )
        for each in plan.alternatives
    ]
    return replace(plan, alternatives=tuple(alternatives))


def test_the_judge_counts_members_itself() -> None:
    """It needs no condition to know how many members there are."""
    for numbers in ("{2}", "{0,2}"):
        plan = plan_of(f"PATTERN SEQ(A a, B{numbers} b[], C c)")
        bare = without_bounds(plan)
        assert bare != plan
        assert exact_matches(bare, PAGE).keys() == exact_matches(plan, PAGE).keys()


def test_grouped_rows_and_thresholds_agree_with_the_judge() -> None:
    def agrees(case: Case) -> None:
        all_of_them_agree(case)
        event_engine_agrees_above(case, 0.4)

    check(quantified_cases() | quantified_cases("strict_contiguity"), agrees, FEW_EXAMPLES)


@pytest.mark.parametrize(
    ("quantified", "written"),
    [
        ("SEQ(A a, B* b[], C c)", "OR(SEQ(A a, B+ b[], C c), SEQ(A a, C c))"),
        ("SEQ(A a, B{1,2} b[], C? c)", "OR(SEQ(A a, B+ b[], C c), SEQ(A a, B+ b[])) WHERE count(b[]) <= 2"),
        ("SEQ(AND(A a, B? b), C c)", "OR(SEQ(AND(A a, B b), C c), SEQ(A a, C c))"),
    ],
)
def test_a_quantified_pattern_is_an_or_of_patterns(quantified: str, written: str) -> None:
    def confidences(pattern: str) -> dict[Signature, tuple[int, int, Fraction]]:
        found = exact_matches(plan_of(f"PATTERN {pattern}"), PAGE)
        return {each: (match.start, match.end, match.confidence) for each, match in found.items()}

    assert confidences(quantified) == confidences(written)


@pytest.mark.parametrize(
    ("query", "remedy"),
    [
        (
            "SEQ(A? a, B* b[])",
            "every part may be absent, and a match needs an event that is there: leave out",
        ),
        ("OR(A? a, B b)", "every part may be absent"),
        ("SEQ(A a, !B? b, C c)", "'?' has no meaning for absent events; write it without ?"),
        ("SEQ(A a, !B{2} b, C c)", "'{2}' has no meaning for absent events"),
        ("SEQ(B? b, !N n, C c)", "a leading negation needs WITHIN"),
        ("SEQ(B? b, !N n, C c)" + NEXT, "a leading negation needs WITHIN"),
        ("SEQ(A a, B{2,} b[])" + NEXT, "a trailing Type+ under skip_till_next_match needs WITHIN"),
        ("SEQ(A a, B? b)" + NEXT, "what may be absent at the end needs WITHIN"),
        ("ISEQ(A a, B? b)", "write an OR of ISEQ with and without it"),
        ("SEQ(A a, B? b) GROUP BY b.x", "'b' may be absent, and a key of GROUP BY is of all matches"),
        ("SEQ(A a, B b) GIVEN SEQ(A x, B? y) IF TRUE", "write one clause with it, and one without it"),
    ],
)
def test_what_has_no_meaning_names_place_and_remedy(query: str, remedy: str) -> None:
    with pytest.raises(CepctlError) as refused:
        plan_of(f"PATTERN {query}")
    assert str(refused.value).startswith("line 1, column ")
    assert remedy in str(refused.value)


def test_too_many_readings_are_refused() -> None:
    with pytest.raises(CepctlError, match="and what may be absent, give more than 64 combinations"):
        plan_of(f"PATTERN SEQ(A a, {', '.join(f'B? b{number}' for number in range(7))})")


def test_interval_events_are_not_quantified() -> None:
    events = event_table((Event("a", "A", 0, 1), lasting("b", "B", (2, 3), (4, 5))))
    plan = plan_of("PATTERN SEQ(A a, B? b)", lasting=True)
    for engine in (match_table, match_events):
        with pytest.raises(UnsupportedQueryError, match="interval events that may be absent; write an OR"):
            engine(plan, events)


def test_a_group_stops_growing_when_it_has_enough_members() -> None:
    """Pairs of 60 events are listed, not the sets of which they are parts."""
    table = event_table([Event("a", "A", 0, 0), *(Event(f"b{i}", "B", 1, 3) for i in range(60))])
    found = match_events(plan_of("PATTERN SEQ(A a, B{2} b[])"), table, MatchOptions(max_matches=4_000))
    assert found.num_rows == 60 * 59 // 2
