"""`--kleene summary` where the groups are listed: every strategy, condition and number of members."""

from __future__ import annotations

import time
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.occurrence.occurrence import WORK_BOUND, Occurrences
from cepctl.engines.event.match import match_batches, match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import EXAMPLES, check
from tests.engines.event.test_kleene_summary import (
    SUMMARY,
    agrees_with_the_judge,
    members_of,
    summarised,
)
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import Case

RISING = (
    Event("a1", "A", 0, 1, x=0),
    Event("b1", "B", 1, 3, x=1),
    Event("b2", "B", 2, 4, x=2),
    Event("b3", "B", 3, 5, x=1),
    Event("c1", "C", 4, 6, x=2),
    Event("c2", "C", 6, 7, x=1),
)
"""The events of the worked numbers."""
Q = "PATTERN SEQ(A a, B+ b[], C c)"
ORDERED = f"{Q} WHERE b[i].x >= b[i-1].x"

CONDITIONS = (
    "{g}[i].x >= {g}[i-1].x",
    "{g}[i].x < {g}[i-1].x",
    "{g}[i].x >= 1",
    "{g}[i].x >= {o}.x",
    "avg({g}[].x) > 1",
    "sum({g}[].x) <= 2",
    "count({g}[]) = 2",
    "max({g}[].x) > 1",
    "{g}[last].x >= 1",
    "{g}[first].x > 0",
    "{g}[first].time < '1970-01-01T00:00:00.004Z'",
    "{g}[last].time - {o}.time <= 2 ticks",
)


def drawn_query(draw: st.DrawFn, parts: list[str], pool: list[str], strategy: str) -> str:
    """A query of these parts, with some conditions of a pool."""
    conditions = draw(st.lists(st.sampled_from(pool), max_size=2, unique=True))
    if strategy == PARTITION or draw(st.integers(0, 4)) == 0:
        conditions.append("[k]")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"PATTERN SEQ({', '.join(parts)}){where} STRATEGY {strategy}"


@st.composite
def listed_cases(draw: st.DrawFn, *strategies: str) -> Case:
    """A pattern with one group and one or two single events, often a negation, a quantifier, a condition."""
    strategy = draw(st.sampled_from(strategies))
    size = draw(st.sampled_from([2, 3, 3]))
    place = draw(st.integers(0, size - 1))
    types = [draw(st.sampled_from(["A", "B", "C", "A|B"])) for _ in range(size)]
    many = draw(st.sampled_from(["+", "+", "+", "{2}", "{2,}", "{1,2}", "{2,3}"]))
    parts = [
        f"{types[i]}{f'{many} {name}[]' if i == place else f' {name}'}" for i, name in enumerate("abc"[:size])
    ]
    negated = draw(st.integers(0, 3)) == 0
    if negated:
        parts.insert(draw(st.integers(0, size)), f"!{draw(st.sampled_from('ABC'))} n")
    elif strategy == ANY and size == 3 and draw(st.integers(0, 3)) == 0:
        parts = [f"AND({parts[0]}, {parts[1]})", parts[2]]
    group, other = "abc"[place], "abc"[(place + draw(st.integers(1, size - 1))) % size]
    pool = [each.format(g=group, o=other) for each in CONDITIONS]
    query = drawn_query(draw, parts, pool, strategy)
    within = [" WITHIN 4 ticks", " WITHIN 5 ticks", " WITHIN 7 ticks"]
    query += draw(st.sampled_from([*([] if negated or place in (0, size - 1) else [""]), *within]))
    wanted = [each.split("|")[0] for each in types]
    found = draw(streams([*wanted, wanted[place]], 300))
    return Case(query, found)


CASES = {name: listed_cases(name) for name in (ANY, NEXT, STRICT, PARTITION)}


@pytest.mark.parametrize("name", CASES)
def test_a_summary_of_listed_groups_says_what_the_worlds_say(name: str) -> None:
    check(CASES[name], agrees_with_the_judge, EXAMPLES)


@st.composite
def groups_alone(draw: st.DrawFn) -> Case:
    """A pattern of one group, often with a condition and a negation before or behind it."""
    strategy = draw(st.sampled_from((ANY, NEXT, STRICT, PARTITION)))
    many = draw(st.sampled_from(["+", "+", "{2}", "{2,}", "{1,2}"]))
    parts = [f"{draw(st.sampled_from(['A', 'B', 'A|B']))}{many} b[]"]
    if draw(st.integers(0, 3)) == 0:
        parts.insert(draw(st.integers(0, 1)), "!C n")
    alone = [each.format(g="b") for each in CONDITIONS if "{o}" not in each]
    query = drawn_query(draw, parts, alone, strategy)
    query += f" WITHIN {draw(st.sampled_from([2, 3, 5]))} ticks"
    return Case(query, draw(streams(["A", "B", "A", "C"], 300)))


def test_a_summary_of_a_group_alone_is_one_row_of_all_that_the_worlds_say() -> None:
    check(groups_alone(), agrees_with_the_judge, EXAMPLES)


# --- by hand -------------------------------------------------------------------------------

WORKED = {
    (f"{ORDERED} STRATEGY skip_till_next_match", "a1 * c1"): (
        "80/81",
        {"b1": "13/18", "b2": "8/9", "b3": "11/27"},
    ),
    (f"{ORDERED} STRATEGY skip_till_next_match", "a1 * c2"): ("29/162", None),
    (f"{ORDERED} STRATEGY strict_contiguity", "a1 * c1"): ("56/81", None),
    (ORDERED, "a1 * c1"): ("80/81", {"b1": "5/6", "b2": "8/9", "b3": "2/3"}),
}


def test_a_group_alone_is_one_row_also_where_it_needs_two_members() -> None:
    """b1 in 1..3 and b2 in 2..4 are less than 2 ticks apart in 6 of 9 worlds."""
    (row,) = summarised("PATTERN SEQ(B{2} b[]) WITHIN 2 ticks", RISING[1], RISING[2])
    assert row["match"] == "*"
    assert row["count"] == "1"
    assert row["confidence"] == pytest.approx(2 / 3)


def test_the_window_limits_the_groups_of_many_events_that_stand_alone() -> None:
    """Each is within 12 ticks of those beside it, and of no other."""
    events = [Event(f"b{i:02}", "B", 10 * i, 10 * i) for i in range(60)]
    (row,) = summarised("PATTERN SEQ(B+ b[]) WITHIN 12 ticks", *events)
    assert row["count"] == str(60 + 59)


@pytest.mark.parametrize(("query", "match"), WORKED)
def test_worked_numbers(query: str, match: str) -> None:
    confidence, members = WORKED[query, match]
    (row,) = (row for row in summarised(query, *RISING) if row["match"] == match)
    assert row["count"] == "7"
    assert row["confidence"] == pytest.approx(float(Fraction(confidence)), rel=1e-12)
    if members is not None:
        exact = {name: float(Fraction(each)) for name, each in members.items()}
        assert members_of(row) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("strategy", [NEXT, STRICT])
@pytest.mark.parametrize("pattern", ["SEQ(A+ a[], B b)", "SEQ(B b, A+ a[], C c)"])
def test_slices_of_time_share_the_rows_out_by_the_first_neighbour(pattern: str, strategy: str) -> None:
    """Also where the group comes first, whose members may begin in an earlier slice."""
    plan = plan_of(f"PATTERN {pattern} WHERE a[i].x >= a[i-1].x STRATEGY {strategy} WITHIN 6 ticks")
    events = event_table([Event(f"e{i}", "ABAC"[i % 4], i, i + i % 3, x=i % 3) for i in range(16)])
    whole = match_events(plan, events, SUMMARY)
    slices = [
        pa.Table.from_batches(batches, whole.schema)
        for owned in ((-9, 4), (5, 7), (8, 99))
        if (batches := list(match_batches(plan, events, SUMMARY, owned)))
    ]
    assert len(slices) > 1
    assert ordered(pa.concat_tables(slices)).equals(ordered(whole))


def test_a_threshold_keeps_the_rows_that_reach_it() -> None:
    query = f"{ORDERED} STRATEGY skip_till_next_match"
    assert [row["match"] for row in summarised(f"{query} CONFIDENCE >= 0.5", *RISING)] == ["a1 * c1"]
    best = MatchOptions(kleene="summary", top=1)
    assert [row["match"] for row in summarised(query, *RISING, options=best)] == ["a1 * c1"]


def test_what_the_neighbours_have_is_returned() -> None:
    query = f"{ORDERED} STRATEGY skip_till_next_match RETURN c.x"
    assert [row["c.x"] for row in summarised(query, *RISING)] == [2.0, 1.0]


def test_groups_that_share_too_much_are_refused_with_a_remedy() -> None:
    """2 of 46 events make 1,035 sets, and whether they are between the neighbours is open for all of them."""
    members = [Event(f"b{i:02}", "B", 1, 9) for i in range(46)]
    around = (Event("a", "A", 0, 8), Event("c", "C", 2, 10))
    with pytest.raises(QueryTooLargeError) as refused:
        summarised("PATTERN SEQ(A a, B{2} b[], C c)", *around, *members)
    assert "lists the groups of this query, for a least number of members of b[]" in str(refused.value)
    assert "--kleene groups" in str(refused.value)


def test_more_sets_than_a_machine_word_has_bits_are_united() -> None:
    """2 of 12 events make 66 sets; that any is between the neighbours, at least 2 are."""
    members = [Event(f"b{i:02}", "B", 1, 9) for i in range(12)]
    (row,) = summarised(
        "PATTERN SEQ(A a, B{2} b[], C c)", Event("a", "A", 0, 8), Event("c", "C", 2, 10), *members
    )
    inside = [max(0, min(c - 1, 9) - max(a + 1, 1) + 1) / 9 for a in range(9) for c in range(2, 11)]
    some = [1 - (1 - p) ** 12 - 12 * p * (1 - p) ** 11 for p in inside]
    assert row["confidence"] == pytest.approx(sum(some) / 81, abs=1e-12)


@pytest.mark.parametrize("strategy", [NEXT, STRICT])
def test_sets_that_exclude_each_other_add_up_however_many_there_are(strategy: str) -> None:
    """Each of 8 events is between its neighbours in a third of the worlds: 255 sets, more than are united."""
    members = [Event(f"b{i}", "B", 4, 6) for i in range(8)]
    around = (Event("a", "A", 0, 0), Event("c", "C", 5, 5))
    (row,) = summarised(f"{Q} STRATEGY {strategy}", *around, *members)
    assert row["count"] == "255"
    assert row["confidence"] == pytest.approx(1 - (2 / 3) ** 8, rel=1e-12)
    assert members_of(row) == pytest.approx({f"b{i}": 1 / 3 for i in range(8)}, rel=1e-12)


def test_a_sequence_at_the_end_may_begin_another_under_contiguity() -> None:
    """Whenever b1 and b2 match, b1 alone does: the row is as probable as b1."""
    events = (Event("a", "A", 0, 0), Event("b1", "B", 1, 4, x=1), Event("b2", "B", 3, 6, x=2))
    query = f"PATTERN SEQ(A a, B+ b[]) WHERE b[i].x >= b[i-1].x STRATEGY {STRICT} WITHIN 9 ticks"
    check(st.just(Case(query, events)), agrees_with_the_judge, 1)


@pytest.mark.slow
def test_groups_that_are_too_many_are_refused_before_all_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    most, limit = 0, MatchOptions.check_count

    def counted(options: MatchOptions, count: int) -> None:
        nonlocal most
        most = max(most, count)
        limit(options, count)

    monkeypatch.setattr(MatchOptions, "check_count", counted)
    readings = [Event(f"b{i}", "B", 5 + 10 * i, 35 + 10 * i, x=7 * i % 11) for i in range(14)]
    events = event_table((Event("a", "A", 0, 0, x=1), *readings, Event("c", "C", 180, 180, x=1)))
    query = f"{Q} WHERE b[last].x > avg(b[].x) STRATEGY skip_till_next_match"
    with pytest.raises(QueryTooLargeError, match="share events, where at most 1,024"):
        match_events(plan_of(query), events, SUMMARY)
    assert 0 < most < 10_000


@pytest.mark.parametrize("readings", [8, 20, 60])
@pytest.mark.parametrize("strategy", [NEXT, STRICT])
def test_any_number_of_overlapping_readings_is_refused_soon(readings: int, strategy: str) -> None:
    events = (
        Event("a", "A", -40, -30, x=0),
        *(Event(f"b{i:02}", "B", 10 * i - 15, 10 * i + 15, x=7 * i % 11) for i in range(readings)),
        Event("c", "C", 10 * readings + 40, 10 * readings + 50, x=0),
    )
    plan = plan_of(f"{Q} WHERE b[last].x > avg(b[].x) WITHIN 10000 ticks STRATEGY {strategy}")
    begin = time.process_time()
    with pytest.raises(QueryTooLargeError, match="lists the groups"):
        match_events(plan, event_table(events), SUMMARY)
    assert time.process_time() - begin < 20  # in a tenth of that where nothing has to be compiled


def test_a_row_whose_sum_takes_far_too_much_is_refused_before_that_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sets of three words, most of whose work is to ask clauses which sets they leave."""
    refused, why = [], Occurrences.why

    def told(found: Occurrences, group: int) -> str:
        refused.append(int(found.products[group]))
        return why(found, group)

    monkeypatch.setattr(Occurrences, "why", told)
    events = (
        Event("a", "A", -40, -40, x=0),
        *(Event(f"b{i:02}", "B", 10 * i - 15, 10 * i + 15, x=7 * i % 11) for i in range(12)),
        Event("c", "C", 160, 160, x=0),
    )
    plan = plan_of(f"{Q} WHERE b[i].x > b[i-2].x STRATEGY {STRICT}")
    with pytest.raises(QueryTooLargeError, match="need more than"):
        match_events(plan, event_table(events), SUMMARY)
    assert refused[0] <= WORK_BOUND / 4
