"""Rows of events that last which every world returns have the confidence 1, to the last digit."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from cepctl.arrays import Reals
from cepctl.engines.confidence.intervals import independent, tied_matches
from cepctl.engines.event.match import match_events
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.clock_cases import ClockCase
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.intervals.random_intervals import negations, queries, streams_with_rivals
from tests.engines.confidence.intervals.test_shared_absences import COMBINATIONS
from tests.engines.stretched import certain_ones_are_told
from tests.plans import event_table, lasting, plan_of

EARLIER = "a BEFORE|MEETS|OVERLAPS b"
A, B = lasting("a", "A", (0, 6), (7, 20)), lasting("b", "B", (7, 14), (21, 37))
LATER = lasting("n", "N", (60, 70), (70, 80))
WORKED = {
    "one of several relations": (f"ISEQ(A a, B b) WHERE {EARLIER}", (A, B)),
    "beside what cannot interfere": (
        f"ISEQ(A a, B b, !N n) WHERE {EARLIER} AND n.end < b.end",
        (A, B, LATER),
    ),
    "where something is given": (
        f"ISEQ(A a, B b) WHERE {EARLIER} GIVEN SEQ(A p, N q) IF TRUE",
        (A, B, lasting("n", "N", (18, 40), (41, 50))),
    ),
    "beside what is given not to interfere": (
        f"ISEQ(A a, B b, !N n) WHERE {EARLIER} AND n.end < a.start GIVEN SEQ(A p, N q) IF TRUE",
        (
            lasting("a", "A", (0, 22), (2, 36)),
            lasting("b", "B", (23, 30), (37, 69)),
            lasting("n", "N", (0, 47), (2, 57)),
        ),
    ),
}


def confidences(name: str) -> list[float]:
    query, events = WORKED[name]
    rows = match_events(plan_of(f"PATTERN {query}", lasting=True), event_table(events)).to_pylist()
    return [row["confidence"] for row in rows]


@pytest.mark.parametrize("name", WORKED)
def test_what_every_world_returns_is_certain(name: str) -> None:
    assert confidences(name) == [1.0]


@pytest.mark.parametrize("module", [independent, tied_matches])
def test_sums_that_round_are_found(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def as_summed(confidence: Reals, *_: object) -> Reals:
        return confidence

    monkeypatch.setattr(module, "with_certain_ones", as_summed)
    found = [confidences(name) for name in WORKED]
    assert any(each != [1.0] for each in found)


_WITH_GIVEN = st.builds(
    lambda query, clauses, events: ClockCase(query + clauses, events, {}),
    queries() | negations(),
    GIVENS,
    tied_streams(("ABC", "ACB", "AB", "ACAB")),
)
_CASES = st.one_of(
    st.builds(ClockCase, queries() | negations(), streams_with_rivals(), st.just({})),
    _WITH_GIVEN,
    COMBINATIONS["alone"],
    COMBINATIONS["given"],
)


def _are_told(case: ClockCase) -> None:
    certain_ones_are_told(case, lasting=True)


def test_certain_rows_are_told() -> None:
    check(_CASES, _are_told, FEW_EXAMPLES)


@pytest.mark.slow
def test_certain_rows_are_told_many_times_over() -> None:
    check(_CASES, _are_told, MANY_EXAMPLES)
