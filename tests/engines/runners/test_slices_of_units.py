"""Slices of time beside the order of records: a unit of a writer is never cut, so that rows are the same."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.reach import Reach, reach_of
from cepctl.engines.runners.slices import choose_slicing
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import IN_WRITTEN_ORDER, MILLISECOND
from tests.engines.runners.test_slices import read_by_slice, task_of
from tests.plans import Event, event_table

SCHEMA = EventSchema({}, MILLISECOND, given=(IN_WRITTEN_ORDER,), in_units=True)
UNIT = 10
QUERIES = [
    "PATTERN SEQ(A a, B b) WITHIN 25 ticks",
    "PATTERN SEQ(A a, B b) WITHIN 25 ticks STRATEGY skip_till_next_match",
    "PATTERN SEQ(A a, !B n, A b) WITHIN 25 ticks",
    "PATTERN SEQ(A a, B b) WITHIN 12 ticks STRATEGY strict_contiguity",
]


def planned(query: str) -> Plan:
    return analyze(parse(query), SCHEMA)


def test_a_window_bounds_what_matters_where_units_are_apart() -> None:
    plan = planned(QUERIES[0])
    assert reach_of(plan) == Reach(25, 25)
    assert reach_of(replace(plan, in_units=False)) is None
    assert (
        reach_of(analyze(parse(f"{QUERIES[0]} GIVEN SEQ(A x, B y) IF x.record = y.record"), SCHEMA)) is None
    )


@st.composite
def written(draw: st.DrawFn) -> pa.Table:
    """Records of two writers, each stamped with a unit of ten ticks."""
    events, writers = [], []
    for writer in "vw":
        unit = 0
        for record in range(draw(st.integers(1, 7))):
            unit += draw(st.integers(0, 2))
            kind = draw(st.sampled_from("AB"))
            events.append(Event(f"{writer}{record}", kind, unit * UNIT, unit * UNIT + UNIT - 1))
            writers.append((writer, record))
    table = event_table(tuple(events))
    place = {f"{writer}{record}": (writer, record) for writer, record in writers}
    of_rows = [place[name] for name in table.column("event_id").to_pylist()]
    table = table.append_column("writer", pa.array([writer for writer, _ in of_rows]))
    return table.append_column("record", pa.array([record for _, record in of_rows]))


@settings(max_examples=25, deadline=None)
@given(query=st.sampled_from(QUERIES), table=written(), length=st.sampled_from([3, 7, 10, 25]))
def test_slices_of_any_length_give_the_same_rows(query: str, table: pa.Table, length: int) -> None:
    plan = planned(query)
    task = task_of(plan, table, 2)
    slicing = choose_slicing(task.groups, plan, 2, length)
    assert read_by_slice(task, slicing).equals(ordered(match_events(plan, table)))
