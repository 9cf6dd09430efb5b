"""Two hundred random cases in one Spark job: what tasks return is what the judge returns.

The cases are those that Hypothesis draws without a seed of the day, so the same in every run.  Each has
a plan of its own, so that one job takes them all: every case is one Spark task, with row groups and
slices of a few events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.datasets.row_groups import row_groups
from cepctl.engines.event.match import match_events, match_schema
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.numbers import with_columns
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.slices import SliceTask, choose_slicing
from cepctl.engines.runners.stored import as_stream
from cepctl.engines.worlds.engine import match_table
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import assert_same_rows, check
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    queries_with_groups,
    streams,
    streams_with_points,
    streams_with_rivals,
)
from tests.engines.runners.test_interval_slices import as_in_a_run
from tests.engines.runners.test_slices import read_by_slice, task_of
from tests.event_sources import TableSource
from tests.plans import Event, event_table, plan_of
from tests.strategies import LEVELS, Case

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.slow]  # two minutes; test_spark.py runs every day

CASES = 200


Lasting = tuple[str, tuple[Event, ...]]
"""A query and events some of which last."""


@pytest.fixture(scope="module")
def recorded_lasting() -> list[Lasting]:
    """Cases of events that last, with negations and with groups beside them."""
    cases: list[Lasting] = []

    def record(case: Lasting) -> None:
        plan = plan_of(case[0], lasting=True)
        assume(plan.never is None and not engine_refusals(plan, "event", lasting=True))
        cases.append(case)

    drawn = st.one_of(
        st.tuples(queries(), streams()),
        st.tuples(negations(), streams_with_rivals()),
        st.tuples(queries_with_groups(), streams_with_points()),
    )
    check(drawn, record, CASES, shrink=False)
    return cases[:CASES]


@pytest.fixture(scope="module")
def recorded() -> list[Case]:
    """Cases of every level that the event engine does not refuse."""
    cases: list[Case] = []

    def record(case: Case) -> None:
        plan = plan_of(case.query)
        assume(plan.never is None and case.events and not engine_refusals(plan, "event"))
        cases.append(case)

    check(st.one_of(*LEVELS.values()), record, CASES, shrink=False)
    return cases[:CASES]


def matches_of(case: Case) -> bytes:
    """The matches of one case, found slice by slice."""
    plan = plan_of(case.query)
    source = TableSource.of(case.table)
    task = SliceTask(plan, MatchOptions(), (source,), row_groups([source]))
    slicing = choose_slicing(task.groups, plan, 2, 3)
    found = [with_columns(batch) for own in slicing.slices for _, batch in task.run(own) if batch is not None]
    return as_stream(pa.Table.from_batches(found, match_schema(plan)))


def test_two_hundred_recorded_cases_agree_with_the_judge_in_one_job(
    recorded: list[Case], spark: Session
) -> None:
    found = spark.sparkContext.parallelize(recorded, 8).map(matches_of).collect()
    assert len(found) == CASES
    with_rows = 0
    for case, stream in zip(recorded, found, strict=True):
        expected = match_table(plan_of(case.query), case.table)
        with_rows += expected.num_rows > 0
        assert_same_rows(expected, pa.ipc.open_stream(stream).read_all())
    assert with_rows > CASES // 3  # most streams that are drawn hold something to find


def lasting_matches_of(case: Lasting) -> bytes:
    """The matches of one case of events that last, found slice by slice."""
    query, events = case
    plan = plan_of(query, lasting=True)
    task = as_in_a_run(task_of(plan, event_table(events), 2))
    return as_stream(read_by_slice(task, choose_slicing(task.groups, plan, 2, 3)))


def test_two_hundred_cases_of_events_that_last_are_those_of_one_task_to_the_last_bit(
    recorded_lasting: list[Lasting], spark: Session
) -> None:
    found = spark.sparkContext.parallelize(recorded_lasting, 8).map(lasting_matches_of).collect()
    with_rows = 0
    for (query, events), stream in zip(recorded_lasting, found, strict=True):
        expected = ordered(match_events(plan_of(query, lasting=True), event_table(events)))
        with_rows += expected.num_rows > 0
        assert pa.ipc.open_stream(stream).read_all().equals(expected)
    assert with_rows > CASES // 8  # of relations most pairs of small streams hold none
