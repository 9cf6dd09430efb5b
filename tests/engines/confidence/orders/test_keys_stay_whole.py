"""Slices and buckets never cut the keys of a law, and thresholds speak of the confidence under it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.reach import Relevance
from cepctl.engines.runners.slices import choose_slicing, group_slicing
from cepctl.laws.law import OrderLaw
from tests.engines.agreement import FEW_EXAMPLES, assert_equal_rows, check
from tests.engines.confidence.orders.lawful_cases import LawfulCase, lawful_cases
from tests.engines.runners.test_slices import groups, read_by_slice, sent_to_groups, task_of
from tests.plans import Event, event_table, plan_of
from tests.strategies import chain_cases, negation_cases

LAW = OrderLaw("k", following={("Z", "A"): 9.0}, before={("A", "B"): 4.0})
CHAIN = (
    Event("z", "Z", 5, 28, k="1"),
    Event("a", "A", 15, 30, k="1"),
    Event("y", "Z", 29, 40, k="1"),
    Event("b", "B", 30, 45, k="1"),
)


def test_events_that_the_query_does_not_name_decide_how_probable_a_row_is() -> None:
    plan, table = plan_of("PATTERN SEQ(A a, B b) WITHIN 15 ticks"), event_table(CHAIN)
    (row,) = match_events(replace(plan, laws=(LAW,)), table).to_pylist()
    (lawless,) = match_events(plan, table).to_pylist()
    assert row["confidence"] > lawless["confidence"] + 0.05


@pytest.mark.parametrize("query", ["SEQ(A a, B b)", "SEQ(A a, B b) WHERE [g]", "SEQ(A a, B b) WHERE [g, k]"])
def test_nothing_splits_a_query_that_would_cut_keys(query: str) -> None:
    plan = replace(plan_of(f"PATTERN {query} WITHIN 20 ticks"), laws=(LAW,))
    for slicing in (choose_slicing(groups(60), plan, 4), choose_slicing(groups(60), plan, 4, 5)):
        assert (slicing.tasks, slicing.sent) == (1, False)
    assert group_slicing(groups(60), replace(plan, group_by=()), 4).tasks == 1


def test_where_the_keys_of_a_law_part_the_events_they_may_be_sent_apart() -> None:
    plan = replace(plan_of("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 20 ticks"), laws=(LAW,))
    slicing = choose_slicing(groups(60), plan, 4, 5)
    assert (len(slicing.slices), slicing.buckets, slicing.sent) == (1, 3, True)


def test_tasks_read_all_events_of_keys_whatever_their_types() -> None:
    plan, table = replace(plan_of("PATTERN SEQ(A a, B b) WITHIN 15 ticks"), laws=(LAW,)), event_table(CHAIN)
    for size in (1, 2, 4):
        task = task_of(plan, table, size)
        found = read_by_slice(task, choose_slicing(task.groups, plan, 2, 3))
        assert found.equals(ordered(match_events(plan, table)))
    assert Relevance(plan).pushed({"event_type": pa.string()}) is None
    assert Relevance(replace(plan, laws=())).pushed({"event_type": pa.string()}) is not None


def test_however_events_are_read_or_sent_rows_are_the_same_to_the_last_bit() -> None:
    cases = lawful_cases(chain_cases() | negation_cases())
    drawn = st.tuples(cases, st.sampled_from([1, 2, 3]), st.integers(1, 4), st.integers(1, 3))

    def same(values: tuple[LawfulCase, int, int, int]) -> None:
        case, length, size, buckets = values
        wanted = ordered(match_events(case.plan, case.table))
        task = task_of(case.plan, case.table, size)
        slicing = choose_slicing(task.groups, case.plan, 2, length)
        assert read_by_slice(task, slicing).equals(wanted)
        sent = replace(slicing, buckets=buckets if case.plan.apart_by_key else 1, sent=True)
        assert sent_to_groups(task, sent).equals(wanted)

    check(drawn, same, FEW_EXAMPLES)


def test_a_key_that_is_cut_would_give_another_row() -> None:
    plan = replace(plan_of("PATTERN SEQ(A a, B b) WITHIN 15 ticks"), laws=(LAW,))
    whole, cut = (match_events(plan, event_table(each)) for each in (CHAIN, CHAIN[1:]))
    assert abs(whole.column("confidence")[0].as_py() - cut.column("confidence")[0].as_py()) > 0.02


def test_a_row_that_the_law_lifts_over_the_threshold_is_found() -> None:
    """Of its first two events nothing less is known than that they reach 0.45 without the law."""
    drawn = Event("a", "A", 0, 9, k="1"), Event("b", "B", 0, 9, k="1"), Event("c", "C", 20, 20, k="1")
    events, query = event_table(drawn), "PATTERN SEQ(A a, B b, C c)"
    plan = replace(plan_of(query), laws=(LAW,))
    (row,) = match_events(plan, events).to_pylist()
    assert row["confidence"] == pytest.approx(0.72)
    assert match_events(plan_of(query), events).column("confidence").to_pylist() == pytest.approx([0.45])
    for least, count in ((0.7, 1), (0.73, 0)):
        assert match_events(replace(plan, minimum_confidence=least), events).num_rows == count


def test_thresholds_and_the_best_rows_are_those_of_all_rows_under_the_law() -> None:
    drawn = st.tuples(lawful_cases(chain_cases() | negation_cases()), st.floats(0, 1), st.integers(1, 3))

    def same(values: tuple[LawfulCase, float, int]) -> None:
        case, least, top = values
        every = ordered(match_events(case.plan, case.table))
        kept = [row for row in every.to_pylist() if row["confidence"] >= least - 1e-9]
        found = ordered(match_events(replace(case.plan, minimum_confidence=least), case.table))
        assert found.to_pylist() == kept
        best = match_events(case.plan, case.table, MatchOptions(top=top))
        assert_equal_rows(ordered(every.drop_columns(["match"]), top), ordered(best, top))

    check(drawn, same, FEW_EXAMPLES)
