"""How a job of Spark fails: killed workers are tried again, errors are not, and each is told in one line.

Spark runs a task that failed again, on one machine only if it is told how often (`local[*,3]`).  That
helps where a worker was killed.  An error that a task raised would come again after as long a time: the
task leaves it in Spark's own directory, where the next attempt finds it.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cepctl import errors
from cepctl.errors import CepctlError, JobError

ATTEMPTS = 3
_LOCAL = re.compile(r"local(?:\[ *(\*|\d+) *\])?")
_KILLED = "Python worker exited unexpectedly"
_RESULT_SIZE = "spark.driver.maxResultSize"
_MEMORY = (
    "run fewer tasks at once (--master 'local[1]'; on a cluster fewer cores for each executor), "
    "narrow the query, or use a machine with more memory"
)


def persistent(master: str) -> str:
    """A master of this machine that tries a task three times, unless it says how often; others as they are.

    Examples
    --------
    >>> persistent("local[*]"), persistent("local"), persistent("local[2,1]"), persistent("yarn")
    ('local[*,3]', 'local[1,3]', 'local[2,1]', 'yarn')
    """
    found = _LOCAL.fullmatch(master)
    return f"local[{found[1] or 1},{ATTEMPTS}]" if found else master


@contextmanager
def failing_once() -> Iterator[None]:
    """In a task: raise the error of the attempt before at once, and leave one to the attempt after."""
    kept = _place_of_error()
    if kept.exists():
        raise pickle.loads(kept.read_bytes())
    try:
        yield
    except Exception as problem:
        with suppress(Exception):  # what cannot be kept comes again
            kept.write_bytes(pickle.dumps(problem))
        raise


def _place_of_error() -> Path:
    """Where the attempts of this task leave their error: no other task has this place."""
    from pyspark import SparkFiles, TaskContext

    task = TaskContext.get()
    assert task is not None
    return Path(SparkFiles.getRootDirectory(), f"error-of-{task.stageId()}-{task.partitionId()}")


@contextmanager
def failures_told() -> Iterator[None]:
    """Around a job: raise what went wrong as an error of ours, with one line that a person can use.

    Raises
    ------
    CepctlError
        What a task raised, if it is one.
    JobError
        Anything else.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, ConnectionError, EOFError) as problem:
        raise failure(str(problem), java_is_gone=_is_gone(problem)) from problem


def _is_gone(problem: Exception) -> bool:
    from py4j.protocol import Py4JNetworkError

    return isinstance(problem, (Py4JNetworkError, ConnectionError, EOFError))


def failure(trace: str, *, java_is_gone: bool = False) -> CepctlError:
    """The error that the text of a failed job stands for.

    Examples
    --------
    >>> str(failure("Caused by: java.lang.OutOfMemoryError: Java heap space"))[:64]
    'the Spark job failed: Java ran out of memory; give it more (--co'
    """
    for kind, message in re.findall(r"cepctl\.errors\.(\w+): ([^\n]+)", trace):
        known = getattr(errors, kind, None)
        if isinstance(known, type) and issubclass(known, CepctlError):
            return known(message)
    if java_is_gone:
        cause = f"its Java process ended, probably killed for lack of memory; {_MEMORY}"
    else:
        cause = next(
            (cause for cause in (each(trace) for each in _CAUSES) if cause), "Spark says nothing of it"
        )
    return JobError(f"the Spark job failed: {cause}")


def _killed_worker(trace: str) -> str | None:
    if _KILLED not in trace:
        return None
    times = re.search(r"failed (\d+) times", trace)
    often = f" {times[1]} times" if times and times[1] != "1" else ""
    return f"a Python worker was killed{often}, probably for lack of memory; {_MEMORY}"


def _lost_executor(trace: str) -> str | None:
    found = re.search(r"ExecutorLostFailure \((executor \S+) exited[^)]*\) Reason: ([^\n]*)", trace)
    return found and f"{found[1]} was lost: {found[2].split('. ')[0]}; if memory ran out, {_MEMORY}"


def _result_too_large(trace: str) -> str | None:
    found = re.search(r"Total size of serialized results of \d+ tasks \(([^)]*)\)", trace)
    if not found:
        return None
    return f"the rows take {found[1]}, more than Spark hands over; allow more (--conf {_RESULT_SIZE}=8g)"


def _java_memory(trace: str) -> str | None:
    if "java.lang.OutOfMemoryError" not in trace:
        return None
    return (
        "Java ran out of memory; give it more (--conf spark.driver.memory=4g; on a cluster also "
        "spark.executor.memory)"
    )


def _python_memory(trace: str) -> str | None:
    return (
        f"a task ran out of memory; {_MEMORY}"
        if re.search(r"^(\w+\.)*\w*MemoryError\b", trace, re.M)
        else None
    )


def _lacking_python(trace: str) -> str | None:
    """Workers of a session that another has started run the first Python on PATH, unless told otherwise."""
    found = re.search(r"^ModuleNotFoundError: No module named '([\w.]+)'", trace.partition("\tat ")[0], re.M)
    return found and (
        f"the Python of its workers has no {found[1]}; start the session with PYSPARK_PYTHON naming "
        "one in which cepctl is installed, such as that of this process"
    )


def _python_error(trace: str) -> str | None:
    """The last line of a trace of Python, which says what went wrong, before Spark appends its own."""
    found = re.search(r"^\w[\w.]*(Error|Exception): [^\n]*", trace.partition("\tat ")[0], re.M)
    return found and found[0].strip()


def _java_error(trace: str) -> str | None:
    """The innermost cause that Java names, without the class that carries it."""
    causes = re.findall(r"^Caused by: ([^\n]*)", trace, re.M) or re.findall(r"^: ([^\n]*)", trace, re.M)
    lines = [
        line for cause in reversed(causes) if (line := re.sub(r"^([\w$]+\.)+[\w$]+: ?", "", cause).strip())
    ]
    return lines[0] if lines else None


def _first_line(trace: str) -> str | None:
    return next((line.strip() for line in trace.splitlines() if line.strip()), None)


_CAUSES: tuple[Callable[[str], str | None], ...] = (
    *(_killed_worker, _result_too_large, _lost_executor, _java_memory, _python_memory),
    *(_lacking_python, _python_error, _java_error, _first_line),
)
