"""What the Python of Spark's workers is, asked by running one task on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cepctl.errors import JobError
from cepctl.runners.spark import SparkRunner
from cepctl.spark.session import spark_session

NEEDED = ("cepctl", "pyarrow", "numpy", "polars", "numba")


@dataclass(frozen=True)
class Worker:
    """The version of Spark, and of one worker: its Python, and the packages it needs and has not."""

    spark: str
    python: str
    executable: str
    missing: tuple[str, ...]


def worker_of(master: str, conf: Sequence[tuple[str, str]], *, verbose: bool = False) -> Worker:
    """Ask a worker; raises JobError where Spark does not start or the task fails."""
    with spark_session(master, conf, verbose=verbose) as session:
        answers = SparkRunner(session).run(answer, [NEEDED])
        if not answers:
            raise JobError("no worker answered")
        return Worker(session.version, *answers[0])


def answer(needed: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """What this interpreter is, and what it lacks; runs in a worker."""
    import sys
    from importlib.util import find_spec

    missing = tuple(name for name in needed if find_spec(name) is None)
    return sys.version.partition(" ")[0], sys.executable, missing
