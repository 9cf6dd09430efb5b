"""Two hundred random cases in one Spark job: what tasks return is what the judge returns.

The cases are those that Hypothesis draws without a seed of the day, so the same in every run.  Each has
a plan of its own, so that one job takes them all: the events of all cases are one table, Spark filters
every row by the plan of its case, shuffles the cases apart and streams them to the task of the runner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines import spark as spark_runner
from cepctl.engines.alternative import MatchOptions
from cepctl.engines.match import match_schema
from cepctl.engines.slices import Slicing
from cepctl.engines.worlds import match_table
from cepctl.plan.plan import Plan
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import assert_same_rows, check
from tests.engines.test_engines_agree import LEVELS
from tests.plans import plan_of
from tests.strategies import Case

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]  # two minutes; test_spark.py runs every day

CASES = 200
CASE = spark_runner._GROUP
WHOLE = Slicing(origin=0, length=1, count=1, reach_before=0, reach_after=0)
FOUND = pa.schema([pa.field("case", pa.int64()), pa.field("matches", pa.binary())])


@pytest.fixture(scope="module")
def recorded() -> list[Case]:
    """Cases of every level that the event engine does not refuse."""
    cases: list[Case] = []

    def record(case: Case) -> None:
        plan = plan_of(case.query)
        assume(plan.never is None and not engine_refusals(plan, "event"))
        cases.append(case)

    check(st.one_of(*LEVELS.values()), record, CASES, shrink=False)
    return cases[:CASES]


@dataclass(frozen=True)
class EveryCase:
    """The task: for each case of a partition, the runner's task with the plan of that case."""

    plans: tuple[Plan, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, events in spark_runner._groups(batches):
            plan = self.plans[number]
            alone = events.append_column(CASE, pa.array([0] * events.num_rows, pa.int64()))
            task = spark_runner._GroupedMatch(plan, WHOLE, MatchOptions())
            matches = pa.Table.from_batches(list(task(iter(alone.to_batches()))), match_schema(plan))
            yield pa.RecordBatch.from_arrays(
                [pa.array([number], pa.int64()), pa.array([as_bytes(matches)], pa.binary())], schema=FOUND
            )


def as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def relevant(plans: tuple[Plan, ...]) -> Column:
    """Whether a row can matter to the plan of its case, as the runner asks before it shuffles."""
    from pyspark.sql import functions as f

    number = f.col(f"`{CASE}`")
    condition = f.when(number == 0, spark_runner._can_matter(plans[0]))
    for case, plan in enumerate(plans[1:], start=1):
        condition = condition.when(number == case, spark_runner._can_matter(plan))
    return condition


def test_two_hundred_recorded_cases_agree_with_the_judge_in_one_job(
    recorded: list[Case], spark: SparkSession
) -> None:
    from pyspark.sql.pandas.types import from_arrow_schema

    plans = tuple(plan_of(case.query) for case in recorded)
    tables = [
        case.table.append_column(CASE, pa.array([number] * len(case.events), pa.int64()))
        for number, case in enumerate(recorded)
    ]
    events = spark.createDataFrame(pa.concat_tables(tables)).where(relevant(plans))
    apart = events.repartition(2, CASE).sortWithinPartitions(CASE, "lower", "event_id")
    rows = apart.mapInArrow(EveryCase(plans), from_arrow_schema(FOUND)).toArrow().to_pylist()
    found = {row["case"]: pa.ipc.open_stream(row["matches"]).read_all() for row in rows}

    assert len(recorded) == CASES
    with_rows = 0
    for number, (plan, case) in enumerate(zip(plans, recorded, strict=True)):
        expected = match_table(plan, case.table)
        with_rows += expected.num_rows > 0
        assert_same_rows(expected, found.get(number, match_schema(plan).empty_table()))
    assert with_rows > CASES // 3  # most streams that are drawn hold something to find
