"""Rows of the event engine under a law of order: the numbers of its specification, and those of the judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.orders.asked import LawRows
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.confidence.orders.under_laws import LawfulOrders
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.laws.law import OrderLaw
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.orders.lawful_cases import LawfulCase, lawful_cases
from tests.fuzzing.answers import require_same, rows_of
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.strategies import Case, chain_cases, negation_cases, next_match_cases

ABC = (Event("a", "A", 1, 4, k="1"), Event("b", "B", 1, 4, k="1"), Event("c", "C", 3, 6, k="1"))
L1 = OrderLaw("k", following={("A", "B"): 4.0})
L2 = OrderLaw("k", before={("A", "B"): 4.0})
L3 = OrderLaw("k", following={("A", "B"): 4.0, ("^", "A"): 2.0}, before={("B", "C"): 3.0})
NEXT = " STRATEGY skip_till_next_match"
NUMBERS = {
    "PATTERN SEQ(A a, B b)": ("9/16", "3/5", "171/269"),
    "PATTERN SEQ(B b, A a)": ("1/6", "3/20", "213/2152"),
    "PATTERN SEQ(A a, B b, C c)": ("4/9", "2/5", "144/269"),
    "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks": ("2/9", "1/5", "72/269"),
    "PATTERN SEQ(A a, C c)": ("127/144", "281/320", "4059/4304"),
    "PATTERN SEQ(A a, C c)" + NEXT: ("127/144", "281/320", "4059/4304"),
    "PATTERN SEQ(A a, !B b, C c)": ("7/16", "153/320", "1755/4304"),
}


@pytest.mark.parametrize("query", NUMBERS)
@pytest.mark.parametrize("law", [0, 1, 2])
def test_three_events_of_one_key(query: str, law: int) -> None:
    plan = replace(plan_of(query), laws=((L1, L2, L3)[law],))
    (row,) = match_events(plan, event_table(ABC)).to_pylist()
    assert row["confidence"] == pytest.approx(float(Fraction(NUMBERS[query][law])), abs=1e-14)


def test_repeats_count_as_one_habit() -> None:
    events = (Event("a", "A", 1, 4, k="1"), Event("b1", "B", 1, 4, k="1"), Event("b2", "B", 1, 4, k="1"))
    rows = match_events(replace(plan_of("PATTERN SEQ(A a, B b)"), laws=(L2,)), event_table(events))
    assert rows.column("confidence").to_pylist() == pytest.approx([123 / 224] * 2)


AGREEING: dict[str, Callable[[], st.SearchStrategy[Case]]] = {
    "chains": chain_cases,
    "next match": next_match_cases,
    "negation": negation_cases,
    "negation under next match": lambda: negation_cases("skip_till_next_match"),
}


@pytest.mark.parametrize("name", AGREEING)
def test_rows_are_those_of_the_judge(name: str) -> None:
    def agree(drawn: LawfulCase) -> None:
        assert_same_rows(match_table(drawn.plan, drawn.table), match_events(drawn.plan, drawn.table))

    check(lawful_cases(AGREEING[name]()), agree)


def wide_cases() -> st.SearchStrategy[Case]:
    """Few events over more ticks than sums need nodes, under windows that end inside of them."""
    patterns = ("A a, B b", "A a, B b, C c", "A a, !N n, B b", "A a, B b, !N n", "!N n, A a, B b")
    query = st.builds("PATTERN SEQ({}) WITHIN {} ticks".format, st.sampled_from(patterns), st.integers(2, 12))
    events = st.lists(
        st.builds(
            lambda kind, lower, ticks: Event("", kind, lower, lower + ticks),
            st.sampled_from("ABCN"), st.integers(0, 5), st.integers(6, 11),
        ),
        min_size=2, max_size=4,
    )  # fmt: skip
    return st.builds(
        lambda text, drawn: Case(text, tuple(replace(e, event_id=f"e{i}") for i, e in enumerate(drawn))),
        query, events,
    )  # fmt: skip


def test_so_are_those_of_wide_events_in_windows() -> None:
    def agree(drawn: LawfulCase) -> None:
        assert_same_rows(match_table(drawn.plan, drawn.table), match_events(drawn.plan, drawn.table))

    check(lawful_cases(wide_cases()), agree, FEW_EXAMPLES)


def test_what_holds_in_every_world_is_certain() -> None:
    drawn = Event("e0", "B", 2, 2, g="v"), Event("e1", "Z", 2, 8, g="v"), Event("e2", "B", 3, 3)
    law = OrderLaw("g", following={("^", "Z"): 0.25})
    rows = match_events(replace(plan_of("PATTERN SEQ(B a, B b)"), laws=(law,)), event_table(drawn))
    assert rows.column("confidence").to_pylist() == [1.0]


def test_a_row_is_the_same_to_the_last_bit_whatever_is_measured_with_it() -> None:
    random = np.random.default_rng(3)
    drawn = [
        Event(f"e{i}", "ABC"[i % 3], lower, lower + int(random.integers(2, 40)), k="pq"[i % 2])
        for i, lower in enumerate(random.integers(0, 30, 10).tolist())
    ]
    events = events_of(event_table(drawn))
    orders = key_orders((L3,), events.frame, events.masses)
    assert orders is not None
    pairs = np.array(list(permutations(range(10), 2)))
    rivals = (pairs.sum(axis=1) + 3) % 10
    kept = np.flatnonzero((rivals != pairs[:, 0]) & (rivals != pairs[:, 1]))
    rows = LawRows(pairs, kept, rivals[kept], kept % 8)
    lawful = LawfulOrders(orders, 1 << 16, "refuse")
    for window in (None, 9):
        every = lawful.probabilities(rows, window, every=True)
        for step in (1, 7):
            for begin in range(step):
                some = np.arange(begin, len(rows), step if step > 1 else 11)
                assert (lawful.probabilities(rows.take(some), window, every=True) == every[some]).all()


GROUPED = {
    "all rows": "PATTERN SEQ(A a, B b) GROUP BY ()",
    "by the first event": "PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY a.g",
    "three events": "PATTERN SEQ(A a, B b, C c) GROUP BY b.g",
    "next match": "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match WITHIN 4 ticks GROUP BY b.k",
    "negation": "PATTERN SEQ(A a, !N n, B b) GROUP BY ()",
    "trailing negation": "PATTERN SEQ(A a, B b, !N n) WITHIN 3 ticks GROUP BY a.g",
    "leading negation": "PATTERN SEQ(!N n, A a, B b) WITHIN 3 ticks GROUP BY ()",
}


@pytest.mark.parametrize("name", GROUPED)
def test_keys_of_group_by_are_those_of_the_judge(name: str) -> None:
    kinds = ["A", "B", "C"] if "C c" in GROUPED[name] else ["A", "B", "N"]

    def agree(drawn: LawfulCase) -> None:
        expected = rows_of(drawn.plan, group_table(drawn.plan, drawn.table))
        found = rows_of(drawn.plan, match_events(drawn.plan, drawn.table))
        assert all(row["occurrence"] is not None for row in found.values())
        require_same("groups", expected, found)

    drawn = streams(kinds, 300).map(lambda events: Case(GROUPED[name], events))
    check(lawful_cases(drawn), agree)


def test_events_outside_the_partition_stay_in_their_keys() -> None:
    """An event without `k` is bound by nothing, and still the first of its key."""
    events = (
        Event("e0", "N", 0, 0, g="u"),
        Event("e1", "A", 1, 1, k="p", g="u"),
        Event("e2", "N", 1, 1, k="p", g="u"),
        Event("e3", "A", 1, 2, k="p", g="u"),
    )
    law = OrderLaw("g", following={("^", "A"): 4.0})
    grouped = replace(plan_of("PATTERN SEQ(A a, A b) WHERE [k, g] GROUP BY ()"), laws=(law,))
    for engine in (match_events, group_table):
        (row,) = engine(grouped, event_table(events)).to_pylist()
        assert row["occurrence"] == 0.5
