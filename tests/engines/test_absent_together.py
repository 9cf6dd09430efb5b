"""`!SEQ(X x, Y y)` and `!AND(X x, Y y)`: what must not happen as a whole."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.event import hidden_events
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import CepctlError, QueryTooLargeError
from tests.absent_together_cases import (
    BESIDE_GROUPS,
    absent_beside_groups,
    absent_beside_timed_negations,
    absent_together_cases,
)
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.occurrence.groups_agree import all_of_them_agree
from tests.engines.test_engines_agree import event_engine_agrees
from tests.plans import Event, event_table, lasting, plan_of
from tests.strategies import Case
from tests.worked_events import PAGE


@pytest.mark.parametrize(
    ("query", "first", "second"),
    [
        ("SEQ(A a, !SEQ(B x, B y), C c)", Fraction(5, 18), Fraction(2, 27)),
        (
            "SEQ(A a, !SEQ(B x, B y), C c) WHERE y.x < x.x STRATEGY skip_till_next_match",
            Fraction(16, 27),
            Fraction(1, 18),
        ),
        ("SEQ(A a, !AND(B x, C y), C c)", Fraction(1), Fraction(1, 6)),
    ],
)
def test_worked_numbers(query: str, first: Fraction, second: Fraction) -> None:
    plan = plan_of(f"PATTERN {query}")
    found = {signature[1][0]: match.confidence for signature, match in exact_matches(plan, PAGE).items()}
    assert found == {"c1": first, "c2": second}
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


def test_the_event_engine_agrees_with_the_judge() -> None:
    check(absent_together_cases(), event_engine_agrees, EXAMPLES)


@pytest.mark.parametrize("absent", ["SEQ", "AND"])
@pytest.mark.parametrize("pattern", BESIDE_GROUPS)
def test_the_event_engine_agrees_with_the_judge_beside_groups_in_order(pattern: str, absent: str) -> None:
    check(absent_beside_groups(pattern.format(absent)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("cases", [absent_together_cases(), absent_beside_groups()])
def test_the_event_engine_agrees_with_the_judge_on_many_cases(cases: st.SearchStrategy[Case]) -> None:
    check(cases, event_engine_agrees, MANY_EXAMPLES)


def test_they_stand_beside_a_negation_with_conditions_on_its_time() -> None:
    check(absent_beside_timed_negations(), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("many", [event_engine_agrees, all_of_them_agree])
def test_they_stand_beside_a_negation_with_conditions_on_its_time_in_many_cases(
    many: Callable[[Case], None],
) -> None:
    check(absent_beside_timed_negations(), many, MANY_EXAMPLES)


@pytest.mark.parametrize(
    ("ticks", "confidence"),
    [
        # At 2 and 3 b breaks the row as n, at 4 where y is later, in 1 of 3 worlds, at 5 never.
        (3, Fraction(2 + 3, 4 * 3)),
        # At 2, 3 and 4 it does where y is later: in 3, 2 and 1 of 3 worlds.
        (1, Fraction(0 + 1 + 2 + 3, 4 * 3)),
    ],
)
def test_an_event_that_may_be_absent_alone_counts_where_it_may_not(ticks: int, confidence: Fraction) -> None:
    events = [Event("a", "A", 0, 0), Event("b", "B", 2, 5), Event("y", "D", 3, 5), Event("c", "C", 9, 9)]
    query = f"SEQ(A a, !B n, !SEQ(B x, D y), C c) WHERE n.time - a.time <= {ticks} ticks"
    plan, table = plan_of(f"PATTERN {query}"), event_table(events)
    (found,) = exact_matches(plan, table).values()
    assert found.confidence == confidence
    assert_same_rows(match_table(plan, table), match_events(plan, table))


@pytest.mark.parametrize("ticks", range(-1, 4))
@pytest.mark.parametrize("sign", ["<=", ">=", "<>"])
def test_the_end_of_a_region_beside_its_gap_leaves_nothing_out(sign: str, ticks: int) -> None:
    """The first and the last tick of the gap are in the region, or the only ones that are not."""
    events = [Event("a", "A", 0, 1), Event("b", "B", 1, 4), Event("y", "D", 2, 5), Event("c", "C", 4, 6)]
    for sides in ("n.time - a.time", "c.time - n.time"):
        query = f"SEQ(A a, !B n, !SEQ(B x, D y), C c) WHERE {sides} {sign} {ticks} ticks"
        plan, table = plan_of(f"PATTERN {query}"), event_table(events)
        assert_same_rows(match_table(plan, table), match_events(plan, table))


def test_occurrences_agree_with_the_judge() -> None:
    check(absent_together_cases(), all_of_them_agree, FEW_EXAMPLES)


def test_each_pair_that_conditions_tie_counts_by_itself() -> None:
    """Each x is paired with another y."""
    events = [Event("a", "A", 0, 0), Event("c", "C", 9, 9)]
    events += [Event(f"x{i}", "B", 1, 4, x=i) for i in range(2)]
    events += [Event(f"y{i}", "N", 2 + i, 4 + i, x=i) for i in range(2)]
    plan = plan_of("PATTERN SEQ(A a, !SEQ(B x, N y), C c) WHERE x.x = y.x")
    table = event_table(events)
    found = exact_matches(plan, table)
    assert_same_rows(match_table(plan, table), match_events(plan, table))
    alone = [exact_matches(plan, event_table([e for e in events if e.x in (None, i)])) for i in range(2)]
    together = Fraction(1)
    for each in alone:
        together *= next(iter(each.values())).confidence
    assert next(iter(found.values())).confidence == together


@pytest.mark.parametrize(
    "pattern", ["!SEQ(N u, A v), SEQ(A x[])+", "A a, !SEQ(N u, A v), SEQ(A x[], C y[])+"]
)
def test_each_pair_that_conditions_tie_counts_by_itself_beside_sequences(pattern: str) -> None:
    """Also where nobody fits the first of what is absent."""
    plan = plan_of(f"PATTERN SEQ({pattern}) WHERE v.x < u.x WITHIN 6 ticks")
    own = [Event("a0", "A", 0, 1, x=3), Event("a1", "A", 3, 5, x=1), Event("c", "C", 4, 6)]
    absent = [Event("n0", "N", 1, 3, x=2), Event("n1", "N", 2, 4, x=9)]
    for events in (own[1:], own, [*own, *absent]):
        table = event_table(events)
        assert_same_rows(match_table(plan, table), match_events(plan, table))


@pytest.mark.parametrize(
    ("query", "remedy"),
    [
        ("SEQ(A a, !SEQ(B+ x[], C y), D d)", "anything but single events in !SEQ(...); write one !SEQ(...)"),
        ("SEQ(A a, !AND(B x, !C y), D d)", "anything but single events in !AND(...)"),
        ("SEQ(A a, !SEQ(B x, C y), D d) WHERE y.time - x.time < 2 ticks", "one on its attributes runs"),
        ("SEQ(A a, !SEQ(B x, C y))", "a trailing negation needs WITHIN"),
        ("AND(A a, !SEQ(B x, C y))", "negation inside AND"),
        ("SEQ(A a, !OR(B x, C y), D d)", "write !A|B x for either type"),
        ("SEQ(A a, !SEQ(B x, C y), D d) RETURN x.x", "'x' is negated: a match binds no event to it"),
        ("SEQ(A a, !SEQ(B x, C y), !N n, D d) WHERE n.x = x.x", "only one negated component"),
    ],
)
def test_what_has_no_meaning_names_place_and_remedy(query: str, remedy: str) -> None:
    with pytest.raises(CepctlError) as refused:
        plan_of(f"PATTERN {query}")
    assert str(refused.value).startswith("line 1, column ")
    assert remedy in str(refused.value)


@pytest.mark.parametrize(
    "query",
    [
        "SEQ(A a, !SEQ(B x, C y, B z), C c) WHERE x.x = z.x",
        "SEQ(A a, !SEQ(B x, B y, B z), C c) WHERE y.x < x.x AND z.x < y.x",
        "SEQ(A a, !AND(B x, C y, B z), C c)",
        "SEQ(A a, !SEQ(B x, C y), !SEQ(C u, B v), C c)",
        "SEQ(A a, !SEQ(B x, B y), !AND(B u, C v), C c) WHERE y.x < x.x",
        "SEQ(!SEQ(B x, C y), B b, !SEQ(B u, C v)) WITHIN 4 ticks",
    ],
)
def test_what_many_events_make_agrees_with_the_judge(query: str) -> None:
    plan = plan_of(f"PATTERN {query}")
    assert_same_rows(match_table(plan, PAGE), match_events(plan, PAGE))


def test_an_event_that_follows_another_counts_by_itself_at_the_tick_of_that_one() -> None:
    """b2 makes a whole with b1, which stands before it, but with y2 alone where both are at one tick."""
    events = [Event("a", "A", 0, 0), Event("c", "C", 9, 9)]
    events += [Event(f"b{i}", "B", 3, 4, x=i) for i in (1, 2)]
    events += [Event(f"y{i}", "B", 8, 20, x=i) for i in (2, 3)]
    plan = plan_of("PATTERN SEQ(A a, !SEQ(B x, B y), C c) WHERE y.x = x.x + 1")
    table = event_table(events)
    assert_same_rows(match_table(plan, table), match_events(plan, table))


def test_an_interval_event_ends_before_what_must_not_happen() -> None:
    events = event_table((Event("a", "A", 0, 1), lasting("b", "B", (2, 3), (4, 5)), Event("c", "C", 9, 9)))
    plan = plan_of("PATTERN SEQ(A a, !SEQ(B x, C y), C c)", lasting=True)
    assert match_table(plan, events).num_rows == 1
    assert_same_rows(match_table(plan, events), match_events(plan, events))


def test_matches_with_too_many_parts_together_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = plan_of("PATTERN SEQ(A a, !SEQ(B x, B y), C c) WHERE y.x <> x.x")
    expected = match_events(plan, PAGE)
    monkeypatch.setattr(hidden_events, "MOST_PARTS", 20)
    assert match_events(plan, PAGE) == expected
    monkeypatch.setattr(hidden_events, "MOST_PARTS", 3)
    with pytest.raises(
        QueryTooLargeError, match=r"what !SEQ or !AND leaves of a match takes more than 3 pairs"
    ):
        match_events(plan, PAGE)


def test_what_is_absent_on_wide_intervals_is_what_is_not_there() -> None:
    """No x, y and z one after the other: neither those with one x, nor with the other, counted once."""
    wide = [
        ("a", "A", 0),
        ("x1", "X", 300),
        ("x2", "X", 700),
        ("y", "Y", 900),
        ("z", "Z", 1300),
        ("c", "C", 1500),
    ]
    events = event_table([Event(name, kind, lower, lower + 2000) for name, kind, lower in wide])

    def summed(pattern: str) -> float:
        rows = match_events(plan_of(f"PATTERN {pattern} WITHIN 3000 ticks"), events)
        return float(sum(rows["confidence"].to_pylist()))

    one = summed("SEQ(A a, X x, Y y, Z z, C c)")
    # Either may be x.
    both = summed("SEQ(A a, AND(X x, X w), Y y, Z z, C c)") / 2
    absent = summed("SEQ(A a, !SEQ(X x, Y y, Z z), C c)")
    assert absent == pytest.approx(summed("SEQ(A a, C c)") - one + both, abs=1e-9)
    assert 0.01 < both < one


def test_beside_other_parts_of_or_many_events_may_be_what_is_absent() -> None:
    """What parts share is a match of its own, beside which both are absent."""
    wide = [("a", "A", 0), *((f"{kind}{i}".lower(), kind, 180 * i) for i in range(1, 6) for kind in "XYN")]
    events = event_table([Event(name, kind, at, at + 1000) for name, kind, at in [*wide, ("c", "C", 900)]])

    def confidence(pattern: str) -> float:
        (found,) = match_events(plan_of(f"PATTERN {pattern} WITHIN 3000 ticks"), events)["confidence"]
        return float(found.as_py())

    pair = confidence("SEQ(A a, !SEQ(X x, Y y), C c)")
    single = confidence("SEQ(A a, !N n, C c)")
    both = confidence("SEQ(A a, !SEQ(X x, Y y), !N n, C c)")
    either = confidence("OR(SEQ(A a, !SEQ(X x, Y y), C c), SEQ(A b, !N n, C d))")
    assert either == pytest.approx(pair + single - both, rel=1e-12)
    assert either > 1.01 * max(pair, single)
