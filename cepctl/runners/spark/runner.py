"""The runner on Spark: every task is a task of Spark, on the cores of this machine or of a cluster."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from cepctl.atomic.folders import temporary_folder
from cepctl.engines.concurrency import OnProgress
from cepctl.runners.kinds import RunnerSettings
from cepctl.runners.runner import (
    Attempts,
    Copies,
    Counter,
    Item,
    Piece,
    Result,
    Runner,
    Task,
    Watcher,
    unless_failed,
)
from cepctl.runners.spark.interrupts import undisturbed
from cepctl.runners.spark.jobs import failing_once, failures_told
from cepctl.runners.spark.session import HasContext, spark_session, tasks_at_once
from cepctl.runners.spark.settings import is_local

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

FEWEST_SHARED = 256
SHARES_PER_CORE = 8
BLOCK_BYTES = 64 << 20
_LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class SparkRunner(Runner):
    """Runs tasks in a session; workers must reach the files that are read."""

    session: HasContext
    block_bytes: int | None = BLOCK_BYTES

    @property
    def parallelism(self) -> int:
        """Cores of the master, unless told otherwise."""
        return self._context.defaultParallelism

    @property
    def tasks_at_once(self) -> int:
        """Tasks of one machine, or of one executor."""
        return tasks_at_once(self._context)

    @property
    def shares_disk(self) -> bool:
        """Where all tasks run on this machine."""
        return is_local(str(self._context.master))

    @property
    def _context(self) -> SparkContext:
        return self.session.sparkContext

    def stream(
        self,
        function: Callable[[Task], Iterable[Item]],
        tasks: Sequence[Task],
        on_progress: OnProgress | None = None,
    ) -> Iterator[Item]:
        """What all tasks give, when they are done."""
        if not tasks:
            return

        def collected() -> list[Item]:
            return self._spread(tasks).flatMap(_FailingOnce(function)).collect()

        with failures_told(), _watched(self._context, on_progress):
            items = undisturbed(collected)
        yield from items

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
        watcher: Watcher | None = None,
    ) -> list[Result]:
        """Thousands of tasks share some of Spark's."""
        if not tasks:
            return []

        def collected() -> list[Any]:
            # Starting a Spark task takes longer than reading a small file.
            most = max(FEWEST_SHARED, SHARES_PER_CORE * self.parallelism)
            attempts = _FailingOnce(Attempts(function, died, most_bytes))
            return self._spread(tasks, most).mapPartitions(attempts).collect()

        with failures_told(), _watched(self._context, None if watcher is None else watcher.counted):
            outcomes = undisturbed(collected)
        return unless_failed(outcomes)

    def exchange(
        self,
        send: Callable[[Task], Iterable[Piece]],
        tasks: Sequence[Task],
        receive: Callable[[int, list[bytes]], Iterable[Item]],
        groups: int,
        on_progress: OnProgress | None = None,
    ) -> Iterator[Item]:
        """Pieces go from task to task, and not through this process."""
        if not tasks:
            return

        def collected() -> list[Item]:
            pieces = self._spread(tasks).flatMap(_FailingOnce(send)).partitionBy(groups, int)
            return pieces.mapPartitions(_FailingOnce(_Grouped(receive))).collect()

        with failures_told(), _watched(self._context, on_progress):
            items = undisturbed(collected)
        yield from items

    def _spread(self, tasks: Sequence[Any], most: int | None = None) -> RDD[Any]:
        """Tasks as Spark has them, each in a partition of its own unless they are more than `most`."""
        return self._context.parallelize(list(tasks), min(len(tasks), most or len(tasks)))

    def counter(self) -> Counter:
        """An accumulator."""
        return cast(Counter, self._context.accumulator(0))

    @contextmanager
    def copied(self, files: Sequence[str]) -> Iterator[Copies | None]:
        """Let Spark copy to the workers of a cluster what only this machine can read."""
        if not files or self.shares_disk:
            yield None
            return
        # Spark tells files apart by their names alone, for as long as its session lives.
        copies = _CopiesOfSpark(f"{uuid4().hex}-")
        with temporary_folder() as directory:
            for file in files:
                copy = directory / f"{copies.prefix}{PurePosixPath(file).name}"
                shutil.copyfile(file, copy)
                self._context.addFile(str(copy))
            yield copies


@contextmanager
def opened(settings: RunnerSettings) -> Iterator[SparkRunner]:
    """A runner in a session for one command; raises as `spark_session` does."""
    with spark_session(settings.master, settings.conf, verbose=settings.verbose) as session:
        yield SparkRunner(session)


@dataclass(frozen=True)
class _CopiesOfSpark:
    prefix: str

    def directory(self) -> str:
        from pyspark import SparkFiles

        return str(SparkFiles.getRootDirectory())


@dataclass(frozen=True)
class _FailingOnce:
    """A function of a task, whose error comes at once where Spark tries the task again."""

    function: Callable[[Any], Iterable[Any]]

    def __call__(self, task: Any) -> Iterator[Any]:
        with failing_once():
            yield from self.function(task)


@dataclass(frozen=True)
class _Grouped:
    """Receives the pieces of the groups of one partition, one group after the other."""

    receive: Callable[[int, list[bytes]], Iterable[Any]]

    def __call__(self, pieces: Iterable[Piece]) -> Iterator[Any]:
        by_group: dict[int, list[bytes]] = {}
        for group, piece in pieces:
            by_group.setdefault(group, []).append(piece)
        for group in sorted(by_group):
            yield from self.receive(group, by_group.pop(group))


@contextmanager
def _watched(context: Any, on_progress: OnProgress | None) -> Iterator[None]:
    """Look now and then at the tasks of a context."""
    if on_progress is None:
        yield
        return
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(context, on_progress, done), daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()


def _watch(context: Any, on_progress: OnProgress, done: threading.Event) -> None:
    tracker = context.statusTracker()
    while not done.wait(_LOOK_SECONDS):
        stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
        for stage in filter(None, stages[-1:]):
            on_progress(stage.numCompletedTasks, stage.numTasks)
