"""Both runners write the same bytes, and say the same when something is wrong."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cepctl.errors import JobError, LogFormatError
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.runners.kinds import RUNNERS, RunnerSettings
from cepctl.runners.local import LocalRunner
from cepctl.runners.runner import Runner
from cepctl.runners.spark.runner import FEWEST_SHARED, SparkRunner
from cepctl.uncertainty.model import parse_model

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

MODEL = parse_model("rule = [{ source = '*.csv', latency = [['0 s', '1 s', 0.5], ['1 s', '3 s', 0.5]] }]")
REAL_LOGS = [
    "hadoop/jhist",
    "ganglia/xml",
    "xes/running-example.xes",
    "xes/roadtraffic100traces.xes",
    "xes/interval_event_log.xes",
    pytest.param("xes/bpic2012.xes.gz", marks=pytest.mark.slow),
]


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def raise_for_odd(number: int) -> int:
    if number % 2:
        raise LogFormatError(f"{number} is odd")
    return number


def fail(number: int) -> int:
    raise RuntimeError(f"a defect at {number}")


def kill_worker_at_odd(number: int) -> int:
    if number % 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    return number


def refused_beyond_five(number: int, cause: str) -> tuple[int, str]:
    if number > 5:
        raise LogFormatError(f"{number} died of {cause}")
    return number, cause


def with_its_spark_task(number: int) -> tuple[int, int]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return number, context.partitionId()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    directory = tmp_path / "logs"
    directory.mkdir()
    (directory / "a.csv").write_text("event_type,time,x\nA,2000,1\nB,1000,high\nA,?,\n")
    (directory / "b.jsonl").write_text('{"event_type":"A","lower":1,"upper":9,"x":0.5,"deep":[1]}\n')
    return directory


@pytest.mark.spark
def test_both_runners_ingest_to_the_same_bytes(logs: Path, tmp_path: Path, spark: Session) -> None:
    options = IngestOptions(model=MODEL)
    here = ingest([str(logs)], str(tmp_path / "here"), options, LocalRunner())
    there = ingest([str(logs)], str(tmp_path / "there"), options, SparkRunner(spark))
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert here == there


@pytest.mark.spark
def test_both_runners_assign_to_the_same_bytes(logs: Path, tmp_path: Path, spark: Session) -> None:
    ingest([str(logs)], str(tmp_path / "events"), IngestOptions())
    runners: list[tuple[str, Runner]] = [("here", LocalRunner()), ("there", SparkRunner(spark))]
    for name, runner in runners:
        assign_dataset(str(tmp_path / "events"), str(tmp_path / name), IngestOptions(model=MODEL), runner)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@pytest.mark.spark
def test_an_error_of_a_task_comes_back_as_it_was_raised(spark: Session) -> None:
    with pytest.raises(LogFormatError, match=r"^1 is odd$"):
        SparkRunner(spark).run(raise_for_odd, [0, 1, 2, 3])


@pytest.mark.spark
def test_a_defect_in_a_task_is_a_failed_job(spark: Session) -> None:
    with pytest.raises(JobError, match="the Spark job failed"):
        SparkRunner(spark).run(fail, [1])


@pytest.mark.spark
def test_results_come_in_the_order_of_the_tasks(spark: Session) -> None:
    assert SparkRunner(spark).run(abs, [-3, 2, -1, 0]) == [3, 2, 1, 0]


def test_the_local_runner_needs_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with RUNNERS["local"].opened(RunnerSettings("local[*]")) as runner:
        assert runner.run(abs, [-1]) == [1]


@pytest.mark.spark
@pytest.mark.realdata
@pytest.mark.parametrize("path", REAL_LOGS)
def test_both_runners_agree_on_real_logs(path: str, real_logs: Path, tmp_path: Path, spark: Session) -> None:
    log = str(real_logs / path)
    here = ingest([log], str(tmp_path / "here"), IngestOptions(), LocalRunner())
    there = ingest([log], str(tmp_path / "there"), IngestOptions(), SparkRunner(spark))
    assert here.events > 0
    assert here == there
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "events"),
    [
        ("ganglia/xml/ganglia_contrib_gmond_sample.xml", 32),
        ("ganglia/xml/dd-agent_ganglia.txt", 192),
        ("xes/running-example.xes", 42),
        ("xes/roadtraffic100traces.xes", 390),
        ("xes/interval_event_log.xes", 8_109),
        pytest.param("xes/bpic2012.xes.gz", 262_200, marks=pytest.mark.slow),
    ],
)
def test_real_logs_are_ingested_completely(path: str, events: int, real_logs: Path, tmp_path: Path) -> None:
    summary = ingest([str(real_logs / path)], str(tmp_path / "events"), IngestOptions())
    assert (summary.events, summary.rejects) == (events, ())


@pytest.mark.slow
@pytest.mark.spark
def test_thousands_of_tasks_share_spark_tasks_and_keep_their_order(spark: Session) -> None:
    done = SparkRunner(spark).run(with_its_spark_task, range(2_000))
    assert [number for number, _ in done] == list(range(2_000))
    assert len({place for _, place in done}) == FEWEST_SHARED
    assert len({place for _, place in SparkRunner(spark).run(with_its_spark_task, range(5))}) == 5


@pytest.mark.spark
def test_on_spark_a_task_that_kills_its_process_costs_itself_alone(spark: Session) -> None:
    runner = SparkRunner(spark)
    found = runner.run(kill_worker_at_odd, range(6), refused_beyond_five)
    assert found == [0, (1, "SIGSEGV"), 2, (3, "SIGSEGV"), 4, (5, "SIGSEGV")]
    with pytest.raises(LogFormatError, match="7 died of SIGSEGV"):
        runner.run(kill_worker_at_odd, range(8), refused_beyond_five)
