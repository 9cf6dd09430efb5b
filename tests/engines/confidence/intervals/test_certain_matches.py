"""Rows of events that last which every world returns have the confidence 1, to the last digit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.intervals import rows as measuring
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.event.match import match_events
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.clock_cases import ClockCase
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.intervals.random_intervals import negations, queries, streams_with_rivals
from tests.engines.confidence.intervals.test_shared_absences import COMBINATIONS
from tests.engines.stretched import certain_ones_are_told
from tests.plans import Event, event_table, lasting, on, plan_of

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


def test_sums_that_round_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_summed(_measure: object, _matches: object, _broken: object, found: Measured) -> Measured:
        return found

    monkeypatch.setattr(measuring, "_certain_ones", as_summed)
    found = [confidences(name) for name in WORKED]
    assert any(each != [1.0] for each in found)


def test_holes_that_leave_no_other_world_make_certain() -> None:
    """GIVEN puts e1 before e2 and e2 before e3; as far as the ends of their masses tell it need not."""
    clocks = {"n": ((-2, 2, 1.0),)}
    early, late = ((1, 1, 0.1), (2, 3, 0.6), (5, 6, 0.3)), ((2, 2, 0.1), (3, 4, 0.6), (6, 7, 0.3))
    events = (
        on("n", clocks, lasting("e0", "C", (1, 1), (2, 2))),
        on("n", clocks, Event("e1", "B", 1, 6, pmf=early, g="v")),
        Event("e2", "B", 1, 6, pmf=early, g="v"),
        Event("e3", "B", 2, 7, pmf=late, g="u"),
    )
    ordered = "p.event_id < q.event_id AND q.event_id < r.event_id AND p.g <> r.g"
    query = f"PATTERN SEQ(B b, B c) GIVEN SEQ(* p, * q, * r) WITHIN 8 ticks IF {ordered}"
    case = ClockCase(query, (replace(events[0], g="u"), *events[1:]), clocks)
    rows = match_events(plan_of(query, clocks, lasting=True), case.table)
    assert [row["confidence"] for row in rows.to_pylist()] == [1.0, 1.0, 1.0]


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
