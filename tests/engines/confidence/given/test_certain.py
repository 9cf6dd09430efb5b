"""What is given makes some rows certain: their confidence is 1, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.confidence.occurrence import rows
from cepctl.engines.event.match import match_events
from cepctl.numeric.arrays import Flags
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.clock_cases import ClockCase
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.stretched import certain_ones_are_told
from tests.plans import Event, event_table, plan_of
from tests.strategies import LEVELS, Case

IN_ORDER = "GIVEN SEQ(A p, A q) IF p.event_id < q.event_id"


@pytest.mark.parametrize("step", [3, 5, 7])
@pytest.mark.parametrize("width", [8, 9, 13, 17])
def test_what_is_given_is_certain_whatever_the_sums_round_to(step: int, width: int) -> None:
    events = [Event(f"e{i}", "A", step * i, step * i + width) for i in range(4)]
    found = match_events(plan_of(f"PATTERN SEQ(A a, A b) {IN_ORDER}"), event_table(events))
    assert found.column("confidence").to_pylist() == [1.0] * 6


def test_what_is_nearly_certain_is_not_rounded() -> None:
    wide = 10**5
    events = [Event("e0", "A", 0, wide), Event("e1", "A", 1, 2 * wide), Event("x", "X", wide - 1, wide - 1)]
    found = match_events(
        plan_of(f"PATTERN SEQ(A a, X x) WHERE a.event_id = 'e0' {IN_ORDER}"), event_table(events)
    )
    (confidence,) = found.column("confidence").to_pylist()
    assert 1 - 1e-4 < confidence < 1


def test_members_and_rivals_are_held_to_what_is_given() -> None:
    """The members of a group precede b, and n comes after it, in every world that is left."""
    events = [Event(f"e{i}", "A", 7 * i, 7 * i + 13) for i in range(4)]
    query = f"PATTERN SEQ(A+ a[], A b) WHERE count(a[]) = 2 {IN_ORDER}"
    found = match_events(plan_of(query), event_table(events))
    assert found.column("confidence").to_pylist() == [1.0] * 4
    table = event_table([*events[:3], Event("n", "N", 20, 40)])
    clauses = f"{IN_ORDER} GIVEN SEQ(A p, N q) IF TRUE"
    found = match_events(plan_of(f"PATTERN SEQ(A a, !N n, A b) {clauses}"), table)
    assert found.column("confidence").to_pylist() == [1.0] * 3


_K = "GIVEN SEQ(A p, * q) IF p.event_id < q.event_id AND p.k = q.k"
_BEFORE = "GIVEN SEQ(A p, B q) IF TRUE GIVEN SEQ(A p, C q) IF TRUE"
SUMS_THAT_ROUND = {
    "a set with a member that is tied": (
        f"A+ a[] {_K}",
        [Event("a", "A", 9, 12), Event("b", "A", 3, 16, k="p"), Event("c", "C", 8, 12, k="p")],
        [["a", "b"]],
    ),
    "a set, and one behind it": (
        "SEQ(A+ a[], B b) GIVEN SEQ(A p, B q) IF TRUE",
        [Event("a", "A", 9, 12), Event("b", "A", 3, 16), Event("c", "B", 5, 13)],
        [["a", "b"], ["c"]],
    ),
    "a set that ends before an absence": (
        "SEQ(A+ a[], !N n, B b) GIVEN SEQ(A p, B q) IF TRUE GIVEN SEQ(B p, N q) IF TRUE",
        [Event("a", "A", 9, 15), Event("c", "B", 5, 18), Event("n", "N", 9, 18)],
        [["a"], ["c"]],
    ),
    "AND": (
        f"SEQ(A a, AND(B b, C c)) {_BEFORE}",
        [Event("a", "A", 4, 9), Event("b", "B", 5, 15), Event("c", "C", 9, 22)],
        [["a"], ["b"], ["c"]],
    ),
    "AND behind an absence": (
        f"SEQ(A a, !N n, AND(B b, C c)) {_BEFORE} GIVEN SEQ(B p, N q) IF TRUE",
        [Event("a", "A", 4, 9), Event("b", "B", 5, 15), Event("c", "C", 9, 22), Event("n", "N", 7, 15)],
        [["a"], ["b"], ["c"]],
    ),
    "AND, and an absence at the edge": (
        f"SEQ(!N n, A a, AND(B b, C c)) WITHIN 90 ticks {_BEFORE} GIVEN SEQ(A p, N q) IF TRUE",
        [Event("a", "A", 2, 3), Event("b", "B", 4, 12), Event("c", "C", 1, 13), Event("n", "N", 11, 20)],
        [["a"], ["b"], ["c"]],
    ),
}

_CLOCKS: Clocks = {"n": ((-2, 2, 1.0),), "m": ((-1, 1, 0.3), (3, 4, 0.7))}
SUMS_THAT_ROUND |= {
    "AND on clocks": (
        f"SEQ(A a, AND(B b, C c)) {_BEFORE}",
        [
            Event("a", "A", -1, 7, clock="m"),
            Event("b", "B", 2, 9, clock="n"),
            Event("c", "C", -1, 7, clock="n"),
        ],
        [["a"], ["b"], ["c"]],
    ),
    "a set on clocks before an absence": (
        "SEQ(A+ a[], !N n, B b) GIVEN SEQ(A p, B q) IF TRUE GIVEN SEQ(B p, N q) IF TRUE",
        [
            Event("a", "A", 2, 8, clock="n"),
            Event("c", "A", -1, 9, clock="n"),
            Event("b", "B", 2, 9, clock="m"),
            Event("n", "N", 5, 6),
        ],
        [["a"], ["b"]],
    ),
    "OR on clocks": (
        "OR(SEQ(A a, B b), SEQ(B b, A a)) GIVEN SEQ(A p, B q) IF TRUE",
        [Event("a", "A", 3, 11, clock="m"), Event("b", "B", 3, 12, clock="n")],
        [["a"], ["b"]],
    ),
}


def confidence_of(name: str) -> float:
    query, events, signature = SUMS_THAT_ROUND[name]
    rows = match_events(plan_of(f"PATTERN {query}", _CLOCKS), event_table(events)).to_pylist()
    return float(next(row["confidence"] for row in rows if row["signature"] == signature))


def test_the_occurrence_of_a_key_with_a_certain_match_is_certain() -> None:
    events = [Event("a", "A", 4, 9), Event("c", "A", 7, 11), Event("b", "B", 5, 15), Event("x", "B", 8, 8)]
    query = f"PATTERN SEQ(A a, B b) GROUP BY () {IN_ORDER} GIVEN SEQ(A p, B q) IF q.event_id = 'b'"
    (row,) = match_events(plan_of(query), event_table(events)).to_pylist()
    assert (row["matches"], row["confidence"], row["occurrence"]) == (4, 1.0, 1.0)


@pytest.mark.parametrize("name", SUMS_THAT_ROUND)
def test_a_match_is_certain_whatever_its_sums_round_to(name: str) -> None:
    assert confidence_of(name) == 1.0


def test_sums_that_round_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_clocks: object, _clauses: object, _match: object, count: int, *_: object) -> Flags:
        return np.zeros(count, dtype=bool)

    monkeypatch.setattr(rows, "surely_hold", none)
    rounded = [name for name in SUMS_THAT_ROUND if confidence_of(name) != 1.0]
    assert rounded


_CASES = with_given(st.one_of(*(each for name, each in LEVELS.items() if "OR" not in name.split())))


def _are_told(case: Case) -> None:
    certain_ones_are_told(ClockCase(case.query, case.events, {}), lasting=False)


def test_certain_rows_are_told() -> None:
    check(_CASES, _are_told, FEW_EXAMPLES)


@pytest.mark.slow
def test_certain_rows_are_told_many_times_over() -> None:
    check(_CASES, _are_told, MANY_EXAMPLES)
