"""A standalone Spark master with two workers on this machine: the same bytes as in one process.

The cluster comes from the PySpark package; what `scripts/package` makes is unpacked by its workers.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from cepctl.errors import JobError
from cepctl.runners.spark.java import find_java

if TYPE_CHECKING:
    from cepctl.runners.spark.session import HasContext

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SPARK = Path(pyspark.__file__).parent
PATIENCE_SECONDS = 120
QUERY = "PATTERN SEQ(A a, B b) WHERE [node] WITHIN 9 s RETURN a.x, b.node"
SMALL = ("--conf", "spark.executor.memory=512m", "--conf", "spark.cores.max=2")


@dataclass(frozen=True)
class Cluster:
    """The URL of the master, and the processes of the workers."""

    master: str
    workers: tuple[subprocess.Popen[bytes], ...]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def loopback(java: Path) -> dict[str, str]:
    """What Spark's programs have to be told to stay on this machine."""
    return {"JAVA_HOME": str(java), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK)}


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers with one core each."""
    try:
        java = find_java().home
    except JobError as problem:
        pytest.skip(str(problem))
    folder = tmp_path_factory.mktemp("cluster")
    port = free_port()
    environment = os.environ | {
        "JAVA_HOME": str(java),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(SPARK),
    }
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        program = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        with (folder / f"{len(running)}.log").open("wb") as log:
            running.append(subprocess.Popen(program, env=environment, stdout=log, stderr=log, cwd=folder))
        return running[-1]

    try:
        here = ("--host", "127.0.0.1", "--webui-port", "0")
        start("master.Master", *here, "--port", str(port))
        began = time.monotonic()
        while not answers(port):
            assert time.monotonic() - began < PATIENCE_SECONDS, (folder / "0.log").read_text()
            time.sleep(0.2)
        master = f"spark://127.0.0.1:{port}"
        workers = tuple(
            start(
                "worker.Worker", *here, "--cores", "1", "--memory", "1g", "-d", str(folder / f"w{i}"), master
            )
            for i in range(2)
        )
        yield Cluster(master, workers)
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hundred small files of events."""
    folder = tmp_path_factory.mktemp("logs")
    choice = random.Random(6)
    for number in range(300):
        lines = ["event_type,time,node,x"]
        for _ in range(20):
            second = choice.randrange(3600)
            minutes, seconds = divmod(second, 60)
            time_text = f"2026-03-03T09:{minutes:02}:{seconds:02}Z"
            lines.append(f"{choice.choice('AB')},{time_text},n{choice.randrange(5)},{choice.randrange(9)}")
        (folder / f"{number:03}.csv").write_text("\n".join(lines) + "\n")
    (folder / "model.toml").write_text('[[rule]]\ninterval = { before = "1 s", after = "1 s" }\n')
    return folder


def run(program: Sequence[str | Path], **changes: str) -> str:
    """Run a program; its standard output.  Standard error is shown when it fails."""
    told = subprocess.run(
        [str(each) for each in program], capture_output=True, text=True, env=os.environ | changes, check=False
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


def cepctl(*arguments: str | Path) -> str:
    return run([sys.executable, "-m", "cepctl", *arguments])


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture(scope="module")
def expected(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The dataset and the matches that one process gives."""
    events = tmp_path_factory.mktemp("expected") / "events"
    model = ("--uncertainty", logs / "model.toml")
    cepctl("ingest", logs / "*.csv", "-o", events, "--runner", "local", *model)
    rows = cepctl("match", QUERY, events, "--runner", "local")
    assert rows.count("\n") > 1_000
    return events, rows


def test_a_cluster_writes_the_bytes_of_one_process(
    cluster: Cluster, logs: Path, expected: tuple[Path, str], tmp_path: Path
) -> None:
    remote = ("--master", cluster.master, *SMALL)
    model = ("--uncertainty", logs / "model.toml")
    cepctl("ingest", logs / "*.csv", "-o", tmp_path / "events", *remote, *model)
    assert contents(tmp_path / "events") == contents(expected[0])
    assert cepctl("match", QUERY, tmp_path / "events", *remote) == expected[1]


READ_AND_GONE = """
import sys
from pathlib import Path
from cepctl.cli import main
from contextlib import contextmanager
from cepctl.runners.spark.runner import SparkRunner

copied = SparkRunner.copied
@contextmanager
def copied_and_gone(runner, files):
    with copied(runner, files) as copies:
        assert files and copies
        for file in files:
            Path(file).unlink()
        yield copies
SparkRunner.copied = copied_and_gone
sys.exit(main(sys.argv[1:]))
"""


def test_workers_get_copies_of_raw_input_that_this_process_has_read(
    cluster: Cluster, logs: Path, expected: tuple[Path, str]
) -> None:
    """What was read into a folder of this process is gone before the first task runs."""
    match = ("match", QUERY, logs / "*.csv", "--uncertainty", logs / "model.toml")
    remote = ("--master", cluster.master, *SMALL)
    assert run([sys.executable, "-c", READ_AND_GONE, *match, *remote]) == expected[1]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What scripts/package makes, the environment unpacked beside it."""
    folder = tmp_path_factory.mktemp("package")
    run([ROOT / "scripts" / "package", folder])
    with tarfile.open(folder / "cepctl-environment.tar.gz") as archive:
        archive.extractall(folder / "unpacked", filter="fully_trusted")
    return folder


def test_what_is_packed_runs_under_spark_submit(
    cluster: Cluster, package: Path, logs: Path, expected: tuple[Path, str], tmp_path: Path
) -> None:
    submit: list[str | Path] = [
        SPARK / "bin" / "spark-submit", "--master", cluster.master, *SMALL,
        "--archives", f"{package / 'cepctl-environment.tar.gz'}#environment",
        "--py-files", package / "cepctl.zip",
        "--conf", "spark.pyspark.python=./environment/bin/python",
        "--conf", f"spark.pyspark.driver.python={package / 'unpacked' / 'bin' / 'python'}",
        package / "run_cepctl.py",
    ]  # fmt: skip
    java = loopback(find_java().home)
    model = ("--uncertainty", logs / "model.toml")
    run([*submit, "ingest", logs / "*.csv", "-o", tmp_path / "events", *model], **java)
    assert contents(tmp_path / "events") == contents(expected[0])
    output = tmp_path / "matches.csv"
    run([*submit, "match", QUERY, tmp_path / "events", "-o", output], **java)
    assert output.read_text() == expected[1]


KILLING = """
import json, os, signal, subprocess, sys, threading, time
from cepctl.runners.spark.session import spark_session
from {module} import {function} as job

def executors():
    told = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in told.splitlines()[1:]]
    return [int(pid) for pid, parent, args in rows
            if int(parent) in {workers} and "CoarseGrainedExecutorBackend" in args]

killed = []
def kill_one(tracker, done):
    # Once some tasks of a stage are done and more of them are not.
    while not done.is_set():
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
            if stage and 5 <= stage.numCompletedTasks <= stage.numTasks // 2:
                killed.append(executors()[0])
                os.kill(killed[0], signal.SIGKILL)
                return
        time.sleep(0.01)

with spark_session("{master}", [("spark.executor.memory", "512m")]) as session:
    done = threading.Event()
    watch = threading.Thread(target=kill_one, args=(session.sparkContext.statusTracker(), done))
    watch.start()
    try:
        job(session, *{arguments})
    finally:
        done.set()
        watch.join()
print(json.dumps(killed))
"""


def match_in_many_slices(session: HasContext, events: str, output: str) -> None:
    """Match in slices of a few seconds each, so that there are many tasks."""
    from cepctl.datasets.row_groups import row_groups
    from cepctl.engines.runners import stored
    from cepctl.engines.runners.slices import choose_slicing
    from cepctl.io.rows.encoding import encoded_rows, presented
    from cepctl.language.parser import parse
    from cepctl.matching.inputs import open_events
    from cepctl.plan.analyze import analyze
    from cepctl.runners.spark.runner import SparkRunner

    with open_events([events]) as inputs:
        plan = analyze(parse(QUERY), inputs.schema)
        sources = inputs.sources(plan.attributes)
        slicing = choose_slicing(row_groups(sources), plan, 2, 40_000)
        assert slicing.tasks >= 80
        found = stored.run(plan, sources, SparkRunner(session), slicing=slicing)
    rows = presented(found, plan.time_unit, "iso")
    Path(output).write_bytes(b"".join(encoded_rows([rows], "csv")))


def ingest_all(session: HasContext, logs: str, output: str) -> None:
    """Ingest with one task for each few files."""
    from cepctl.ingestion.jobs import ingest
    from cepctl.ingestion.options import IngestOptions
    from cepctl.runners.spark.runner import SparkRunner
    from cepctl.uncertainty.model import load_model

    options = IngestOptions(model=load_model(f"{logs}/model.toml"))
    ingest([f"{logs}/*.csv"], output, options, SparkRunner(session))


def with_a_killed_executor(cluster: Cluster, function: str, *arguments: str) -> list[int]:
    """Run a job of this module and kill one of its executors on the way; the process that was killed."""
    program = KILLING.format(
        module=Path(__file__).stem, function=function, master=cluster.master,
        workers=[each.pid for each in cluster.workers], arguments=arguments,
    )  # fmt: skip
    path = os.pathsep.join([str(Path(__file__).parent), str(ROOT)])
    killed: list[int] = json.loads(run([sys.executable, "-c", program], PYTHONPATH=path))
    return killed


def test_an_executor_that_is_killed_while_it_matches_changes_nothing(
    cluster: Cluster, expected: tuple[Path, str], tmp_path: Path
) -> None:
    output = tmp_path / "matches.csv"
    assert with_a_killed_executor(cluster, "match_in_many_slices", str(expected[0]), str(output))
    assert output.read_text() == expected[1]


def test_an_executor_that_is_killed_while_it_reads_logs_changes_nothing(
    cluster: Cluster, logs: Path, expected: tuple[Path, str], tmp_path: Path
) -> None:
    assert with_a_killed_executor(cluster, "ingest_all", str(logs), str(tmp_path / "events"))
    assert contents(tmp_path / "events") == contents(expected[0])
    assert not [path for path in tmp_path.iterdir() if path.name != "events"]
    shutil.rmtree(tmp_path / "events")
