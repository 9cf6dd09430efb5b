"""Who runs the tasks of an ingest: this process, or Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from cepctl.errors import CepctlError
from cepctl.ingestion.apart import run_apart
from cepctl.spark.interrupts import undisturbed
from cepctl.spark.jobs import failing_once, failures_told
from cepctl.spark.session import spark_session, tasks_at_once

FEWEST_SHARED = 256
SHARES_PER_CORE = 8
BLOCK_BYTES = 64 << 20

Task = TypeVar("Task")
Result = TypeVar("Result")


class Runner(Protocol):
    """Runs a pure function on every task; results come in the order of the tasks.

    Files of more than `block_bytes` are several tasks where their format allows it; None: they never are.
    """

    @property
    def block_bytes(self) -> int | None: ...

    @property
    def tasks_at_once(self) -> int:
        """How many tasks share the memory of one machine."""

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
    ) -> list[Result]:
        """Raise the error of the first task, in order, that failed.

        With `died` a task that kills its process costs itself alone: what it gives, of the task and of
        what killed it, is then the result; one that takes more than `most_bytes` of memory is killed.
        """


@dataclass(frozen=True)
class LocalRunner:
    """One task after the other, here, so there is nothing to gain from more of them."""

    block_bytes: int | None = None
    tasks_at_once: int = 1

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
    ) -> list[Result]:
        if died is not None:
            return run_apart(function, tasks, died, most_bytes)
        return [function(task) for task in tasks]


@dataclass(frozen=True)
class SparkRunner:
    """Every task is a Spark task of its own, but thousands share some; workers must reach the files."""

    session: Any
    block_bytes: int | None = BLOCK_BYTES

    @property
    def tasks_at_once(self) -> int:
        return tasks_at_once(self.session.sparkContext)

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
    ) -> list[Result]:
        if not tasks:
            return []
        with failures_told():
            context = self.session.sparkContext
            # Starting a Spark task takes longer than reading a small file.
            most = max(FEWEST_SHARED, SHARES_PER_CORE * context.defaultParallelism)
            spread = context.parallelize(list(tasks), min(len(tasks), most))
            outcomes = undisturbed(spread.mapPartitions(_Guarded(function, died, most_bytes)).collect)
        for outcome in outcomes:
            if isinstance(outcome, CepctlError):
                raise outcome
        return list(outcomes)


@contextmanager
def chosen_runner(
    name: str, master: str, conf: Sequence[tuple[str, str]] = (), *, verbose: bool = False
) -> Iterator[Runner]:
    """The runner of this name, `local` or `spark`; a Spark session ends with the context."""
    if name == "local":
        yield LocalRunner()
        return
    with spark_session(master, conf, verbose=verbose) as session:
        yield SparkRunner(session)


@dataclass(frozen=True)
class _Guarded:
    """Runs the tasks of a partition; what the user can mend comes back as values, without a Java trace."""

    function: Callable[[Any], Any]
    died: Callable[[Any, str], Any] | None
    most_bytes: int | None = None

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        with failing_once():
            if self.died is None:
                yield from map(self._run, tasks)
            else:
                yield from run_apart(self._run, list(tasks), self._died, self.most_bytes)

    def _run(self, task: Any) -> Any:
        try:
            return self.function(task)
        except CepctlError as problem:
            return problem

    def _died(self, task: Any, cause: str) -> Any:
        assert self.died is not None
        try:
            return self.died(task, cause)
        except CepctlError as problem:
            return problem
