"""Tasks in child processes, so that one which kills its process costs itself alone, and all cores have work.

What reads logs calls parsers that are written in C, and a hostile file may kill one of them, and with it the
process.  So files are read in children, as many at once as the caller says; when one dies, the task that it
had begun is the one that killed it, and another child goes on with the next.

A child is forked: it has all that is imported here after a few milliseconds, where a new interpreter takes
half a second.  Locks that another thread held would stay locked in it forever, so it is forked only where no
other Python thread runs but the one that waits for signals, which holds none.  Of the libraries, Arrow renews
its threads in a forked process.  Polars does not, and would wait for them forever, so it is forked only where
they have not started.  Where no child can be forked (not on Linux, or a program that has threads or has used
Polars calls us), tasks run here; and whoever reads from a server does not ask for a child, which would have
the connections without the threads that serve them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from cepctl.process.interrupts import busy_threads
from cepctl.process.memory import READING_PROGRAM_BYTES

Task = TypeVar("Task")
Result = TypeVar("Result")

OUT_OF_MEMORY = "out of memory"
# How GNU's malloc is set: from what size on blocks are mapped by themselves, and how much is kept.
_GNU_MALLOC = {-3: 32 << 20, -1: 128 << 20}
_DIE_WITH_PARENT = 1
_LOOK_SECONDS = 0.05
_ALONE_SECONDS = 0.3
"""For so long there is one child: another one has to import what reading needs, which takes as long.

Unless it is imported already: Polars is what takes longest."""
_NONE = -1
_THREAD_OF_POLARS = "polars-"


def run_apart(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    died: Callable[[Task, str], Result],
    most_bytes: int | None = None,
    at_once: int = 1,
    ended: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """The results of the function for every task, in order.

    `function`, `tasks`: what is run in children, and for what.  Of exceptions the one of the first task is
    raised here, and no further task begins.  `died`: gives the result of a task that killed its child, of
    what killed it: `SIGSEGV`, say.  `most_bytes`: how much memory all children may take; one that takes more
    than its share is killed, and its task tried again alone; alone it dies of OUT_OF_MEMORY.  What a program
    that calls us holds of its own beside it does not count.  `at_once`: how many children there are.
    `ended` hears of each task that is done: its number, and its result.
    """
    if not can_fork():
        return [_heard(number, function(task), ended) for number, task in enumerate(tasks)]
    crew = _Children(function, tasks, died, most_bytes, ended)
    for number in crew.run(range(len(tasks)), max(1, min(at_once, len(tasks)))):
        crew.run([number], 1)
    if crew.failures:
        raise crew.failures[min(crew.failures)]
    return [crew.results[number] for number in range(len(tasks))]


def _heard(number: int, result: Result, ended: Callable[[int, Result], None] | None) -> Result:
    if ended is not None:
        ended(number, result)
    return result


@dataclass
class _Children:
    """Children, and what came of tasks, by their numbers."""

    function: Callable[[Any], Any]
    tasks: Sequence[Any]
    died: Callable[[Any, str], Any]
    most_bytes: int | None
    ended: Callable[[int, Any], None] | None
    results: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, Exception] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def run(self, numbers: Sequence[int], at_once: int) -> list[int]:
        """Run the tasks of these numbers; returns those that took more than a share of the memory."""
        waiting, children, too_large = deque(numbers), list[_Child](), list[int]()
        share = None if self.most_bytes is None else self.most_bytes // at_once
        try:
            while busy := self._at_work(waiting, children, at_once):
                patience = None if share is None and at_once == 1 else _LOOK_SECONDS
                answered = wait([child.connection for child in busy], patience)
                for child in busy:
                    number, death = child.number, ""
                    if child.connection in answered:
                        death = self._take(child)
                    elif share is not None and child.takes() > share:
                        child.end()
                        death = OUT_OF_MEMORY
                    if not death:
                        continue
                    children.remove(child)
                    if death == OUT_OF_MEMORY and at_once > 1:
                        too_large.append(number)
                    else:
                        self._bury(number, death)
        finally:
            for child in children:
                child.end()
        return too_large

    def _at_work(self, waiting: deque[int], children: list[_Child], at_once: int) -> list[_Child]:
        """The children whose tasks matter, when all that can have begun one; none where all is done."""
        if not self.failures:
            for child in children:
                if waiting and child.number == _NONE:
                    child.begin(waiting.popleft())
            alone = "polars" not in sys.modules and time.monotonic() - self.began < _ALONE_SECONDS
            while waiting and len(children) < (1 if alone else at_once):
                children.append(_Child(self.function, self.tasks))
                children[-1].begin(waiting.popleft())
        # What comes after a task that failed is of no use.
        first = min(self.failures, default=len(self.tasks))
        return [child for child in children if _NONE < child.number < first]

    def _take(self, child: _Child) -> str:
        """Keep what a child answers; returns what it died of, empty where it lives."""
        number = child.number
        try:
            succeeded, outcome = child.answer()
        except (EOFError, ConnectionResetError):
            return child.end()
        if succeeded:
            self.results[number] = _heard(number, outcome, self.ended)
        else:
            self.failures[number] = outcome
        return ""

    def _bury(self, number: int, death: str) -> None:
        try:
            self.results[number] = _heard(number, self.died(self.tasks[number], death), self.ended)
        except Exception as problem:
            self.failures[number] = problem


def can_fork() -> bool:
    """Whether a child may be forked here."""
    return sys.platform == "linux" and not busy_threads() and not _polars_has_threads()


def _polars_has_threads() -> bool:
    """Whether its pool has started: importing it does not start it, using it does."""
    for thread in Path("/proc/self/task").iterdir():
        try:
            name = (thread / "comm").read_text()
        except OSError:  # it has just ended
            continue
        if name.startswith(_THREAD_OF_POLARS) and name[len(_THREAD_OF_POLARS) :].strip().isdecimal():
            return True
    return False


class _Child:
    """A forked process that runs the tasks it is given one after the other and sends what comes of them.

    `number`: of the task that it runs, or _NONE.
    """

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self.connection, theirs = Pipe()
        self.number = _NONE
        self._status: int | None = None
        self._of_caller = max(_resident_bytes(os.getpid()) - READING_PROGRAM_BYTES, 0)
        parent = os.getpid()
        self._id = os.fork()
        if self._id == 0:
            _serve(function, tasks, theirs, parent)
        theirs.close()

    def begin(self, number: int) -> None:
        """Let it run a task."""
        self.number = number
        # One that has died is told so by its answer.
        with contextlib.suppress(BrokenPipeError):
            self.connection.send(number)

    def answer(self) -> tuple[bool, Any]:
        """Whether its task succeeded, and its result, or else what it raised; EOFError where it has died."""
        succeeded, outcome = self.connection.recv()
        self.number = _NONE
        return succeeded, outcome

    def takes(self) -> int:
        """Bytes of memory that it takes beside what its caller held."""
        return _resident_bytes(self._id) - self._of_caller

    def end(self) -> str:
        """Kill it if it still runs; returns what it died of, also when it is asked again."""
        if self._status is None:
            self.connection.close()
            os.kill(self._id, signal.SIGKILL)
            _, self._status = os.waitpid(self._id, 0)
        code = os.waitstatus_to_exitcode(self._status)
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _resident_bytes(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):  # it has just ended
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _serve(
    function: Callable[[Any], Any], tasks: Sequence[Any], connection: Connection, parent: int
) -> NoReturn:
    """Run the tasks whose numbers come, in the child."""
    _belong_to(parent)
    _keep_freed()
    # What the parent holds is no garbage here: a child that looked through it would copy all of it.
    gc.freeze()
    status = 1
    try:
        while True:
            number = connection.recv()
            try:
                outcome = (True, function(tasks[number]))
            except Exception as problem:
                problem.add_note(traceback.format_exc())
                outcome = (False, problem)
            connection.send(outcome)
    except EOFError:
        status = 0
    finally:
        # Nothing of the parent's is flushed or closed a second time.
        os._exit(status)


def _keep_freed() -> None:
    """Let the allocator keep blocks of some megabytes for the next of their size, as it keeps small ones.

    The system would take each back, and clear every page of it anew: a fifth of the time of reading a table.
    What is kept goes with the process.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for parameter, value in _GNU_MALLOC.items():
            library.mallopt(parameter, value)


def _belong_to(parent: int) -> None:
    """End with the parent, and when interrupted at once: the parent says what there is to say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
