"""A job of Spark that fails: killed workers are tried again, errors are not, and each is told in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from cepctl.errors import JobError, QueryTooLargeError
from cepctl.runners.spark.jobs import failure
from cepctl.runners.spark.runner import SparkRunner
from cepctl.runners.spark.session import Session


def killed_until(attempts: int, marks: Path, number: int) -> int:
    """Number, in the attempt after as many whose worker was killed, as by a machine without memory."""
    made = len(list(marks.iterdir()))
    if number == 1 and made < attempts:
        (marks / str(made)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def wrong(marks: Path, number: int) -> int:
    (marks / f"{len(list(marks.iterdir()))}").touch()
    raise ValueError(f"{number} is wrong\nin two lines")


@pytest.mark.spark
def test_the_task_of_a_killed_worker_runs_again(spark: Session, tmp_path: Path) -> None:
    assert SparkRunner(spark).run(partial(killed_until, 2, tmp_path), [0, 1, 2]) == [0, 1, 2]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.spark
def test_workers_that_are_killed_again_and_again_fail_the_job_in_one_line(
    spark: Session, tmp_path: Path
) -> None:
    with pytest.raises(JobError) as problem:
        SparkRunner(spark).run(partial(killed_until, 3, tmp_path), [0, 1, 2])
    assert str(problem.value) == (
        "the Spark job failed: a Python worker was killed 3 times, probably for lack of memory; "
        "run fewer tasks at once (--master 'local[1]'; on a cluster fewer cores for each executor), "
        "narrow the query, or use a machine with more memory"
    )


@pytest.mark.spark
def test_what_a_task_raises_is_not_tried_again(spark: Session, tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"^the Spark job failed: ValueError: 7 is wrong$"):
        SparkRunner(spark).run(partial(wrong, tmp_path), [7])
    assert len(list(tmp_path.iterdir())) == 1


# The Java process is killed by a task of its own.
WITHOUT_JAVA = """
import os, signal, subprocess, time
from cepctl.runners.kinds import RUNNERS, RunnerSettings

def kill_java(number):
    java = subprocess.check_output(["ps", "-o", "ppid=", "-p", str(os.getppid())])
    os.kill(int(java), signal.SIGKILL)
    time.sleep(600)

with RUNNERS["spark"].opened(RunnerSettings("local[1]")) as runner:
    runner.run(kill_java, [1])
"""


@pytest.mark.slow
@pytest.mark.spark
def test_a_java_process_that_is_killed_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAVA], capture_output=True, text=True, timeout=300, check=False
    )
    assert "JobError: the Spark job failed: its Java process ended, probably killed for lack" in done.stderr


ABORTED = "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n: "
STAGE = f"{ABORTED}org.apache.spark.SparkException: Job aborted due to stage failure: "
LOST = "Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 (TID 5) (h executor 1): "


@pytest.mark.parametrize(
    ("told", "said"),
    [
        pytest.param(
            f"{STAGE}{LOST}ExecutorLostFailure (executor 1 exited caused by one of the running tasks) "
            "Reason: Command exited with code 137\nDriver stacktrace:\n\tat org.apache",
            "executor 1 was lost: Command exited with code 137; if memory ran out, run fewer tasks at once",
            id="a lost executor",
        ),
        pytest.param(
            f"{STAGE}Total size of serialized results of 3 tasks (1031.2 MiB) is bigger than "
            "spark.driver.maxResultSize (1024.0 MiB)\n\tat org.apache",
            "the rows take 1031.2 MiB, more than Spark hands over; allow more (--conf",
            id="too many rows",
        ),
        pytest.param(
            f"{STAGE}{LOST}java.lang.OutOfMemoryError: Java heap space\n\tat java.base",
            "Java ran out of memory; give it more (--conf spark.driver.memory=4g",
            id="Java's memory",
        ),
        pytest.param(
            f"{ABORTED}org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
            '  File "x.py", line 1, in f\nnumpy._core._exceptions._ArrayMemoryError: Unable to allocate\n',
            "a task ran out of memory; run fewer tasks",
            id="Python's memory",
        ),
        pytest.param(
            f"{ABORTED}org.apache.spark.SparkException: Job aborted\n\tat org.apache\n"
            "Caused by: java.io.IOException: No space left on device\n\tat java.base",
            "No space left on device",
            id="another error of Java",
        ),
        pytest.param("", "Spark says nothing of it", id="nothing"),
    ],
)
def test_failures_are_told_in_one_line(told: str, said: str) -> None:
    problem = failure(told)
    assert isinstance(problem, JobError)
    assert str(problem).startswith(f"the Spark job failed: {said}")
    assert "\n" not in str(problem)


def test_an_error_of_ours_keeps_its_name() -> None:
    problem = failure(
        f"{STAGE}{LOST}Traceback:\ncepctl.errors.QueryTooLargeError: more than 5 matches\n\tat x"
    )
    assert (type(problem), str(problem)) == (QueryTooLargeError, "more than 5 matches")


def test_workers_with_another_python_are_told_apart() -> None:
    told = str(failure("Traceback:\nModuleNotFoundError: No module named 'pyarrow'\n\tat org.apache.spark"))
    assert told.startswith(
        "the Spark job failed: the Python of its workers has no pyarrow; start the session"
    )
