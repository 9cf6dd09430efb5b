"""Rows that --approximate estimates: just the possible ones, with their ranges, within their errors.

Something is given of their events, and nothing of these is summed; the judge says what is possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.confidence.clocks import estimates
from cepctl.engines.confidence.coupled.problem import Clauses, clauses_of
from cepctl.engines.confidence.given import work
from cepctl.engines.confidence.occurrence.ends import ends_of
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check, rows_by_signature
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.confidence.occurrence.test_group_mutants import kept_clauses
from tests.plans import Event, event_table, plan_of
from tests.strategies import LEVELS, Case

ERROR = 0.2
ESTIMATED = MatchOptions(approximate=ERROR)
CASES: dict[str, st.SearchStrategy[Any]] = {
    "single events": with_given(
        LEVELS["negation"] | LEVELS["next match"] | LEVELS["contiguity"] | LEVELS["AND"]
    ),
    "groups": with_given(LEVELS["Kleene sets"] | LEVELS["Kleene under contiguity"]),
}


@pytest.fixture(autouse=True)
def nothing_tied_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_TIED", 0)
    monkeypatch.setattr("cepctl.engines.confidence.given.counted.MOST_COUNTED", 0)


def estimates_are_of_what_is_possible(case: Case) -> None:
    plan = plan_of(case.query)
    try:
        wanted = rows_by_signature(match_table(plan, case.table))
    except (ContradictionError, QueryTooLargeError):
        assume(condition=False)
    try:
        found = rows_by_signature(match_events(plan, case.table, ESTIMATED))
    except QueryTooLargeError as error:
        # Of few worlds that satisfy what is given none may be drawn often enough.
        assert "draws worlds until" in str(error)
        return
    assert set(found) == set(wanted)
    for signature, row in found.items():
        exact = wanted[signature]
        assert (row["start"], row["end"]) == (exact["start"], exact["end"])
        assert abs(row["confidence"] - exact["confidence"]) <= row["confidence_error"] + 1e-9
        assert row["confidence_error"] in (0.0, ERROR)
        assert row["confidence"] == 0.0 or row["confidence"] > 1e-9


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_of_what_is_possible(name: str) -> None:
    check(CASES[name], estimates_are_of_what_is_possible, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_estimates_are_of_what_is_possible_in_many_cases(name: str) -> None:
    check(CASES[name], estimates_are_of_what_is_possible, MANY_EXAMPLES // 4)


def _without_absences(clocks: EventClocks, clauses: Clauses, *rest: Any) -> Any:
    return ends_of(clocks, kept_clauses(clauses, np.flatnonzero(~clauses.absent).tolist()), *rest)


def _without_ties(*arguments: Any, limited: bool, tied: Any) -> Clauses:
    return clauses_of(*arguments, limited=limited)


@pytest.mark.parametrize(("name", "fault"), [("ends_of", _without_absences), ("clauses_of", _without_ties)])
def test_a_range_that_forgets_what_decides_it_is_found(
    name: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, name, fault)
    with pytest.raises(AssertionError):
        check(CASES["single events"], estimates_are_of_what_is_possible, 200, shrink=False)


IN_ORDER = "GIVEN SEQ(* p, * q) IF p.x < q.x"


def test_what_only_absences_make_impossible_is_no_row() -> None:
    """Wherever in 1..3 the one N lies that is after a, it is before b."""
    events = (
        Event("a", "A", 0, 0, x=1),
        Event("n", "N", 1, 3, x=2),
        Event("b", "B", 4, 6, x=3),
        Event("c", "C", 4, 6, x=4),
    )
    plan = plan_of(f"PATTERN SEQ(A a, !N n, B b, C c) {IN_ORDER}")
    assert match_events(plan, event_table(events), ESTIMATED).num_rows == 0


IMPROBABLE = (
    Event("a", "A", 9_998, 19_998, x=1),
    Event("b", "B", 0, 10_000, x=2),
    Event("c", "C", 0, 10_000, x=3),
    Event("z", "Z", 0, 20_000, x=0),
)


def test_what_no_sampled_world_returns_shows_that_none_did() -> None:
    """Five worlds in 10^12: of those that are drawn none, and that is what stands there."""
    plan = plan_of("PATTERN SEQ(A a, AND(B b, C c)) GIVEN SEQ(* p, * q) IF p.x = 0 AND q.x = 2")
    (row,) = match_events(plan, event_table(IMPROBABLE), ESTIMATED).to_pylist()
    assert (row["confidence"], row["confidence_error"]) == (0.0, ERROR)
