"""Estimates of confidences that are too costly to sum: within their error, and the same everywhere."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from cepctl.datasets.row_groups import row_groups
from cepctl.engines.confidence.coupled.sampling import FAILURE_PROBABILITY, sample_size
from cepctl.engines.confidence.occurrence import ends
from cepctl.engines.confidence.occurrence import rows as row_sums
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.match import match_batches, match_events, match_schema
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.slices import choose_slicing
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import RARE_EXAMPLES, check, rows_by_signature
from tests.event_sources import TableSource
from tests.plans import Event, event_table, histogram, plan_of
from tests.random_patterns import NEXT, PARTITION, STRICT, Level
from tests.strategies import (
    Case,
    and_cases,
    cases,
    kleene_cases,
    negation_cases,
    timing_cases,
)

COUPLED = Case(
    "PATTERN SEQ(A a, !N n, B b) WHERE b.time - a.time <= 5 ticks WITHIN 8 ticks",
    (
        Event("a", "A", 0, 9), Event("b", "B", 2, 12), histogram("b2", "B", (4, 8, 0.25), (15, 20, 0.75)),
        Event("n", "N", 1, 9), Event("m", "N", 3, 11), Event("a2", "A", 6, 6),
    ),
)  # fmt: skip
LEVELS = {
    "negation": negation_cases(),
    "absences under other strategies": negation_cases(NEXT, STRICT, PARTITION),
    "AND": and_cases(),
    "Kleene": kleene_cases(),
    "OR of whole patterns": cases(Level(negation=True, timing=True, twin=True)),
    "timing": timing_cases(),
}


@pytest.fixture
def nothing_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sum over coupled events is beyond the work bound; the search for possible ticks is not."""
    monkeypatch.setattr(row_sums, "WORK_BOUND", 0)


def estimated(case: Case, error: float = 0.02) -> pa.Table:
    return match_events(plan_of(case.query), case.table, MatchOptions(approximate=error))


@pytest.mark.parametrize("level", LEVELS)
def test_estimates_are_within_their_error_and_ranges_stay_exact(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled = 0

    def agrees(case: Case) -> None:
        nonlocal sampled
        exact = rows_by_signature(match_events(plan_of(case.query), case.table))
        with monkeypatch.context() as patched:
            patched.setattr(row_sums, "WORK_BOUND", 0)
            patched.setattr(Measure, "opened", None)
            rows = rows_by_signature(estimated(case))
        assert sorted(rows) == sorted(exact)
        for signature, row in rows.items():
            assert (row["start"], row["end"]) == (exact[signature]["start"], exact[signature]["end"])
            assert abs(row["confidence"] - exact[signature]["confidence"]) <= row["confidence_error"] + 1e-9
            assert row["confidence_error"] in (0.0, 0.02)
            sampled += row["confidence_error"] > 0

    check(LEVELS[level], agrees, RARE_EXAMPLES)
    assert sampled > 0


def test_an_or_of_patterns_is_estimated_as_one(
    nothing_is_summed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of its alternatives and of what they share would add up to more than was allowed."""
    case = Case(
        COUPLED.query.replace(
            "PATTERN SEQ(A a, !N n, B b)", "PATTERN OR(SEQ(A a, !N n, B b), AND(A c, B d))"
        ),
        COUPLED.events,
    )
    rows = rows_by_signature(estimated(case, 0.005))
    monkeypatch.undo()
    exact = rows_by_signature(match_events(plan_of(case.query), case.table))
    assert sorted(rows) == sorted(exact)
    for signature, row in rows.items():
        assert row["confidence_error"] == 0.005
        assert row["confidence"] == pytest.approx(exact[signature]["confidence"], abs=0.005)


def test_more_worlds_come_closer(nothing_is_summed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rough, fine = rows_by_signature(estimated(COUPLED, 0.05)), rows_by_signature(estimated(COUPLED, 0.002))
    monkeypatch.undo()
    exact = rows_by_signature(match_events(plan_of(COUPLED.query), COUPLED.table))
    assert len(exact) == 4
    assert all(abs(rough[each]["confidence"] - exact[each]["confidence"]) <= 0.05 for each in exact)
    assert all(abs(fine[each]["confidence"] - exact[each]["confidence"]) <= 0.002 for each in exact)


def test_only_what_is_beyond_the_bound_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = rows_by_signature(match_events(plan_of(COUPLED.query), COUPLED.table))
    monkeypatch.setattr(row_sums, "WORK_BOUND", 90)
    rows = rows_by_signature(estimated(COUPLED))
    errors = {signature[0][0] + signature[1][0]: row["confidence_error"] for signature, row in rows.items()}
    assert errors == {"ab": 0.02, "ab2": 0.02, "a2b": 0.0, "a2b2": 0.0}
    assert rows[("a2",), ("b",)]["confidence"] == exact[("a2",), ("b",)]["confidence"]


def test_without_an_error_allowed_the_query_is_refused_with_the_number(nothing_is_summed: None) -> None:
    with pytest.raises(QueryTooLargeError, match=r"more than 0 products.*allow an error with --approximate"):
        match_events(plan_of(COUPLED.query), COUPLED.table)


def test_a_search_that_is_too_large_is_refused_even_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends, "MOST_STEPS", 0)
    with pytest.raises(
        QueryTooLargeError, match=r"exact time range of a match .* 0 systems .* by nested sums"
    ):
        estimated(COUPLED)


def test_a_match_that_no_sampled_world_holds_is_returned_all_the_same(nothing_is_summed: None) -> None:
    wide = (Event("a", "A", 0, 999_999), Event("b", "B", 0, 999_999))
    case = Case("PATTERN AND(A a, B b) WHERE b.time - a.time >= 999999 ticks", wide)
    (row,) = estimated(case).to_pylist()
    assert (row["start"], row["end"], row["confidence_error"]) == (0, 999_999, 0.02)
    assert row["confidence"] == 0.0


def test_an_impossible_match_is_never_returned(nothing_is_summed: None) -> None:
    always = (Event("a", "A", 0, 0), Event("n", "N", 1, 3), Event("m", "N", 2, 4), Event("b", "B", 5, 6))
    assert estimated(Case("PATTERN SEQ(A a, !N n, B b)", always)).num_rows == 0


def test_no_estimate_depends_on_what_else_there_is(nothing_is_summed: None) -> None:
    wanted = rows_by_signature(estimated(COUPLED))
    others = (Event("far", "A", 500, 510), Event("aa", "C", 3, 9), Event("near", "B", 501, 520))
    moved = Case(COUPLED.query, (*others, *reversed(COUPLED.events)))
    found = rows_by_signature(estimated(moved))
    assert {signature: found[signature] for signature in wanted} == wanted


@pytest.mark.parametrize("length", [1, 3, 50])
def test_slices_change_no_byte(nothing_is_summed: None, length: int) -> None:
    plan, options = plan_of(COUPLED.query), MatchOptions(approximate=0.05)
    source = TableSource.of(event_table(COUPLED.events))
    slicing = choose_slicing(row_groups([source]), plan, 2, length)
    batches = [
        batch
        for own in slicing.slices
        for batch in match_batches(plan, event_table(COUPLED.events), options, own.owned)
    ]
    found = ordered(pa.Table.from_batches(batches, match_schema(plan, approximate=True)))
    assert found.equals(ordered(match_events(plan, COUPLED.table, options)))


def test_the_number_of_worlds_is_the_one_that_hoeffding_asks_for() -> None:
    for error in (0.1, 0.01, 0.001):
        assert 2 * math.exp(-2 * sample_size(error) * error**2) <= FAILURE_PROBABILITY
        assert 2 * math.exp(-2 * (sample_size(error) - 1) * error**2) > FAILURE_PROBABILITY


def test_the_column_of_errors_is_there_only_when_asked_for() -> None:
    plan = plan_of(COUPLED.query)
    assert "confidence_error" not in match_events(plan, COUPLED.table).column_names
    assert match_schema(plan, approximate=True).names[3:5] == ["confidence", "confidence_error"]
