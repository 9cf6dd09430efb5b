"""Matches that raw times would have missed: those that a run on raw times alone does not find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.raw_time_counts import RawTimeCounts, counts_of, missed_by_raw_times
from cepctl.engines.worlds.engine import match_table
from cepctl.event_table import TIME_TYPE
from cepctl.plan.plan import FOUND_AT_RAW_TIMES, Plan
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import FEW_EXAMPLES, check, rows_by_signature
from tests.plans import Event, event_table, plan_of
from tests.strategies import (
    Case,
    and_cases,
    any_cases,
    chain_cases,
    contiguity_cases,
    kleene_cases,
    left_out_cases,
    negation_cases,
    next_match_cases,
    or_cases,
    sequence_cases,
    timing_cases,
    twin_cases,
)


def with_times(table: pa.Table, ticks: list[int | None]) -> pa.Table:
    """The table with raw times, given in ticks of 1 ms."""
    micros = [tick and tick * 1_000 + 1 for tick in ticks]
    times = pa.array(
        [0 if tick == 0 else value for tick, value in zip(ticks, micros, strict=True)], TIME_TYPE
    )
    return table.set_column(table.column_names.index("time"), "time", times)


def at_raw_times(table: pa.Table) -> pa.Table:
    """The events that have a raw time, certain at it: what a tool sees that trusts it."""
    table = table.filter(pc.is_valid(table.column("time")))
    ticks = pc.cast(
        pc.floor(pc.divide(table.column("time").cast(pa.int64()).cast(pa.float64()), 1_000)), pa.int64()
    )
    for name in ("lower", "upper"):
        table = table.set_column(table.column_names.index(name), name, ticks)
    pmf = pa.nulls(len(table), table.schema.field("pmf").type)
    return table.set_column(table.column_names.index("pmf"), "pmf", pmf)


def expected_counts(plan: Plan, matches: pa.Table, table: pa.Table) -> RawTimeCounts:
    """The counts by the judge, which runs the query on raw times."""
    timed = set(table.filter(pc.is_valid(table.column("time"))).column("event_id").to_pylist())
    certain = rows_by_signature(match_table(plan, at_raw_times(table)))
    judged = [s for s in rows_by_signature(matches) if all(set(group) <= timed for group in s)]
    missed = [signature for signature in judged if signature not in certain]
    return RawTimeCounts(len(judged), len(missed), matches.num_rows - len(judged))


@st.composite
def raw_times(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> tuple[Case, list[int | None]]:
    """A case with raw times in and around the intervals of its events; some events have none."""
    case = draw(cases.filter(lambda case: ".lower" not in case.query and ".upper" not in case.query))
    ticks = [draw(st.none() | st.integers(e.lower - 1, e.upper + 1)) for e in case.events]
    if draw(st.booleans()):
        ticks = [tick if tick is not None else e.lower for tick, e in zip(ticks, case.events, strict=True)]
    return case, ticks


@pytest.mark.parametrize(
    "cases",
    [
        chain_cases(),
        next_match_cases(),
        contiguity_cases(),
        negation_cases(),
        and_cases(),
        kleene_cases(),
        left_out_cases(),
        sequence_cases(),
        or_cases(),
        twin_cases(),
        timing_cases(),
        any_cases(),
    ],
    ids=[
        "chain",
        "next",
        "contiguity",
        "negation",
        "and",
        "kleene",
        "left out",
        "sequence",
        "or",
        "twins",
        "timing",
        "any",
    ],
)
def test_what_is_missed_is_what_the_judge_does_not_find_at_raw_times(cases: st.SearchStrategy[Case]) -> None:
    def agrees(drawn: tuple[Case, list[int | None]]) -> None:
        case, ticks = drawn
        plan, table = plan_of(case.query), with_times(case.table, ticks)
        assume(not engine_refusals(plan, "event"))
        every = replace(plan, minimum_confidence=None)
        matches = match_events(every, table, MatchOptions(raw_times=True))
        expected = expected_counts(plan, matches, table)
        assert counts_of(matches.column(FOUND_AT_RAW_TIMES)) == expected
        assert missed_by_raw_times(plan, matches, table) == expected

    check(raw_times(cases), agrees, FEW_EXAMPLES)


def counts(query: str, *events: tuple[Event, int | None]) -> RawTimeCounts:
    """The counts for events with their raw ticks."""
    table = with_times(event_table([event for event, _ in events]), [tick for _, tick in events])
    plan = plan_of(query)
    return missed_by_raw_times(plan, match_events(plan, table), table)


A = Event("a", "A", 0, 10)
B = Event("b", "B", 0, 10)


@pytest.mark.parametrize(("raw", "missed"), [((3, 4), 0), ((4, 4), 1), ((5, 4), 1), ((0, 4), 0), ((0, 5), 1)])
def test_order_and_window_are_held_to_raw_times(raw: tuple[int, int], missed: int) -> None:
    found = counts("PATTERN SEQ(A a, B b) WITHIN 5 ticks", (A, raw[0]), (B, raw[1]))
    assert found == RawTimeCounts(judged=1, missed=missed, untimed=0)


def test_a_rival_at_its_raw_time_hides_a_match() -> None:
    query = "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match WITHIN 20 ticks"
    later = Event("later", "B", 0, 10)
    assert counts(query, (A, 1), (B, 5), (later, 7)) == RawTimeCounts(2, 1, 0)
    assert counts(query, (A, 1), (B, 5), (later, 5)) == RawTimeCounts(2, 0, 0)


def test_events_without_a_raw_time_are_left_out_and_counted() -> None:
    query = "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match WITHIN 20 ticks"
    later = Event("later", "B", 0, 10)
    assert counts(query, (A, 1), (B, None), (later, 7)) == RawTimeCounts(1, 0, 1)
    assert counts(query, (A, None), (B, 3), (later, 7)) == RawTimeCounts(0, 0, 2)


def test_raw_times_are_the_ticks_that_hold_them() -> None:
    table = event_table([A, B])
    times: Any = pa.array([-1, 0], TIME_TYPE)  # the last microsecond of tick -1, the first of tick 0
    table = table.set_column(table.column_names.index("time"), "time", times)
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 2 ticks")
    assert missed_by_raw_times(plan, match_events(plan, table), table) == RawTimeCounts(1, 0, 0)


def test_alternatives_may_bind_different_numbers_of_events() -> None:
    query = "PATTERN SEQ(A a, OR(B b, SEQ(B c, C d))) WITHIN 20 ticks"
    last = Event("c", "C", 0, 10)
    assert counts(query, (A, 1), (B, 5), (last, 7)) == RawTimeCounts(2, 0, 0)
    assert counts(query, (A, 1), (B, 5), (last, 5)) == RawTimeCounts(2, 1, 0)
    assert counts(query, (A, 6), (B, 5), (last, 7)) == RawTimeCounts(2, 2, 0)


def test_rows_say_nothing_of_raw_times_unless_asked() -> None:
    plan, table = plan_of("PATTERN SEQ(A a, B b)"), with_times(event_table([A, B]), [1, 2])
    assert FOUND_AT_RAW_TIMES not in match_events(plan, table).column_names


def test_no_matches_is_no_error() -> None:
    assert counts("PATTERN SEQ(B b, A a) WITHIN 1 ticks", (A, 1), (B, 2)) == RawTimeCounts(0, 0, 0)


def test_matches_in_several_pieces_are_one_table() -> None:
    rng = np.random.default_rng(3)
    events = [Event(f"{kind}{i}", kind, i, i + 3) for i in range(20) for kind in "AB"]
    raw: list[int | None] = [int(tick) for tick in rng.integers(0, 25, len(events))]
    plan, table = plan_of("PATTERN SEQ(A a, B b) WITHIN 6 ticks"), with_times(event_table(events), raw)
    matches = match_events(plan, table)
    pieces = pa.concat_tables([matches.slice(at, 7) for at in range(0, matches.num_rows, 7)])
    assert missed_by_raw_times(plan, pieces, table) == missed_by_raw_times(plan, matches, table)
    assert 0 < missed_by_raw_times(plan, matches, table).missed < matches.num_rows


@st.composite
def probable_cases(draw: st.DrawFn) -> tuple[str, tuple[Event, ...], list[int | None]]:
    """A query that asks `prob(...)`, of positive and of negated components, and events with raw times."""
    asked = draw(
        st.sampled_from(
            [
                "prob(a.time < b.time) > 0.4",
                "prob(n.time > a.time) > 0.5",
                "prob(n.time - a.time <= 2 ticks) >= 0.3",
                "NOT prob(b.time - a.time > 3 ticks) > 0.5",
            ]
        )
    )
    pattern = draw(st.sampled_from(["SEQ(A a, !N n, B b)", "OR(SEQ(A a, !N n, B b), SEQ(A a, !N n, C b))"]))
    events, ticks = [], []
    for number, kind in enumerate(draw(st.lists(st.sampled_from("ABCNN"), min_size=2, max_size=5))):
        lower = draw(st.integers(0, 6))
        events.append(Event(f"e{number}", kind, lower, lower + draw(st.integers(0, 4))))
        ticks.append(draw(st.none() | st.integers(lower - 1, lower + 5)))
    return f"PATTERN {pattern} WHERE {asked} WITHIN 9 ticks", tuple(events), ticks


def test_probabilities_are_asked_of_raw_times_as_the_judge_asks_them() -> None:
    def agrees(drawn: tuple[str, tuple[Event, ...], list[int | None]]) -> None:
        query, events, ticks = drawn
        plan, table = plan_of(query), with_times(event_table(events), ticks)
        matches = match_events(plan, table, MatchOptions(raw_times=True))
        expected = expected_counts(plan, matches, table)
        assert counts_of(matches.column(FOUND_AT_RAW_TIMES)) == expected
        assert missed_by_raw_times(plan, matches, table) == expected

    check(probable_cases(), agrees, 4 * FEW_EXAMPLES)


def test_a_condition_between_start_and_end_of_an_absence_is_held_to_raw_times() -> None:
    query = "PATTERN SEQ(A a, !N n, B b) WHERE n.end - n.start <= 2 ticks WITHIN 20 ticks"
    absent = Event("n", "N", 0, 10)
    plan = plan_of(query)
    for raw, missed in ((3, 1), (7, 0)):
        table = with_times(event_table([A, B, absent]), [1, 5, raw])
        matches = match_events(plan, table, MatchOptions(raw_times=True))
        assert counts_of(matches.column(FOUND_AT_RAW_TIMES)) == RawTimeCounts(1, missed, 0)


@pytest.mark.parametrize(("raw", "missed"), [((1, 9), 1), ((1, 3), 0)])
def test_what_was_hardly_probable_may_be_so_at_raw_times(raw: tuple[int, int], missed: int) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE prob(b.time - a.time > 3 ticks) < 0.5 WITHIN 20 ticks"
    assert counts(query, (A, raw[0]), (B, raw[1])) == RawTimeCounts(1, missed, 0)
