"""Matches that differ only in which of several alike events they bind, or in when, are measured once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.match import match_events
from cepctl.engines.solve import methods
from cepctl.engines.solve.batch import Batch
from tests.engines.agreement import FEW_EXAMPLES, check, rows_by_signature
from tests.plans import Event, event_table, plan_of
from tests.strategies import (
    Case,
    and_cases,
    contiguity_cases,
    group_timing_cases,
    kleene_cases,
    negation_cases,
    next_match_cases,
    sequence_cases,
)

NEXT = "PATTERN SEQ(A a, B b, C c) STRATEGY skip_till_next_match"
CASES = (
    next_match_cases,
    contiguity_cases,
    negation_cases,
    kleene_cases,
    sequence_cases,
    and_cases,
    group_timing_cases,
)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many matches were measured, call by call."""
    counts = []
    one_by_one = methods._by_methods

    def counted(batch: Batch) -> Any:
        counts.append(len(batch))
        return one_by_one(batch)

    monkeypatch.setattr(methods, "_by_methods", counted)
    return counts


def test_receipts_of_one_day_are_measured_once(measured: list[int]) -> None:
    """Whichever comes first in the world counts: a third each, and what ties add, (1 + 4 + 9) / 27."""
    events = [Event("a", "A", 0, 0), *(Event(f"b{i}", "B", 1, 3) for i in range(3)), Event("c", "C", 9, 9)]
    rows = match_events(plan_of(NEXT), event_table(events)).to_pylist()
    assert [(row["start"], row["end"]) for row in rows] == [(0, 9)] * 3
    assert [row["confidence"] for row in rows] == pytest.approx([14 / 27] * 3, abs=1e-15)
    assert measured == [1]


@pytest.mark.parametrize(
    ("other", "problems"),
    [
        (Event("b3", "B", 1, 4), 2),  # another interval
        (Event("b3", "B", 3, 11), 2),  # a rival beside the first three, and a match of its own
        (Event("b3", "B", 9, 11), 1),  # after the first three in every world: never next
        (Event("x", "X", 1, 3), 1),  # no rival
    ],
)
def test_what_tells_matches_apart_makes_another_problem(
    measured: list[int], other: Event, problems: int
) -> None:
    events = [Event("a", "A", 0, 0), *(Event(f"b{i}", "B", 1, 3) for i in range(3)), other]
    match_events(plan_of(NEXT), event_table([*events, Event("c", "C", 12, 12)]))
    assert sum(measured) == problems


def test_what_happens_every_minute_is_measured_once(measured: list[int]) -> None:
    """Samples at regular distances; the last one comes a tick late."""
    each = [("A", 0, 3), ("B", 2, 5), ("B", 4, 6), ("C", 5, 9)]
    events = [
        Event(f"{minute} {i}", kind, 60 * minute + lower, 60 * minute + upper + (minute == 3))
        for minute in range(4)
        for i, (kind, lower, upper) in enumerate(each)
    ]
    rows = match_events(plan_of(f"{NEXT} WITHIN 20 ticks"), event_table(events)).to_pylist()
    assert measured == [4]
    assert len(rows) == 8
    for row in rows:
        first = next(other for other in rows if other["start"] == row["start"] % 60)
        if row["start"] < 180:
            assert row["end"] - first["end"] == row["start"] - first["start"]


@pytest.mark.parametrize(
    ("kind", "order", "problems"),
    [
        ("B+ b[]", "", 3),  # one of the first two, the other, both; in whichever of four minutes
        ("B+ b[]", "b[first].x >= 0", 4),  # besides, both the other way round
        ("AND(B b, B d)", "", 2),  # which of them is b
    ],
)
def test_groups_that_happen_every_minute_are_measured_once(
    kind: str, order: str, problems: int, measured: list[int]
) -> None:
    each = [("A", 0, 3), ("B", 2, 5), ("B", 3, 7), ("C", 5, 9)]
    events = [
        Event(f"{minute} {i}", kind, 60 * minute + lower, 60 * minute + upper, x=i)
        for minute in range(4)
        for i, (kind, lower, upper) in enumerate(each)
    ]
    query = f"PATTERN SEQ(A a, {kind}, C c) {'WHERE' if order else ''} {order} WITHIN 20 ticks"
    rows = match_events(plan_of(query), event_table(events)).to_pylist()
    assert len(rows) == 4 * problems
    assert sum(measured) == problems


def test_matches_at_other_times_are_others_where_a_constant_limits_what_must_be_absent() -> None:
    """The first C counts for nothing, the second breaks its match in half of the worlds."""
    query = "PATTERN SEQ(!C n, A a) WHERE n.time >= '1970-01-01T00:00:00.003Z' WITHIN 2 ticks"
    events = [
        Event("c1", "C", 0, 1),
        Event("a1", "A", 2, 2),
        Event("c2", "C", 10, 11),
        Event("a2", "A", 12, 12),
    ]
    rows = match_events(plan_of(query), event_table(events)).to_pylist()
    assert [(row["start"], row["confidence"]) for row in rows] == [(2, 1.0), (12, 0.5)]


@pytest.mark.parametrize("cases", CASES)
def test_measuring_once_changes_no_bit(cases: Any) -> None:
    """Every event on a grid of four ticks, so that many are alike."""

    def on_a_grid(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in rows:
            row["pmf"], row["lower"] = None, row["lower"] // 4 * 4
            row["upper"] = row["lower"] + 3
        return rows

    check(cases(), partial(_assert_same_bits, on_a_grid), FEW_EXAMPLES)


@pytest.mark.parametrize("cases", [each for each in CASES if each is not sequence_cases])
def test_measuring_what_is_moved_once_changes_no_bit(cases: Any) -> None:
    """All events a second time, so much later that no window holds both; of sequences there were too many."""

    def twice(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rows + [_later(row, 1_000_003) for row in rows]

    check(cases(), partial(_assert_same_bits, twice), FEW_EXAMPLES)


def _later(row: dict[str, Any], ticks: int) -> dict[str, Any]:
    moved = dict(row, event_id=f"later {row['event_id']}")
    moved["lower"], moved["upper"] = row["lower"] + ticks, row["upper"] + ticks
    if row["pmf"] is not None:
        moved["pmf"] = [dict(each, lo=each["lo"] + ticks, hi=each["hi"] + ticks) for each in row["pmf"]]
    return moved


def _assert_same_bits(changed: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], case: Case) -> None:
    rows = changed(case.table.to_pylist())
    table = type(case.table).from_pylist(rows, case.table.schema)
    plan = plan_of(case.query)
    once = rows_by_signature(match_events(plan, table))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Measure, "shapes", None)
        assert rows_by_signature(match_events(plan, table)) == once
