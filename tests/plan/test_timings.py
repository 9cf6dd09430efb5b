"""Timing constraints become difference constraints in whole ticks."""

from __future__ import annotations

from itertools import product

import pytest

from cepctl.errors import QuerySemanticError
from cepctl.language.ast import Constant
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Timing
from cepctl.schema import TimeUnit

SECONDS = EventSchema({}, TimeUnit(1_000_000))


def timings(condition: str, pattern: str = "SEQ(A a, B b, C+ c[])") -> tuple[Timing, ...]:
    return analyze(parse(f"PATTERN {pattern} WHERE {condition}"), SECONDS).alternatives[0].timings


A, B, C = 0, 1, 2


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("b.time - a.time <= 5 s", [Timing(B, A, 5)]),
        ("b.time - a.time < 5 s", [Timing(B, A, 4)]),
        ("b.time - a.time >= 5 s", [Timing(A, B, -5)]),
        ("b.time - a.time > 5 s", [Timing(A, B, -6)]),
        ("b.time - a.time = 5 s", [Timing(B, A, 5), Timing(A, B, -5)]),
        ("b.time - a.time <> 5 s", [Timing(B, A, 5, not_equal=True)]),
        ("b.time < a.time + 1 min", [Timing(B, A, 59)]),
        ("a.time + 5 s > b.time - 2 ticks", [Timing(B, A, 6)]),
        ("5 s >= -(a.time - b.time)", [Timing(B, A, 5)]),
        ("b.time BETWEEN a.time + 1 s AND a.time + 3 s", [Timing(A, B, -1), Timing(B, A, 3)]),
        ("c[i].time - a.time <= 5 s", [Timing(C, A, 5)]),
        ("a.timestamp <= '1970-01-01T00:01:00Z'", [Timing(A, None, 60)]),
        ("a.time > '1970-01-01 00:01:00'", [Timing(None, A, -61)]),
        ("a.time <= '1970-01-01T01:00:00+01:00'", [Timing(A, None, 0)]),
        ("a.time - '1970-01-02' <= 1 s", [Timing(A, None, 86_401)]),
        ("a.time < '1970-01-01T00:00:00.000000001Z'", [Timing(A, None, 0)]),
        ("a.time <> '1970-01-01T00:00:00.5'", []),
        ("a.time = '1970-01-01T00:00:00.5'", [Timing(A, None, 0), Timing(None, A, -1)]),
        ("a.time - a.time < 1 s", []),
    ],
)
def test_each_comparison_has_its_bound(condition: str, expected: list[Timing]) -> None:
    assert list(timings(condition)) == expected


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "=", "<>"])
@pytest.mark.parametrize("half", [0, 1])
def test_rounding_means_the_same_for_every_whole_tick(operator: str, half: int) -> None:
    found = analyze(
        parse(f"PATTERN SEQ(A a, B b) WHERE a.time {operator} '1970-01-01T00:00:05.{5 * half}'"), SECONDS
    )
    compare = {
        "<": float.__lt__, "<=": float.__le__, ">": float.__gt__, ">=": float.__ge__, "=": float.__eq__,
        "<>": float.__ne__,
    }[operator]  # fmt: skip
    for tick in range(12):
        held = all(
            (end(t.left, tick) - end(t.right, tick) != t.bound)
            if t.not_equal
            else (end(t.left, tick) - end(t.right, tick) <= t.bound)
            for t in found.alternatives[0].timings
        )
        assert held == compare(float(tick), 5 + half / 2)


def end(component: int | None, tick: int) -> int:
    return 0 if component is None else tick


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        ("b.time - a.time <= 5", "this number needs a unit"),
        ("b.time <= 5 s", "a time may only be compared with another time or an ISO constant"),
        ("a.time + b.time <= 5 s", "a time may only be compared"),
        ("2 * a.time <= b.time", "combined with times, ISO constants and durations"),
        ("a.time < b.value", "combined with times, ISO constants and durations"),
        ("a.time < 'yesterday'", "is not an ISO 8601 time"),
        ("b.time - a.time <= 500 ms", "500 ms is not a whole number of ticks: one tick is 1 s"),
        ("c.time < a.time", "write c[i]"),
        ("z.time < a.time", "no variable 'z'"),
        ("n.time - n.time + b.time - a.time < 5 s", "n.time cancels out of this condition; leave it out"),
    ],
)
def test_what_is_no_timing_constraint(condition: str, complaint: str) -> None:
    with pytest.raises(QuerySemanticError) as problem:
        analyze(
            parse(f"PATTERN SEQ(A a, !N n, B b, C+ c[]) WHERE {condition}"),
            None if "value" in condition else SECONDS,
        )
    assert complaint in str(problem.value)


def test_a_constraint_on_an_absent_event_keeps_its_place() -> None:
    assert timings("n.time - a.time <= 5 s", "SEQ(A a, !N n, B b)") == (Timing(1, 0, 5),)


@pytest.mark.parametrize("condition", ["n.time - n.time >= 2 s", "n.time < n.time", "n.time <> n.time + 0 s"])
def test_what_never_holds_of_an_absent_event_leaves_nothing_that_fits(condition: str) -> None:
    plan = analyze(parse(f"PATTERN SEQ(A a, !N n, B b) WHERE {condition}"), SECONDS)
    assert plan.never is None
    assert [each.filters for each in plan.alternatives[0].components] == [(), (Constant(False),), ()]


def test_a_constraint_does_not_apply_to_a_reading_without_its_event() -> None:
    plan = analyze(parse("PATTERN SEQ(A a, OR(B b, C c)) WHERE b.time - a.time <= 5 s"), SECONDS)
    assert [each.timings for each in plan.alternatives] == [(Timing(1, 0, 5),), ()]


def test_all_pairs_of_components_may_be_compared() -> None:
    for left, right in product("ab", "ab"):
        found = timings(f"{left}.time - {right}.time <= 3 s", "SEQ(A a, B b)")
        assert len(found) == (left != right)
