"""What a runner is: it runs functions over tasks, in their order, as they are done, or between groups.

Ingesting and matching hand it functions and values and get the same of every runner.  A new one is a subclass
with `stream` and a line in `kinds.py`; what it does better than by `stream` alone it overrides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from cepctl.engines.concurrency import OnProgress
from cepctl.errors import CepctlError
from cepctl.runners.apart import run_apart

Task = TypeVar("Task")
Item = TypeVar("Item")
Result = TypeVar("Result")
_TASKS_OF_GROUP = 5_000
Piece: TypeAlias = tuple[int, bytes]
"""What a task sends to a group: the number of the group, and bytes."""


class Counter(Protocol):
    """Counts in the tasks what is known of them while they run; a task that is run again counts again."""

    def add(self, count: int) -> None: ...

    @property
    def value(self) -> int: ...


class Watcher(Protocol):
    """Hears how far tasks are."""

    def ended(self, number: int, result: Any) -> None:
        """A task with this number is done."""

    def counted(self, done: int, tasks: int) -> None:
        """So many of all are done, where it is not known which."""


class Copies(Protocol):
    """Where a task finds its own copies of files that only this machine can read; picklable."""

    @property
    def prefix(self) -> str:
        """What the names of the copies begin with."""

    def directory(self) -> str:
        """The directory that has them, asked in a task."""


class Runner(ABC):
    """Runs pure functions of picklable values; an error in a task ends the others and is raised."""

    @property
    def here(self) -> bool:
        """Whether one task after the other runs in this process, and takes all of its cores itself."""
        return False

    @property
    def parallelism(self) -> int:
        """How many tasks run at once, on all machines."""
        return 1

    @property
    def tasks_at_once(self) -> int:
        """How many tasks share the memory of one machine."""
        return self.parallelism

    @property
    def readers(self) -> int:
        """Processes of this machine between which the blocks of a large file are shared alike."""
        return 1

    @property
    def block_bytes(self) -> int | None:
        """Files of more bytes are several tasks where their format allows it; None: they never are."""
        return None

    @property
    def shares_disk(self) -> bool:
        """Whether tasks see the files of this machine."""
        return True

    @abstractmethod
    def stream(
        self,
        function: Callable[[Task], Iterable[Item]],
        tasks: Sequence[Task],
        on_progress: OnProgress | None = None,
    ) -> Iterator[Item]:
        """What the function gives of every task, as it comes; who stops asking ends the tasks."""

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
        watcher: Watcher | None = None,
    ) -> list[Result]:
        """The results of all tasks, in their order; raises the error of the first of them that failed.

        With `died` a task that kills its process costs itself alone: what it gives, of the task and of
        what killed it, is then the result; one that takes more than `most_bytes` of memory is killed.
        The `watcher` hears of tasks as far as this runner sees them end.
        """
        attempt = Attempts(function, died, most_bytes)
        numbered = dict(self.stream(attempt.numbered, [*enumerate(tasks)]))
        return unless_failed([numbered[number] for number in range(len(tasks))])

    def run_in_threads(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """As `run`, of tasks that release the interpreter's lock, where memory holds several at once."""
        return self.run(function, tasks)

    def results(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        died: Callable[[Task, str], Result] | None = None,
        most_bytes: int | None = None,
        watcher: Watcher | None = None,
    ) -> Iterator[Result]:
        """As `run`, of so many tasks that what comes of them is better not held as it came: one by one."""
        for start in range(0, len(tasks), _TASKS_OF_GROUP):
            group = tasks[start : start + _TASKS_OF_GROUP]
            of_group = None if watcher is None else _GroupWatcher(watcher, start, len(tasks))
            yield from self.run(function, group, died, most_bytes, of_group)

    def exchange(
        self,
        send: Callable[[Task], Iterable[Piece]],
        tasks: Sequence[Task],
        receive: Callable[[int, list[bytes]], Iterable[Item]],
        groups: int,
        on_progress: OnProgress | None = None,
    ) -> Iterator[Item]:
        """What `receive` gives of the pieces that tasks send to a group, for every group that gets some."""
        sent: dict[int, list[bytes]] = defaultdict(list)
        for group, piece in self.stream(send, tasks):
            sent[group].append(piece)
        return self.stream(Receiver(receive), sorted(sent.items()), on_progress)

    def counter(self) -> Counter:
        """A counter that is at 0."""
        return Count()

    def copied(self, files: Sequence[str]) -> AbstractContextManager[Copies | None]:
        """Copies of files of this machine for as long as tasks run; None where they need none."""
        return nullcontext()


@dataclass(frozen=True)
class _GroupWatcher:
    """Tells a watcher of tasks in a group that begins behind so many others."""

    whole: Watcher
    before: int
    tasks: int

    def ended(self, number: int, result: Any) -> None:
        self.whole.ended(self.before + number, result)

    def counted(self, done: int, tasks: int) -> None:
        self.whole.counted(self.before + done, self.tasks)


@dataclass(frozen=True)
class Attempts:
    """Runs tasks one by one; what the user can mend comes back as a value."""

    function: Callable[[Any], Any]
    died: Callable[[Any, str], Any] | None
    most_bytes: int | None = None

    def __call__(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """What comes of some tasks, in order."""
        if self.died is None:
            return map(self._run, tasks)
        return iter(run_apart(self._run, list(tasks), self._died, self.most_bytes))

    def numbered(self, task: tuple[int, Any]) -> Iterator[tuple[int, Any]]:
        """What comes of one task, with its number."""
        for outcome in self([task[1]]):
            yield task[0], outcome

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


def unless_failed(outcomes: Sequence[Any]) -> list[Any]:
    """The outcomes of tasks in order; raises the first that is an error."""
    for outcome in outcomes:
        if isinstance(outcome, CepctlError):
            raise outcome
    return list(outcomes)


@dataclass(frozen=True)
class Receiver:
    """Calls a function with a group and its pieces."""

    receive: Callable[[int, list[bytes]], Iterable[Any]]

    def __call__(self, group: tuple[int, list[bytes]]) -> Iterable[Any]:
        return self.receive(*group)


@dataclass
class Count:
    """A counter of this process."""

    value: int = 0

    def add(self, count: int) -> None:
        """Count some more."""
        self.value += count
