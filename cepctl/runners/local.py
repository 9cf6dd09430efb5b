"""The local runner: one task after the other in this process, without Java."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cepctl.runners.apart import run_apart
from cepctl.runners.kinds import RunnerSettings
from cepctl.runners.runner import Item, Result, Runner, Task, Told


@dataclass(frozen=True)
class LocalRunner(Runner):
    """Tasks take all cores themselves, so there is nothing to gain from more of them."""

    block_bytes: int | None = None

    @property
    def here(self) -> bool:
        """Yes."""
        return True

    def stream(
        self, function: Callable[[Task], Iterable[Item]], tasks: Sequence[Task], told: Told | None = None
    ) -> Iterator[Item]:
        """Each item as soon as its task gives it."""
        for done, task in enumerate(tasks, start=1):
            yield from function(task)
            if told is not None:
                told(done, len(tasks))

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
    ) -> list[Result]:
        """In order, so that the first error ends it; with `died` all tasks share one child process."""
        if died is not None:
            return run_apart(function, tasks, died, most_bytes)
        return [function(task) for task in tasks]


@contextmanager
def opened(settings: RunnerSettings) -> Iterator[LocalRunner]:
    """A runner, which has nothing to be told."""
    yield LocalRunner()
