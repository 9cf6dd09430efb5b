"""AND, with SEQ and groups inside: branches keep their order, nothing orders them, under all strategies."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches, match_table
from tests.and_branch_cases import and_before_runs_cases, and_branch_cases
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.occurrence.groups_agree import all_of_them_agree, groups_agree_or_refused
from tests.engines.test_engines_agree import event_engine_agrees, event_engine_agrees_above
from tests.plans import Event, event_table, lasting, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import Case
from tests.worked_events import PAGE

FEW_ROWS = 12
"""So many share events at no great cost."""


@pytest.mark.parametrize(
    ("query", "signature", "confidence"),
    [
        ("SEQ(A a, AND(C c, SEQ(B x, B y)))", (("a1",), ("c1",), ("b1",), ("b2",)), Fraction(1, 2)),
        ("SEQ(A a, AND(C c, B{2} b[]))", (("a1",), ("c1",), ("b1", "b2")), Fraction(5, 6)),
        # Of three chains of one in nine worlds each, those without b2 between b1 and c1.
        ("AND(A a, SEQ(B b, !B n, C c))", (("a1",), ("b1",), ("c1",)), Fraction(22, 81)),
    ],
)
def test_worked_numbers(query: str, signature: tuple[tuple[str, ...], ...], confidence: Fraction) -> None:
    plan = plan_of(f"PATTERN {query}")
    assert exact_matches(plan, PAGE)[signature].confidence == confidence
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


@pytest.mark.parametrize(
    ("query", "match", "confidence"),
    [
        (f"SEQ(A a, AND(B b, C c)) STRATEGY {NEXT}", "a1 b3 c2", Fraction(7, 324)),
        (f"SEQ(A a, AND(B b, C c)) STRATEGY {STRICT}", "a1 b2 c1", Fraction(16, 81)),
        (f"AND(B b, C c) STRATEGY {NEXT}", "b3 c1", Fraction(26, 27)),
        (f"AND(B b, C c) STRATEGY {NEXT}", "b3 c2", Fraction(5, 18)),
        (f"SEQ(A a, AND(C c, SEQ(B x, B y))) STRATEGY {NEXT}", "a1 c1 b1 b2", Fraction(4, 9)),
    ],
)
def test_worked_numbers_where_other_events_decide(query: str, match: str, confidence: Fraction) -> None:
    plan = plan_of(f"PATTERN {query}")
    assert exact_matches(plan, PAGE)[tuple((each,) for each in match.split())].confidence == confidence
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


def test_other_events_decide_as_the_judge_says() -> None:
    check(and_branch_cases(NEXT, STRICT, PARTITION), event_engine_agrees, 2 * FEW_EXAMPLES)


def test_what_leads_to_a_run_takes_as_the_judge_says() -> None:
    check(and_before_runs_cases(), event_engine_agrees, EXAMPLES)


LEADING = (
    Event("a1", "A", 0, 2, x=1),
    Event("d1", "D", 1, 3, x=2),
    Event("d2", "D", 2, 2, x=1),
    Event("b1", "B", 2, 4, x=1),
    Event("b2", "B", 3, 5, x=2),
    Event("b3", "B", 3, 6, x=1),
    Event("c1", "C", 5, 7, x=2),
)


@pytest.mark.parametrize(
    "query",
    [
        "SEQ(AND(A a, D d), B+ b[], C c) WHERE b[i].x >= b[i-1].x",
        "SEQ(AND(A a, D d), B+ b[], C c) WHERE c.x > min(b[].x)",
        "SEQ(AND(A a, D d), RUNNING B+ b[]) WHERE b[i].x > b[i-1].x",
        "SEQ(D d, AND(A a, B z), B{1,2} b[], C? c) WITHIN 8 ticks",
        "SEQ(AND(SEQ(A a, D d), B z), B+ b[], C c) WHERE b[i].x > b[i-1].x",
        "SEQ(AND(A a, B|D d), !B n, B|C* b[], C c) WHERE d.x > a.x AND n.x > a.x",
    ],
)
def test_and_before_a_run(query: str) -> None:
    plan, events = plan_of(f"PATTERN {query} STRATEGY {NEXT}"), event_table(LEADING)
    rows = match_events(plan, events)
    assert rows.num_rows > 3
    assert_same_rows(match_table(plan, events), rows)


@pytest.mark.slow
def test_what_leads_to_a_run_takes_as_the_judge_says_in_many_cases() -> None:
    check(and_before_runs_cases(), event_engine_agrees, MANY_EXAMPLES)


@pytest.mark.slow
def test_other_events_decide_as_the_judge_says_in_many_cases() -> None:
    check(and_branch_cases(NEXT, STRICT, PARTITION), event_engine_agrees, MANY_EXAMPLES)


def test_occurrences_and_thresholds_agree_where_other_events_decide() -> None:
    def agrees(case: Case) -> None:
        if match_events(plan_of(case.query), case.table).num_rows <= FEW_ROWS:
            groups_agree_or_refused(replace(case, query=f"{case.query} GROUP BY ()"))
        event_engine_agrees_above(case, 0.4)

    check(and_branch_cases(NEXT, STRICT, PARTITION), agrees, FEW_EXAMPLES // 2)


def test_a_leading_and_takes_from_its_first_tick_on() -> None:
    """At the tick of c1 another C is no rival of c2, before it none counts."""
    events = event_table(
        (Event("b1", "B", 2, 2), Event("c0", "C", 1, 1), Event("c1", "C", 2, 3), Event("c2", "C", 3, 3))
    )
    plan = plan_of(f"PATTERN AND(B b, C c) STRATEGY {NEXT}")
    found = {signature: each.confidence for signature, each in exact_matches(plan, events).items()}
    assert found == {
        (("b1",), ("c0",)): 1,
        (("b1",), ("c1",)): 1,
        (("b1",), ("c2",)): Fraction(1, 2),
    }
    assert_same_rows(match_table(plan, events), match_events(plan, events))


@pytest.mark.parametrize("strategy", [ANY, NEXT, PARTITION])
def test_events_of_another_key_are_no_rivals_of_what_begins_an_and(strategy: str) -> None:
    """b1 has another key than the match, also where what is given keeps keys from being matched apart."""
    events = event_table(
        (Event("b1", "B", 0, 0, k="q"), Event("c1", "C", -1, 3, k="p"), Event("b2", "B", 5, 5, k="p"))
    )
    query = f"PATTERN AND(B b, C c) WHERE [k] STRATEGY {strategy}"
    for plan in (plan_of(query), plan_of(f"{query} GIVEN SEQ(C p, B q) IF p.k = q.k")):
        assert {key: each.confidence for key, each in exact_matches(plan, events).items()} == {
            (("b2",), ("c1",)): 1
        }
        assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_the_event_engine_agrees_with_the_judge() -> None:
    check(and_branch_cases(), event_engine_agrees, EXAMPLES)


@pytest.mark.slow
def test_the_event_engine_agrees_with_the_judge_on_many_cases() -> None:
    check(and_branch_cases(), event_engine_agrees, MANY_EXAMPLES)


def test_occurrences_and_thresholds_agree_with_the_judge() -> None:
    def agrees(case: Case) -> None:
        all_of_them_agree(case)
        event_engine_agrees_above(case, 0.4)

    check(and_branch_cases(), agrees, FEW_EXAMPLES)


def test_what_lasts_ends_before_what_follows_it_in_a_branch() -> None:
    events = event_table(
        (
            lasting("a", "A", (0, 1), (3, 5)),
            Event("b", "B", 2, 6),
            lasting("c", "C", (1, 2), (2, 4)),
        )
    )
    plan = plan_of("PATTERN AND(C c, SEQ(A a, B b))", lasting=True)
    written = plan_of("PATTERN ISEQ(C c, A a, B b) WHERE a BEFORE b", lasting=True)
    (found,) = exact_matches(plan, events).values()
    assert found.confidence == next(iter(exact_matches(written, events).values())).confidence
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_a_row_that_a_chain_and_an_and_give_is_counted_once() -> None:
    """e2 shares the tick of e1, which contiguity spares between any two events of the AND."""
    events = event_table(
        (
            Event("e0", "B", -3, 3, k="p"),
            Event("e1", "A", 2, 2, k="p"),
            Event("e2", "B", 2, 2, k="p"),
            Event("e3", "A", 2, 4, k="p"),
            Event("e4", "B", 3, 10, k="p"),
        )
    )
    plan = plan_of(
        "PATTERN OR(SEQ(B a, A b, * c, A x), SEQ(AND(B ax, A bx, * cx), A xx)) WHERE [k] "
        "STRATEGY partition_contiguity WITHIN 10 ticks"
    )
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_a_row_that_two_ands_give_is_counted_once() -> None:
    """e1 may share the tick of e2, which is spared between any two events of either AND."""
    events = event_table(
        (
            Event("e0", "A", 0, 0),
            Event("e1", "N", 2, 2),
            Event("e2", "A", 2, 3),
            Event("e3", "B", 3, 3),
            Event("e4", "A", 6, 6),
        )
    )
    plan = plan_of(
        "PATTERN OR(SEQ(AND(B a, A b, A c), A d), SEQ(AND(B ax, A bx, A? cx), A dx)) "
        "STRATEGY strict_contiguity"
    )
    assert exact_matches(plan, events)[("e3",), ("e0",), ("e2",), ("e4",)].confidence == Fraction(1, 2)
    assert_same_rows(match_table(plan, events), match_events(plan, events))
