"""prob(...) on the histograms of PTJ06's Example 3 and on events that last, in both engines."""

from __future__ import annotations

from typing import Any

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.confidence.intervals.worked_intervals import A, B
from tests.plans import Event, event_table, histogram, on, plan_of

# Of H2 with the stamp 110 and H3 with the stamp 210 the bucket (x, y] is the ticks x + 1 to y.
H2 = histogram("b2", "B", (71, 80, 0.15), (81, 90, 0.3), (91, 100, 0.4), (101, 110, 0.15))
H3 = histogram("a3", "A", (171, 190, 0.1), (191, 200, 0.3), (201, 210, 0.6))


def rows(query: str, *events: Event, clocks: Clocks | None = None) -> list[dict[str, Any]]:
    plan = plan_of(f"PATTERN {query}", clocks, lasting=any(each.end_lower is not None for each in events))
    found = match_events(plan, event_table(events)).to_pylist()
    judged = match_table(plan, event_table(events)).to_pylist()
    assert len(found) == len(judged)
    for one, other in zip(found, judged, strict=True):
        for name in set(one) - {"signature"}:
            assert one[name] == pytest.approx(other[name], rel=1e-9)
    return [dict(each) for each in found]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a.time - b.time >= 90 ticks", 0.929),
        ("a.time - b.time > 90 ticks", 0.921),
        ("a.time - b.time >= 100 ticks", 0.780375),
        ("a.time - b.time > 100 ticks", 0.757125),
        ("a.time - b.time <> 90 ticks", 1 - (0.929 - 0.921)),
    ],
)
def test_the_join_of_ptj06(condition: str, expected: float) -> None:
    (row,) = rows(f"AND(A a, B b) RETURN prob({condition})", H2, H3)
    assert row[f"prob({condition})"] == pytest.approx(expected, rel=1e-9)


def test_its_value_depends_on_nothing_else_in_the_query() -> None:
    (row,) = rows("A a OVERLAPS B b WITHIN 8 ticks RETURN prob(a OVERLAPS|DURING b), prob(a BEFORE b)", A, B)
    assert row["prob(a OVERLAPS|DURING b)"] == pytest.approx(194 / 464)
    assert row["prob(a BEFORE b)"] == pytest.approx(52 / 464)
    assert row["confidence"] == pytest.approx(98 / 464)


@pytest.mark.parametrize(
    ("threshold", "count"), [(">= 0.929", 1), ("< 0.929", 0), ("> 0.929", 0), ("<= 0.929", 1)]
)
def test_in_where_it_decides_who_fits(threshold: str, count: int) -> None:
    query = f"AND(A a, B b) WHERE prob(a.time - b.time >= 90 ticks) {threshold}"
    assert len(rows(query, H2, H3)) == count


def test_it_decides_who_is_absent() -> None:
    negated = Event("n", "N", 95, 130)
    query = "SEQ(B b, !N n, A a) WHERE prob(n.time > b.time) {} 0.9"
    assert rows(query.format(">="), H2, H3, negated)[0]["confidence"] < 0.1
    assert rows(query.format("<"), H2, H3, negated)[0]["confidence"] == 1.0


CLOCKS: Clocks = {"n": ((-9, 9, 1.0),), "m": ((-2, 2, 1.0),)}


def test_of_events_that_share_a_clock_the_offset_drops_out_of_a_condition() -> None:
    first, second = on("n", CLOCKS, Event("a", "A", 10, 10)), on("n", CLOCKS, Event("b", "B", 12, 12))
    query = "AND(A a, B b) RETURN prob(a.time < b.time), prob(b.time - a.time <= 1 ticks)"
    (row,) = rows(query, first, second, clocks=CLOCKS)
    assert [row[name] for name in ("prob(a.time < b.time)", "prob(b.time - a.time <= 1 ticks)")] == [1.0, 0.0]


def test_of_two_clocks_a_condition_is_summed_over_both_offsets() -> None:
    first, second = on("n", CLOCKS, Event("a", "A", 10, 11)), on("m", CLOCKS, Event("b", "B", 12, 12))
    (row,) = rows("AND(A a, B b) RETURN prob(a.time < b.time)", first, second, clocks=CLOCKS)
    wanted = sum(n + own < m + 12 for n in range(-9, 10) for own in (10, 11) for m in range(-2, 3)) / 190
    assert row["prob(a.time < b.time)"] == pytest.approx(wanted, rel=1e-12)


def test_who_fits_by_a_probability_on_clocks_is_who_the_judge_takes() -> None:
    first, second = on("n", CLOCKS, Event("a", "A", 10, 10)), on("m", CLOCKS, Event("b", "B", 12, 12))
    third = Event("c", "B", 9, 13)
    # Of b the condition has the probability 55 / 95, of c 50 / 95.
    found = rows("AND(A a, B b) WHERE prob(a.time < b.time) >= 0.55", first, second, third, clocks=CLOCKS)
    assert [row["signature"] for row in found] == [[["a"], ["b"]]]
