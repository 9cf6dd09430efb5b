"""Tasks in a child process, so that one which kills its process costs itself alone.

What reads logs calls parsers that are written in C, and a hostile file may kill one of them, and with it the
process.  So files are read in a child, one after the other; when it dies, the task that it had begun is the
one that killed it, and another child goes on with the next.

The child is forked: it has all that is imported here after a few milliseconds, where a new interpreter takes
half a second.  Locks that another thread held would stay locked in it forever, so it is forked only where no
other Python thread runs but the one that waits for signals, which holds none.  Of the libraries, Arrow renews
its threads in a forked process.  Polars does not, and would wait for them forever, so it is forked only where
they have not started.  Where no child can be forked (not on Linux, or a program that has threads or has used
Polars calls us), tasks run here; and whoever reads from a server does not ask for a child, which would have
the connections without the threads that serve them.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from cepctl.interrupts import busy_threads
from cepctl.memory import READING_PROGRAM_BYTES

Task = TypeVar("Task")
Result = TypeVar("Result")

OUT_OF_MEMORY = "out of memory"
_DIE_WITH_PARENT = 1
_LOOK_SECONDS = 0.05
_THREAD_OF_POLARS = "polars-"


def run_apart(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    died: Callable[[Task, str], Result],
    most_bytes: int | None = None,
) -> list[Result]:
    """The results of the function for every task, in order.

    `function`, `tasks`: what is run in the child, and for what.  The first exception ends it, and is raised
    here.  `died`: gives the result of a task that killed the child, of what killed it: `SIGSEGV`, say.
    `most_bytes`: how much memory the child may take; one that takes more is killed, by OUT_OF_MEMORY.  What a
    program that calls us holds of its own beside it does not count.
    """
    if not _can_fork():
        return [function(task) for task in tasks]
    results: list[Result] = []
    while len(results) < len(tasks):
        child = _Child(function, tasks[len(results) :])
        try:
            results.extend(child.results(most_bytes))
        finally:
            cause = child.end()
        if len(results) < len(tasks):
            results.append(died(tasks[len(results)], cause))
    return results


def _can_fork() -> bool:
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
    """A forked process that runs tasks one after the other and sends what comes of them."""

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self._receiving, sending = Pipe(duplex=False)
        self._took_too_much = False
        self._of_caller = max(_resident_bytes(os.getpid()) - READING_PROGRAM_BYTES, 0)
        parent = os.getpid()
        self._id = os.fork()
        if self._id == 0:
            _serve(function, tasks, sending, parent)
        sending.close()

    def results(self, most_bytes: int | None = None) -> Iterator[Any]:
        """What comes of the tasks, as far as the child lives; raises what a task raised."""
        while True:
            while most_bytes is not None and not self._receiving.poll(_LOOK_SECONDS):
                if _resident_bytes(self._id) - self._of_caller > most_bytes:
                    self._took_too_much = True
                    return
            try:
                succeeded, outcome = self._receiving.recv()
            except EOFError:
                return
            if not succeeded:
                raise outcome
            yield outcome

    def end(self) -> str:
        """Kill the child if it still runs; returns what it died of."""
        self._receiving.close()
        os.kill(self._id, signal.SIGKILL)
        _, status = os.waitpid(self._id, 0)
        if self._took_too_much:
            return OUT_OF_MEMORY
        code = os.waitstatus_to_exitcode(status)
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _resident_bytes(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):  # it has just ended
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _serve(
    function: Callable[[Any], Any], tasks: Sequence[Any], sending: Connection, parent: int
) -> NoReturn:
    """Run the tasks, in the child."""
    _belong_to(parent)
    status = 1
    try:
        for task in tasks:
            try:
                outcome = (True, function(task))
            except Exception as problem:
                problem.add_note(traceback.format_exc())
                outcome = (False, problem)
            sending.send(outcome)
        status = 0
    finally:
        # Nothing of the parent's is flushed or closed a second time.
        os._exit(status)


def _belong_to(parent: int) -> None:
    """End with the parent, and when interrupted at once: the parent says what there is to say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
