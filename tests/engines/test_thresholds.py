"""CONFIDENCE and --top-k lose no row and add none: whatever the search leaves out early is below them."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from cepctl.engines.event import alternative, match
from cepctl.engines.search.kleene import growth
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, check
from tests.engines.event.test_kleene_summary import CASES as SUMMARIES
from tests.engines.threshold_cases import (
    BESIDE,
    TIES,
    Question,
    a_threshold_leaves_what_a_filter_would,
    of_points,
    questions,
    the_best_are_the_first_of_all,
)
from tests.plans import Event
from tests.strategies import LEVELS

QUESTIONS = questions(SUMMARIES["histograms"] | SUMMARIES["intervals"])
FOUND_BEFORE = {
    "a stray event before two groups side by side": Question(
        "PATTERN SEQ(A+ a[], B+ b[], C c) STRATEGY strict_contiguity WITHIN 12 ticks",
        (
            Event("a1", "A", 2, 5),
            Event("a2", "A", 3, 4),
            Event("b1", "B", 7, 10),
            Event("c", "C", 10, 10),
            Event("b2", "B", 1, 1),
        ),
    ),
    "a stray event before two groups side by side, under next match": Question(
        "PATTERN SEQ(C c, A+ a[], B+ b[], D d) STRATEGY skip_till_next_match",
        (
            Event("c", "C", 0, 0),
            Event("b1", "B", 1, 3),
            Event("a", "A", 4, 4),
            Event("b2", "B", 5, 8),
            Event("d", "D", 7, 9),
        ),
    ),
    "an event beyond the window that the first event of three opens": Question(
        "PATTERN SEQ(C c, A a, B+ b[]) STRATEGY skip_till_next_match WITHIN 12 ticks",
        (
            Event("c", "C", 0, 8),
            Event("a", "A", 9, 9),
            Event("b1", "B", 10, 10),
            Event("b2", "B", 14, 14),
        ),
    ),
}


@pytest.mark.parametrize("beside", sorted(set(BESIDE)))
@pytest.mark.parametrize("name", FOUND_BEFORE)
def test_rows_that_a_bound_once_lost_are_kept(name: str, beside: float) -> None:
    a_threshold_leaves_what_a_filter_would((FOUND_BEFORE[name], beside))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_threshold_leaves_what_a_filter_would(name: str) -> None:
    check(
        st.tuples(QUESTIONS[name], st.sampled_from(BESIDE)),
        a_threshold_leaves_what_a_filter_would,
        max(EXAMPLES // 2, 1),
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_best_are_the_first_of_all(name: str) -> None:
    check(st.tuples(QUESTIONS[name], st.integers(1, 4)), the_best_are_the_first_of_all, max(EXAMPLES // 4, 1))


def test_the_best_are_the_first_of_all_where_few_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are chosen again and again while they are found, as otherwise only very many are."""
    monkeypatch.setattr(match, "_HELD_AT_LEAST", 1)
    monkeypatch.setattr(alternative, "FEWEST_STARTS", 1)
    monkeypatch.setattr(alternative, "FEWEST_COSTLY_STARTS", 1)
    the_best_are_the_first_of_all((TIES, 1))
    cases = st.tuples(QUESTIONS["groups"] | QUESTIONS["single events"], st.integers(1, 3))
    check(cases, the_best_are_the_first_of_all, EXAMPLES)


def test_what_is_tried_out_first_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are counted before the first is measured, as otherwise only very many are."""
    monkeypatch.setattr(growth, "_FEW_SETS", 0)
    cases = st.tuples(QUESTIONS["groups"], st.sampled_from(BESIDE))
    check(cases, a_threshold_leaves_what_a_filter_would, max(EXAMPLES // 4, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LEVELS, *QUESTIONS])
def test_a_threshold_leaves_what_a_filter_would_on_many_cases(name: str) -> None:
    cases = QUESTIONS[name] if name in QUESTIONS else of_points(LEVELS[name])
    check(
        st.tuples(cases, st.sampled_from(BESIDE)),
        a_threshold_leaves_what_a_filter_would,
        max(MANY_EXAMPLES // 4, 1),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LEVELS, *QUESTIONS])
def test_the_best_are_the_first_of_all_on_many_cases(name: str) -> None:
    cases = QUESTIONS[name] if name in QUESTIONS else of_points(LEVELS[name])
    check(st.tuples(cases, st.integers(1, 4)), the_best_are_the_first_of_all, max(MANY_EXAMPLES // 4, 1))
