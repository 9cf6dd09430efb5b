"""The Spark runner against the local one: the same rows to the last bit, and errors under their own name."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.clocks.shared import Clocks
from cepctl.datasets.row_groups import row_groups
from cepctl.datasets.stored_events import StoredEvents
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.runners import local, slices
from cepctl.engines.runners.slices import Slicing, choose_slicing, group_slicing
from cepctl.engines.runners.stored import run
from cepctl.errors import EventSchemaError, JobError, QueryTooLargeError
from cepctl.io.source.locations import Location
from cepctl.laws.law import OrderLaw
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.runners.spark.runner import SparkRunner
from cepctl.schema import MILLISECOND
from tests.plans import ATTRIBUTES, Event, event_table, on, plan_of

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

pytestmark = pytest.mark.spark


def random_events(count: int, seed: int) -> list[Event]:
    """Events of every kind: certain, uniform and with histograms, with ties and null keys."""
    choice = random.Random(seed)
    events = []
    for number in range(count):
        lower = choice.randrange(60)
        upper = lower + choice.choice([0, 0, 1, 4, 9])
        pmf = ((lower, lower, 0.25), (upper + 2, upper + 3, 0.75)) if choice.random() < 0.3 else None
        event = Event(f"e{number}", choice.choice("ABC"), lower, pmf[-1][1] if pmf else upper, pmf)
        x, k, g = choice.choice([0, 1, 2, None]), choice.choice(["p", "q", None]), choice.choice("uv")
        events.append(replace(event, x=x, k=k, g=g))
    return events


def stored(directory: Path, *parts: pa.Table) -> list[StoredEvents]:
    """One source with one Parquet file per part, sorted as datasets are."""
    paths = []
    whole = pa.concat_tables(parts).sort_by([("lower", "ascending"), ("event_id", "ascending")])
    sizes = [len(part) for part in parts]
    parts = tuple(whole.slice(sum(sizes[:number]), size) for number, size in enumerate(sizes))
    for number, part in enumerate(parts):
        path = directory / f"part-{number:05}.parquet"
        pq.write_table(part, path, row_group_size=10)
        paths.append(str(path))
    schema = EventSchema(ATTRIBUTES, MILLISECOND)
    return [StoredEvents(Location(str(directory)), tuple(paths), MILLISECOND, schema, tuple(ATTRIBUTES))]


def run_on_spark(
    plan: Plan,
    sources: list[StoredEvents],
    spark: Session,
    options: MatchOptions | None = None,
    *,
    slicing: Slicing | None = None,
) -> pa.Table:
    return run(plan, sources, SparkRunner(spark), options, slicing=slicing)


def cut(plan: Plan, sources: list[StoredEvents], length: int) -> Slicing:
    """Slices of so many ticks."""
    return choose_slicing(row_groups(sources), plan, 2, length)


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B b, C c) WITHIN 9 ticks",
        "PATTERN SEQ(A a, B b) WHERE a.x = 1 AND b.x > 1",
        "PATTERN SEQ(A a, B b, A c) WHERE [k, g] AND a.x = c.x WITHIN 25 ticks CONFIDENCE >= 0.2",
        "PATTERN SEQ(A a, B b) WHERE [k] AND a.x < b.x RETURN a, b.x + a.x AS sum, a.k, b.g, start",
        "PATTERN SEQ(A a, A|B b) WHERE a.x IS NULL WITHIN 6 ticks RETURN b.x, b.k",
        "PATTERN OR(SEQ(A a, B b), SEQ(C c, B b)) WHERE b.x = 2 WITHIN 8 ticks RETURN a.x, c.x, b.lower",
        "PATTERN SEQ(A a, Nowhere n) WITHIN 5 ticks RETURN a.k",
    ],
)
def test_both_runners_give_identical_rows(query: str, spark: Session, tmp_path: Path) -> None:
    table = event_table(random_events(120, 7))
    plan = plan_of(query)
    wanted = local.run(plan, table)
    found = run_on_spark(plan, stored(tmp_path, table.slice(0, 25), table.slice(25)), spark)
    assert found.schema == wanted.schema
    assert found.equals(wanted)
    assert ("Nowhere" in query) == (found.num_rows == 0)


def test_a_clock_that_slices_cut_in_two_stays_one_clock(spark: Session, tmp_path: Path) -> None:
    clocks: Clocks = {"n": ((-3, 4, 1.0),), "m": ((0, 0, 0.5), (5, 6, 0.5))}
    names = ("n", "m", None)
    drawn = [
        event if (name := names[number % 3]) is None else on(name, clocks, event)
        for number, event in enumerate(random_events(60, 5))
    ]
    table = event_table(drawn)
    plan = plan_of("PATTERN SEQ(A a, B b, !C n, A d) WHERE [k] WITHIN 9 ticks RETURN a.x", clocks)
    wanted = local.run(plan, table)
    assert wanted.num_rows == 10
    sources = [
        replace(each, schema=replace(each.schema, clocks=clocks), clocks=clocks)
        for each in stored(tmp_path, table)
    ]
    assert run_on_spark(plan, sources, spark, slicing=cut(plan, sources, 7)).equals(wanted)


def test_keys_of_a_law_stay_whole(spark: Session, tmp_path: Path) -> None:
    law = OrderLaw("k", following={("A", "B"): 4.0}, before={("B", "C"): 3.0})
    query, table = "PATTERN SEQ(A a, !C c, B b) WHERE [k] WITHIN 9 ticks", event_table(random_events(40, 3))
    plan = replace(plan_of(query), laws=(law,))
    wanted = local.run(plan, table)
    assert not wanted.equals(local.run(replace(plan, laws=()), table))
    sources = stored(tmp_path, table.slice(0, 25), table.slice(25))
    slicing = replace(cut(plan, sources, 5), buckets=2, sent=True)
    assert run_on_spark(plan, sources, spark, slicing=slicing).equals(wanted)


@pytest.mark.parametrize("length", [4, 17, 1_000])
def test_slices_of_any_length_give_identical_rows(length: int, spark: Session, tmp_path: Path) -> None:
    table = event_table(random_events(70, 11))
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WHERE [k] WITHIN 9 ticks RETURN a.x, c.x")
    wanted = local.run(plan, table)
    assert wanted.num_rows > 10
    sources = stored(tmp_path, table)
    slicing = cut(plan, sources, length)
    assert run_on_spark(plan, sources, spark, slicing=slicing).equals(wanted)
    sent = replace(slicing, buckets=2, sent=True)
    assert run_on_spark(plan, sources, spark, slicing=sent).equals(wanted)


def test_events_at_the_ends_of_time_reach_every_slice(spark: Session, tmp_path: Path) -> None:
    events = [*random_events(30, 3), Event("ever", "B", 5, 2**62), Event("edge", "B", 40, 2**62)]
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks")
    wanted = local.run(plan, event_table(events))
    assert {"ever", "edge"} <= {ids[1][0] for ids in wanted.column("signature").to_pylist()}
    sources = stored(tmp_path, event_table(events))
    assert run_on_spark(plan, sources, spark, slicing=cut(plan, sources, 6)).equals(wanted)


def test_the_first_rows_alone(spark: Session, tmp_path: Path) -> None:
    table = event_table(random_events(60, 7))
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks")
    best = MatchOptions(top=3)
    assert run_on_spark(plan, stored(tmp_path, table), spark, best).equals(local.run(plan, table, best))


@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 ticks GROUP BY a.k, b.x", 3),
        ("PATTERN SEQ(A a, B b) WHERE [k, g] WITHIN 40 ticks GROUP BY a.g, a.k CONFIDENCE >= 0.1", 3),
        ("PATTERN SEQ(A a, B b) WHERE [k] STRATEGY strict_contiguity WITHIN 9 ticks GROUP BY b.k", 1),
    ],
)
def test_tasks_that_take_some_keys_each_give_the_groups_of_one(
    query: str, tasks: int, spark: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "FEWEST_EVENTS", 20)
    table, plan = event_table(random_events(60, 5)), plan_of(query)
    wanted = local.run(plan, table)
    sources = stored(tmp_path, table)
    assert group_slicing(row_groups(sources), plan, parallelism=2).buckets == tasks
    assert wanted.num_rows > 1
    assert run_on_spark(plan, sources, spark).equals(wanted)


@pytest.mark.parametrize("last", ["B", "Nowhere"])
def test_the_column_of_errors(last: str, spark: Session, tmp_path: Path) -> None:
    # Products over rivals round alike in the order of a dataset, which is the one that a runner reads.
    events = sorted(random_events(60, 7), key=lambda event: (event.lower, event.event_id))
    table = event_table(events)
    plan = plan_of(f"PATTERN SEQ(A a, !C c, {last} b) WITHIN 9 ticks")
    allowed = MatchOptions(approximate=0.1)
    wanted = local.run(plan, table, allowed)
    assert wanted.column_names[4:6] == ["confidence", "confidence_error"]
    assert run_on_spark(plan, stored(tmp_path, table), spark, allowed).equals(wanted)


def test_a_wrong_event_is_reported_as_in_one_process(spark: Session, tmp_path: Path) -> None:
    table = event_table([Event("a1", "A", 1, 2), Event("b1", "B", 0, 9, ((0, 9, 0.5),))])
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks")
    with pytest.raises(EventSchemaError) as alone:
        local.run(plan, table)
    with pytest.raises(EventSchemaError) as distributed:
        run_on_spark(plan, stored(tmp_path, table), spark)
    assert str(distributed.value) == str(alone.value)


def test_too_many_matches_stop_the_job_under_their_own_name(spark: Session, tmp_path: Path) -> None:
    table = event_table(random_events(60, 7))
    with pytest.raises(QueryTooLargeError, match="more than 5 matches"):
        run_on_spark(
            plan_of("PATTERN SEQ(A a, B b)"), stored(tmp_path, table), spark, MatchOptions(max_matches=5)
        )


def test_one_id_in_two_inputs_is_refused(spark: Session, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    table = event_table([Event("a1", "A", 1, 2), Event("b1", "B", 3, 4)])
    sources = stored(tmp_path, table) + stored(tmp_path / "other", table.slice(1))
    with pytest.raises(EventSchemaError, match="'b1'"):
        run_on_spark(plan_of("PATTERN SEQ(A a, B b)"), sources, spark)


def test_a_lost_file_is_named_in_one_line(spark: Session, tmp_path: Path) -> None:
    (source,) = stored(tmp_path, event_table([Event("a1", "A", 1, 2)]))
    Path(source.parts[0]).unlink()
    with pytest.raises(EventSchemaError, match=r"part-00000\.parquet.*the dataset is not whole"):
        run_on_spark(plan_of("PATTERN SEQ(A a, B b)"), [source], spark)


def test_a_defect_in_a_task_is_a_failed_job_told_in_one_line(spark: Session, tmp_path: Path) -> None:
    (source,) = stored(tmp_path, event_table([Event("a1", "A", 1, 2)]))
    wrong = replace(source, names=("x", "nowhere"))
    with pytest.raises(JobError) as problem:
        run_on_spark(plan_of("PATTERN SEQ(A a, B b) WHERE a.x = 1"), [wrong], spark)
    assert str(problem.value) == "the Spark job failed: KeyError: 'nowhere'"
