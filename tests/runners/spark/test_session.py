"""The Spark session: what it is set to, and that nothing of it reaches standard output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.runners.spark.session import Session, spark_session
from cepctl.runners.spark.settings import is_local, settings

TWICE = """
from cepctl.runners.spark.session import spark_session
for _ in range(2):
    with spark_session("local[1]", [("spark.driver.extraJavaOptions", "-XX:+PrintCommandLineFlags")]) as s:
        print(s.sparkContext.parallelize([1, 2], 2).map(lambda x: x + 1).sum())
"""


COMMANDS = """
from cepctl.cli import main
match = ["match", "PATTERN SEQ(A a, B b)", "events", "--runner", "spark", "-q"]
print(main(["ingest", "log.csv", "-o", "events", "--runner", "spark", "-q"]), flush=True)
print(main(match), flush=True)
print(main([*match, "--conf", "spark.app.name=other", "--conf", "spark.task.maxFailures=2"]), flush=True)
"""


LEFT = """
from pyspark import SparkContext
from cepctl.runners.spark import session
from cepctl.runners.spark.session import session_runs, spark_session
from cepctl.runners.spark.settings import settings

def run():
    with spark_session("local[1]", [("spark.app.name", "again")]) as s:
        print(s.sparkContext.appName, s.sparkContext.parallelize([1, 2], 2).sum())
    print(session_runs())

# Its stop was cut short: Java has it, and Python does not know.
session._start("local[1]", settings("local[1]"), verbose=False)
SparkContext._active_spark_context = None
run()
# Java died.
java = SparkContext._gateway.proc
java.kill()
java.wait()
run()
"""


@pytest.mark.parametrize(
    ("master", "local"),
    [
        ("local", True),
        ("local[*]", True),
        ("local[2]", True),
        ("spark://host:7077", False),
        ("local-cluster[1,1,1024]", False),
        ("yarn", False),
    ],
)
def test_what_is_a_local_master(master: str, local: bool) -> None:
    assert is_local(master) is local


def test_only_a_local_master_starts_java_small_and_binds_to_this_machine() -> None:
    java_options = "spark.driver.extraJavaOptions"
    assert "-XX:+UseSerialGC" in settings("local[*]")[java_options]
    assert settings("yarn")[java_options] == ""
    assert "spark.driver.bindAddress" not in settings("yarn")


def test_the_settings_of_the_user_win_and_java_options_are_joined() -> None:
    chosen = settings("local[*]", [("spark.ui.enabled", "true"), ("spark.driver.extraJavaOptions", "-Xss8m")])
    assert chosen["spark.ui.enabled"] == "true"
    assert chosen["spark.driver.extraJavaOptions"].endswith("-XX:+UseSerialGC -Xss8m")


@pytest.mark.spark
def test_workers_run_this_interpreter(spark: Session) -> None:
    def interpreter(_: int) -> str:
        import sys

        return sys.executable

    assert spark.sparkContext.parallelize([0], 1).map(interpreter).collect() == [sys.executable]


@pytest.mark.spark
def test_a_context_that_is_active_is_used_and_left_running(spark: Session) -> None:
    with spark_session("local[1]") as same:
        assert same.sparkContext is spark.sparkContext
    assert spark.sparkContext.parallelize([1, 2]).count() == 2


@pytest.mark.spark
def test_sessions_follow_each_other_at_once_and_standard_output_holds_nothing_but_our_own() -> None:
    """A context is stopped aside, and there can be one only.

    The Java process is made to print flags on its standard output, as it does with warnings.
    """
    told = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=True)
    assert told.stdout == "5\n5\n"
    assert "-XX:+UseSerialGC" in told.stderr


@pytest.mark.slow
@pytest.mark.spark
def test_what_earlier_sessions_left_is_in_the_way_of_none_and_one_that_stops_does_not_run() -> None:
    told = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=False)
    assert told.stdout == "again 3\nFalse\n" * 2, told.stderr


@pytest.mark.slow
@pytest.mark.spark
def test_commands_follow_each_other_in_one_process_also_with_other_settings(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("event_type,time\nA,1\nB,2\n")
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    header, row = "confidence,start,end,match", "1.0,1,2,log.csv#1 log.csv#2"
    lines = [line.replace("1970-01-01T00:00:00.00", "").replace("Z", "") for line in done.stdout.splitlines()]
    assert lines == ["0", header, row, "0", header, row, "0"]
    assert "SparkContext" not in done.stderr
