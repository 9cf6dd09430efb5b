"""Queries that can never match say why; others do not."""

from __future__ import annotations

import pytest

from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze

NEVER = {
    "WHERE a.x > 5 AND a.x < 3": "a.x > 5 and a.x < 3 exclude each other",
    "WHERE a.x > 5 AND 5 >= a.x": "a.x > 5 and 5 >= a.x exclude each other",
    "WHERE a.s = 'x' AND a.s IN ('y', 'z')": "a.s = 'x' and a.s IN ('y', 'z') exclude each other",
    "WHERE a.x BETWEEN 5 AND 3": "a.x BETWEEN 5 AND 3 is never true",
    "WHERE a.x IS NULL AND a.x > 1": "a.x IS NULL and a.x > 1 exclude each other",
    "WHERE a.x = NULL": "a.x = NULL is never true: null equals nothing",
    "WHERE 1 > 2": "1 > 2 is never true",
    "WHERE FALSE": "a condition is false whatever the events are",
    "WHERE a.x = 5 AND b.y = 6 AND a.x = b.y": "a.x = 5 and b.y = 6 exclude each other",
    "WHERE [k] AND a.k = 'm' AND b.k = 'n'": "a.k = 'm' and b.k = 'n' exclude each other",
    "WITHIN 1 ticks": "a before b (SEQ); the window of 1 ticks",
    "WHERE b.time - a.time <= 0 s": "a before b (SEQ); b.time - a.time <= 0 ticks",
    "WHERE b.time - a.time > 5 s WITHIN 5 s": "the window of 5000 ticks; a.time - b.time <= -5001 ticks",
    "WHERE a.time - a.time > 1 s": "a condition is false whatever the events are",
    "WHERE a.time > '2020-01-02' AND b.time < '2020-01-01'": "a before b (SEQ)",
}


@pytest.mark.parametrize("rest", NEVER)
def test_a_contradiction_is_found_and_named(rest: str) -> None:
    never = analyze(parse(f"PATTERN SEQ(A a, B b) {rest}")).never
    assert never is not None
    assert NEVER[rest] in never


POSSIBLE = [
    "WHERE a.x > 3 AND a.x < 5",
    "WHERE a.x >= 5 AND a.x <= 5 AND a.x = 5.0",
    "WHERE a.x > 5 AND b.x < 3",
    "WHERE a.x IS NULL AND b.x > 5",
    "WHERE a.x > 5 OR a.x < 3",
    "WHERE a.x = 5 AND a.x <> 6 AND a.x IN (4, 5)",
    "WITHIN 2 ticks",
    "WHERE b.time - a.time <= 1 ticks",
    "WHERE b.time - a.time >= 4999 ticks WITHIN 5 s",
    "WHERE b.time - a.time <> 1 ticks",
    "WHERE a.time - a.time <= 0 s",
    "WHERE a.time > '2020-01-01' AND b.time < '2020-01-02'",
]


@pytest.mark.parametrize("rest", POSSIBLE)
def test_what_might_match_is_left_alone(rest: str) -> None:
    assert analyze(parse(f"PATTERN SEQ(A a, B b) {rest}")).never is None


def test_conditions_on_an_absent_event_may_contradict_each_other() -> None:
    query = "PATTERN SEQ(A a, !N n, B b) WHERE n.x > 5 AND n.x < 3"
    assert analyze(parse(query)).never is None


def test_an_impossible_reading_is_dropped_with_a_warning() -> None:
    plan = analyze(parse("PATTERN SEQ(A a, OR(B b, C c)) WHERE b.x > 5 AND b.x < 3"))
    assert [each.components[1].variable for each in plan.alternatives] == ["c"]
    assert plan.warnings == (
        "the reading (a, b) of the pattern can never match: b.x > 5 and b.x < 3 exclude each other",
    )


@pytest.mark.parametrize(
    ("query", "never"),
    [
        ("SEQ(B b, A a) WHERE [k] GIVEN SEQ(A p, B q) IF p.k = q.k", True),
        ("SEQ(B b, A a) WHERE a.k = b.k GIVEN SEQ(A p, B q) IF p.k = q.k", True),
        ("SEQ(B b, A a) WHERE b.k = a.k AND a.x > 1 GIVEN SEQ(A p, B q) IF p.k = q.k AND p.x > 1", True),
        ("SEQ(B b, A a) WHERE a.k = b.k GIVEN SEQ(A p, B q) IF p.k = q.k AND p.x > 1", False),
        ("SEQ(B b, A a) GIVEN SEQ(A p, B q) IF p.k = q.k", False),
        ("SEQ(B b, A a) GIVEN SEQ(A|C p, B q) IF TRUE", True),
        ("SEQ(B b, A|C a) GIVEN SEQ(A p, B q) IF TRUE", False),
        ("SEQ(B b, * a) GIVEN SEQ(A p, B q) IF TRUE", False),
        ("SEQ(A a, B b) WHERE b.time - a.time > 9 ticks GIVEN AND(A p, B q) WITHIN 9 ticks IF TRUE", True),
        ("SEQ(A a, !B n, C c) WITHIN 9 ticks GIVEN SEQ(C p, B q) IF TRUE", False),
    ],
)
def test_what_is_given_of_the_components_may_exclude_the_pattern(query: str, never: bool) -> None:
    found = analyze(parse(f"PATTERN {query}")).never
    assert (found is not None) == never
    assert found is None or "GIVEN" in found
