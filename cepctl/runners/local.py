"""The local runner, without Java: one task after the other in this process, those that read in children."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from cepctl.engines.concurrency import OnProgress, in_turn, usable_cores
from cepctl.runners.apart import can_fork, run_apart
from cepctl.runners.kinds import RunnerSettings
from cepctl.runners.runner import Item, Result, Runner, Task, Watcher

BLOCK_BYTES = 32 << 20
# With less a process that reads would hold smaller chunks than it can (cepctl/ingestion/room.py).
_ENOUGH_BYTES = 2_400_000_000


@dataclass(frozen=True)
class LocalRunner(Runner):
    """Most tasks take all cores themselves, so there is nothing to gain from more of them at once.

    `readers` are the processes that those have which read, and the threads of those that write.
    """

    block_bytes: int | None = None
    readers: int = 1

    @property
    def here(self) -> bool:
        """Yes."""
        return True

    def stream(
        self,
        function: Callable[[Task], Iterable[Item]],
        tasks: Sequence[Task],
        on_progress: OnProgress | None = None,
    ) -> Iterator[Item]:
        """Each item as soon as its task gives it."""
        for done, task in enumerate(tasks, start=1):
            yield from function(task)
            if on_progress is not None:
                on_progress(done, len(tasks))

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
        watcher: Watcher | None = None,
    ) -> list[Result]:
        """In order, so that the first error ends it; with `died` in child processes."""
        if died is not None:
            ended = None if watcher is None else watcher.ended
            room = self.readers if most_bytes is None else most_bytes // _ENOUGH_BYTES
            return run_apart(function, tasks, died, most_bytes, max(1, min(self.readers, room)), ended)
        return [function(task) for task in tasks]

    def run_in_threads(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """One on each core."""
        return [*in_turn((partial(function, task) for task in tasks), self.readers)]


@contextmanager
def opened(settings: RunnerSettings) -> Iterator[LocalRunner]:
    """A runner, which has nothing to be told."""
    yield on_all_cores()


def on_all_cores() -> LocalRunner:
    """A runner whose large files are read by one process for each core."""
    cores = usable_cores()
    return LocalRunner(BLOCK_BYTES, cores) if cores > 1 and can_fork() else LocalRunner()
