"""Chains whose rivals stay out of several gaps, on wide intervals: the judge and sums of other kinds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.gaps import several_gaps
from cepctl.engines.event.match import match_events
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found
from cepctl.engines.worlds.engine import match_table
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import (
    EVERYDAY_EXAMPLES,
    RARE_EXAMPLES,
    assert_same_rows,
    check,
    rows_by_signature,
)
from tests.engines.changed_methods import change, measure_nothing
from tests.plans import Event, event_table, histogram, plan_of

NAME = "density carried over several gaps"
MILLION = 10**6
QUERIES = (
    "SEQ(A a, A b, A c) WHERE b.x >= a.x AND c.x >= b.x{} STRATEGY skip_till_next_match",
    "SEQ(A a, A b, B c, B d){} STRATEGY skip_till_next_match",
    "SEQ(A a, A b, A c, B d){} STRATEGY skip_till_next_match",
    "SEQ(A a, A b, A c, A d) WHERE b.x >= a.x AND c.x >= b.x{} STRATEGY skip_till_next_match",
    "SEQ(* a, * b, * c, * d){} STRATEGY strict_contiguity",
    "SEQ(A a, !SEQ(A b, A c), A d){}",
    "SEQ(A a, !SEQ(A b, A c), A d) WHERE c.x > b.x{}",
)


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How many matches are measured this way, wherever it can be, and how many are left."""
    found: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        measures: Callable[[Batch, Indexes], Found]

        def measure(batch: Batch, rows: Indexes) -> Found:
            result = measures(batch, rows)
            found["taken"] += len(result[0])
            found["left"] += len(rows) - len(result[0])
            return result

        measures = change(patch, NAME, measure)
        yield found


@st.composite
def streams(draw: st.DrawFn, most: int, widest: int) -> tuple[str, pa.Table]:
    """A query and events one after the other that overlap, some with holes in their masses."""
    events = []
    for number in range(draw(st.integers(4, most))):
        name, x = f"e{number}", draw(st.integers(0, 2))
        kind = draw(st.sampled_from("BA" if number > 1 else "A"))
        lower = number * widest // 6 + draw(st.integers(0, widest // 2))
        width = draw(st.integers(widest // 2, widest))
        middle, hole = lower + width // 3, draw(st.integers(0, width // 3))
        if draw(st.integers(0, 3)) == 0 and middle + hole < lower + width:
            buckets = (lower, middle, 0.25), (middle + hole + 1, lower + width, 0.75)
            events.append(histogram(name, kind, *buckets, x=x))
        else:
            events.append(Event(name, kind, lower, lower + width, x=x))
    ticks = draw(st.sampled_from([None, widest // 2 + 4, widest + 2, 3 * widest // 2, 2 * widest]))
    window = "" if ticks is None else f" WITHIN {ticks} ticks"
    return f"PATTERN {draw(st.sampled_from(QUERIES)).format(window)}", event_table(events)


def test_the_judge_agrees_on_narrow_intervals() -> None:
    with counted() as found:

        def agree(drawn: tuple[str, pa.Table]) -> None:
            plan, table = plan_of(drawn[0]), drawn[1]
            assert_same_rows(match_table(plan, table), match_events(plan, table))

        check(streams(5, 4), agree, EVERYDAY_EXAMPLES)
    assert found["taken"] > 0


@pytest.mark.parametrize(("widest", "most"), [(30, 6), (MILLION, 5)])
def test_sums_of_other_kinds_agree_on_wide_intervals(widest: int, most: int) -> None:
    with counted() as found:

        def agree(drawn: tuple[str, pa.Table]) -> None:
            plan, table = plan_of(drawn[0]), drawn[1]
            own = match_events(plan, table)
            with pytest.MonkeyPatch.context() as patch:
                measure_nothing(patch, NAME)
                assert_same_rows(match_events(plan, table), own)

        check(streams(most, widest), agree, RARE_EXAMPLES // 2)
    assert found["taken"] > 0


@pytest.mark.parametrize(
    ("query", "count", "width"),
    [
        *((query, 8, 30) for query in QUERIES[:4]),
        (QUERIES[4], 7, 22),
        # A minute each: any four of the events may be a match.
        pytest.param(QUERIES[4], 10, 30, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("window", ["", " WITHIN 3 ticks", " WITHIN 40 ticks", " WITHIN 97 ticks"])
def test_many_rivals_agree_with_nested_sums(
    query: str, count: int, width: int, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [Event(f"e{i}", "AABBA"[i % 5], 7 * i, 7 * i + width, x=i % 3) for i in range(count)]
    plan, table = plan_of(f"PATTERN {query.format(window)}"), event_table(events)
    with counted() as found:
        own = rows_by_signature(match_events(plan, table))
    assert window == " WITHIN 3 ticks" or found["taken"] > 0
    measure_nothing(monkeypatch, NAME)
    for signature, row in rows_by_signature(match_events(plan, table)).items():
        assert (row["start"], row["end"]) == (own[signature]["start"], own[signature]["end"])
        assert math.isclose(row["confidence"], own[signature]["confidence"], rel_tol=1e-12, abs_tol=1e-15)


@pytest.mark.parametrize("count", [5, 12])
@pytest.mark.parametrize("strategy", ["skip_till_next_match", "strict_contiguity"])
def test_of_many_events_in_any_order_four_are_neighbours(strategy: str, count: int) -> None:
    """Of n events in random order, four given ones follow one another with probability (n - 3)! / n!."""
    table = event_table(Event(f"e{number}", "A", 0, MILLION - 1) for number in range(count))
    plan = plan_of(f"PATTERN SEQ(A a, A b, A c, A d) STRATEGY {strategy}")
    with counted() as found:
        rows = match_events(plan, table)
    likely = 1 / (count * (count - 1) * (count - 2))
    assert np.allclose(rows.column("confidence"), likely, rtol=1e-4)
    assert found["taken"] == 1


@pytest.mark.slow
def test_three_failures_and_a_success_are_exact_where_many_intervals_overlap() -> None:
    """A success between two failures may come at any of ten places: no table of ticks would do."""
    events = [Event(f"f{i}", "F", 300 * i, 300 * i + 2_000) for i in range(12)]
    events += [Event(f"s{i}", "S", 700 * i, 700 * i + 2_000) for i in range(5)]
    query = "PATTERN SEQ(F a, F b, F c, S d) WITHIN 4000 ticks STRATEGY skip_till_next_match"
    with counted() as found:
        rows = match_events(plan_of(query), event_table(events))
    assert found["taken"] > 500
    generator = np.random.default_rng(3)
    worlds = 4_000
    lower = np.array([300 * i for i in range(12)] + [700 * i for i in range(5)])
    ticks = lower + generator.integers(0, 2_001, (worlds, 17))
    own = sum(_next_matches(world) for world in ticks) / worlds
    assert math.isclose(sum(rows.column("confidence").to_pylist()), own, rel_tol=0.03)


def _next_matches(ticks: Indexes) -> int:
    """How many matches the query above has in a world."""
    failures, successes = np.sort(ticks[:12]), np.sort(ticks[12:])
    count = 0
    for i in range(len(failures)):
        after = failures[failures > failures[i]]
        if len(set(after.tolist())) < 2:
            continue
        second, third = sorted(set(after.tolist()))[:2]
        later = successes[successes > third]
        if len(later) and later[0] - failures[i] < 4_000:
            ties = (failures == second).sum() * (failures == third).sum() * (later == later[0]).sum()
            count += int(ties)
    return count


@pytest.mark.slow
def test_a_rival_of_later_gaps_that_can_lie_before_them_is_left() -> None:
    """One that fits c and d, but not b, must stay out of the last two of three gaps alone."""
    events = [Event("a", "A", 0, 2, x=0), Event("b", "A", 1, 4, x=0), Event("c", "A", 3, 6, x=1)]
    events += [Event("d", "A", 5, 8, x=1), Event("r", "A", 1, 7, x=1), Event("s", "A", 2, 6, x=0)]
    plan = plan_of("PATTERN SEQ(A a, A b, A c, A d) WHERE b.x = 0 STRATEGY skip_till_next_match")
    with counted() as found:
        own = match_events(plan, event_table(events))
    assert_same_rows(match_table(plan, event_table(events)), own)
    assert found["taken"] > 0
    assert found["left"] > 0


def test_what_exceeds_the_bound_on_the_work_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [Event(f"e{i}", "A", 3 * i, 3 * i + 9) for i in range(5)]
    plan = plan_of("PATTERN SEQ(A a, A b, A c, A d) STRATEGY skip_till_next_match")
    expected = match_events(plan, event_table(events))
    for name, bound in (("WORK_BOUND", 100), ("MOST_VALUES", 10)):
        monkeypatch.setattr(several_gaps, name, bound)
        with counted() as found:
            assert_same_rows(expected, match_events(plan, event_table(events)))
        assert found["taken"] == 0
        monkeypatch.undo()


def test_a_tick_between_in_the_hole_of_a_rival_is_left() -> None:
    events = [Event("a", "A", 0, 1), Event("b", "A", 4, 5), Event("c", "A", 8, 9), Event("d", "A", 12, 13)]
    events.append(histogram("r", "A", (2, 3, 0.5), (6, 7, 0.5)))
    plan = plan_of("PATTERN SEQ(A a, A b, A c, A d) STRATEGY skip_till_next_match")
    with counted() as found:
        own = match_events(plan, event_table(events))
    assert_same_rows(match_table(plan, event_table(events)), own)
    assert [["a"], ["b"], ["c"], ["d"]] not in own.column("signature").to_pylist()
    assert found["left"] > 0


def test_the_time_range_keeps_to_a_window_that_valid_intervals_leave() -> None:
    events = [Event("a", "B", -1, -1), Event("b", "B", 3, 5), Event("c", "B", 4, 5)]
    plan = plan_of("PATTERN SEQ(!N n, B x, B y) WITHIN 6 ticks STRATEGY skip_till_next_match")
    with counted() as found:
        own = rows_by_signature(match_events(plan, event_table(events)))
    assert found["taken"] == 1
    assert own[("a",), ("c",)]["end"] == 4


@pytest.mark.parametrize("window", ["", " WITHIN 700000 ticks", " WITHIN 5 ticks"])
def test_rivals_that_must_not_be_at_the_tick_of_an_event_in_the_same_cell(window: str) -> None:
    """The first B, of whatever pair is absent, has none before it, nor one of a lesser id at its tick."""
    events = [Event("a", "A", 0, MILLION), Event("c", "C", 2, MILLION + 9)]
    events += [Event(f"b{i}", "B", i, MILLION + i) for i in range(3)]
    plan = plan_of(f"PATTERN SEQ(A a, !SEQ(B x, B y), C c){window}")
    with counted() as found, pytest.MonkeyPatch.context() as patch:
        measure_nothing(patch, "sum over both ends")
        own = match_events(plan, event_table(events))
        measure_nothing(patch, NAME)
        assert_same_rows(match_events(plan, event_table(events)), own)
    assert found["taken"] > 0
