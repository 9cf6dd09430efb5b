"""The order of records gives what the judge gives, construct by construct, of one writer and of two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.columns.masses import Masses
from cepctl.engines.event.match import match_events
from cepctl.engines.search import one_writer, search
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.language.parser import parse
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import IN_WRITTEN_ORDER, MILLISECOND, RECORD, WRITER
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.plans import ATTRIBUTES, Event, event_table
from tests.strategies import LEVELS, Case

SCHEMA = EventSchema({**ATTRIBUTES, WRITER: pa.string(), RECORD: pa.int64()}, MILLISECOND)
CHOSEN = ("chains", "negation", "AND", "next match", "contiguity", "timing", "OR", "Kleene sets")


@st.composite
def written(draw: st.DrawFn, name: str, writers: int) -> tuple[str, pa.Table]:
    """A query, and events that some writers wrote, mostly in the order of their intervals."""
    case: Case = draw(LEVELS[name])
    assume("GROUP BY" not in case.query)
    middle = [event.lower + event.upper + draw(st.integers(-3, 3)) for event in case.events]
    record = np.argsort(np.argsort(middle, kind="stable"), kind="stable") + 1
    writer = [draw(st.sampled_from("wv"[:writers])) for _ in case.events]
    table = case.table.append_column(WRITER, pa.array(writer, pa.string()))
    return f"{case.query} GIVEN {IN_WRITTEN_ORDER}", table.append_column(RECORD, pa.array(record, pa.int64()))


def agrees(drawn: tuple[str, pa.Table]) -> None:
    query, table = drawn
    plan = replace(analyze(parse(query), SCHEMA), returns=())
    try:
        wanted = match_table(plan, table)
    except (ContradictionError, QueryTooLargeError):
        assume(condition=False)
    assert_same_rows(wanted, match_events(plan, table))


@pytest.mark.parametrize("writers", [1, 2])
@pytest.mark.parametrize("name", CHOSEN)
def test_rows_are_those_of_the_judge(name: str, writers: int) -> None:
    check(written(name, writers), agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("writers", [1, 2])
@pytest.mark.parametrize("name", CHOSEN)
def test_rows_are_those_of_the_judge_in_many_cases(name: str, writers: int) -> None:
    check(written(name, writers), agrees, MANY_EXAMPLES)


def test_a_window_is_asked_less_of_earliest_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 0..9 and, later, of 5..9 both may lie within three ticks, though their earliest are five apart."""
    events = (Event("a", "A", 0, 9), Event("b", "B", 5, 9))
    table = event_table(events).append_column(WRITER, pa.array(["w", "w"]))
    drawn = (
        f"PATTERN SEQ(A a, B b) WITHIN 3 ticks GIVEN {IN_WRITTEN_ORDER}",
        table.append_column(RECORD, pa.array([1, 2])),
    )
    agrees(drawn)

    def as_it_is(system: Ticks, _: Masses) -> Ticks:
        return system

    monkeypatch.setattr(one_writer, "loosened", as_it_is)
    with pytest.raises(AssertionError):
        agrees(drawn)


def test_the_search_lists_no_pair_that_the_order_forbids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two writers of four records in one second: 44 of the 56 pairs of two events."""
    events = tuple(Event(f"{writer}{n}", "A", 0, 99) for n in range(4) for writer in "wv")
    table = event_table(events).append_column(WRITER, pa.array(["w", "v"] * 4))
    table = table.append_column(RECORD, pa.array([n for n in range(4) for _ in "wv"]))
    found: list[int] = []
    listed = search._not_forbidden

    def counted(*asked: Any) -> Indexes:
        rows = listed(*asked)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(search, "_not_forbidden", counted)
    plan = analyze(parse(f"PATTERN SEQ(A a, A b) GIVEN {IN_WRITTEN_ORDER}"), SCHEMA)
    rows = match_events(plan, table)
    assert sum(found) == rows.num_rows == 2 * 6 + 2 * 16


@pytest.mark.parametrize("apart", [1, 3])
def test_records_of_one_writer_may_be_further_apart_than_their_places(apart: int) -> None:
    events = (Event("a", "A", 0, 9), Event("n", "N", 0, 9), Event("b", "B", 0, 9), Event("c", "C", 4, 12))
    table = event_table(events).append_column(WRITER, pa.array(["w", "w", "w", "v"]))
    query = f"PATTERN SEQ(A a, B b, C c) WHERE b.time - a.time >= {apart} ticks GIVEN {IN_WRITTEN_ORDER}"
    agrees((query, table.append_column(RECORD, pa.array([1, 2, 3, 1]))))
